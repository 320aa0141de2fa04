/* SPDX-License-Identifier: MIT */
#include "units.h"

#include "support.h"

#define UNTOUCHED 4711
#define K 1024ull

struct number {
	const char *text;
	int ret;
	uint64_t value;
};

static void check_numbers(
	const struct number *cases, size_t count, int (*parse)(const char *text, uint64_t *ret))
{
	for (size_t i = 0; i < count; i++) {
		uint64_t got = UNTOUCHED;

		CHECK_CASE(parse(cases[i].text, &got) == cases[i].ret, cases[i].text);
		CHECK_CASE(got == (cases[i].ret < 0 ? UNTOUCHED : cases[i].value), cases[i].text);
	}
}

static void sizes(void)
{
	static const struct number cases[] = {
		{ "0", 0, 0 },
		{ "1", 0, 1 },
		{ "4097", 0, 4097 },
		{ "0017", 0, 17 }, /* decimal, never octal */
		{ "17B", 0, 17 },
		{ "1K", 0, K },
		{ "1k", 0, K },
		{ "1KiB", 0, K },
		{ "1kiB", 0, K },
		{ "1KB", 0, 1000 },
		{ "1kB", 0, 1000 },
		{ "3M", 0, 3 * K * K },
		{ "3MiB", 0, 3 * K * K },
		{ "3MB", 0, 3000000 },
		{ "10G", 0, 10 * K * K * K },
		{ "10GB", 0, 10000000000 },
		{ "2T", 0, 2 * K * K * K * K },
		{ "2TB", 0, 2000000000000 },
		{ "2P", 0, 2 * K * K * K * K * K },
		{ "2PB", 0, 2000000000000000 },
		{ "7E", 0, 7 * K * K * K * K * K * K },
		{ "9EB", 0, 9000000000000000000 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "8191P", 0, 8191 * K * K * K * K * K },
		{ "0E", 0, 0 },
	};

	check_numbers(cases, COUNT(cases), parse_size);
}

static void sizes_too_large(void)
{
	static const struct number cases[] = {
		{ "8E", -ERANGE, 0 },
		{ "10EB", -ERANGE, 0 },
		{ "9999999E", -ERANGE, 0 },
		{ "8192P", -ERANGE, 0 },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "18446744073709551615", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "18446744073709551617K", -ERANGE, 0 },
		{ "99999999999999999999999999999999999999", -ERANGE, 0 },
		{ "9007199254740992K", -ERANGE, 0 },
	};

	check_numbers(cases, COUNT(cases), parse_size);
}

static void not_sizes(void)
{
	static const char *const texts[] = { "", " ", "-", "+", "-1", "+1", " 1", "1 ", "1 K", "\t1", "1\n",
		"K", "B", "KiB", "1Z", "1Y", "1b", "1m", "1g", "1KiBx", "1Kx", "1Ki", "1KI", "1iB", "1BB",
		"1KBB", "0x10", "0b1", "1e3", "1.5K", "1,000", "1_000", "1K/s", "/s", "inf", "nan",
		"18446744073709551616Z", "\xd9\xa1", "1\xc2\xa0K" };

	for (size_t i = 0; i < COUNT(texts); i++)
		check_numbers(&(struct number){ texts[i], -EINVAL, 0 }, 1, parse_size);
}

static void rates(void)
{
	static const struct number cases[] = {
		{ "0", 0, 0 },
		{ "500", 0, 500 },
		{ "500/s", 0, 500 },
		{ "10M", 0, 10 * K * K },
		{ "10M/s", 0, 10 * K * K },
		{ "1GiB/s", 0, K * K * K },
		{ "1GB/s", 0, 1000000000 },
		{ "8E/s", -ERANGE, 0 },
		{ "/s", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1s", -EINVAL, 0 },
		{ "1/", -EINVAL, 0 },
		{ "1/s/s", -EINVAL, 0 },
		{ "1/S", -EINVAL, 0 },
		{ "1 /s", -EINVAL, 0 },
		{ "-1/s", -EINVAL, 0 },
		{ "1/sK", -EINVAL, 0 },
		{ "1000000000000000000000000000000000000000000000000000000/s", -EINVAL, 0 },
	};

	check_numbers(cases, COUNT(cases), parse_rate);
}

static void counts(void)
{
	static const struct {
		const char *text;
		uint64_t max;
		int ret;
		uint64_t value;
	} cases[] = {
		{ "0", 10, 0, 0 },
		{ "10", 10, 0, 10 },
		{ "010", 10, 0, 10 },
		{ "11", 10, -ERANGE, 0 },
		{ "1", 0, -ERANGE, 0 },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999999", 10, -ERANGE, 0 },
		{ "", 10, -EINVAL, 0 },
		{ "-1", 10, -EINVAL, 0 },
		{ "+1", 10, -EINVAL, 0 },
		{ " 1", 10, -EINVAL, 0 },
		{ "1 ", 10, -EINVAL, 0 },
		{ "1K", 10000, -EINVAL, 0 },
		{ "1.0", 10, -EINVAL, 0 },
		{ "0x1", 10, -EINVAL, 0 },
		{ "18446744073709551616x", UINT64_MAX, -EINVAL, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t got = UNTOUCHED;

		CHECK_CASE(parse_count(cases[i].text, cases[i].max, &got) == cases[i].ret, cases[i].text);
		CHECK_CASE(got == (cases[i].ret < 0 ? UNTOUCHED : cases[i].value), cases[i].text);
	}
}

static void durations(void)
{
	static const struct {
		const char *text;
		int ret;
		int64_t ns;
	} cases[] = {
		{ "0", 0, 0 },
		{ "1", 0, 1000000000 },
		{ "1s", 0, 1000000000 },
		{ "1.5s", 0, 1500000000 },
		{ "1.5", 0, 1500000000 },
		{ ".5s", 0, 500000000 },
		{ "5.s", 0, 5000000000 },
		{ "200ms", 0, 200000000 },
		{ "0.2ms", 0, 200000 },
		{ "0.1", 0, 100000000 },
		{ "0.3", 0, 300000000 },
		{ "12us", 0, 12000 },
		{ "7ns", 0, 7 },
		{ "0.4ns", 0, 0 },
		{ "0.6ns", 0, 1 },
		{ "2m", 0, 120000000000 },
		{ "2min", 0, 120000000000 },
		{ "1h", 0, 3600000000000 },
		{ "1.25h", 0, 4500000000000 },
		{ "9000000000s", 0, 9000000000000000000 },
		{ "9000000001s", -ERANGE, 0 },
		{ "2500001h", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ ".s", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "+1s", -EINVAL, 0 },
		{ " 1s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1..5", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "0x1", -EINVAL, 0 },
		{ "1d", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1msx", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t got = UNTOUCHED;

		CHECK_CASE(parse_duration(cases[i].text, &got) == cases[i].ret, cases[i].text);
		CHECK_CASE(got == (cases[i].ret < 0 ? UNTOUCHED : cases[i].ns), cases[i].text);
	}
}

/* So many digits that their value is past all numbers. */
static void endless_digits(void)
{
	char text[2001];
	uint64_t number = UNTOUCHED;
	int64_t ns = UNTOUCHED;

	memset(text, '9', 2000);
	text[2000] = '\0';
	CHECK_INT(parse_size(text, &number), -ERANGE);
	CHECK_INT(parse_count(text, UINT64_MAX, &number), -ERANGE);
	CHECK_INT(parse_duration(text, &ns), -ERANGE);
	text[1] = '.';
	CHECK_INT(parse_duration(text, &ns), 0);
	CHECK_INT(ns, 10000000000);
	CHECK_INT(number, UNTOUCHED);
}

int main(void)
{
	TEST(sizes);
	TEST(sizes_too_large);
	TEST(not_sizes);
	TEST(rates);
	TEST(counts);
	TEST(durations);
	TEST(endless_digits);
	return test_end();
}
