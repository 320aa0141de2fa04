/* SPDX-License-Identifier: MIT */
/* src/queue.c: pieces in the order of the stream, and what is left of them. */
#include "queue.h"

#include "support.h"

#define BLOCKS 3
#define BLOCK_BYTES 100000

static struct gi_block blocks[BLOCKS], *done[100];
static size_t done_count;

static void note_done(struct gi_block *block, void *arg)
{
	CHECK(arg == &done_count);
	done[done_count++ % COUNT(done)] = block;
}

static void begin(void)
{
	static char memory[BLOCKS * BLOCK_BYTES];

	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = (struct gi_block){ .base = memory + i * BLOCK_BYTES };
	done_count = 0;
}

static void add(struct gi_queue *queue, size_t block, size_t at, size_t bytes)
{
	CHECK_INT(gi_queue_add(queue, &blocks[block], blocks[block].base + at, bytes), 0);
}

static void sent(struct gi_queue *queue, size_t bytes)
{
	gi_queue_sent(queue, bytes, note_done, &done_count);
}

static void neighbours_join(void)
{
	struct gi_queue queue = { 0 };
	struct iovec pieces[8];

	begin();
	add(&queue, 0, 0, 10);
	add(&queue, 0, 10, 5);
	CHECK_INT(queue.count, 1);
	add(&queue, 0, 20, 5); /* a gap */
	CHECK_INT(queue.count, 2);
	add(&queue, 0, BLOCK_BYTES - 7, 7);
	add(&queue, 1, 0, 3); /* side by side, but another block */
	CHECK_INT(queue.count, 4);
	CHECK_INT(gi_queue_bytes(&queue), 30);
	CHECK_INT(blocks[0].queued_bytes, 27);
	CHECK_INT(blocks[1].queued_bytes, 3);
	CHECK_INT(gi_queue_front(&queue, pieces, 8), 4);
	CHECK(pieces[0].iov_base == blocks[0].base && pieces[0].iov_len == 15);
	CHECK(pieces[3].iov_base == blocks[1].base && pieces[3].iov_len == 3);
	CHECK_INT(gi_queue_front(&queue, pieces, 2), 2);
	gi_queue_close(&queue);
	CHECK_INT(queue.room, 0);
}

static void parts_are_sent(void)
{
	struct gi_queue queue = { 0 };
	struct iovec piece;

	begin();
	add(&queue, 0, 0, 10);
	add(&queue, 1, 0, 10);
	add(&queue, 0, 50, 10);
	sent(&queue, 4);
	CHECK_INT(gi_queue_front(&queue, &piece, 1), 1);
	CHECK(piece.iov_base == blocks[0].base + 4 && piece.iov_len == 6);
	sent(&queue, 7);
	CHECK_INT(done_count, 0); /* of the first block there is more behind */
	CHECK_INT(queue.count, 2);
	sent(&queue, 9);
	CHECK(done_count == 1 && done[0] == &blocks[1]);
	sent(&queue, 10);
	CHECK(done_count == 2 && done[1] == &blocks[0]);
	CHECK_INT(gi_queue_bytes(&queue), 0);
	CHECK_INT(queue.count, 0);
	CHECK_INT(queue.sent_bytes, 30);
	sent(&queue, 0);
	gi_queue_close(&queue);
}

/* Against a plain list of bytes, through growing while it wraps round. */
static void at_random(void)
{
	static char *expected[1 << 20];
	struct gi_queue queue = { 0 };
	size_t from = 0, to = 0;
	unsigned random = 1;

	begin();
	for (int i = 0; i < 20000 && !test_bad; i++) {
		size_t bytes, block;
		struct iovec piece;

		random = random * 1103515245 + 12345;
		bytes = random >> 16 & 31;
		block = (random >> 24) % BLOCKS;
		if ((random >> 9 & 7) < (i < 10000 ? 5 : 3) && to + 32 < COUNT(expected)) {
			size_t at = (random >> 4) % (BLOCK_BYTES - 32);

			bytes++;
			add(&queue, block, at, bytes);
			for (size_t k = 0; k < bytes; k++)
				expected[to++] = blocks[block].base + at + k;
		} else {
			bytes = bytes < to - from ? bytes : to - from;
			sent(&queue, bytes);
			from += bytes;
		}
		CHECK_INT(gi_queue_bytes(&queue), to - from);
		CHECK_INT(gi_queue_front(&queue, &piece, 1), to > from);
		if (to > from)
			CHECK(piece.iov_base == expected[from]);
	}
	sent(&queue, to - from);
	for (size_t i = 0; i < BLOCKS; i++)
		CHECK_INT(blocks[i].queued_bytes, 0);
	gi_queue_close(&queue);
}

static void cleared(void)
{
	struct gi_queue queue = { 0 };

	begin();
	gi_queue_clear(&queue);
	add(&queue, 0, 0, 10);
	add(&queue, 2, 0, 10);
	gi_queue_clear(&queue);
	CHECK_INT(gi_queue_bytes(&queue), 0);
	CHECK_INT(blocks[0].queued_bytes + blocks[2].queued_bytes, 0);
	add(&queue, 1, 5, 6);
	CHECK_INT(gi_queue_bytes(&queue), 6);
	CHECK_INT(queue.count, 1);
	gi_queue_close(&queue);
	gi_queue_close(&queue);
}

int main(void)
{
	TEST(neighbours_join);
	TEST(parts_are_sent);
	TEST(at_random);
	TEST(cleared);
	return test_end();
}
