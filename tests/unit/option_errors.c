/* SPDX-License-Identifier: MIT */
/* tools/common/option.c: each usage error is one line that names the thing, and the table's exit status. */
#include "parsing.h"

#define HINT "; see 'test --help'\n"

struct bad {
	const char *args[8];
	const char *message;
};

static int parse_captured(const void *argument)
{
	const struct bad *c = argument;
	struct values values = { 0 };
	char *argv[10], line[200];
	int first;

	return option_parse(&table, make_argv(c->args, argv, line), argv, &values, &first);
}

static void check_bad(const struct bad *cases, size_t count)
{
	static struct captured got;
	char want[500];

	for (size_t i = 0; i < count; i++) {
		capture(parse_captured, &cases[i], &got);
		CHECK_INT(captured_exit(&got), USAGE_STATUS);
		snprintf(want, sizeof(want), "test: %s" HINT, cases[i].message);
		CHECK_TEXT(got.err, want);
		CHECK_TEXT(got.out, "");
	}
}

static void unknown(void)
{
	static const struct bad cases[] = {
		{ { "--nonsense" }, "unknown option '--nonsense'" },
		{ { "--nonsense=5" }, "unknown option '--nonsense'" },
		{ { "--verbosely" }, "unknown option '--verbosely'" },
		{ { "--Verbose" }, "unknown option '--Verbose'" },
		{ { "--buf size" }, "unknown option '--buf size'" },
		{ { "---" }, "unknown option '---'" },
		{ { "-x" }, "unknown option '-x'" },
		{ { "-vx" }, "unknown option '-x'" },
		{ { "-v-" }, "unknown option '--'" },
		{ { "-v=1" }, "unknown option '-='" },
		{ { "a", "-x", "b" }, "unknown option '-x'" },
		{ { "-q", "--no" }, "unknown option '--no'" },
	};

	check_bad(cases, COUNT(cases));
}

static void ambiguous(void)
{
	static const struct bad cases[] = {
		{ { "--ver" }, "option '--ver' is ambiguous" }, /* --verbose and --version */
		{ { "--v" }, "option '--v' is ambiguous" },
		{ { "--h" }, "option '--h' is ambiguous" }, /* --huge-page and --help */
		{ { "--coun=1" }, "option '--coun' is ambiguous" },
		{ { "--co", "1" }, "option '--co' is ambiguous" },
		{ { "--=1" }, "option '--' is ambiguous" },
	};

	check_bad(cases, COUNT(cases));
}

static void missing_values(void)
{
	static const struct bad cases[] = {
		{ { "--buf-size" }, "--buf-size needs a value (SIZE)" },
		{ { "--buf" }, "--buf-size needs a value (SIZE)" },
		{ { "-b" }, "--buf-size needs a value (SIZE)" },
		{ { "-vb" }, "--buf-size needs a value (SIZE)" },
		{ { "a", "--for" }, "--for needs a value (TIME)" },
		{ { "--text" }, "--text needs a value (TEXT)" },
		{ { "--rate" }, "--rate needs a value (RATE)" },
	};

	check_bad(cases, COUNT(cases));
}

static void values_for_flags(void)
{
	static const struct bad cases[] = {
		{ { "--verbose=1" }, "--verbose takes no value" },
		{ { "--verbose=" }, "--verbose takes no value" },
		{ { "--huge_page=true" }, "--huge-page takes no value" },
		{ { "--help=all" }, "--help takes no value" },
		{ { "--version=2" }, "--version takes no value" },
	};

	check_bad(cases, COUNT(cases));
}

#define NO_SIZE "is not a size such as 4096, 64K, 1M or 2GiB"

static void bad_sizes(void)
{
	static const struct bad cases[] = {
		{ { "--buf-size=-1" }, "--buf-size: '-1' " NO_SIZE },
		{ { "--buf-size=1Z" }, "--buf-size: '1Z' " NO_SIZE },
		{ { "--buf-size=9999999E" }, "--buf-size: '9999999E' is too large" },
		{ { "--buf-size=" }, "--buf-size: '' " NO_SIZE },
		{ { "--buf-size", "" }, "--buf-size: '' " NO_SIZE },
		{ { "--buf-size= 1" }, "--buf-size: ' 1' " NO_SIZE },
		{ { "--buf-size=+1" }, "--buf-size: '+1' " NO_SIZE },
		{ { "--buf-size=0x10" }, "--buf-size: '0x10' " NO_SIZE },
		{ { "--buf-size=1KiBx" }, "--buf-size: '1KiBx' " NO_SIZE },
		{ { "--buf-size=18446744073709551616" }, "--buf-size: '18446744073709551616' is too large" },
		{ { "--buf-size=9223372036854775808" }, "--buf-size: '9223372036854775808' is too large" },
		{ { "--buf-size=0" }, "--buf-size: '0' " NO_SIZE },
		{ { "--buf-size=0K" }, "--buf-size: '0K' " NO_SIZE },
		{ { "--buf-size=K" }, "--buf-size: 'K' " NO_SIZE },
		{ { "--buf-size=1.5K" }, "--buf-size: '1.5K' " NO_SIZE },
		{ { "--buf-size", "--verbose" }, "--buf-size: '--verbose' " NO_SIZE },
		{ { "-b-1" }, "--buf-size: '-1' " NO_SIZE },
		{ { "-b=1" }, "--buf-size: '=1' " NO_SIZE },
		{ { "-b", "-1" }, "--buf-size: '-1' " NO_SIZE },
	};

	check_bad(cases, COUNT(cases));
}

#define NO_RATE "is not bytes a second such as 500K, 10M or 1GiB/s"
#define NO_COUNT "is not a whole number, at least 1"
#define NO_TIME "is not a duration such as 200ms, 1.5s or 2m"

static void other_bad_values(void)
{
	static const struct bad cases[] = {
		{ { "--rate=0" }, "--rate: '0' " NO_RATE },
		{ { "--rate=-5/s" }, "--rate: '-5/s' " NO_RATE },
		{ { "--rate=5/m" }, "--rate: '5/m' " NO_RATE },
		{ { "--rate=" }, "--rate: '' " NO_RATE },
		{ { "--rate=9999E/s" }, "--rate: '9999E/s' is too large" },
		{ { "--count=0" }, "--count: '0' " NO_COUNT },
		{ { "--count=-1" }, "--count: '-1' " NO_COUNT },
		{ { "--count=1.5" }, "--count: '1.5' " NO_COUNT },
		{ { "--count=1K" }, "--count: '1K' " NO_COUNT },
		{ { "--count=" }, "--count: '' " NO_COUNT },
		{ { "--count=1000000001" }, "--count: '1000000001' is too large" },
		{ { "-c99999999999999999999" }, "--count: '99999999999999999999' is too large" },
		{ { "--for=0" }, "--for: '0' " NO_TIME },
		{ { "--for=0.1ns" }, "--for: '0.1ns' " NO_TIME },
		{ { "--for=-1s" }, "--for: '-1s' " NO_TIME },
		{ { "--for=1d" }, "--for: '1d' " NO_TIME },
		{ { "--for=" }, "--for: '' " NO_TIME },
		{ { "--for=99999999999h" }, "--for: '99999999999h' is too large" },
	};

	check_bad(cases, COUNT(cases));
}

static void first_error_wins(void)
{
	static const struct bad cases[] = {
		{ { "--nonsense", "--buf-size=0" }, "unknown option '--nonsense'" },
		{ { "--buf-size=0", "--help" }, "--buf-size: '0' " NO_SIZE },
		{ { "-x", "-y" }, "unknown option '-x'" },
		{ { "-xh" }, "unknown option '-x'" },
	};

	check_bad(cases, COUNT(cases));
}

static int parse_long_name(const void *unused)
{
	static char text[9000];
	const struct bad c = { { text }, NULL };

	(void)unused;
	memset(text, '-', 2);
	memset(text + 2, 'x', sizeof(text) - 3);
	return parse_captured(&c);
}

/* Cut, but the line still ends with the hint. */
static void long_arguments(void)
{
	static struct captured got;

	capture(parse_long_name, NULL, &got);
	CHECK_INT(captured_exit(&got), USAGE_STATUS);
	CHECK(is_one_line(got.err));
	CHECK(strlen(got.err) > strlen(HINT) && strstr(got.err, HINT) != NULL);
}

static int usage_error(const void *unused)
{
	(void)unused;
	return option_usage_error(&table, "%s and %d", "this", 7);
}

static void named_by_the_caller(void)
{
	static struct captured got;

	capture(usage_error, NULL, &got);
	CHECK_INT(captured_exit(&got), USAGE_STATUS);
	CHECK_TEXT(got.err, "test: this and 7" HINT);
}

int main(void)
{
	alarm(HANG_SECONDS);
	diag_set_program("test");
	TEST(unknown);
	TEST(ambiguous);
	TEST(missing_values);
	TEST(values_for_flags);
	TEST(bad_sizes);
	TEST(other_bad_values);
	TEST(first_error_wins);
	TEST(long_arguments);
	TEST(named_by_the_caller);
	return test_end();
}
