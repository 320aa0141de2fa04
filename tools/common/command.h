/* SPDX-License-Identifier: MIT */
/* A table of sub-commands, and choosing from it. docs/template.c is where a new one starts. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

struct command {
	const char *name;      /* as typed: "write" */
	const char *full_name; /* as it calls itself in messages: "gush write" */
	const char *summary;   /* for the overview, no longer than 50 characters */
	int (*run)(int argc,
		char **argv); /* argv[0] is the name; returns the exit status. NULL: runs elsewhere */
};

const struct command *command_find(const struct command *table, const char *name); /* NULL: no such */
int command_run(const struct command *command, int argc, char **argv);

#endif
