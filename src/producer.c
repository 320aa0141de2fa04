/* SPDX-License-Identifier: MIT */
#include "producer.h"

#include "env.h"
#include "sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static int take_options(struct gush_producer *p, const struct gush_producer_options *given)
{
	const struct gush_producer_options defaults = GUSH_PRODUCER_OPTIONS_INIT;
	const char *policy = gi_environment("GUSH_POLICY");

	p->options = defaults;
	if (given) {
		if (given->size < sizeof(*given) || given->flags & ~(uint32_t)GUSH_NONBLOCK ||
			given->policy > GUSH_GIVE || given->wait > GUSH_WAIT_BLOCK || given->reserved)
			return -EINVAL;
		p->options = *given;
	}
	if (policy && strcmp(policy, "copy") == 0)
		p->options.policy = GUSH_COPY;
	return 0;
}

/*
 * What never changes is sent as fast as it is taken, so that the two ends wait for each other all the time:
 * adaptive waiting made 54 GiB/s of 19 on two CPUs (gush yes to a splicing reader, 6.18). Who fills memory
 * before is waited for by the reader, and it made no difference.
 */
static void choose_waiting(struct gush_producer *p)
{
	static const enum gi_wait_kind kinds[] = {
		[GUSH_WAIT_ADAPTIVE] = GI_WAIT_ADAPTIVE,
		[GUSH_WAIT_SPIN] = GI_WAIT_SPIN,
		[GUSH_WAIT_BLOCK] = GI_WAIT_BLOCK,
	};

	if (p->options.wait != GUSH_WAIT_DEFAULT)
		gi_wait_init(&p->wait, kinds[p->options.wait]);
	else if (p->sink.kind == GI_KIND_PIPE && p->options.policy == GUSH_CONSTANT)
		gi_wait_init_cheaply(&p->wait);
	else
		gi_wait_init(&p->wait, GI_WAIT_BLOCK);
}

static int prepare(struct gush_producer *p, int sink, const struct gush_producer_options *options)
{
	int ret = take_options(p, options);

	if (ret == 0)
		ret = gi_endpoint_classify(sink, &p->sink);
	if (ret < 0)
		return ret;
	if (!p->sink.writable)
		return -EBADF;
	gi_nowait_init(&p->io, &p->sink);
	choose_waiting(p);
	p->origin = gi_origin_now();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	return 0;
}

int gush_producer_open(
	int sink, const struct gush_producer_options *options, struct gush_producer **ret_producer)
{
	struct gush_producer *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	p->io.private_fd = -1;
	gi_protect_init(&p->protect);
	ret = prepare(p, sink, options);
	if (ret < 0) {
		free(p);
		return ret;
	}
	*ret_producer = p;
	return 0;
}

struct gush_producer *gush_producer_close(struct gush_producer *p)
{
	if (!p)
		return NULL;
	gi_protect_close(&p->protect);
	gi_nowait_close(&p->io);
	gi_ring_close(&p->ring);
	while (p->left_count > 0)
		gi_ring_close(&p->left[--p->left_count]);
	gi_queue_close(&p->queue);
	free(p->loans);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return NULL;
}

/* ---- a forked child ---- */

static void forget_loans(struct gush_producer *p)
{
	for (size_t i = 0; i < p->loan_room; i++) {
		if (p->loans[i].base)
			p->loans[i].block->loans--;
		p->loans[i].base = NULL;
	}
}

/*
 * The memory is a copy: fork has protected what is in flight from it, as a barrier does. What was lent and
 * queued is the parent's to send, and the locks are as its threads held them.
 */
static void adopt(struct gush_producer *p)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->waiting = 0;
	p->sending = p->turn = false;
	forget_loans(p);
	gi_queue_clear(&p->queue);
	p->origin = gi_origin_now();
	if (p->sharing && p->options.policy != GUSH_TRUST_READER &&
		gi_protect_forked(&p->protect, &p->ring) < 0)
		gi_producer_stop_sharing(p);
}

void gi_producer_lock(struct gush_producer *p)
{
	if (gi_origin_forked(&p->origin))
		adopt(p);
	pthread_mutex_lock(&p->lock);
}

/* ---- what is known of it ---- */

/* The lock is no part of what the caller sees. */
static struct gush_producer *lock_const(const struct gush_producer *p)
{
	struct gush_producer *mine = (struct gush_producer *)(uintptr_t)p;

	gi_producer_lock(mine);
	return mine;
}

uint64_t gush_producer_delivered(const struct gush_producer *p)
{
	struct gush_producer *mine = lock_const(p);
	uint64_t bytes = mine->delivered_bytes;

	pthread_mutex_unlock(&mine->lock);
	return bytes;
}

uint64_t gush_producer_pending(const struct gush_producer *p)
{
	struct gush_producer *mine = lock_const(p);
	uint64_t bytes = gi_queue_bytes(&mine->queue);

	pthread_mutex_unlock(&mine->lock);
	return bytes;
}

int gush_producer_report_entry(
	const struct gush_producer *p, size_t index, struct gush_report_entry *ret_entry)
{
	struct gush_producer *mine = lock_const(p);
	int ret = gi_record_entry(&mine->record, index, ret_entry);

	pthread_mutex_unlock(&mine->lock);
	return ret;
}
