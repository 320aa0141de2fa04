/* SPDX-License-Identifier: MIT */
/*
 * The ends of a transfer under faults: sources that know what they hold, sinks that tell what they got. Made
 * and looked at by plain system calls, no code of the product.
 */
#ifndef ENDS_CASE_H
#define ENDS_CASE_H

#include <stdbool.h>
#include <stddef.h>

#define ENDS_TOTAL ((size_t)45011) /* fits a fresh pipe and both sockets; no multiple of anything */
#define ENDS_MOST ((size_t)128 << 10)
#define ENDS_OLD 0xaa /* what a file held before */

enum end_kind {
	END_FILE,
	END_PIPE,
	END_UNIX,
	END_TCP,
	END_APPEND, /* these are sinks only */
	END_FULL,   /* /dev/full */
	END_DEAD,   /* a pipe without a reader */
	END_KINDS,
};

extern const char *const end_names[END_KINDS];

struct source {
	int fd, far; /* far: who feeds it; -1: nobody more */
	enum end_kind kind;
	const unsigned char *content;
	size_t bytes, fed, start; /* start: the offset of a file where the content begins */
};

struct sink {
	int fd, far;
	enum end_kind kind;
	size_t start, old; /* a file: where writing starts, and how long it was before */
	unsigned char got[ENDS_MOST];
	size_t got_bytes;
};

/* The first `now` bytes are there at once, the rest is for source_feed. 0 or -errno. */
int source_open(struct source *s, enum end_kind kind, const unsigned char *content, size_t bytes, size_t now);
/* A file with holes where bit i of `holes` is set: piece i, of `piece` bytes. The content has zeros there. */
int source_open_file(
	struct source *s, const unsigned char *content, size_t bytes, size_t piece, unsigned holes);
void source_feed(struct source *s, size_t bytes);
/* What is left in it, up to what was fed: bytes, or -1 when they are not the content from `from` on. */
long source_rest(struct source *s, size_t from);
/* The far end of a connection goes away with a reset. */
void source_reset(struct source *s);
void source_close(struct source *s);

/* small: takes only little at a time. old: of a file, bytes that it holds already; start: where to write. */
int sink_open(struct sink *s, enum end_kind kind, bool small, size_t old, size_t start);
void sink_drain(struct sink *s, size_t most); /* never waits */
/* All that it got: in s->got. Files: the whole file. */
void sink_finish(struct sink *s);
void sink_close(struct sink *s);

#endif
