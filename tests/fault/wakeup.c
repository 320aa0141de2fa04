/* SPDX-License-Identifier: MIT */
/* The measurement of a wake-up, in pipes of the library's own: whatever fails there, it ends. */
#include "wakeup.h"

#include "child_case.h"
#include "harness.h"
#include "inject.h"

#include <errno.h>
#include <unistd.h>

#define GUARD_MS 3000

static struct inject fault;

/* It measures once in a process. */
static void measure(void)
{
	unsigned descriptors = child_open_descriptors();
	bool known;

	inject = fault;
	known = gi_wakeup_ns() > 0;
	child_judged(known && child_open_descriptors() == descriptors ? NULL : "no cost, or descriptors left",
		inject.hits);
}

static void fail(enum inject_call call, unsigned at)
{
	fault = (struct inject){ INJECT_ERRNO, call, .at = at, .times = 1, .value = EIO };
	if (!CHECK_INT(child_run(measure, GUARD_MS), 0)) /* -1: hung */
		printf("  call %u of %s failed\n", at, inject_call_name(call));
	CHECK_INT(child_record->bad, 0);
	CHECK_INT(child_record->cases, 1);
}

static void measuring_ends(void)
{
	for (unsigned at = 1; at <= 6; at++) {
		fail(INJECT_READ, at);
		fail(INJECT_WRITE, at);
	}
	fail(INJECT_PIPE, 1);
	fail(INJECT_PIPE, 2);
}

int main(void)
{
	if (child_setup() < 0)
		return 1;
	TEST(measuring_ends);
	return test_end();
}
