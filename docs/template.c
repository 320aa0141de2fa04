/* SPDX-License-Identifier: MIT */
/*
 * Where a new sub-command starts: copy this to tools/NAME.c, rename `template`, declare NAME_main in
 * tools/tools.h, and add a line to the table in tools/gush.c. It needs man/gush-NAME.1, a line in
 * completions/gush.bash (the tests compare the three) and a test in tests/cli. The tests build and run this
 * very file.
 */
#include "diag.h"
#include "option.h"

#include <stdint.h>
#include <stdio.h>

/* What the user can ask for: one struct, filled by the parser, all zero when nothing was given. */
struct template_options {
	uint64_t size_bytes;
};

static const struct option_spec specs[] = {
	{ "size", 's', OPTION_SIZE, offsetof(struct template_options, size_bytes), "SIZE",
		"how much (1KiB)" },
	{ 0 },
};

static const struct option_table table = {
	.usage = "gush template [OPTION]...",
	.summary = "Print a size in bytes.",
	.options = specs,
	.usage_status = 2, /* or what the replaced tool exits with */
};

int template_main(int argc, char **argv);

int template_main(int argc, char **argv)
{
	struct template_options options = { .size_bytes = 1024 };
	int first, ret = option_parse(&table, argc, argv, &options, &first);

	if (ret != OPTION_DONE)
		return ret;
	if (first < argc)
		return option_usage_error(&table, "'%s': takes no operands", argv[first]);
	printf("%llu\n", (unsigned long long)options.size_bytes);
	return diag_close_stdout() < 0 ? 1 : 0; /* a full disk is an error too */
}

/* Only here: a sub-command has no main of its own. */
int main(int argc, char **argv)
{
	diag_set_program("gush template");
	return template_main(argc, argv);
}
