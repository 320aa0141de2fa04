/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <errno.h>
#include <stdlib.h>

static int add_block(struct gi_ring *ring, char *base)
{
	struct gi_block *block = calloc(1, sizeof(*block));

	if (!block)
		return -ENOMEM;
	block->base = base;
	ring->blocks[ring->count++] = block;
	return 0;
}

static void remove_blocks(struct gi_ring *ring, size_t count)
{
	while (ring->count > count)
		free(ring->blocks[--ring->count]);
}

static int add_map(struct gi_ring *ring, size_t count, size_t spare)
{
	struct gi_hugebuf *map = &ring->maps[ring->map_count];
	size_t before = ring->count, bytes;
	struct gi_block **blocks;
	int ret;

	if (ring->map_count == GI_RING_MAPS)
		return -E2BIG;
	if (__builtin_mul_overflow(count + spare, ring->block_bytes, &bytes))
		return -EOVERFLOW;
	blocks = reallocarray(ring->blocks, before + count, sizeof(struct gi_block *));
	if (!blocks)
		return -ENOMEM;
	ring->blocks = blocks;
	ret = gi_hugebuf_map(bytes, ring->huge ? GI_HUGEBUF_HUGE : GI_HUGEBUF_ANY, map);
	if (ret < 0)
		return ret == -EAGAIN ? -ENOMEM : ret; /* too much is locked; nothing to wait for */
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = add_block(ring, map->base + i * ring->block_bytes);
	if (ret < 0) {
		remove_blocks(ring, before);
		gi_hugebuf_unmap(map);
		return ret;
	}
	if (spare)
		ring->spare = map->base + count * ring->block_bytes;
	ring->map_count++;
	ring->turn = ring->count;
	return 0;
}

int gi_ring_open(struct gi_ring *ring, size_t block_bytes, size_t count, bool huge)
{
	int ret;

	*ring = (struct gi_ring){ .block_bytes = block_bytes, .huge = huge };
	ret = add_map(ring, count, huge);
	if (ret < 0)
		gi_ring_close(ring);
	return ret;
}

void gi_ring_close(struct gi_ring *ring)
{
	remove_blocks(ring, 0);
	free(ring->blocks);
	while (ring->map_count > 0)
		gi_hugebuf_unmap(&ring->maps[--ring->map_count]);
	*ring = (struct gi_ring){ 0 };
}

int gi_ring_double(struct gi_ring *ring)
{
	return add_map(ring, ring->count, 0);
}
