/* SPDX-License-Identifier: MIT */
/*
 * One measured flow through the library: something feeds a source, a process of its own moves the bytes,
 * something empties the sink. What is timed is the moving, after a warm-up.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdint.h>

enum flow_end {
	FLOW_PIPE, /* fed by vmsplice from huge pages, emptied by splice: neither is what bounds the flow */
	FLOW_FILE, /* in memory (memfd), read or written again and again from its start */
	FLOW_TCP,  /* of this machine */
	FLOW_UNIX,
	FLOW_NULL, /* /dev/null; a sink only */
};
#define FLOW_ENDS 5

enum flow_way {
	FLOW_CHOSEN,	 /* what the library chooses */
	FLOW_READ_WRITE, /* its way of that name */
	FLOW_PLAIN,	 /* a loop of read and write with 64 KiB, as most programs have it */
};
#define FLOW_WAYS 3

struct flow {
	enum flow_end source, sink;
	enum flow_way way;
	int mover_cpu, other_cpu; /* other: of what feeds and empties */
	int64_t time_ns;	  /* to measure for */
};

struct flow_figures {
	int error; /* 0 or -errno: then the rest is not filled in */
	uint64_t bytes;
	double seconds, mover_cpu_s;
	char method[24]; /* the way that moved the last bytes */
};

const char *flow_end_name(enum flow_end end);
const char *flow_way_name(enum flow_way way);

/* Runs it. Every process it starts has ended when it returns. */
struct flow_figures flow_run(const struct flow *flow);

#endif
