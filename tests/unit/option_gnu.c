/* SPDX-License-Identifier: MIT */
/* tools/common/option.c, OPTION_GNU: what getopt_long says and takes, word for word. */
#include "parsing.h"

struct gnu_values {
	bool number, number_nonblank, all, unbuffered, stable;
	const char *mode, *text;
};

#define GNU_AT(member) offsetof(struct gnu_values, member)

static const struct option_spec gnu_specs[] = {
	{ "number-nonblank", 'b', OPTION_FLAG, GNU_AT(number_nonblank), NULL, "number some" },
	{ "number", 'n', OPTION_FLAG, GNU_AT(number), NULL, "number all" },
	{ "show-all", 'A', OPTION_FLAG, GNU_AT(all), NULL, "show" },
	{ "text", 't', OPTION_TEXT, GNU_AT(text), "TEXT", "these words" },
	{ "mode", 'm', OPTION_MODE, GNU_AT(mode), "MODE", "perhaps how" },
	{ "", 'u', OPTION_FLAG, GNU_AT(unbuffered), NULL, "a letter only" },
	{ 0 },
};

static const struct option_spec gnu_additions[] = {
	{ "stable", 0, OPTION_FLAG, GNU_AT(stable), NULL, "not in the replaced tool" },
	{ 0 },
};

static const char *const gnu_modes[] = { "warn", "warn-nopipe", "exit", NULL };

static const struct option_table gnu_table = {
	.usage = "test [OPTION]...",
	.summary = "It is tested.",
	.options = gnu_specs,
	.additions = gnu_additions,
	.modes = gnu_modes,
	.usage_status = USAGE_STATUS,
	.style = OPTION_GNU,
};

struct bad {
	const char *args[8];
	const char *message;
};

static int parse_captured(const void *argument)
{
	const struct bad *c = argument;
	struct gnu_values values = { 0 };
	char *argv[10], line[200];
	int first;

	return option_parse(&gnu_table, make_argv(c->args, argv, line), argv, &values, &first);
}

static struct captured got;

static void check_bad(const struct bad *cases, size_t count)
{
	char want[500];

	for (size_t i = 0; i < count; i++) {
		capture(parse_captured, &cases[i], &got);
		CHECK_INT(captured_exit(&got), USAGE_STATUS);
		snprintf(want, sizeof(want), "test: %s\nTry 'test --help' for more information.\n",
			cases[i].message);
		CHECK_TEXT(got.err, want);
		CHECK_TEXT(got.out, "");
	}
}

static void unknown(void)
{
	static const struct bad cases[] = {
		{ { "-x" }, "invalid option -- 'x'" },
		{ { "-nx" }, "invalid option -- 'x'" },
		{ { "-h" }, "invalid option -- 'h'" }, /* ours only */
		{ { "-n-" }, "invalid option -- '-'" },
		{ { "a", "-Z", "b" }, "invalid option -- 'Z'" },
		{ { "--foo" }, "unrecognized option '--foo'" },
		{ { "--foo=3" }, "unrecognized option '--foo=3'" },
		{ { "---" }, "unrecognized option '---'" },
		{ { "--numbers" }, "unrecognized option '--numbers'" },
		{ { "--show_all" }, "unrecognized option '--show_all'" }, /* '_' is ours only */
		{ { "--u" }, "unrecognized option '--u'" },
		{ { "--sta" }, "unrecognized option '--sta'" }, /* an addition is not cut short */
		{ { "-x", "--foo" }, "invalid option -- 'x'" },
	};

	check_bad(cases, COUNT(cases));
}

static void ambiguous(void)
{
	static const struct bad cases[] = {
		{ { "--n" }, "option '--n' is ambiguous; possibilities: '--number-nonblank' '--number'" },
		{ { "--num=3" },
			"option '--num=3' is ambiguous; possibilities: '--number-nonblank' '--number'" },
		{ { "--=1" }, "option '--=1' is ambiguous; possibilities: '--number-nonblank' '--number' "
			      "'--show-all' '--text' '--mode' '--help' '--version'" },
	};

	check_bad(cases, COUNT(cases));
}

static void values(void)
{
	static const struct bad cases[] = {
		{ { "--number=1" }, "option '--number' doesn't allow an argument" },
		{ { "--show=" }, "option '--show-all' doesn't allow an argument" },
		{ { "--stable=1" }, "option '--stable' doesn't allow an argument" },
		{ { "--help=1" }, "option '--help' doesn't allow an argument" },
		{ { "--v=1" }, "option '--version' doesn't allow an argument" },
		{ { "--text" }, "option '--text' requires an argument" },
		{ { "--te" }, "option '--text' requires an argument" },
		{ { "-t" }, "option requires an argument -- 't'" },
		{ { "-nt" }, "option requires an argument -- 't'" },
	};

	check_bad(cases, COUNT(cases));
}

struct good {
	const char *args[8];
	struct gnu_values want;
	const char *operands; /* with a comma behind each */
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same(const struct gnu_values *a, const struct gnu_values *b)
{
	return a->number == b->number && a->number_nonblank == b->number_nonblank && a->all == b->all &&
	       a->unbuffered == b->unbuffered && a->stable == b->stable && same_text(a->mode, b->mode) &&
	       same_text(a->text, b->text);
}

static void check_good(const struct good *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gnu_values values = { 0 };
		char operands[200] = "", line[200];
		int first = -1, argc, ret;
		char *argv[10];

		argc = make_argv(cases[i].args, argv, line);
		ret = option_parse(&gnu_table, argc, argv, &values, &first);
		CHECK_CASE(ret == OPTION_DONE, line);
		CHECK_CASE(same(&values, &cases[i].want), line);
		for (int a = first; a >= 0 && a < argc; a++)
			snprintf(operands + strlen(operands), sizeof(operands) - strlen(operands), "%s,",
				argv[a]);
		CHECK_TEXT(operands, cases[i].operands ? cases[i].operands : "");
	}
}

static void taken(void)
{
	static const struct good cases[] = {
		{ { "--number" }, { .number = true }, "" }, /* whole, though a longer one begins so */
		{ { "--number-" }, { .number_nonblank = true }, "" },
		{ { "--s" }, { .all = true }, "" }, /* --stable does not make it ambiguous */
		{ { "--stable" }, { .stable = true }, "" },
		{ { "-bnAu" }, { true, true, true, true, false, NULL, NULL }, "" },
		{ { "a", "-n", "b" }, { .number = true }, "a,b," },
		{ { "-", "-u", "-" }, { .unbuffered = true }, "-,-," },
		{ { "-n", "--", "-u", "--" }, { .number = true }, "-u,--," },
		{ { "a", "--", "b", "--", "-n" }, { 0 }, "a,b,--,-n," },
		{ { "--text=a=b" }, { .text = "a=b" }, "" },
		{ { "--text", "-n" }, { .text = "-n" }, "" },
		{ { "-nta" }, { .number = true, .text = "a" }, "" },
		{ { "-t", "--" }, { .text = "--" }, "" },
	};

	check_good(cases, COUNT(cases));
}

/* A value that may be left out stands at once behind '=' or the letter; the next argument is none. */
static void modes(void)
{
	static const struct good cases[] = {
		{ { "--mode" }, { .mode = "" }, "" },
		{ { "--mo=warn" }, { .mode = "warn" }, "" },
		{ { "--mode", "warn" }, { .mode = "" }, "warn," },
		{ { "-m" }, { .mode = "" }, "" },
		{ { "--mode=warn-n" }, { .mode = "warn-nopipe" }, "" },
		{ { "--mode=e" }, { .mode = "exit" }, "" },
		{ { "-mn", "warn" }, { .mode = "", .number = true }, "warn," },
		{ { "--mode=e", "-m" }, { .mode = "" }, "" }, /* the last one holds */
		{ { "-m", "--mode=e" }, { .mode = "exit" }, "" },
	};

	check_good(cases, COUNT(cases));
}

/* Before the next argument is looked at. */
static void bad_modes(void)
{
	static const struct bad cases[] = {
		{ { "--mode=foo", "--bar" }, "invalid argument 'foo' for" },
		{ { "--mode=" }, "ambiguous argument '' for" },
		{ { "--mode=w" }, "ambiguous argument 'w' for" },
		{ { "--mode=warn-nopipe2" }, "invalid argument 'warn-nopipe2' for" },
		{ { "--mode=a'\\\n\1\377" }, "invalid argument 'a\\'\\\\\\n\\001\\377' for" },
	};
	char want[500];

	for (size_t i = 0; i < COUNT(cases); i++) {
		capture(parse_captured, &cases[i], &got);
		CHECK_INT(captured_exit(&got), USAGE_STATUS);
		snprintf(want, sizeof(want),
			"test: %s '--mode'\nValid arguments are:\n  - 'warn'\n  - 'warn-nopipe'\n  - 'exit'\n"
			"Try 'test --help' for more information.\n",
			cases[i].message);
		CHECK_TEXT(got.err, want);
		CHECK_TEXT(got.out, "");
	}
}

static void posixly_correct(void)
{
	static const struct good cases[] = {
		{ { "-n", "a", "-u" }, { .number = true }, "a,-u," },
		{ { "a", "--foo" }, { 0 }, "a,--foo," },
		{ { "a", "--" }, { 0 }, "a,--," },
		{ { "-", "-n" }, { 0 }, "-,-n," },
		{ { "--", "a", "--" }, { 0 }, "a,--," },
	};

	setenv("POSIXLY_CORRECT", "", 1);
	check_good(cases, COUNT(cases));
	unsetenv("POSIXLY_CORRECT");
}

static int own_error(const void *unused)
{
	(void)unused;
	return option_usage_error(&gnu_table, "missing %s", "operand");
}

static void named_by_the_caller(void)
{
	capture(own_error, NULL, &got);
	CHECK_INT(captured_exit(&got), USAGE_STATUS);
	CHECK_TEXT(got.err, "test: missing operand\nTry 'test --help' for more information.\n");
}

static void help_and_version(void)
{
	static const struct bad help = { { "--he" }, NULL }, version = { { "-n", "--vers" }, NULL };

	capture(parse_captured, &help, &got);
	CHECK_INT(captured_exit(&got), 0);
	CHECK_TEXT(got.err, "");
	CHECK(strncmp(got.out, "Usage: test [OPTION]...\nIt is tested.\n\n", 39) == 0);
	CHECK(strstr(got.out, "\n  -n, --number ") != NULL);
	CHECK(strstr(got.out, "\n  -m, --mode[=MODE] ") != NULL);
	CHECK(strstr(got.out, "\n  -u ") != NULL);
	CHECK(strstr(got.out, "\n      --stable ") != NULL);
	CHECK(strstr(got.out, "\n      --help ") != NULL);
	capture(parse_captured, &version, &got);
	CHECK_INT(captured_exit(&got), 0);
	CHECK_TEXT(got.out, "test (gush) " GUSH_VERSION "\n");
	CHECK_TEXT(got.err, "");
}

int main(void)
{
	alarm(HANG_SECONDS);
	unsetenv("POSIXLY_CORRECT");
	setenv("LC_ALL", "C", 1);
	diag_set_program("test");
	TEST(unknown);
	TEST(ambiguous);
	TEST(values);
	TEST(taken);
	TEST(modes);
	TEST(bad_modes);
	TEST(posixly_correct);
	TEST(named_by_the_caller);
	TEST(help_and_version);
	return test_end();
}
