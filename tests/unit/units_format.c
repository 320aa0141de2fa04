/* SPDX-License-Identifier: MIT */
/* tools/common/units.c: from numbers to text, and back. */
#include "support.h"
#include "units.h"

#define K 1024ull

static void exact_sizes(void)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0B" },
		{ 1, "1B" },
		{ 1023, "1023B" },
		{ 1024, "1KiB" },
		{ 1025, "1025B" },
		{ 4097, "4097B" },
		{ 256 * K, "256KiB" },
		{ K * K, "1MiB" },
		{ 1536 * K, "1536KiB" },
		{ 10 * K * K * K, "10GiB" },
		{ K * K * K * K, "1024GiB" },
		{ UINT64_MAX, "18446744073709551615B" },
	};
	char text[UNITS_TEXT];

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_TEXT(format_size(cases[i].bytes, text), cases[i].text);
}

static void check_round_trip(uint64_t bytes)
{
	char text[UNITS_TEXT], rate[UNITS_TEXT + 2];
	uint64_t back = 0;

	CHECK_CASE(parse_size(format_size(bytes, text), &back) == 0 && back == bytes, text);
	snprintf(rate, sizeof(rate), "%s/s", text);
	CHECK_CASE(parse_rate(rate, &back) == 0 && back == bytes, rate);
}

static void round_trips(void)
{
	uint64_t random = 88172645463325252;

	for (int shift = 0; shift < 63; shift++) {
		check_round_trip(1ull << shift);
		check_round_trip((1ull << shift) - 1);
		check_round_trip((1ull << shift) + 1);
	}
	for (int i = 0; i < 1000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		check_round_trip((random & INT64_MAX) >> i % 63);
	}
	check_round_trip(INT64_MAX);
}

static void about(void)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 17, "17 B" },
		{ 999, "999 B" },
		{ 999.4, "999 B" },
		{ 1000, "0.98 KiB" },
		{ 1024, "1.00 KiB" },
		{ 1.23 * 1024, "1.23 KiB" },
		{ 9.99 * 1024, "9.99 KiB" },
		{ 9.999 * 1024, "10.0 KiB" },
		{ 12.34 * 1024, "12.3 KiB" },
		{ 99.94 * 1024, "99.9 KiB" },
		{ 99.96 * 1024, "100 KiB" },
		{ 123.4 * 1024, "123 KiB" },
		{ 1.23 * 1073741824, "1.23 GiB" },
		{ 54 * 1073741824.0, "54.0 GiB" },
		{ 1099511627776.0, "1.00 TiB" },
		{ 1125899906842624.0, "1.00 PiB" },
		{ 1152921504606846976.0, "1.00 EiB" },
		{ 18446744073709551616.0, "16.0 EiB" },
	};
	char text[UNITS_TEXT];

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_TEXT(format_about(cases[i].bytes, text), cases[i].text);
}

static void about_is_short_and_never_cut(void)
{
	char text[UNITS_TEXT];

	for (double bytes = 1; bytes < 1e21; bytes *= 1.01)
		CHECK(strlen(format_about(bytes, text)) <= 8);
}

static void durations(void)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {
		{ 0, "0 ms" },
		{ 0.0004, "0 ms" },
		{ 0.012, "12 ms" },
		{ 0.9994, "999 ms" },
		{ 0.9996, "1.0 s" },
		{ 1, "1.0 s" },
		{ 1.5, "1.5 s" },
		{ 9.94, "9.9 s" },
		{ 9.96, "10 s" },
		{ 42, "42 s" },
		{ 119.4, "119 s" },
		{ 119.6, "1 min 59 s" },
		{ 120, "2 min 0 s" },
		{ 123, "2 min 3 s" },
		{ 3600, "60 min 0 s" },
		{ 360000, "6000 min 0 s" },
	};
	char text[UNITS_TEXT];

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_TEXT(format_duration(cases[i].seconds, text), cases[i].text);
}

int main(void)
{
	TEST(exact_sizes);
	TEST(round_trips);
	TEST(about);
	TEST(about_is_short_and_never_cut);
	TEST(durations);
	return test_end();
}
