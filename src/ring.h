/* SPDX-License-Identifier: MIT */
/* Memory that a producer lends: blocks used one after the other, round and round. */
#ifndef GI_RING_H
#define GI_RING_H

#include "hugebuf.h"

#include <stdbool.h>
#include <stdint.h>

#define GI_RING_MAPS 8 /* the first, and one for each time it doubled */

struct gi_block {
	char *base;
	size_t used;	     /* lent so far, in this pass */
	unsigned loans;	     /* being filled */
	size_t queued_bytes; /* committed, not sent yet */
	bool in_flight;	     /* sent by reference since it was last known to be ours alone */
	uint64_t sent_count; /* barriers that had started when the last of it had been sent */
	uint64_t sent_end;   /* where in the stream that ended */
};

struct gi_ring {
	size_t block_bytes;
	struct gi_block **blocks; /* each stays where it is as long as the ring */
	size_t count, turn,
		now; /* turn: how many of them are used, round and round; now: the one lent from */
	bool huge;
	char *spare; /* a block's worth behind the first blocks, in their mapping; NULL: none */
	struct gi_hugebuf maps[GI_RING_MAPS];
	size_t map_count;
};

/*
 * Maps `count` blocks, and a spare one where they are in huge pages (a block is one huge page then). 0, or
 * -errno and nothing is mapped.
 */
int gi_ring_open(struct gi_ring *ring, size_t block_bytes, size_t count, bool huge);
void gi_ring_close(struct gi_ring *ring); /* pages in flight stay with those who hold them */

/* Adds as many blocks as there are, behind the last. 0 or -errno, and the ring is as it was. */
int gi_ring_double(struct gi_ring *ring);

static inline struct gi_block *gi_ring_block(const struct gi_ring *ring)
{
	return ring->blocks[ring->now];
}

static inline bool gi_block_idle(const struct gi_block *block)
{
	return block->loans == 0 && block->queued_bytes == 0;
}

#endif
