/* SPDX-License-Identifier: MIT */
/* The one statistics module: medians and bootstrap intervals of small samples. */
#ifndef STATS_H
#define STATS_H

#include "json.h"

#include <stddef.h>
#include <stdint.h>

struct interval {
	double median, low, high;
};

/* Everywhere: values that are NaN are left out; NaN is the answer without any values, or without memory. */

/* Middle value, or the mean of the two middle ones. */
double stats_median(const double *values, size_t count);

/*
 * The median and its 95 % interval: percentile bootstrap, STATS_RESAMPLES resamples, from `seed` (the same
 * seed gives the same interval). With fewer than 6 values the interval is their
 * minimum and maximum, which holds the true median in 75 % of the cases for 3 values and 94 % for 5.
 */
#define STATS_RESAMPLES 2000
struct interval stats_interval(const double *values, size_t count, uint64_t seed);

/*
 * The same for a[i] / b[i], pairs measured in one round, so that what slows a whole round does not count.
 * Pairs with a NaN on either side, or b not above 0, are left out.
 */
struct interval stats_ratio_interval(const double *a, const double *b, size_t count, uint64_t seed);

/* xorshift64*: fast, repeatable, good enough to resample and to shuffle. *state must not be 0. */
uint64_t stats_random(uint64_t *state);
/* Puts 0 .. count-1 in random order. */
void stats_shuffle(size_t *order, size_t count, uint64_t *state);

/* An object with the three numbers; null for those that are NaN. */
void stats_json(struct json *j, const char *name, const struct interval *i);

#endif
