/* SPDX-License-Identifier: MIT */
/* yes: a line, for ever. */
#include "diag.h"
#include "gush.h"
#include "option.h"
#include "tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_spec no_options[] = { { 0 } };

static const struct option_table table = {
	.usage = "yes [STRING]...",
	.summary = "Print a line of the STRINGs, or 'y', again and again until it is stopped.",
	.options = no_options,
	.usage_status = 1,
	.style = OPTION_GNU,
};

/* The words, with spaces between them and a newline behind. NULL: no memory. */
static char *make_line(char *const *words, int count, size_t *ret_bytes)
{
	size_t bytes = 1, at = 0; /* at least the newline */
	char *line;

	for (int i = 0; i < count; i++)
		bytes += strlen(words[i]) + (i > 0);
	line = malloc(bytes);
	if (!line)
		return NULL;
	for (int i = 0; i < count; i++) {
		size_t n = strlen(words[i]);

		memcpy(line + at, words[i], n);
		at += n;
		line[at++] = i + 1 < count ? ' ' : '\n';
	}
	*ret_bytes = bytes;
	return line;
}

/* Returns when the output fails only. */
static int repeat(const char *line, size_t bytes)
{
	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;
	struct gush_producer *p;
	int64_t n;

	options.policy = GUSH_CONSTANT;
	n = gush_producer_open(STDOUT_FILENO, &options, &p);
	if (n < 0)
		return (int)n;
	do {
		n = gush_producer_repeat(p, line, bytes, GUSH_NO_LIMIT);
	} while (n >= 0);
	gush_producer_close(p);
	return (int)n;
}

int yes_main(int argc, char **argv)
{
	static char *y[] = { "y" };
	int first, ret = option_parse(&table, argc, argv, NULL, &first);
	size_t bytes;
	char *line;

	if (ret != OPTION_DONE)
		return ret;
	line = first < argc ? make_line(argv + first, argc - first, &bytes) : make_line(y, 1, &bytes);
	ret = line ? repeat(line, bytes) : -ENOMEM;
	free(line);
	if (ret == -ENOMEM)
		diag_errno(ret, "the line");
	else
		diag_errno(ret, "standard output");
	return EXIT_FAILURE;
}
