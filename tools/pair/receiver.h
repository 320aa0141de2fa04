/* SPDX-License-Identifier: MIT */
/* The receiving end of a measured pipe: `gush read`, and the receivers of the ladder. */
#ifndef RECEIVER_H
#define RECEIVER_H

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

enum receiver_call {
	RECEIVER_READ,
	RECEIVER_SPLICE, /* to /dev/null */
	RECEIVER_HOLD,	 /* splice into a pipe of its own, look at the bytes one chunk later: what a splicing
			    reader may do */
};

struct receiver_config {
	enum receiver_call call;
	size_t chunk_bytes; /* what one call asks for */
	bool huge, lock, untouched, check_huge;
	bool move;  /* SPLICE_F_MOVE, as the article's --gift sets it */
	bool check; /* the contents: READ and HOLD only */
	enum contents contents;
	enum gi_wait_kind wait;
};

struct receiver {
	struct receiver_config config;
	struct gi_endpoint endpoint;
	struct gi_nowait io;
	struct gi_wait wait;
	struct gi_hugebuf buf;
	struct gi_pipe held[2]; /* HOLD */
	size_t held_bytes[2];
	unsigned newest;
	int null_fd; /* SPLICE */
	struct contents_check seen;
	const atomic_bool *stop; /* leave the loop when it becomes true; NULL: never */
	uint64_t received_bytes;
	const char *failed_at;
};

int receiver_prepare(struct receiver *r, int fd, const struct receiver_config *config);

/*
 * Receives until there are `limit_bytes` in all or *stop. 0, or -errno: -ENODATA when the input ended before.
 * A call may bring more than the limit; received_bytes counts all of it.
 */
int receiver_run(struct receiver *r, uint64_t limit_bytes);

void receiver_release(struct receiver *r);

#endif
