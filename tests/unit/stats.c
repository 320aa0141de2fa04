/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include "harness.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define SERIES_MAX 256

static double uniform(uint64_t *state)
{
	return (double)(stats_random(state) >> 11) / 9007199254740992.0; /* 2^53 */
}

static void medians(void)
{
	const double one[] = { 7 }, odd[] = { 9, -1, 4 }, even[] = { 8, 1, 3, 2 }, tied[] = { 2, 2, 2, 9 };

	CHECK_NEAR(stats_median(one, 1), 7, 0);
	CHECK_NEAR(stats_median(odd, 3), 4, 0);
	CHECK_NEAR(stats_median(even, 4), 2.5, 0);
	CHECK_NEAR(stats_median(tied, 4), 2, 0);
	CHECK(even[0] == 8 && even[3] == 2); /* the input stays in order */
}

static void median_of_nothing(void)
{
	const double nothing[] = { NAN, NAN };
	struct interval i = stats_interval(NULL, 0, 1);

	CHECK(isnan(stats_median(NULL, 0)));
	CHECK(isnan(stats_median(nothing, 2)));
	CHECK(isnan(i.median) && isnan(i.low) && isnan(i.high));
	i = stats_interval(nothing, 2, 1);
	CHECK(isnan(i.median) && isnan(i.low) && isnan(i.high));
	i = stats_ratio_interval(NULL, NULL, 0, 1);
	CHECK(isnan(i.median) && isnan(i.low) && isnan(i.high));
}

static void median_of_extremes(void)
{
	const double large[] = { 1.7e308, 1.6e308 }, tiny[] = { 5e-324, 5e-324 };
	const double endless[] = { 1, INFINITY, 2, -INFINITY, 3 };
	struct interval i = stats_interval(endless, 5, 3);

	CHECK_NEAR(stats_median(large, 2), 1.65e308, 1e294);
	CHECK(stats_median(tiny, 2) == 5e-324);
	CHECK_NEAR(i.median, 2, 0);
	CHECK(i.low <= i.median && i.high >= i.median);
}

static void nan_is_left_out(void)
{
	const double with[] = { NAN, 5, 1, NAN, 3, 4, 2 }, without[] = { 5, 1, 3, 4, 2 };
	struct interval a = stats_interval(with, COUNT(with), 11),
			b = stats_interval(without, COUNT(without), 11);

	CHECK_NEAR(stats_median(with, COUNT(with)), 3, 0);
	CHECK(a.median == b.median && a.low == b.low && a.high == b.high);
}

static void few_values(void)
{
	const double one[] = { 4 }, two[] = { 9, 5 };
	struct interval i = stats_interval(one, 1, 1);

	CHECK(i.median == 4 && i.low == 4 && i.high == 4);
	i = stats_interval(two, 2, 1);
	CHECK(i.median == 7 && i.low == 5 && i.high == 9);
}

static void constant_series_has_no_width(void)
{
	double values[20];
	struct interval i;

	for (size_t k = 0; k < COUNT(values); k++)
		values[k] = 0.1;
	for (size_t n = 1; n <= COUNT(values); n++) {
		i = stats_interval(values, n, n);
		CHECK(i.median == 0.1 && i.low == 0.1 && i.high == 0.1);
	}
}

static void fill(double *values, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		values[i] = 100 * uniform(state);
}

static void interval_lies_around_the_median(void)
{
	double values[40], low, high;
	uint64_t state = 5;

	for (size_t n = 3; n <= COUNT(values); n++) {
		struct interval i;

		fill(values, n, &state);
		i = stats_interval(values, n, n);
		low = high = values[0];
		for (size_t k = 1; k < n; k++) {
			low = values[k] < low ? values[k] : low;
			high = values[k] > high ? values[k] : high;
		}
		CHECK(i.median == stats_median(values, n));
		CHECK(low <= i.low && i.low <= i.median && i.median <= i.high && i.high <= high);
		CHECK(i.low < i.high);
	}
}

static void seed_decides(void)
{
	double values[30];
	uint64_t state = 77;
	struct interval a, b;
	int differ = 0;

	fill(values, COUNT(values), &state);
	for (uint64_t seed = 0; seed < 20; seed++) {
		a = stats_interval(values, COUNT(values), seed);
		b = stats_interval(values, COUNT(values), seed);
		CHECK(a.low == b.low && a.high == b.high);
		b = stats_interval(values, COUNT(values), seed + 1);
		differ += a.low != b.low || a.high != b.high;
	}
	CHECK(differ > 0);
	a = stats_interval(values, COUNT(values), UINT64_MAX); /* the seed that could make the state 0 */
	CHECK(a.low < a.high);
}

/* Mean width over 20 samples. */
static double mean_width(size_t count, uint64_t *state)
{
	double values[SERIES_MAX], sum = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct interval i;

		fill(values, count, state);
		i = stats_interval(values, count, seed);
		sum += i.high - i.low;
	}
	return sum / 20;
}

static void larger_samples_narrow_it(void)
{
	uint64_t state = 9;
	double small = mean_width(8, &state), medium = mean_width(40, &state),
	       large = mean_width(200, &state);

	CHECK(medium < 0.75 * small);
	CHECK(large < 0.75 * medium);
	CHECK(large > 0);
}

/* The mark of a 95 % interval. Skewed, as times are: the cube of a uniform number, whose median is 1/8. */
static int covered(size_t count, int samples, uint64_t *state)
{
	double values[SERIES_MAX];
	int hits = 0;

	for (int s = 0; s < samples; s++) {
		struct interval i;

		for (size_t k = 0; k < count; k++) {
			double u = uniform(state);

			values[k] = u * u * u;
		}
		i = stats_interval(values, count, (uint64_t)s);
		hits += i.low <= 0.125 && 0.125 <= i.high;
	}
	return hits;
}

static void interval_covers_the_true_median(void)
{
	static const size_t counts[] = { 10, 15, 31, 100 };
	uint64_t state = 2024;

	for (size_t i = 0; i < COUNT(counts); i++) {
		int hits = covered(counts[i], 400, &state);

		if (!CHECK(hits >= 360 && hits <= 392)) /* 90 to 98 % */
			printf("  %zu values: %d of 400\n", counts[i], hits);
	}
}

static void ratio_cancels_a_slow_round(void)
{
	double a[15], b[15];
	uint64_t state = 3;
	struct interval i;

	for (size_t k = 0; k < COUNT(a); k++) {
		double slowdown = 1 + 9 * uniform(&state);

		a[k] = 30 * slowdown;
		b[k] = 20 * slowdown;
	}
	i = stats_interval(a, COUNT(a), 1);
	CHECK(i.high - i.low > 30); /* each alone is all over the place */
	i = stats_ratio_interval(a, b, COUNT(a), 1);
	CHECK_NEAR(i.median, 1.5, 1e-12);
	CHECK_NEAR(i.low, 1.5, 1e-12);
	CHECK_NEAR(i.high, 1.5, 1e-12);
}

static void ratio_leaves_bad_pairs_out(void)
{
	const double a[] = { 2, NAN, 4, 6, 99, 99, 8, INFINITY, 10 };
	const double b[] = { 1, 1, 2, NAN, 0, -1, 2, INFINITY, 2 };
	const double left[] = { 2, 2, 4, 5 };
	struct interval got = stats_ratio_interval(a, b, COUNT(a), 8),
			want = stats_interval(left, COUNT(left), 8);

	CHECK_NEAR(got.median, 3, 0);
	CHECK(got.low == want.low && got.high == want.high);
	got = stats_ratio_interval(a + 4, b + 4, 2, 8);
	CHECK(isnan(got.median) && isnan(got.low) && isnan(got.high));
}

static void random_repeats_and_moves(void)
{
	uint64_t a = 42, b = 42, previous = 0;
	int ones = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t number = stats_random(&a);

		CHECK(number == stats_random(&b) && number != previous);
		ones += __builtin_popcountll(number);
		previous = number;
	}
	CHECK_NEAR(ones, 32000, 600);
}

static void shuffle_is_a_permutation(void)
{
	size_t order[50];
	uint64_t state = 1;

	for (size_t n = 0; n <= COUNT(order); n++) {
		unsigned char seen[COUNT(order)] = { 0 };
		size_t once = 0;

		stats_shuffle(order, n, &state);
		for (size_t i = 0; i < n; i++)
			if (CHECK(order[i] < n))
				seen[order[i]]++;
		for (size_t i = 0; i < n; i++)
			once += seen[i] == 1;
		CHECK_INT(once, n);
	}
}

/* Each of the 24 orders of 4: 24000 runs, 1000 expected of each, standard deviation 31. */
static void shuffle_is_even(void)
{
	int seen[256] = { 0 }, orders = 0;
	uint64_t state = 6;
	size_t order[4];

	for (int run = 0; run < 24000; run++) {
		stats_shuffle(order, 4, &state);
		seen[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
	}
	for (size_t i = 0; i < COUNT(seen); i++) {
		if (seen[i] == 0)
			continue;
		orders++;
		CHECK_NEAR(seen[i], 1000, 155);
	}
	CHECK_INT(orders, 24);
}

int main(void)
{
	TEST(medians);
	TEST(median_of_nothing);
	TEST(median_of_extremes);
	TEST(nan_is_left_out);
	TEST(few_values);
	TEST(constant_series_has_no_width);
	TEST(interval_lies_around_the_median);
	TEST(seed_decides);
	TEST(larger_samples_narrow_it);
	TEST(interval_covers_the_true_median);
	TEST(ratio_cancels_a_slow_round);
	TEST(ratio_leaves_bad_pairs_out);
	TEST(random_repeats_and_moves);
	TEST(shuffle_is_a_permutation);
	TEST(shuffle_is_even);
	return test_end();
}
