/* SPDX-License-Identifier: MIT */
#include "parsing.h"

/* What an argument list must come to. */
struct good {
	const char *args[8];
	struct values want;
	const char *operands; /* with a comma behind each */
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same(const struct values *a, const struct values *b)
{
	return a->verbose == b->verbose && a->quiet == b->quiet && a->huge == b->huge && a->size == b->size &&
	       a->rate == b->rate && a->count == b->count && a->duration_ns == b->duration_ns &&
	       same_text(a->text, b->text);
}

static void check_good(const struct good *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct values got = { 0 };
		char operands[200] = "", line[200];
		int first = -1, argc, ret;
		char *argv[10];

		argc = make_argv(cases[i].args, argv, line);
		ret = option_parse(&table, argc, argv, &got, &first);
		CHECK_CASE(ret == OPTION_DONE, line);
		CHECK_CASE(same(&got, &cases[i].want), line);
		for (int a = first; a >= 0 && a < argc; a++)
			snprintf(operands + strlen(operands), sizeof(operands) - strlen(operands), "%s,",
				argv[a]);
		CHECK_TEXT(operands, cases[i].operands ? cases[i].operands : "");
	}
}

static void long_options(void)
{
	static const struct good cases[] = {
		{ { NULL }, { 0 }, "" },
		{ { "--verbose" }, { .verbose = true }, "" },
		{ { "--buf-size=64K" }, { .size = 65536 }, "" },
		{ { "--buf-size", "64K" }, { .size = 65536 }, "" },
		{ { "--rate=1M/s" }, { .rate = 1 << 20 }, "" },
		{ { "--count", "1000000000" }, { .count = 1000000000 }, "" },
		{ { "--for=1.5s" }, { .duration_ns = 1500000000 }, "" },
		{ { "--text=" }, { .text = "" }, "" },
		{ { "--text", "" }, { .text = "" }, "" },
		{ { "--text=a=b" }, { .text = "a=b" }, "" },
		{ { "--text", "--verbose" }, { .text = "--verbose" }, "" }, /* a value is a value */
		{ { "--text", "--" }, { .text = "--" }, "" },
		{ { "--buf-size=1", "--buf-size=2" }, { .size = 2 }, "" },
		{ { "--verbose", "--verbose" }, { .verbose = true }, "" },
	};

	check_good(cases, COUNT(cases));
}

static void underscores(void)
{
	static const struct good cases[] = {
		{ { "--buf_size=1" }, { .size = 1 }, "" }, { { "--huge_page" }, { .huge = true }, "" },
		{ { "--huge_pa" }, { .huge = true }, "" },
		{ { "--text=a_b" }, { .text = "a_b" }, "" }, /* in names only */
	};

	check_good(cases, COUNT(cases));
}

static void cut_short(void)
{
	static const struct good cases[] = {
		{ { "--verb" }, { .verbose = true }, "" }, { { "--b=3" }, { .size = 3 }, "" },
		{ { "--buf", "3" }, { .size = 3 }, "" }, { { "--q" }, { .quiet = true }, "" },
		{ { "--f=1s" }, { .duration_ns = 1000000000 }, "" }, { { "--hu" }, { .huge = true }, "" },
		{ { "--te", "x" }, { .text = "x" }, "" },
		{ { "--count=1" }, { .count = 1 }, "" }, /* exact, though --counter begins so too */
	};

	check_good(cases, COUNT(cases));
}

static void letters(void)
{
	static const struct good cases[] = {
		{ { "-v" }, { .verbose = true }, "" },
		{ { "-vq" }, { .verbose = true, .quiet = true }, "" },
		{ { "-v", "-q" }, { .verbose = true, .quiet = true }, "" },
		{ { "-b64" }, { .size = 64 }, "" },
		{ { "-b", "64" }, { .size = 64 }, "" },
		{ { "-vqb64" }, { .verbose = true, .quiet = true, .size = 64 }, "" },
		{ { "-vb", "64", "-q" }, { .verbose = true, .quiet = true, .size = 64 }, "" },
		{ { "-tv" }, { .text = "v" }, "" },
		{ { "-t", "-v" }, { .text = "-v" }, "" },
		{ { "-t=v" }, { .text = "=v" }, "" },
	};

	check_good(cases, COUNT(cases));
}

static void operands(void)
{
	static const struct good cases[] = {
		{ { "a", "b", "c" }, { 0 }, "a,b,c," },
		{ { "a", "--verbose", "b" }, { .verbose = true }, "a,b," },
		{ { "a", "-b", "5", "b", "-q", "c" }, { .size = 5, .quiet = true }, "a,b,c," },
		{ { "-q", "a", "b" }, { .quiet = true }, "a,b," },
		{ { "a", "b", "--count=7" }, { .count = 7 }, "a,b," },
		{ { "-" }, { 0 }, "-," },
		{ { "a", "-", "-v", "b" }, { .verbose = true }, "a,-,b," },
		{ { "" }, { 0 }, "," },
		{ { "--" }, { 0 }, "" },
		{ { "--", "-v", "--verbose" }, { 0 }, "-v,--verbose," },
		{ { "-v", "--", "--", "-" }, { .verbose = true }, "--,-," },
		{ { "a", "--", "-q", "b" }, { 0 }, "a,-q,b," },
		{ { "a", "-v", "--", "b", "--count" }, { .verbose = true }, "a,b,--count," },
	};

	check_good(cases, COUNT(cases));
}

static void no_arguments_at_all(void)
{
	struct values got = { 0 };
	char *argv[] = { NULL };
	int first = -1;

	CHECK_INT(option_parse(&table, 0, argv, &got, &first), OPTION_DONE);
	CHECK_INT(first, 0);
}

/* The rest of the struct is not written to. */
static void defaults_stay(void)
{
	static const char *const args[] = { "--quiet", NULL };
	struct values got = { .size = 11, .rate = 12, .count = 13, .duration_ns = 14, .text = "given" };
	char *argv[10], line[200];
	int first;

	CHECK_INT(option_parse(&table, make_argv(args, argv, line), argv, &got, &first), OPTION_DONE);
	CHECK(got.size == 11 && got.rate == 12 && got.count == 13 && got.duration_ns == 14);
	CHECK_TEXT(got.text, "given");
	CHECK(got.quiet && !got.verbose);
}

static int parse_captured(const void *argument)
{
	const char *const *args = argument;
	struct values got = { 0 };
	char *argv[10], line[200];
	int first;

	return option_parse(&table, make_argv(args, argv, line), argv, &got, &first);
}

static struct captured got;

static void help(void)
{
	static const char *const calls[][8] = { { "--help" }, { "-h" }, { "--he" }, { "-vh" },
		{ "a", "--help" }, { "--help", "--no-such-option" } };

	for (size_t i = 0; i < COUNT(calls); i++) {
		capture(parse_captured, calls[i], &got);
		CHECK_INT(captured_exit(&got), 0);
		CHECK_TEXT(got.err, "");
		CHECK(strncmp(got.out, "Usage: test [OPTION]...\nIt is tested.\n\n", 39) == 0);
		CHECK(strstr(got.out, "\n  -v, --verbose ") != NULL);
		CHECK(strstr(got.out, "\n  -b, --buf-size=SIZE ") != NULL);
		CHECK(strstr(got.out, "\n      --rate=RATE ") != NULL);
		CHECK(strstr(got.out, "\n  -h, --help ") != NULL);
		CHECK(strstr(got.out, "\n      --version ") != NULL);
		CHECK(strstr(got.out, "\n\nThe footer.\n") != NULL);
	}
}

static void version(void)
{
	static const char *const calls[][8] = { { "--version" }, { "--vers" }, { "--count=1", "--version" } };

	for (size_t i = 0; i < COUNT(calls); i++) {
		capture(parse_captured, calls[i], &got);
		CHECK_INT(captured_exit(&got), 0);
		CHECK_TEXT(got.out, "gush " GUSH_VERSION "\n");
		CHECK_TEXT(got.err, "");
	}
}

static int parse_to_full(const void *argument)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	dup2(full, STDOUT_FILENO);
	return parse_captured(argument);
}

static void help_to_a_full_disk(void)
{
	static const char *const calls[][8] = { { "--help" }, { "--version" } };

	for (size_t i = 0; i < COUNT(calls); i++) {
		capture(parse_to_full, calls[i], &got);
		CHECK_INT(captured_exit(&got), 1);
		CHECK(is_one_line(got.err) && strstr(got.err, "standard output"));
	}
}

int main(void)
{
	alarm(HANG_SECONDS);
	diag_set_program("test");
	TEST(long_options);
	TEST(underscores);
	TEST(cut_short);
	TEST(letters);
	TEST(operands);
	TEST(no_arguments_at_all);
	TEST(defaults_stay);
	TEST(help);
	TEST(version);
	TEST(help_to_a_full_disk);
	return test_end();
}
