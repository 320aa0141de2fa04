/* SPDX-License-Identifier: MIT */
/* Runs the rows of a ladder: warm-up, rounds interleaved in random order, disturbed rounds run again. */
#ifndef CLIMB_H
#define CLIMB_H

#include "result.h"

struct climb_options {
	double budget_s; /* for all of it, on a quiet machine */
	double limit_s;	 /* past this no round of a further number starts; 0: none */
	bool verify;
	int signal_fd; /* readable: stop, keep what there is */
};

/*
 * Measures the rows of l that are ROW_OK so far; sets statuses, reasons and rounds, and time_per_round_s.
 * 0; -EINTR when signal_fd became readable (what there is stays); or -errno (-ENOMEM).
 */
int climb(struct ladder *l, const struct climb_options *options);

#endif
