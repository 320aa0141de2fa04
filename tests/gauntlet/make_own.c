/* SPDX-License-Identifier: MIT */
/* Memory of the caller's own, which is scribbled over on return where that is allowed. */
#include "maker.h"
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PIECES_MOST 4

static void advance(struct maker *m, uint64_t bytes)
{
	m->at += bytes;
	m->left -= bytes;
	note(m->works, m, bytes);
}

/* Of several pieces, which may be odd and empty. */
static size_t cut(struct maker *m, char *from, size_t bytes, struct iovec *ret_pieces)
{
	size_t count = 1 + rng_below(&m->r, PIECES_MOST);

	for (size_t i = 0; i < count; i++) {
		size_t n = i + 1 == count ? bytes : (size_t)rng_below(&m->r, bytes + 1);

		ret_pieces[i] = (struct iovec){ from, n };
		from += n;
		bytes -= n;
	}
	return count;
}

/* Sends what lies in memory of `bytes`, all of it. Less at once is right before an error only. */
static int send_memory(struct maker *m, char *from, size_t bytes)
{
	bool fell_short = false;

	while (bytes > 0) {
		struct iovec pieces[PIECES_MOST];
		size_t count = cut(m, from, bytes, pieces);
		int64_t n = gush_producer_send(m->works->producer, pieces, count);

		if (n < 0 && wait_room(m->works, (int)n))
			continue;
		if (n < 0)
			return (int)n;
		if (n == 0 || (uint64_t)n > bytes || fell_short) {
			board_complain(m->works->board, "send takes nothing, too much, or not all");
			return -EIO;
		}
		fell_short = (uint64_t)n < bytes && !m->config->nonblock;
		advance(m, (uint64_t)n);
		from += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int make_send(struct maker *m)
{
	const struct config *c = m->config;
	size_t bytes = draw_bytes(c, &m->r);
	int ret;

	bytes = bytes < SCRATCH_BYTES ? bytes : SCRATCH_BYTES;
	bytes = bytes < m->left ? bytes : (size_t)m->left;
	if (c->policy == POLICY_CONSTANT)
		return send_memory(m, m->works->constant + m->at % c->wrap_bytes, bytes);
	stream_fill(m->scratch, bytes, m->at, c->wrap_bytes, 0);
	ret = send_memory(m, m->scratch, bytes);
	memset(m->scratch, 0xdd, SCRATCH_BYTES);
	return ret;
}

int make_repeat(struct maker *m)
{
	size_t wrap = (size_t)m->config->wrap_bytes;
	uint64_t bytes = rng_one_in(&m->r, 4) ? m->left : 1 + rng_below(&m->r, 4 * MIB);
	char *memory = malloc(wrap);
	int ret = 0;

	bytes = bytes < m->left ? bytes : m->left;
	while (memory && bytes > 0 && ret == 0) {
		int64_t n;

		stream_fill(memory, wrap, m->at, wrap, 0);
		n = gush_producer_repeat(m->works->producer, memory, wrap, bytes);
		memset(memory, 0xcc, wrap);
		if (n < 0 && wait_room(m->works, (int)n))
			continue;
		ret = n < 0 ? (int)n : 0;
		if (n > 0) {
			advance(m, (uint64_t)n);
			bytes -= (uint64_t)n;
		}
	}
	free(memory);
	return ret;
}
