/* SPDX-License-Identifier: MIT */
/* gush bench tools: our tools beside the system's and others, between sources and sinks that are faster. */
#include "bench.h"
#include "tool_run.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STARTS 30 /* of one measurement */
#define RIVALS_MOST 16

static const struct scenario {
	const char *tool, *from, *to;
	enum tool_source source;
	enum tool_sink sink;
	const char *argument; /* of the tool; NULL: none */
} scenarios[] = {
	{ "yes", "yes", "splice", FROM_NOTHING, TO_SPLICE, NULL },
	{ "yes", "yes", "read", FROM_NOTHING, TO_READ, NULL },
	{ "yes", "yes", "file", FROM_NOTHING, TO_FILE, NULL },
	{ "yes", "yes", "file here", FROM_NOTHING, TO_HERE, NULL },
	{ "yes", "yes", "tcp", FROM_NOTHING, TO_TCP, NULL },
	{ "cat", "cat pipe", "splice", FROM_PIPE, TO_SPLICE, NULL },
	{ "cat", "cat pipe", "read", FROM_PIPE, TO_READ, NULL },
	{ "cat", "cat pipe", "file", FROM_PIPE, TO_FILE, NULL },
	{ "cat", "cat file", "splice", FROM_FILE, TO_SPLICE, NULL },
	{ "cat", "cat file", "file", FROM_FILE, TO_FILE, NULL },
	{ "cat", "cat file", "file here", FROM_FILE, TO_HERE, NULL },
	{ "cat", "cat file", "null", FROM_FILE, TO_NULL, NULL },
	{ "cat", "cat file", "tcp", FROM_FILE, TO_TCP, NULL },
	{ "cat", "cat", "starts/s", FROM_EMPTY, TO_NULL, NULL },
	{ "tee", "tee null", "splice", FROM_PIPE, TO_SPLICE, "/dev/null" },
	{ "tee", "tee null", "read", FROM_PIPE, TO_READ, "/dev/null" },
};
#define SCENARIOS (sizeof(scenarios) / sizeof(*scenarios))

/* What is compared, by the tool it is. */
static struct rival {
	const char *tool, *label;
	char path[PATH_MAX];
} rivals[RIVALS_MOST];
static size_t rival_count;

static struct row {
	const struct scenario *scenario;
	const struct rival *rival;
	size_t base;
} rows[SCENARIOS * RIVALS_MOST];
static size_t row_count;

/* ---- who takes part ---- */

static bool is_tool(const char *name, size_t bytes)
{
	for (size_t i = 0; i < SCENARIOS; i++)
		if (strlen(scenarios[i].tool) == bytes && strncmp(scenarios[i].tool, name, bytes) == 0)
			return true;
	return false;
}

static int add_rival(const char *tool, const char *label, const char *path)
{
	struct rival *rival = &rivals[rival_count];

	if (rival_count == RIVALS_MOST)
		return -E2BIG;
	if (access(path, X_OK) < 0)
		return -errno;
	if (snprintf(rival->path, sizeof(rival->path), "%s", path) >= (int)sizeof(rival->path))
		return -ENAMETOOLONG;
	rival->tool = tool;
	rival->label = label;
	rival_count++;
	return 0;
}

static void add_systems(const char *tool)
{
	static const char *const folders[] = { "/usr/bin", "/bin" };
	char path[64];

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], tool);
		if (add_rival(tool, "system", path) == 0)
			return;
	}
}

static int add_ours(const char *tool)
{
	char path[PATH_MAX - 8];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash + 1, sizeof(path) - (size_t)(slash + 1 - path), "gush");
	return add_rival(tool, "gush", path);
}

/* TOOL=PATH: whose label is the path. */
static int add_operand(char *operand, const char **ret_wrong)
{
	char *equals = strchr(operand, '=');

	*ret_wrong = operand;
	if (!equals || !is_tool(operand, (size_t)(equals - operand)))
		return -EINVAL;
	*equals = '\0';
	*ret_wrong = equals + 1;
	return add_rival(operand, equals + 1, equals + 1);
}

static void make_rows(void)
{
	for (size_t i = 0; i < SCENARIOS; i++) {
		size_t base = row_count;

		for (size_t k = 0; k < rival_count; k++)
			if (strcmp(rivals[k].tool, scenarios[i].tool) == 0)
				rows[row_count++] = (struct row){ &scenarios[i], &rivals[k], base };
	}
}

static int begin(int count, char **operands, const char **ret_wrong)
{
	static const char *const tools[] = { "yes", "cat", "tee" };
	int ret = 0;

	rival_count = row_count = 0;
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		add_systems(tools[i]);
		*ret_wrong = "gush";
		ret = add_ours(tools[i]);
		if (ret < 0)
			return ret;
	}
	for (int i = 0; i < count; i++) {
		ret = add_operand(operands[i], ret_wrong);
		if (ret < 0)
			return ret;
	}
	make_rows();
	return 0;
}

/* Starts of a tool on an empty file. */
static struct flow_figures run_starts(
	const struct tool_run *what, const struct placement *placement, int64_t time_ns)
{
	struct flow_figures all = { 0 };

	for (unsigned i = 0; all.error == 0 && i < STARTS; i++) {
		struct flow_figures one = tool_run(what, placement, time_ns);

		all.error = one.error;
		all.seconds += one.seconds;
		all.mover_cpu_s += one.mover_cpu_s;
		all.bytes++;
	}
	return all;
}

static struct flow_figures run(size_t index, const struct placement *placement, int64_t time_ns)
{
	const struct scenario *s = rows[index].scenario;
	struct tool_run what = {
		.tool = s->tool,
		.path = rows[index].rival->path,
		.argument = s->argument,
		.source = s->source,
		.sink = s->sink,
	};

	return s->source == FROM_EMPTY ? run_starts(&what, placement, time_ns)
				       : tool_run(&what, placement, time_ns);
}

static void describe(size_t index, struct bench_row *ret_row)
{
	const struct row *row = &rows[index];

	*ret_row = (struct bench_row){
		.from = row->scenario->from,
		.to = row->scenario->to,
		.way = row->rival->label,
		.unit = row->scenario->source == FROM_EMPTY ? 1 : BENCH_GIB,
		.base = row->base,
	};
}

static size_t count(void)
{
	return row_count;
}

const struct bench_subject bench_tools = {
	.name = "tools",
	.usage = "gush bench tools [OPTION]... [TOOL=PATH]...",
	.summary = "Measure yes, cat and tee beside the system's, and beside each PATH, a program that\n"
		   "is such a TOOL. What feeds and empties them is faster than they are: vmsplice from\n"
		   "huge pages, splice or read. A 'file here' is on the current directory's file system,\n"
		   "has no name, and is gone afterwards. FILE may be '-' for standard output.",
	.base = "the first of the same tool",
	.begin = begin,
	.count = count,
	.describe = describe,
	.run = run,
};
