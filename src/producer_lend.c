/* SPDX-License-Identifier: MIT */
/* Memory out to the caller, and back into the stream. */
#include "producer.h"

#include <errno.h>
#include <stdlib.h>

/* ---- loans ---- */

static struct gi_loan *loan_of_this_thread(struct gush_producer *p)
{
	for (size_t i = 0; i < p->loan_room; i++)
		if (p->loans[i].base && pthread_equal(p->loans[i].thread, pthread_self()))
			return &p->loans[i];
	return NULL;
}

static struct gi_loan *loan_of_region(struct gush_producer *p, const struct gush_region *region)
{
	struct gi_loan *loan;

	if (region->reserved >= p->loan_room || !region->memory)
		return NULL;
	loan = &p->loans[region->reserved];
	return loan->base == region->memory ? loan : NULL;
}

static struct gi_loan *free_loan(struct gush_producer *p)
{
	struct gi_loan *loans;
	size_t room = p->loan_room ? 2 * p->loan_room : 4;

	for (size_t i = 0; i < p->loan_room; i++)
		if (!p->loans[i].base)
			return &p->loans[i];
	loans = reallocarray(p->loans, room, sizeof(*loans));
	if (!loans)
		return NULL;
	for (size_t i = p->loan_room; i < room; i++)
		loans[i].base = NULL;
	p->loans = loans;
	loans = &p->loans[p->loan_room];
	p->loan_room = room;
	return loans;
}

static void end_loan(struct gi_loan *loan, size_t used)
{
	struct gi_block *block = loan->block;

	if (loan->base + loan->bytes == block->base + block->used)
		block->used -= loan->bytes - used; /* nothing was lent behind it: the rest is free again */
	block->loans--;
	loan->base = NULL;
}

/* ---- room ---- */

/* Until the others have committed and everything is sent. 0; -errno; or 1: look again, time has passed. */
static int make_idle(struct gush_producer *p, const struct gi_block *block)
{
	int ret;

	if (gi_block_idle(block))
		return 0;
	if (block->queued_bytes > 0 && !p->sending)
		ret = gi_producer_drain(p, 0);
	else
		ret = gi_producer_wait_change(p);
	return ret < 0 ? ret : 1;
}

/* One barrier for the whole ring: also for the last bytes, which are queued perhaps. */
static int send_before_barrier(struct gush_producer *p, const struct gi_block *block)
{
	int ret;

	if (!p->sharing || !gi_protect_needs_barrier(&p->protect, block) || p->sending || p->queue.count == 0)
		return 0;
	ret = gi_producer_drain(p, 0);
	if (ret == -EAGAIN)
		return 0;
	return ret < 0 ? ret : 1;
}

/* 0, -errno, or 1: look again. */
static int next_block(struct gush_producer *p)
{
	size_t next = (p->ring.now + 1) % p->ring.turn;
	struct gi_block *block = p->ring.blocks[next];
	int ret = make_idle(p, block);

	if (ret == 0)
		ret = send_before_barrier(p, block);
	if (ret == 0)
		ret = gi_producer_prepare_block(p, block, next == 0);
	if (ret != 0)
		return ret;
	p->ring.now = next;
	block->used = 0;
	return 0;
}

/* Leaves the ring at a block with that much room. */
static int find_room(struct gush_producer *p, size_t least)
{
	int ret = 0;

	while (ret >= 0) {
		struct gi_block *block;

		ret = p->error ? p->error : gi_producer_choose_way(p);
		if (ret < 0)
			return ret;
		block = gi_ring_block(&p->ring);
		if (!p->sharing && gi_block_idle(block))
			block->used = 0; /* it was copied: use again what is in the cache */
		if (p->ring.block_bytes - block->used >= least)
			return 0;
		ret = next_block(p);
	}
	return ret;
}

static int lend(struct gush_producer *p, size_t least, size_t most, struct gush_region *ret_region)
{
	struct gi_block *block = gi_ring_block(&p->ring);
	size_t chunk = gi_producer_chunk(p), bytes = p->ring.block_bytes - block->used;
	struct gi_loan *loan = free_loan(p);

	if (!loan)
		return -ENOMEM;
	if (bytes > most)
		bytes = most;
	if (bytes > chunk)
		bytes = chunk > least ? chunk : least;
	*loan = (struct gi_loan){ block->base + block->used, bytes, block, pthread_self() };
	block->used += bytes;
	block->loans++;
	ret_region->memory = loan->base;
	ret_region->bytes = bytes;
	ret_region->reserved = (uint64_t)(loan - p->loans);
	return 0;
}

int gush_producer_reserve(
	struct gush_producer *p, size_t least_bytes, size_t most_bytes, struct gush_region *ret_region)
{
	int ret;

	if (least_bytes == 0 || least_bytes > most_bytes || least_bytes > GUSH_REGION_MOST)
		return -EINVAL;
	gi_producer_lock(p);
	ret = loan_of_this_thread(p) ? -EDEADLK : find_room(p, least_bytes);
	if (ret == 0)
		ret = lend(p, least_bytes, most_bytes, ret_region);
	pthread_mutex_unlock(&p->lock);
	return ret;
}

/* Enough for one go? Then send; but what others are at already, they send. */
static int send_if_enough(struct gush_producer *p)
{
	size_t chunk = gi_producer_chunk(p);
	int ret = p->error;

	if (ret == 0 && gi_queue_bytes(&p->queue) >= chunk && !p->sending)
		ret = gi_producer_drain(p, chunk - 1);
	return ret == -EAGAIN ? 0 : ret;
}

int gush_producer_commit(struct gush_producer *p, struct gush_region *region, size_t bytes)
{
	struct gi_loan *loan;
	int ret = -EINVAL;

	gi_producer_lock(p);
	loan = loan_of_region(p, region);
	if (loan && bytes <= loan->bytes)
		ret = bytes ? gi_queue_add(&p->queue, loan->block, loan->base, bytes) : 0;
	if (ret == 0) {
		end_loan(loan, bytes);
		gi_producer_tell_change(p);
		ret = send_if_enough(p);
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}
