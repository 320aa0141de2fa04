/* SPDX-License-Identifier: MIT */
/*
 * The control: a ring that is used again, whoever still holds its pages, as double buffering does. With the
 * barrier once a pass the same ring is right.
 */
#include "stream.h"

#include "barrier.h"
#include "hugebuf.h"
#include "sys.h"

#include <errno.h>
#include <string.h>

struct naive {
	const struct config *config;
	struct board *board;
	struct rng r;
	struct gi_hugebuf ring;
	struct gi_barrier barrier;
	int fd;
	size_t at; /* in the ring */
	uint64_t sequence[THREADS_MOST];
};

static int send_all(int fd, const char *from, size_t bytes, uint64_t *delivered)
{
	while (bytes > 0) {
		ssize_t n = gi_sys_vmsplice(fd, from, bytes, 0);

		if (n < 0)
			return (int)n;
		from += n;
		bytes -= (size_t)n;
		*delivered += (uint64_t)n;
	}
	return 0;
}

/* Writes the next piece to memory of the ring. A frame is of a thread at random. */
static void fill(struct naive *n, char *to, size_t bytes)
{
	const struct config *c = n->config;
	uint64_t header, *by;
	unsigned thread;

	if (c->threads == 0) {
		stream_fill(to, bytes, n->board->produced, c->wrap_bytes, 0);
		return;
	}
	thread = (unsigned)rng_below(&n->r, c->threads);
	by = &n->board->produced_by[thread];
	header = frame_header(thread, n->sequence[thread]++, bytes - FRAME_HEADER);
	memcpy(to, &header, FRAME_HEADER);
	stream_fill(to + FRAME_HEADER, bytes - FRAME_HEADER, *by, UINT64_MAX, frame_tag(thread));
	*by += bytes - FRAME_HEADER;
}

static size_t next_bytes(struct naive *n)
{
	size_t bytes = draw_bytes(n->config, &n->r), most = n->ring.bytes / 4;

	bytes = bytes < most ? bytes : most;
	return bytes > FRAME_HEADER ? bytes : FRAME_HEADER + 1;
}

static int piece(struct naive *n)
{
	size_t bytes = next_bytes(n);
	int ret = 0;

	if (n->at + bytes > n->ring.bytes) {
		n->at = 0;
		if (n->config->policy == POLICY_BARRIER)
			ret = gi_barrier_run(&n->barrier);
	}
	if (ret == 0) {
		fill(n, n->ring.base + n->at, bytes);
		ret = send_all(n->fd, n->ring.base + n->at, bytes, &n->board->delivered);
	}
	n->board->produced += ret == 0 ? bytes : 0;
	n->at += bytes;
	if (ret == 0 && produce_hook)
		produce_hook(n->board->produced);
	return ret;
}

static int open_ring(struct naive *n, unsigned hugebuf_flags)
{
	size_t bytes = n->config->ring_bytes > 0 ? n->config->ring_bytes : DEFAULT_RING;
	int ret = gi_hugebuf_map(bytes, hugebuf_flags, &n->ring);

	if (ret == 0 && n->config->policy == POLICY_BARRIER)
		ret = gi_barrier_probe(hugebuf_flags, &n->barrier);
	if (ret < 0)
		gi_hugebuf_unmap(&n->ring);
	return ret;
}

void produce_naive(const struct config *c, int fd, struct board *board)
{
	struct naive n = { .config = c, .board = board, .r = { c->seed }, .fd = fd };
	int ret = open_ring(&n, GI_HUGEBUF_HUGE);

	if (ret == -EOPNOTSUPP) /* no huge pages: small ones are slower, and as safe */
		ret = open_ring(&n, 0);
	while (ret == 0 && board->produced < c->total_bytes)
		ret = piece(&n);
	board->error = ret;
	strcpy(board->used, "vmsplice");
	gi_hugebuf_unmap(&n.ring); /* the pipe keeps its pages */
}
