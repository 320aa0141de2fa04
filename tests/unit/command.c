/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "diag.h"
#include "support.h"

static int seen_argc;
static char **seen_argv;

static int first_main(int argc, char **argv)
{
	seen_argc = argc;
	seen_argv = argv;
	return 17;
}

static int second_main(int argc, char **argv)
{
	(void)argv;
	return argc;
}

static const struct command table[] = {
	{ "read", "gush read", "read", first_main },
	{ "reader", "gush reader", "read too", second_main },
	{ "elsewhere", "gush elsewhere", "runs elsewhere", NULL },
	{ 0 },
};

static void find(void)
{
	static const struct {
		const char *name;
		const struct command *want;
	} cases[] = {
		{ "read", &table[0] },
		{ "reader", &table[1] },
		{ "elsewhere", &table[2] },
		{ "rea", NULL }, /* sub-commands are not cut short */
		{ "readers", NULL },
		{ "", NULL },
		{ "READ", NULL },
		{ " read", NULL },
		{ "gush read", NULL },
		{ "--help", NULL },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_CASE(command_find(table, cases[i].name) == cases[i].want, cases[i].name);
}

static void empty_table(void)
{
	static const struct command none[] = { { 0 } };

	CHECK(command_find(none, "read") == NULL);
	CHECK(command_find(none, "") == NULL);
}

static void run(void)
{
	char name[] = "read", option[] = "-v";
	char *argv[] = { name, option, NULL };

	CHECK_INT(command_run(&table[0], 2, argv), 17);
	CHECK_INT(seen_argc, 2);
	CHECK(seen_argv == argv);
	CHECK_TEXT(diag_program(), "gush read");
	CHECK_INT(command_run(&table[1], 1, argv), 1);
	CHECK_TEXT(diag_program(), "gush reader");
}

int main(void)
{
	TEST(find);
	TEST(empty_table);
	TEST(run);
	return test_end();
}
