/* SPDX-License-Identifier: MIT */
/*
 * Cases of the fault tests in a child, so that a crash, a hang or a loop without end names its case and
 * spares the others.
 */
#ifndef CHILD_CASE_H
#define CHILD_CASE_H

#include <stdbool.h>
#include <stddef.h>

/* Shared with the child that runs the cases. */
struct child_record {
	unsigned cases, unreached, bad;
	volatile unsigned progress;
	bool not_here; /* what the cases need */
	char current[240];
};
extern struct child_record *child_record;

/* Of this process: to see that none was left. */
unsigned child_open_descriptors(void);

int child_setup(void); /* once, before all else; 0 or -errno */

/* One case has been run; NULL: all was right. hits: faults that happened in it. True: its details are worth a
 * line. */
bool child_judged(const char *wrong, unsigned hits);

/*
 * Runs the cases; child_record then tells how they went. The exit status as of waitpid, 0: well; -1: hung: no
 * new case for guard_ms, asleep or busy.
 */
int child_run(void (*cases)(void), int guard_ms);

/* One test of a program: runs the cases and checks that all were right, and `at_least` so many reached. */
void child_test(void (*cases)(void), unsigned at_least, int guard_ms);
/* Prints what the tests came to, all of them; what main returns. */
int child_end(void);

/* A planted bug, judged in a child by the same judgement. CAUGHT too: it hung. */
enum child_verdict { CHILD_CAUGHT, CHILD_MISSED, CHILD_NEVER_TOLD, CHILD_DIED };
enum child_verdict child_plant(const char *(*run)(const void *plant), const void *plant, int guard_ms);
/* Whether it was caught; says so if not, naming it as `bug`. */
bool child_catches(const char *(*run)(const void *plant), const void *plant, const char *bug, int guard_ms);
/* Prints and checks how many were. */
void child_check_caught(size_t caught, size_t all);

#endif
