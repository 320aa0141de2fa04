/* SPDX-License-Identifier: MIT */
/* A thread that produces, and what those of one producer share. */
#ifndef MAKER_H
#define MAKER_H

#include "gauntlet.h"

#include <pthread.h>

#define SCRATCH_BYTES (256 * KIB)

/* What the threads share. */
struct works {
	const struct config *config;
	struct board *board;
	struct gush_producer *producer;
	int fd;
	pthread_mutex_t lock;
	char *constant; /* wrap_bytes of the stream, twice; never changed */
};

struct maker {
	struct works *works;
	const struct config *config;
	pthread_t pthread;
	unsigned thread;
	struct rng r;
	uint64_t at; /* of this thread's counter */
	uint64_t sequence;
	uint64_t left;
	char *scratch;
	pid_t forked; /* 0: none */
};

/* producers.c */
void note(struct works *w, const struct maker *m, uint64_t bytes); /* they are in the stream */
bool wait_room(struct works *w, int error);			   /* false: the error was not EAGAIN */

/* Each makes a bit. 0 or -errno. */
int make_region(struct maker *m); /* make_region.c: in memory that the library lends */
int make_send(struct maker *m);	  /* make_own.c: in memory of the caller's own; without frames only */
int make_repeat(struct maker *m);

#endif
