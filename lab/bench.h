/* SPDX-License-Identifier: MIT */
/* What can be measured by `gush bench`: rows, one of which others are compared with. */
#ifndef BENCH_H
#define BENCH_H

#include "flow.h"
#include "placement.h"

#include <stddef.h>
#include <stdint.h>

#define BENCH_GIB ((double)(1 << 30))

struct bench_row {
	const char *from, *to, *way;
	double unit; /* what the rate counts, in `bytes` of the figures: BENCH_GIB, or 1 for a count */
	size_t base; /* the row that this one is compared with */
};

struct bench_subject {
	const char *name; /* `gush bench NAME`, and the key of the rows in the JSON */
	const char *usage, *summary;
	const char *base; /* what rows are compared with, in words */
	/* Takes operands; NULL: there are none. 0, or -errno with the one that is wrong. */
	int (*begin)(int count, char **operands, const char **ret_wrong);
	size_t (*count)(void); /* rows */
	void (*describe)(size_t index, struct bench_row *ret_row);
	/* Runs one row once, for about that long after a warm-up. */
	struct flow_figures (*run)(size_t index, const struct placement *placement, int64_t time_ns);
};

extern const struct bench_subject bench_transfers, bench_producers, bench_tools;

#endif
