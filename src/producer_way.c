/* SPDX-License-Identifier: MIT */
/* Copy or share: when, with which memory, and when no longer. */
#include "memory_room.h"
#include "producer.h"
#include "sys.h"
#include "transit.h"

#include <errno.h>

/*
 * Probes and a ring of fresh memory cost about 5 ms (6.18), in which write(2) moves some 16 MiB: who sends
 * less than this is better off without.
 */
#define SHARE_AFTER ((uint64_t)16 << 20)

/* Still in a level-2 cache when it is written; twice a usual pipe. See BUFFER_BYTES in buffer.c. */
#define COPY_CHUNK ((size_t)128 << 10)
#define COPY_BLOCKS 2 /* one is filled by a thread while another's is written */

/* One barrier for 16 huge pages: best of 16 to 128 MiB with a splicing reader, on one CPU and two (6.18). */
#define PROTECT_RING ((uint64_t)32 << 20)
#define PROTECT_LIMIT ((uint64_t)256 << 20)
#define GIVE_RING ((uint64_t)8 << 20)
#define TRUST_BLOCKS 3 /* a pipe's worth each: the one being filled, and one on either side of the reader */

size_t gi_producer_chunk(const struct gush_producer *p)
{
	size_t capacity = p->sink.capacity_bytes;

	if (!p->sharing)
		return COPY_CHUNK;
	if (capacity > GI_TRANSIT_LARGE)
		capacity = GI_TRANSIT_LARGE;
	return capacity < p->ring.block_bytes ? capacity : p->ring.block_bytes;
}

const char *gi_producer_way(const struct gush_producer *p)
{
	if (!p->sharing)
		return "write";
	return p->options.policy == GUSH_TRUST_READER ? "vmsplice" : gi_protect_way(&p->protect);
}

/* ---- opening a ring to share from ---- */

static int open_huge_ring(const struct gush_producer *p, uint64_t usual_bytes, struct gi_ring *ret_ring)
{
	uint64_t bytes = p->options.ring_bytes ? p->options.ring_bytes : usual_bytes;
	uint64_t huge = gi_huge_page_bytes(), count, most;

	if (huge < GUSH_REGION_MOST)
		return -EOPNOTSUPP;
	count = bytes / huge + (bytes % huge != 0);
	most = gi_memory_room() / GI_MEMORY_SHARE / huge;
	if (count > most)
		count = most;
	if (count < (p->options.ring_bytes ? 1 : 2))
		return -ENOMEM;
	return gi_ring_open(ret_ring, (size_t)huge, (size_t)count, true);
}

static int open_protected(struct gush_producer *p, struct gi_ring *ret_ring)
{
	bool fresh = p->options.policy == GUSH_GIVE;
	int ret = open_huge_ring(p, fresh ? GIVE_RING : PROTECT_RING, ret_ring);

	if (ret < 0) {
		gi_record_add(&p->record, fresh ? "vmsplice" : gi_barrier_at(0)->name, GUSH_TRIED_UNFIT, ret,
			"no huge pages, or no memory for a ring of them");
		return ret;
	}
	p->protect.ring_limit_bytes =
		p->options.ring_limit_bytes ? p->options.ring_limit_bytes : PROTECT_LIMIT;
	ret = gi_protect_open(&p->protect, ret_ring, fresh, &p->record);
	if (ret < 0)
		gi_ring_close(ret_ring);
	return ret;
}

static int open_trusting(struct gush_producer *p, struct gi_ring *ret_ring)
{
	size_t page = gi_page_bytes(), block = p->sink.capacity_bytes;
	size_t count = TRUST_BLOCKS;
	int ret;

	if (block < GUSH_REGION_MOST)
		block = GUSH_REGION_MOST;
	block = (block + page - 1) / page * page;
	if (p->options.ring_bytes > count * block)
		count = (size_t)(p->options.ring_bytes / block);
	ret = gi_ring_open(ret_ring, block, count, gi_huge_page_bytes() > 0);
	if (ret < 0)
		gi_record_add(&p->record, "vmsplice", GUSH_TRIED_FAILED, ret, NULL);
	else
		gi_record_add(&p->record, "vmsplice", GUSH_TRIED_USED, 0, NULL);
	return ret;
}

static void leave_ring(struct gush_producer *p)
{
	if (p->ring.count > 0)
		p->left[p->left_count++] = p->ring;
	p->ring = (struct gi_ring){ 0 };
}

static void share(struct gush_producer *p)
{
	struct gi_ring ring = { 0 };
	int ret;

	p->sharing_tried = true;
	if (p->sink.kind != GI_KIND_PIPE) {
		gi_record_add(&p->record, "vmsplice", GUSH_TRIED_UNFIT, 0, "the sink is no pipe");
		gi_record_add(&p->record, "write", GUSH_TRIED_USED, 0, NULL);
		return;
	}
	gi_transit_enlarge_end(&p->sink, UINT64_MAX);
	if (p->options.policy == GUSH_TRUST_READER)
		ret = open_trusting(p, &ring);
	else
		ret = open_protected(p, &ring);
	if (ret < 0) {
		gi_record_add(&p->record, "write", GUSH_TRIED_USED, 0, NULL);
		return;
	}
	leave_ring(p);
	p->ring = ring;
	p->ring.now = p->ring.count - 1; /* full: the next block is the first */
	gi_ring_block(&p->ring)->used = p->ring.block_bytes;
	p->sharing = true;
}

static bool shall_share(const struct gush_producer *p)
{
	if (p->sharing_tried || p->sending)
		return false;
	if (p->options.policy == GUSH_COPY || p->options.policy == GUSH_CONSTANT)
		return false;
	return p->options.ring_bytes > 0 || p->delivered_bytes >= SHARE_AFTER;
}

int gi_producer_choose_way(struct gush_producer *p)
{
	if (shall_share(p))
		share(p);
	if (p->ring.count > 0)
		return 0;
	if (p->record.count == 0)
		gi_record_add(&p->record, "write", GUSH_TRIED_USED, 0, NULL);
	return gi_ring_open(&p->ring, GUSH_REGION_MOST, COPY_BLOCKS, false);
}

/* ---- leaving it ---- */

void gi_producer_stop_sharing(struct gush_producer *p)
{
	if (p->sharing) {
		p->sharing = false;
		for (size_t i = 0; i < p->ring.count; i++)
			if (gi_block_idle(p->ring.blocks[i]))
				gi_hugebuf_renew(p->ring.blocks[i]->base, p->ring.block_bytes);
		leave_ring(p);
		gi_protect_close(&p->protect);
	}
	gi_record_add(&p->record, "write", GUSH_TRIED_USED, 0, NULL);
}

/* ---- a block ---- */

/* What the direct reader has not copied yet is within the last capacity bytes. The pipe may have grown since.
 */
static int prepare_trusting(struct gush_producer *p, struct gi_block *block)
{
	size_t capacity = p->sink.capacity_bytes;

	if (gi_pipe_capacity(p->sink.fd, &capacity) == 0 && capacity > p->sink.capacity_bytes)
		p->sink.capacity_bytes = capacity;
	if (!block->in_flight || p->delivered_bytes - block->sent_end >= capacity)
		return 0;
	return gi_hugebuf_renew(block->base, p->ring.block_bytes);
}

int gi_producer_prepare_block(struct gush_producer *p, struct gi_block *block, bool pass)
{
	int ret = 0;

	if (!p->sharing)
		return 0;
	if (p->options.policy == GUSH_TRUST_READER)
		ret = prepare_trusting(p, block);
	else
		ret = gi_protect_block(&p->protect, &p->ring, block, pass, &p->record);
	if (ret == 0) {
		block->in_flight = false;
		return 0;
	}
	gi_producer_stop_sharing(p);
	return 1;
}
