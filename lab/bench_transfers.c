/* SPDX-License-Identifier: MIT */
/* gush bench transfers: the library between kinds of descriptors, beside a plain loop. */
#include "bench.h"

/* The pairs that programs have most. */
static const struct {
	enum flow_end source, sink;
} pairs[] = {
	{ FLOW_PIPE, FLOW_PIPE },
	{ FLOW_PIPE, FLOW_FILE },
	{ FLOW_PIPE, FLOW_NULL },
	{ FLOW_PIPE, FLOW_TCP },
	{ FLOW_FILE, FLOW_PIPE },
	{ FLOW_FILE, FLOW_FILE },
	{ FLOW_FILE, FLOW_TCP },
	{ FLOW_FILE, FLOW_UNIX },
	{ FLOW_TCP, FLOW_PIPE },
	{ FLOW_TCP, FLOW_FILE },
	{ FLOW_TCP, FLOW_TCP },
	{ FLOW_UNIX, FLOW_UNIX },
};
#define PAIRS (sizeof(pairs) / sizeof(*pairs))

static struct flow flow_at(size_t index)
{
	return (struct flow){
		.source = pairs[index / FLOW_WAYS].source,
		.sink = pairs[index / FLOW_WAYS].sink,
		.way = (enum flow_way)(index % FLOW_WAYS),
	};
}

static void describe(size_t index, struct bench_row *ret_row)
{
	struct flow flow = flow_at(index);

	*ret_row = (struct bench_row){
		.from = flow_end_name(flow.source),
		.to = flow_end_name(flow.sink),
		.way = flow_way_name(flow.way),
		.unit = BENCH_GIB,
		.base = index / FLOW_WAYS * FLOW_WAYS + FLOW_PLAIN,
	};
}

static struct flow_figures run(size_t index, const struct placement *placement, int64_t time_ns)
{
	struct flow flow = flow_at(index);

	flow.mover_cpu = placement->sender_cpu;
	flow.other_cpu = placement->receiver_cpu;
	flow.time_ns = time_ns;
	return flow_run(&flow);
}

static size_t count(void)
{
	return PAIRS * FLOW_WAYS;
}

const struct bench_subject bench_transfers = {
	.name = "transfers",
	.usage = "gush bench transfers [OPTION]...",
	.summary = "Measure how fast the library moves bytes between pairs of kinds of descriptors,\n"
		   "by the way it chooses, by its read-write, and beside a plain loop of read and\n"
		   "write with 64 KiB. FILE may be '-' for standard output.",
	.base = "the plain loop",
	.count = count,
	.describe = describe,
	.run = run,
};
