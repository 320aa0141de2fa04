/* SPDX-License-Identifier: MIT */
/* src/ring.c: blocks that stay where they are, and more of them. */
#include "ring.h"

#include "support.h"

#define BLOCK ((size_t)64 << 10)

/* Each block can be written, and none overlaps another. */
static void check_blocks(const struct gi_ring *ring, size_t count)
{
	CHECK_INT(ring->count, count);
	for (size_t i = 0; i < ring->count; i++) {
		CHECK(gi_block_idle(ring->blocks[i]));
		memset(ring->blocks[i]->base, (int)i + 1, ring->block_bytes);
	}
	for (size_t i = 0; i < ring->count; i++) {
		const char *base = ring->blocks[i]->base;

		CHECK(base[0] == (char)(i + 1) && memcmp(base, base + 1, ring->block_bytes - 1) == 0);
	}
}

static void opens_and_closes(void)
{
	for (size_t count = 1; count < 6; count++) {
		struct gi_ring ring;

		CHECK_INT(gi_ring_open(&ring, BLOCK, count, false), 0);
		check_blocks(&ring, count);
		CHECK(ring.spare == NULL && gi_ring_block(&ring) == ring.blocks[0]);
		gi_ring_close(&ring);
		CHECK(ring.count == 0 && ring.blocks == NULL && ring.map_count == 0);
		gi_ring_close(&ring);
	}
}

static void doubles(void)
{
	struct gi_block *first;
	struct gi_ring ring;
	char *base;

	CHECK_INT(gi_ring_open(&ring, BLOCK, 1, false), 0);
	first = ring.blocks[0];
	base = first->base;
	for (size_t count = 2; count <= 1 << (GI_RING_MAPS - 1); count *= 2) {
		CHECK_INT(gi_ring_double(&ring), 0);
		CHECK(ring.blocks[0] == first && first->base == base);
		CHECK_INT(ring.count, count);
	}
	check_blocks(&ring, 1 << (GI_RING_MAPS - 1));
	CHECK_INT(gi_ring_double(&ring), -E2BIG);
	check_blocks(&ring, 1 << (GI_RING_MAPS - 1));
	gi_ring_close(&ring);
}

static void in_huge_pages(void)
{
	size_t huge = gi_huge_page_bytes();
	struct gi_ring ring;

	if (huge == 0)
		SKIP("this kernel has no transparent huge pages");
	CHECK_INT(gi_ring_open(&ring, huge, 2, true), 0);
	CHECK(ring.spare == ring.blocks[1]->base + huge);
	CHECK_INT((uintptr_t)ring.blocks[0]->base % huge, 0);
	CHECK_INT(gi_ring_double(&ring), 0);
	CHECK(ring.spare == ring.blocks[1]->base + huge); /* there is one of them */
	check_blocks(&ring, 4);
	ring.spare[huge - 1] = 1;
	gi_ring_close(&ring);
}

static void cannot_be_had(void)
{
	struct gi_ring ring;

	CHECK_INT(gi_ring_open(&ring, (size_t)1 << 45, 4, false), -ENOMEM);
	CHECK(ring.count == 0 && ring.blocks == NULL && ring.map_count == 0);
	CHECK_INT(gi_ring_open(&ring, SIZE_MAX / 2, 4, false), -EOVERFLOW);
	CHECK(ring.count == 0 && ring.blocks == NULL);
	CHECK_INT(gi_ring_open(&ring, BLOCK, 3, false), 0);
	ring.block_bytes = (size_t)1 << 46; /* no room for more: it stays as it is */
	CHECK_INT(gi_ring_double(&ring), -ENOMEM);
	ring.block_bytes = BLOCK;
	check_blocks(&ring, 3);
	CHECK_INT(ring.map_count, 1);
	gi_ring_close(&ring);
}

static void idle(void)
{
	struct gi_block block = { 0 };

	CHECK(gi_block_idle(&block));
	block.loans = 1;
	CHECK(!gi_block_idle(&block));
	block.loans = 0;
	block.queued_bytes = 1;
	CHECK(!gi_block_idle(&block));
}

int main(void)
{
	TEST(opens_and_closes);
	TEST(doubles);
	TEST(in_huge_pages);
	TEST(cannot_be_had);
	TEST(idle);
	return test_end();
}
