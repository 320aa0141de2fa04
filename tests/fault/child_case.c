/* SPDX-License-Identifier: MIT */
#include "child_case.h"

#include "harness.h"
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS_MOST 64
#define SHOWN_MOST 12 /* the first few tell what is wrong; hundreds hide it */

struct child_record *child_record;

unsigned child_open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < DESCRIPTORS_MOST; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

int child_setup(void)
{
	child_record =
		mmap(NULL, sizeof(*child_record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return child_record == MAP_FAILED ? -errno : 0;
}

bool child_judged(const char *wrong, unsigned hits)
{
	child_record->progress++;
	if (hits == 0)
		child_record->unreached++;
	else
		child_record->cases++;
	return wrong && child_record->bad++ < SHOWN_MOST;
}

/* Waits for the child as long as it gets on with its cases; its status, or -1: it hung. */
static int guard(pid_t child, int guard_ms)
{
	unsigned progress = child_record->progress;
	int status, idle_ms = 0;

	while (waitpid(child, &status, WNOHANG) == 0) {
		usleep(2000);
		idle_ms = progress == child_record->progress ? idle_ms + 2 : 0;
		progress = child_record->progress;
		if (idle_ms > guard_ms) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return -1;
		}
	}
	return status;
}

int child_run(void (*cases)(void), int guard_ms)
{
	pid_t child;

	memset(child_record, 0, sizeof(*child_record));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		cases();
		exit(0);
	}
	return guard(child, guard_ms);
}

static unsigned total_cases, total_unreached;

void child_test(void (*cases)(void), unsigned at_least, int guard_ms)
{
	int status = child_run(cases, guard_ms);

	if (!CHECK_INT(status, 0))
		printf("  %s in: %s\n", status < 0 ? "hung" : "died", child_record->current);
	CHECK_INT(child_record->bad, 0);
	if (child_record->not_here && child_record->bad == 0 && status == 0)
		SKIP("no transparent huge pages to be had");
	CHECK(child_record->cases >= at_least); /* fewer: the faults do not reach what they are meant for */
	total_cases += child_record->cases;
	total_unreached += child_record->unreached;
}

int child_end(void)
{
	printf("%u faults injected, %u more not reached\n", total_cases, total_unreached);
	return test_end();
}

enum child_verdict child_plant(const char *(*run)(const void *plant), const void *plant, int guard_ms)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		const char *wrong = run(plant);

		_exit(inject.hits == 0 ? CHILD_NEVER_TOLD : wrong ? CHILD_CAUGHT : CHILD_MISSED);
	}
	status = guard(child, guard_ms);
	if (status < 0)
		return CHILD_CAUGHT;
	return WIFEXITED(status) ? (enum child_verdict)WEXITSTATUS(status) : CHILD_DIED;
}

bool child_catches(const char *(*run)(const void *plant), const void *plant, const char *bug, int guard_ms)
{
	static const char *const words[] = { "caught", "not noticed", "never told", "the test itself died" };
	enum child_verdict verdict = child_plant(run, plant, guard_ms);

	if (verdict != CHILD_CAUGHT)
		printf("  %s: %s\n", bug, words[verdict]);
	return verdict == CHILD_CAUGHT;
}

void child_check_caught(size_t caught, size_t all)
{
	printf("planted bugs caught: %zu of %zu\n", caught, all);
	CHECK_INT(caught, all);
}
