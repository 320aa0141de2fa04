/* SPDX-License-Identifier: MIT */
/* The children of one configuration. They die with their parent. */
#ifndef TEAM_H
#define TEAM_H

#include "gauntlet.h"

#define TEAM_MOST 6

struct team {
	const struct config *config;
	struct board *board;
	pid_t pids[TEAM_MOST];
	size_t count;
};

/* What a child does: its input is descriptor 0, its output 1, a second output or a file 3. Returns at the
 * end. */
typedef void role(const struct config *c, struct board *board);

/* Starts one. The descriptors stay the caller's; -1: none. It has no others. false: it could not. */
bool team_add(struct team *t, role *what, int in, int out, int third);
/* Waits for all. */
void team_end(struct team *t);

/* middlemen.c: puts the middleman between producer and reader; takes the input, returns what to read from, or
 * -1. */
int middle_start(struct team *t, int in);
/* A pipe of about that size, both ends O_CLOEXEC. */
bool open_pipe(int ret_fds[2], size_t bytes);

/* tcp.c */
bool tcp_pair(int ret_fds[2]); /* for reading, for writing */
role tcp_pump, tcp_copy_slowly, tcp_splice_slowly;

/* readers.c */
role reader_main, reader_side;

/* delay.c */
/*
 * Takes from descriptor 0 by splicing into pipes of its own, in all about hold_bytes, and lets go of the
 * oldest when it has more: `emit` moves all that is in `fd`. false from it ends the taking. Until the end of
 * the input, when all is let go.
 */
bool delay(struct rng *r, size_t hold_bytes, unsigned pause_budget_us,
	bool (*emit)(void *context, int fd, size_t bytes), void *context);
/* Moves that many from a pipe to a descriptor. */
bool splice_all(int in, int out, size_t bytes);
bool write_all(int fd, const void *memory, size_t bytes);

#endif
