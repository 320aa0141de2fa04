/* SPDX-License-Identifier: MIT */
/* src/probe.c: answers that make sense together, in good places and bad ones, and nothing left behind. */
#include "probe.h"

#include "hugebuf.h"
#include "pipe.h"
#include "support.h"

#include <sys/resource.h>

static void few_descriptors(rlim_t more)
{
	int next = dup(0);
	struct rlimit limit = { (rlim_t)next + more, (rlim_t)next + more };

	close(next);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void memory_to_pipe(void)
{
	struct fds before = fds_now();
	int error = 77;
	enum gi_vmsplice v = gi_probe_vmsplice(&error);

	CHECK_INT(v == GI_VMSPLICE_FAILS, error < 0);
	CHECK(error <= 0);
	CHECK_INT(gi_probe_vmsplice(&error), v); /* and again */
	CHECK(gi_probe_vmsplice_to_memory() <= 0);
	CHECK_INT(fds_opened_since(&before), 0);
}

static void calls(void)
{
	struct fds before = fds_now();
	int count = 0;

	for (const struct gi_probe_call *c = gi_probe_calls; c->name; c++, count++) {
		int ret = c->try_it();

		CHECK_CASE(ret <= 0 && ret > -4096 && ret != -EBADF && ret != -EFAULT, c->name);
		CHECK_CASE(c->try_it() == ret, c->name);
	}
	CHECK_INT(count, 7);
	CHECK_INT(fds_opened_since(&before), 0);
}

/* Where no descriptor is left, every trial says so, and none is kept. */
static void calls_without_descriptors(void)
{
	int error;

	few_descriptors(1);
	for (const struct gi_probe_call *c = gi_probe_calls; c->name; c++)
		CHECK_CASE(c->try_it() == -EMFILE, c->name);
	CHECK_INT(gi_probe_vmsplice(&error), GI_VMSPLICE_FAILS);
	CHECK_INT(error, -EMFILE);
	CHECK_INT(gi_probe_vmsplice_to_memory(), -EMFILE);
	CHECK(gi_probe_barrier(false) < 0);
	CHECK(dup(0) >= 0); /* the one that was free is free still */
}

static void barrier(void)
{
	struct fds before = fds_now();
	int error, small = gi_probe_barrier(false), huge = gi_probe_barrier(true);

	CHECK(small <= 0 && huge <= 0);
	if (gi_probe_vmsplice(&error) != GI_VMSPLICE_ALIASES)
		CHECK(small < 0 && huge < 0); /* what is not shared needs no protection, and shows none */
	if (gi_huge_page_bytes() == 0)
		CHECK(huge < 0);
	CHECK_INT(fds_opened_since(&before), 0);
}

static bool is_power_of_two(size_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

static void pipes(void)
{
	struct fds before = fds_now();
	struct gi_probe_pipes p = { 0 };

	CHECK_INT(gi_probe_pipes(&p), 0);
	CHECK(is_power_of_two(p.default_bytes) && is_power_of_two(p.largest_bytes));
	CHECK(p.default_bytes >= gi_page_bytes() && p.largest_bytes >= p.default_bytes);
	CHECK(p.full_size_left <= GI_PROBE_PIPES_MOST);
	CHECK_INT(fds_opened_since(&before), 0);
}

/* A user's budget: what is held already is missing from what is left, and is given back. */
static void budget(void)
{
	struct gi_probe_pipes all, some;
	struct gi_pipe held[8];
	size_t capacity;
	int count = 0;

	CHECK_INT(gi_probe_pipes(&all), 0);
	while (count < 8 && gi_pipe_open(&held[count]) == 0 &&
		gi_pipe_grow(held[count].write_fd, 1 << 20, &capacity) == 0)
		count++;
	if (count < 8)
		SKIP("pipes of 1 MiB are not to be had here");
	CHECK_INT(gi_probe_pipes(&some), 0);
	CHECK(some.full_size_left <= all.full_size_left);
	if (number_in("/proc/sys/fs/pipe-user-pages-soft") * (long)gi_page_bytes() == 64 << 20)
		CHECK(some.full_size_left <= 64 - 8);
	while (count > 0)
		gi_pipe_close(&held[--count]);
	CHECK_INT(gi_probe_pipes(&some), 0);
	CHECK_INT(some.full_size_left, all.full_size_left);
}

static void budget_case(void)
{
	as_ordinary_user(budget);
}

static void no_pipe(void)
{
	struct gi_probe_pipes p = { .full_size_left = 77 };

	few_descriptors(1);
	CHECK_INT(gi_probe_pipes(&p), -EMFILE);
	CHECK_INT(p.full_size_left, 77);
}

static void no_pipe_case(void)
{
	in_child(no_pipe);
}

static void calls_without_descriptors_case(void)
{
	in_child(calls_without_descriptors);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(memory_to_pipe);
	TEST(calls);
	TEST(calls_without_descriptors_case);
	TEST(barrier);
	TEST(pipes);
	TEST(budget_case);
	TEST(no_pipe_case);
	return test_end();
}
