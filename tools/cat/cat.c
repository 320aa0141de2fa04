/* SPDX-License-Identifier: MIT */
/* cat: inputs, one after the other, to standard output. */
#include "cat.h"

#include "../tools.h"
#include "diag.h"
#include "option.h"
#include "quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(member) offsetof(struct cat_options, member)

/* In this order a message about an ambiguous option lists them. */
static const struct option_spec specs[] = {
	{ "number-nonblank", 'b', OPTION_FLAG, AT(number_nonblank), NULL, "number lines, but no blank ones" },
	{ "number", 'n', OPTION_FLAG, AT(number), NULL, "number all lines" },
	{ "squeeze-blank", 's', OPTION_FLAG, AT(squeeze), NULL, "one blank line in place of several" },
	{ "show-nonprinting", 'v', OPTION_FLAG, AT(nonprinting), NULL,
		"^X and M-X for what cannot be printed" },
	{ "show-ends", 'E', OPTION_FLAG, AT(ends), NULL, "$ at the end of each line" },
	{ "show-tabs", 'T', OPTION_FLAG, AT(tabs), NULL, "^I for a tab" },
	{ "show-all", 'A', OPTION_FLAG, AT(show_all), NULL, "-v, -E and -T" },
	{ "", 'e', OPTION_FLAG, AT(ends_v), NULL, "-v and -E" },
	{ "", 't', OPTION_FLAG, AT(tabs_v), NULL, "-v and -T" },
	{ "", 'u', OPTION_FLAG, AT(unbuffered), NULL, "no effect" },
	{ 0 },
};

static const struct option_spec additions[] = {
	{ "stable", 0, OPTION_FLAG, AT(stable), NULL, "copy, so that no later change of a file shows" },
	{ "explain", 0, OPTION_FLAG, AT(explain), NULL, "tell on standard error how the bytes went" },
	{ 0 },
};

static const struct option_table table = {
	.usage = "cat [OPTION]... [FILE]...",
	.summary = "Write the FILEs, one after another, to standard output. Without a FILE, and\n"
		   "for -, standard input is read.",
	.options = specs,
	.additions = additions,
	.usage_status = 1,
	.style = OPTION_GNU,
};

static void expand_letters(struct cat_options *o)
{
	o->nonprinting |= o->show_all | o->ends_v | o->tabs_v;
	o->ends |= o->show_all | o->ends_v;
	o->tabs |= o->show_all | o->tabs_v;
	o->number |= o->number_nonblank;
}

static bool is_formatted(const struct cat_options *o)
{
	return o->number || o->squeeze || o->ends || o->tabs || o->nonprinting;
}

/*
 * A file that is also the output grows while it is read, and the end is never reached; unless there is
 * nothing to be read in it.
 */
static bool is_output(int fd)
{
	struct stat in, out;
	off_t at;

	if (fstat(STDOUT_FILENO, &out) < 0 || !S_ISREG(out.st_mode) || fstat(fd, &in) < 0)
		return false;
	if (in.st_dev != out.st_dev || in.st_ino != out.st_ino)
		return false;
	at = lseek(fd, 0, SEEK_CUR);
	return at < in.st_size;
}

struct cat {
	struct cat_options options;
	struct formatter *formatter; /* NULL: the bytes are not changed */
	bool read_input;	     /* standard input was an operand, or there was none */
};

static enum cat_result take(struct cat *c, const struct cat_input *input)
{
	if (is_output(input->fd)) {
		diag("%s: input file is output file", input->shown);
		return CAT_READ_FAILED;
	}
	return c->formatter ? formatter_take(c->formatter, input) : cat_plain(input, &c->options);
}

static enum cat_result take_named(struct cat *c, const char *name)
{
	struct cat_input input = { STDIN_FILENO, "-" };
	bool is_input = strcmp(name, "-") == 0;
	enum cat_result result;
	char *quoted = NULL;

	if (is_input) {
		c->read_input = true;
		return take(c, &input);
	}
	quoted = quote_name(name);
	input.shown = quoted ? quoted : name;
	input.fd = open(name, O_RDONLY | O_CLOEXEC);
	if (input.fd < 0) {
		diag_errno(errno, "%s", input.shown);
		result = CAT_READ_FAILED;
	} else {
		result = take(c, &input);
	}
	if (input.fd >= 0 && close(input.fd) < 0 && result == CAT_DONE) {
		diag_errno(errno, "%s", input.shown);
		result = CAT_READ_FAILED;
	}
	free(quoted);
	return result;
}

static int take_all(struct cat *c, char **names, int count)
{
	static char *standard_input[] = { "-" };
	int status = EXIT_SUCCESS;

	if (count == 0) {
		names = standard_input;
		count = 1;
	}
	for (int i = 0; i < count; i++) {
		enum cat_result result = take_named(c, names[i]);

		if (result != CAT_DONE)
			status = EXIT_FAILURE;
		if (result == CAT_WRITE_FAILED)
			break;
	}
	if (c->formatter && formatter_close(c->formatter) != CAT_DONE)
		status = EXIT_FAILURE;
	return status;
}

/* Some file systems tell of a failed write only then. */
static int close_both(const struct cat *c)
{
	int status = EXIT_SUCCESS;

	if (c->read_input && (diag_came_closed(STDIN_FILENO) || close(STDIN_FILENO) < 0)) {
		diag_errno(diag_came_closed(STDIN_FILENO) ? EBADF : errno, "closing standard input");
		status = EXIT_FAILURE;
	}
	if (close(STDOUT_FILENO) < 0) {
		diag_errno(errno, "write error");
		status = EXIT_FAILURE;
	}
	return status;
}

int cat_main(int argc, char **argv)
{
	struct cat c = { 0 };
	int first, status, ret = option_parse(&table, argc, argv, &c.options, &first);

	if (ret != OPTION_DONE)
		return ret;
	expand_letters(&c.options);
	if (diag_came_closed(STDOUT_FILENO)) {
		diag_errno(EBADF, "standard output");
		return EXIT_FAILURE;
	}
	if (is_formatted(&c.options)) {
		c.formatter = formatter_open(&c.options);
		if (!c.formatter) {
			diag("memory exhausted");
			return EXIT_FAILURE;
		}
	}
	status = take_all(&c, argv + first, argc - first);
	return close_both(&c) == EXIT_SUCCESS ? status : EXIT_FAILURE;
}
