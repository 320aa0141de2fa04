/* SPDX-License-Identifier: MIT */
/* The sending end of a measured pipe: `gush write`, and the senders of the ladder. */
#ifndef SENDER_H
#define SENDER_H

#include "barrier.h"
#include "contents.h"
#include "endpoint.h"
#include "hugebuf.h"
#include "nowait.h"
#include "pipe.h"
#include "wait.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sender_call {
	SENDER_WRITE,
	SENDER_VMSPLICE,
	SENDER_TEE, /* from a master pipe that is filled once */
};

struct sender_config {
	enum sender_call call;
	size_t chunk_bytes; /* what one call is given; the ring has `chunks` of them */
	unsigned chunks;    /* 1 for write; 2 is double buffering */
	bool one_mapping;   /* the chunks lie side by side in one mapping rather than each in its own */
	size_t pipe_bytes;  /* set the pipe to exactly this; 0: leave it */
	bool huge, lock, untouched, gift;
	bool check_huge;	/* fail unless the buffers became huge pages */
	enum contents contents; /* COUNTER: rewritten before each send */
	bool protect;		/* the copy-on-write barrier before the ring is written again */
	enum gi_wait_kind wait;
};

struct sender {
	struct sender_config config;
	struct gi_endpoint endpoint;
	struct gi_nowait io;
	struct gi_wait wait;
	struct gi_barrier barrier;
	struct gi_pipe master; /* TEE */
	struct gi_hugebuf *mappings;
	char **chunk;		      /* config.chunks of them */
	unsigned mapping_count, next; /* next: the chunk to send */
	const atomic_bool *stop;      /* leave the loop when it becomes true; NULL: never */
	uint64_t sent_bytes;
	const char *failed_at; /* what was being done when an error came back: "vmsplice", "mlock", ... */
};

/* Maps and fills the buffers and sizes the pipe. 0 or -errno, failed_at telling where; release it in either
 * case. */
int sender_prepare(struct sender *s, int fd, const struct sender_config *config);

/*
 * Sends until `limit_bytes` are sent in all (0: no limit) or *stop. 0, or -errno: -EPIPE when the reader has
 * gone, which needs SIGPIPE ignored. sent_bytes is exact.
 */
int sender_run(struct sender *s, uint64_t limit_bytes);

void sender_release(struct sender *s);

#endif
