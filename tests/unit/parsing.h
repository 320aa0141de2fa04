/* SPDX-License-Identifier: MIT */
/* A command with an option of each kind. */
#ifndef PARSING_H
#define PARSING_H

#include "diag.h"
#include "option.h"
#include "support.h"

#define USAGE_STATUS 42

struct values {
	bool verbose, quiet, huge;
	uint64_t size, rate, count, counter;
	int64_t duration_ns;
	const char *text;
};

#define AT(member) offsetof(struct values, member)

static const struct option_spec specs[] = {
	{ "verbose", 'v', OPTION_FLAG, AT(verbose), NULL, "say more" },
	{ "quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "say less" },
	{ "huge-page", 0, OPTION_FLAG, AT(huge), NULL, "huge pages" },
	{ "buf-size", 'b', OPTION_SIZE, AT(size), "SIZE", "so large" },
	{ "rate", 0, OPTION_RATE, AT(rate), "RATE", "so fast" },
	{ "counter", 0, OPTION_COUNT, AT(counter), "N", "so many others" },
	{ "count", 'c', OPTION_COUNT, AT(count), "N", "so many" },
	{ "for", 'f', OPTION_DURATION, AT(duration_ns), "TIME", "so long" },
	{ "text", 't', OPTION_TEXT, AT(text), "TEXT", "these words" },
	{ 0 },
};

static const struct option_table table = {
	.usage = "test [OPTION]...",
	.summary = "It is tested.",
	.options = specs,
	.footer = "The footer.",
	.usage_status = USAGE_STATUS,
};

/* The arguments, up to eight, as main gets them; `line` is for messages about the case. */
static inline int make_argv(const char *const *args, char *argv[10], char line[200])
{
	static char program[] = "test";
	int argc = 1;

	argv[0] = program;
	line[0] = '\0';
	for (int i = 0; i < 8 && args[i]; i++) {
		argv[argc++] = (char *)(uintptr_t)args[i];
		snprintf(line + strlen(line), 200 - strlen(line), " '%s'", args[i]);
	}
	argv[argc] = NULL;
	return argc;
}

#endif
