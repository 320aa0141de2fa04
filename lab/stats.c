/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of fewer, the resamples are so alike that the interval would be narrower than it says. */
#define LEAST_TO_RESAMPLE 6

#define TAIL (STATS_RESAMPLES / 40) /* 2.5 % of the resamples lie beyond each end */

struct sample {
	double *values;
	size_t count;
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* An order needs numbers that compare: a NaN, the mark of a round that failed, is left out. */
static struct sample sorted_sample(const double *values, size_t count)
{
	struct sample s = { 0 };

	if (count == 0)
		return s;
	s.values = calloc(count, sizeof(*s.values));
	if (!s.values)
		return s;
	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			s.values[s.count++] = values[i];
	qsort(s.values, s.count, sizeof(*s.values), ascending);
	return s;
}

/* Halves first: the sum of two large numbers may be no number. */
static double middle(double a, double b)
{
	return a == b ? a : a / 2 + b / 2;
}

static double sample_median(const struct sample *s)
{
	if (s->count == 0)
		return NAN;
	return middle(s->values[(s->count - 1) / 2], s->values[s->count / 2]);
}

double stats_median(const double *values, size_t count)
{
	struct sample s = sorted_sample(values, count);
	double median = sample_median(&s);

	free(s.values);
	return median;
}

uint64_t stats_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/* 0 .. bound-1. The high bits, which are the better ones; uneven by no more than bound / 2^32. */
static size_t random_below(uint64_t *state, size_t bound)
{
	uint64_t number = stats_random(state);

	return (size_t)(bound <= UINT32_MAX ? (number >> 32) * bound >> 32 : number % bound);
}

/* Seeds are small and alike (1, 2, 3); their first numbers must not be. */
static uint64_t state_of_seed(uint64_t seed)
{
	seed = (seed + 1) * 0x9e3779b97f4a7c15u;
	seed = (seed ^ seed >> 32) * 0x2545f4914f6cdd1du;
	seed ^= seed >> 29;
	return seed ? seed : 1;
}

void stats_shuffle(size_t *order, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++) {
		size_t other = random_below(state, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

/* The value at `rank` of a resample that took the i-th value drawn[i] times. */
static double value_at(const struct sample *s, const size_t *drawn, size_t rank)
{
	size_t i = 0;

	while (rank >= drawn[i])
		rank -= drawn[i++];
	return s->values[i];
}

/* Since the sample is sorted, how often each value was taken tells the median: nothing to sort again. */
static double resample_median(const struct sample *s, size_t *drawn, uint64_t *state)
{
	memset(drawn, 0, s->count * sizeof(*drawn));
	for (size_t i = 0; i < s->count; i++)
		drawn[random_below(state, s->count)]++;
	return middle(value_at(s, drawn, (s->count - 1) / 2), value_at(s, drawn, s->count / 2));
}

static void bootstrap(const struct sample *s, uint64_t seed, struct interval *ret)
{
	double medians[STATS_RESAMPLES];
	uint64_t state = state_of_seed(seed);
	size_t *drawn = calloc(s->count, sizeof(*drawn));

	ret->low = ret->high = NAN;
	if (!drawn)
		return;
	for (size_t i = 0; i < STATS_RESAMPLES; i++)
		medians[i] = resample_median(s, drawn, &state);
	free(drawn);
	qsort(medians, STATS_RESAMPLES, sizeof(*medians), ascending);
	ret->low = medians[TAIL - 1];
	ret->high = medians[STATS_RESAMPLES - TAIL];
}

struct interval stats_interval(const double *values, size_t count, uint64_t seed)
{
	struct interval ret = { NAN, NAN, NAN };
	struct sample s = sorted_sample(values, count);

	if (s.count > 0)
		ret = (struct interval){ sample_median(&s), s.values[0], s.values[s.count - 1] };
	if (s.count >= LEAST_TO_RESAMPLE)
		bootstrap(&s, seed, &ret);
	free(s.values);
	return ret;
}

struct interval stats_ratio_interval(const double *a, const double *b, size_t count, uint64_t seed)
{
	struct interval ret = { NAN, NAN, NAN };
	double *ratios = count > 0 ? calloc(count, sizeof(*ratios)) : NULL;

	if (!ratios)
		return ret;
	for (size_t i = 0; i < count; i++)
		ratios[i] = b[i] > 0 ? a[i] / b[i] : NAN;
	ret = stats_interval(ratios, count, seed);
	free(ratios);
	return ret;
}

void stats_json(struct json *j, const char *name, const struct interval *i)
{
	json_open(j, name, '{');
	json_double(j, "median", i->median);
	json_double(j, "low", i->low);
	json_double(j, "high", i->high);
	json_close(j);
}
