/* SPDX-License-Identifier: MIT */
/*
 * GUSH_PROTECT's promise, kept by the cheapest way that works here: a barrier once per pass over the ring,
 * else fresh pages. docs/barrier.md has the reasons.
 *
 * Counting: barriers have numbers, from 1. A block remembers how many had started when the last of it had
 * been sent; it may be written again when one with a higher number has returned.
 */
#ifndef GI_PROTECT_H
#define GI_PROTECT_H

#include "barrier.h"
#include "canary.h"
#include "record.h"
#include "ring.h"

#include <stdbool.h>

enum gi_protect_way {
	GI_PROTECT_NONE, /* nothing protects, or it does not pay: copy */
	GI_PROTECT_BARRIER,
	GI_PROTECT_FRESH,
};

struct gi_protect {
	enum gi_protect_way way;
	size_t barrier_index; /* which of gi_barrier_at */
	struct gi_canary canary;
	uint64_t started, returned; /* barriers */

	int pagemap;	    /* to ask whether a block is still one huge page; -1: cannot be asked */
	size_t renewed;	    /* blocks that were not, in this pass */
	size_t still_small; /* and did not become so */
	uint64_t ring_limit_bytes;

	int64_t pass_began_ns;
	int64_t barrier_ns; /* what barriers took in this pass */
	unsigned dear;	    /* passes in a row in which they took too much of it */
	double best_pace;   /* ns a byte, of a pass; where blocks cannot be asked for */
	unsigned slow;	    /* passes in a row that were far from it */
};

void gi_protect_init(struct gi_protect *protect); /* nothing is open; gi_protect_close does nothing */

/*
 * For a ring of huge pages that is open: finds a way; fresh: that one and no barrier. 0; or -errno, and the
 * reason is on record.
 */
int gi_protect_open(struct gi_protect *protect, struct gi_ring *ring, bool fresh, struct gi_record *record);
void gi_protect_close(struct gi_protect *protect);

const char *gi_protect_way(const struct gi_protect *protect); /* for the record */

/* In a forked child: fork was a barrier, and what was opened belongs to the parent. 0 or -errno. */
int gi_protect_forked(struct gi_protect *protect, struct gi_ring *ring);

/* Whether a barrier must run before this block is written: what is queued had better be sent first. */
bool gi_protect_needs_barrier(const struct gi_protect *protect, const struct gi_block *block);

/*
 * Makes an idle block one that may be written, changing the way where the one in use fails or costs too
 * much, and the ring's size. `pass`: it is the first block of a pass. 0, or -EOPNOTSUPP: no way is left, the
 * block must not be written.
 */
int gi_protect_block(struct gi_protect *protect, struct gi_ring *ring, struct gi_block *block, bool pass,
	struct gi_record *record);

/* The last of the block has been sent by reference. */
void gi_protect_sent(const struct gi_protect *protect, struct gi_block *block);

#endif
