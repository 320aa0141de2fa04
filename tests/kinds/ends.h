/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of every kind, with a process at the far end of those that have one: it feeds the contents that
 * are wanted, or drains and compares them, at a pace. What it saw is in shared memory once it has ended.
 */
#ifndef ENDS_H
#define ENDS_H

#include "unit/support.h"

#include <gush.h>
#include <poll.h>

#define WANT_MOST ((size_t)12 << 20) /* a pipe of 256 slots holds 8 MiB: a socket's are of 32 KiB */
#define APPEND_BEFORE "before\n"     /* what a sink in append mode holds already */

enum pace {
	PACE_FAST,
	PACE_SLOW,  /* 20 KiB at a time, with a rest */
	PACE_BYTES, /* one at a time */
	PACE_STOP,  /* half of it, then gone */
};

struct seen {
	uint64_t bytes;
	int bad; /* not the wanted ones, in their order */
};

struct end {
	int fd;
	pid_t child;	     /* at the far end; 0: none */
	struct seen *seen;   /* of a drainer */
	bool regular;	     /* its offset and contents can be looked at */
	uint64_t start;	     /* where a regular one begins */
	uint64_t room_bytes; /* of a sink: errors with `error` past it */
	int error;
};

/* What the source will give. */
extern char *want;
extern size_t want_bytes;
/* Stamps each position, so that no two pages are alike. */
void want_stamp(size_t bytes);
void want_zeros(size_t bytes);

/* What the children are started with. */
extern enum pace end_pace;

struct end_kind {
	const char *name;
	/* NULL, or why it cannot be had here. May change what is wanted (sources). */
	const char *(*open)(struct end *e);
	bool limit; /* a source that has no end: needs limit_bytes */
};

extern const struct end_kind source_kinds[], sink_kinds[];
extern const size_t source_kind_count, sink_kind_count;
const struct end_kind *end_kind(const struct end_kind *kinds, size_t count, const char *name);
#define SOURCE(name) end_kind(source_kinds, source_kind_count, (name))
#define SINK(name) end_kind(sink_kinds, sink_kind_count, (name))

/* A connected pair: readable end first. NULL, or why not. Names: pipe fifo tcp unix seqpacket terminal. */
const char *end_pair(const char *kind, int ret_fds[2]);
bool end_is_stream(const char *kind);
/* Closes our descriptor and waits for the child; what it saw stays. */
void end_close(struct end *e);
/* Checks the contents of a sink, which got `bytes` of them, and forgets it. */
void end_check_sink(struct end *e, uint64_t bytes, const char *name);
/* A nameless file in the temporary folder. */
int end_temp_file(int flags);

#endif
