/* SPDX-License-Identifier: MIT */
/* What was committed and is not sent yet: pieces of blocks, in the order of the stream. */
#ifndef GI_QUEUE_H
#define GI_QUEUE_H

#include "ring.h"

#include <sys/uio.h>

struct gi_piece {
	char *base;
	size_t bytes;
	struct gi_block *block;
};

struct gi_queue {
	struct gi_piece *pieces; /* round */
	size_t room, first, count;
	uint64_t added_bytes, sent_bytes; /* since it was opened */
};

static inline size_t gi_queue_bytes(const struct gi_queue *queue)
{
	return (size_t)(queue->added_bytes - queue->sent_bytes);
}

/* The index must be below count. */
static inline struct gi_piece *gi_queue_piece(const struct gi_queue *queue, size_t index)
{
	return &queue->pieces[(queue->first + index) % queue->room];
}

/* Joins it to the last piece where it lies behind that. 0 or -ENOMEM. */
int gi_queue_add(struct gi_queue *queue, struct gi_block *block, char *base, size_t bytes);

/* The first pieces, `most` at most. Returns how many. */
size_t gi_queue_front(const struct gi_queue *queue, struct iovec *ret_pieces, size_t most);

/* The first `bytes` have been sent. Calls `done` for each block of which nothing is queued any more. */
void gi_queue_sent(
	struct gi_queue *queue, size_t bytes, void (*done)(struct gi_block *block, void *arg), void *arg);

void gi_queue_clear(struct gi_queue *queue);
void gi_queue_close(struct gi_queue *queue);

#endif
