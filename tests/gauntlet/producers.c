/* SPDX-License-Identifier: MIT */
/*
 * The library's producer under every policy, used at random: regions, memory of the caller's own, repeats,
 * flushes; by one thread or several.
 */
#include "maker.h"
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void (*produce_hook)(uint64_t bytes_so_far);

size_t draw_bytes(const struct config *c, struct rng *r)
{
	switch (c->style) {
	case STYLE_ALIGNED:
		return (1 + rng_below(r, 64)) * 4 * KIB;
	case STYLE_ODD:
		return 1 + rng_below(r, 200000);
	default:
		return rng_one_in(r, 20) ? 1 + rng_below(r, 100000) : 1 + rng_below(r, 6000);
	}
}

void note(struct works *w, const struct maker *m, uint64_t bytes)
{
	pthread_mutex_lock(&w->lock);
	w->board->produced += bytes;
	if (w->config->threads > 0)
		w->board->produced_by[m->thread] = m->at;
	if (produce_hook)
		produce_hook(w->board->produced);
	pthread_mutex_unlock(&w->lock);
}

bool wait_room(struct works *w, int error)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	if (error != -EAGAIN)
		return false;
	if (!w->config->nonblock)
		board_complain(w->board, "EAGAIN without GUSH_NONBLOCK");
	poll(&p, 1, 100); /* with threads another may take the room */
	return true;
}

static int flush(struct maker *m)
{
	int ret;

	do
		ret = gush_producer_flush(m->works->producer);
	while (wait_room(m->works, ret));
	return ret;
}

/* ---- one thread, and all of them ---- */

static void end_fork(struct maker *m)
{
	while (m->forked > 0 && waitpid(m->forked, NULL, 0) < 0 && errno == EINTR)
		;
	m->forked = 0;
}

/* The child has all memory too for a while, and the write end. */
static void fork_for_a_while(struct maker *m)
{
	end_fork(m);
	m->forked = fork();
	if (m->forked == 0) {
		usleep((useconds_t)rng_below(&m->r, 3000));
		_exit(0);
	}
}

static int make(struct maker *m)
{
	const struct config *c = m->config;

	if (c->troubles & TROUBLE_FORKS && rng_one_in(&m->r, 100))
		fork_for_a_while(m);
	if (rng_one_in(&m->r, 24))
		return flush(m);
	if (c->threads > 0)
		return make_region(m);
	if (c->policy == POLICY_REPEAT && rng_one_in(&m->r, 3))
		return make_repeat(m);
	if (rng_below(&m->r, 8) < (c->policy == POLICY_CONSTANT ? 7u : 1u))
		return make_send(m);
	return make_region(m);
}

static void *make_all(void *context)
{
	struct maker *m = context;
	int ret = 0;

	m->scratch = malloc(SCRATCH_BYTES);
	while (ret == 0 && m->scratch && m->left > 0)
		ret = make(m);
	free(m->scratch);
	end_fork(m);
	if (ret < 0) {
		pthread_mutex_lock(&m->works->lock);
		if (m->works->board->error == 0)
			m->works->board->error = ret;
		pthread_mutex_unlock(&m->works->lock);
	}
	return NULL;
}

static void run_makers(struct works *w)
{
	struct maker makers[THREADS_MOST] = { 0 };
	unsigned threads = w->config->threads > 0 ? w->config->threads : 1;

	for (unsigned i = 0; i < threads; i++)
		makers[i] = (struct maker){ .works = w,
			.config = w->config,
			.thread = i,
			.r = { w->config->seed + i },
			.left = w->config->total_bytes / threads };
	for (unsigned i = 1; i < threads; i++)
		if (pthread_create(&makers[i].pthread, NULL, make_all, &makers[i]) != 0)
			board_complain(w->board, "no thread");
	make_all(&makers[0]);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(makers[i].pthread, NULL);
	if (w->board->error == 0)
		w->board->error = flush(&makers[0]);
}

static void note_ways(struct works *w)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	struct board *b = w->board;

	for (size_t i = 0; gush_producer_report_entry(w->producer, i, &e) == 0; i++)
		if (e.outcome == GUSH_TRIED_USED &&
			strlen(b->used) + strlen(e.method) + 2 < sizeof(b->used)) {
			strcat(b->used, b->used[0] != '\0' ? " " : "");
			strcat(b->used, e.method);
		}
}

static int open_works(struct works *w)
{
	/* Under COPY a repeat would share nothing. */
	static const uint32_t policies[POLICIES] = { [POLICY_COPY] = GUSH_COPY,
		[POLICY_CONSTANT] = GUSH_CONSTANT,
		[POLICY_REPEAT] = GUSH_PROTECT,
		[POLICY_PROTECT] = GUSH_PROTECT,
		[POLICY_TRUST] = GUSH_TRUST_READER,
		[POLICY_GIVE] = GUSH_GIVE };
	const struct config *c = w->config;
	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;

	options.policy = policies[c->policy];
	options.ring_bytes = c->ring_bytes;
	options.flags = c->nonblock ? GUSH_NONBLOCK : 0;
	if (c->policy == POLICY_CONSTANT) {
		/* Twice, so that what begins before the wrap may go beyond it. */
		w->constant = mmap(
			NULL, 2 * c->wrap_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (w->constant == MAP_FAILED) {
			w->constant = NULL;
			return -ENOMEM;
		}
		stream_fill(w->constant, 2 * c->wrap_bytes, 0, c->wrap_bytes, 0);
	}
	return gush_producer_open(w->fd, &options, &w->producer);
}

void produce(const struct config *c, int fd, struct board *board)
{
	struct works w = { .config = c, .board = board, .fd = fd, .lock = PTHREAD_MUTEX_INITIALIZER };

	board->error = open_works(&w);
	if (board->error == 0) {
		run_makers(&w);
		board->delivered = gush_producer_delivered(w.producer);
		if (board->error == 0 && gush_producer_pending(w.producer) != 0)
			board_complain(w.board, "bytes are pending after the flush");
		note_ways(&w);
		gush_producer_close(w.producer);
	}
	if (w.constant) /* the pipes keep its pages, which free() might change */
		munmap(w.constant, 2 * c->wrap_bytes);
}
