/* SPDX-License-Identifier: MIT */
/* One run of a tool, a program of its own, between a source and a sink that are faster than it is. */
#ifndef TOOL_RUN_H
#define TOOL_RUN_H

#include "flow.h"
#include "placement.h"

enum tool_source { FROM_NOTHING, FROM_PIPE, FROM_FILE, FROM_EMPTY };
enum tool_sink { TO_SPLICE, TO_READ, TO_TCP, TO_FILE, TO_HERE, TO_NULL };

struct tool_run {
	const char *tool, *path; /* its name, and the program */
	const char *argument;	 /* NULL: none, but for the files that it reads */
	enum tool_source source;
	enum tool_sink sink;
};

/*
 * With a reader behind the sink: for that long, after a warm-up. Else the tool's whole life: 512 MiB into a
 * file, in memory or (TO_HERE) in the current directory, 2 GiB of a file to /dev/null, or an empty file
 * there.
 */
struct flow_figures tool_run(const struct tool_run *run, const struct placement *placement, int64_t time_ns);

#endif
