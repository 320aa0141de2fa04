/* SPDX-License-Identifier: MIT */
/*
 * One round of one step: the processes are started and pinned, prepare, and wait for each other; they warm
 * up; then the clock runs until so many bytes came through. What preparing costs is not in the figures.
 */
#ifndef ROUND_H
#define ROUND_H

#include "step.h"

#include <stdbool.h>
#include <stdint.h>

enum round_end {
	ROUND_DONE,
	ROUND_CUT,	/* the time was over; the figures are those of what it reached */
	ROUND_NOT_HERE, /* this machine, user or sandbox cannot do it */
	ROUND_FAILED,
	ROUND_INTERRUPTED, /* a signal for us */
};

struct round_plan {
	const struct step *step;
	const struct placement *placement;
	uint64_t warm_up_bytes, bytes; /* bytes: after the warm-up; 0: as many as come in the time */
	int64_t time_ns;	       /* for warm-up and measurement together; then it is cut */
	bool check;		       /* look at the contents: slower, its figures mean nothing */
	int signal_fd;		       /* readable when we are to stop */
};

struct round_figures {
	double seconds;
	uint64_t bytes;
	double cpu_s;				/* of both ends */
	uint64_t switches, preemptions, faults; /* of both ends */
	uint64_t checked_bytes, bad_bytes;
};

struct round_result {
	enum round_end end;
	struct round_figures figures; /* DONE and CUT */
	char reason[240];	      /* otherwise */
};

void round_run(const struct round_plan *plan, struct round_result *ret);

#endif
