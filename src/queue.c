/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_FIRST 16

static int make_room(struct gi_queue *queue)
{
	size_t room = queue->room ? 2 * queue->room : ROOM_FIRST;
	struct gi_piece *pieces;

	if (queue->count < queue->room)
		return 0;
	pieces = calloc(room, sizeof(*pieces));
	if (!pieces)
		return -ENOMEM;
	for (size_t i = 0; i < queue->count; i++)
		pieces[i] = *gi_queue_piece(queue, i);
	free(queue->pieces);
	queue->pieces = pieces;
	queue->room = room;
	queue->first = 0;
	return 0;
}

int gi_queue_add(struct gi_queue *queue, struct gi_block *block, char *base, size_t bytes)
{
	struct gi_piece *last = queue->count ? gi_queue_piece(queue, queue->count - 1) : NULL;
	int ret;

	if (last && last->block == block && last->base + last->bytes == base) {
		last->bytes += bytes;
	} else {
		ret = make_room(queue);
		if (ret < 0)
			return ret;
		*gi_queue_piece(queue, queue->count++) = (struct gi_piece){ base, bytes, block };
	}
	block->queued_bytes += bytes;
	queue->added_bytes += bytes;
	return 0;
}

size_t gi_queue_front(const struct gi_queue *queue, struct iovec *ret_pieces, size_t most)
{
	size_t n = queue->count < most ? queue->count : most;

	for (size_t i = 0; i < n; i++)
		ret_pieces[i] =
			(struct iovec){ gi_queue_piece(queue, i)->base, gi_queue_piece(queue, i)->bytes };
	return n;
}

void gi_queue_sent(
	struct gi_queue *queue, size_t bytes, void (*done)(struct gi_block *block, void *arg), void *arg)
{
	queue->sent_bytes += bytes;
	while (bytes > 0) {
		struct gi_piece *piece = gi_queue_piece(queue, 0);
		size_t n = bytes < piece->bytes ? bytes : piece->bytes;

		piece->base += n;
		piece->bytes -= n;
		bytes -= n;
		piece->block->queued_bytes -= n;
		if (piece->block->queued_bytes == 0)
			done(piece->block, arg);
		if (piece->bytes > 0)
			return;
		queue->first = (queue->first + 1) % queue->room;
		queue->count--;
	}
}

void gi_queue_clear(struct gi_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		gi_queue_piece(queue, i)->block->queued_bytes = 0;
	queue->first = queue->count = 0;
	queue->sent_bytes = queue->added_bytes;
}

void gi_queue_close(struct gi_queue *queue)
{
	free(queue->pieces);
	*queue = (struct gi_queue){ 0 };
}
