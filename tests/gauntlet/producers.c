/* SPDX-License-Identifier: MIT */
/*
 * The library's producer under every policy, used at random: regions of least and most bytes, of which a part
 * is committed; memory of the caller's own, which is scribbled over on return where that is allowed; repeats;
 * flushes.
 */
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRATCH_BYTES (256 * KIB)
#define PIECES_MOST 4

void (*produce_hook)(uint64_t bytes_so_far);

/* What the threads share. */
struct works {
	const struct config *config;
	struct board *board;
	struct gush_producer *producer;
	int fd;
	pthread_mutex_t lock;
	char *constant; /* wrap_bytes of the stream, twice; never changed */
};

struct maker {
	struct works *works;
	const struct config *config;
	pthread_t pthread;
	unsigned thread;
	struct rng r;
	uint64_t at; /* of this thread's counter */
	uint64_t sequence;
	uint64_t left;
	char *scratch;
	pid_t forked; /* 0: none */
};

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

static void complain(struct works *w, const char *what)
{
	if (w->board->complaint[0] == '\0')
		snprintf(w->board->complaint, sizeof(w->board->complaint), "%s", what);
}

static void note(struct works *w, const struct maker *m, uint64_t bytes)
{
	pthread_mutex_lock(&w->lock);
	w->board->produced += bytes;
	if (w->config->threads > 0)
		w->board->produced_by[m->thread] = m->at;
	if (produce_hook)
		produce_hook(w->board->produced);
	pthread_mutex_unlock(&w->lock);
}

/* false: the error was not EAGAIN. */
static bool wait_room(struct works *w, int error)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	if (error != -EAGAIN)
		return false;
	if (!w->config->nonblock)
		complain(w, "EAGAIN without GUSH_NONBLOCK");
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

/* ---- memory that the library lends ---- */

static int reserve(struct maker *m, size_t want, struct gush_region *ret_region)
{
	struct works *w = m->works;
	size_t least = want, most = want;
	int ret;

	if (least > GUSH_REGION_MOST)
		least = most = GUSH_REGION_MOST;
	switch (rng_below(&m->r, 4)) {
	case 0:
		least = m->config->threads > 0 ? FRAME_HEADER + 1 : 1;
		break;
	case 1:
		most = rng_one_in(&m->r, 2) ? SIZE_MAX : most * 3;
		break;
	default:
		break;
	}
	do
		ret = gush_producer_reserve(w->producer, least, most, ret_region);
	while (wait_room(w, ret));
	if (ret == 0 && (ret_region->bytes < least || ret_region->bytes > most || !ret_region->memory))
		complain(w, "reserve lends less or more than asked for");
	return ret;
}

/* Fills `bytes` of the region, header included. */
static void fill(struct maker *m, char *to, size_t bytes)
{
	if (m->config->threads > 0) {
		uint64_t header = frame_header(m->thread, m->sequence, bytes - FRAME_HEADER);

		memcpy(to, &header, FRAME_HEADER);
		stream_fill(to + FRAME_HEADER, bytes - FRAME_HEADER, m->at, UINT64_MAX, frame_tag(m->thread));
	} else {
		stream_fill(to, bytes, m->at, m->config->wrap_bytes, 0);
	}
}

static int commit(struct maker *m, struct gush_region *region, size_t want)
{
	size_t bytes = region->bytes < want ? region->bytes : want;
	int ret;

	if (rng_one_in(&m->r, 8)) /* all of it is the caller's, also what is not committed */
		memset(region->memory, 0xee, region->bytes < MIB ? region->bytes : MIB);
	fill(m, region->memory, bytes);
	if (rng_one_in(&m->r, 16))
		bytes = 0;
	ret = gush_producer_commit(m->works->producer, region, bytes);
	if (ret == -EAGAIN)
		complain(m->works, "commit says EAGAIN");
	if (ret < 0 || bytes == 0)
		return ret;
	m->sequence++;
	m->at += m->config->threads > 0 ? bytes - FRAME_HEADER : bytes;
	m->left -= bytes < m->left ? bytes : m->left;
	note(m->works, m, bytes);
	return 0;
}

static int make_region(struct maker *m)
{
	struct gush_region region = { 0 };
	size_t want = draw_bytes(m->config, &m->r);
	int ret;

	if (m->config->threads == 0 && want > m->left)
		want = (size_t)m->left;
	if (m->config->threads > 0)
		want += FRAME_HEADER + 1;
	if (want > GUSH_REGION_MOST)
		want = GUSH_REGION_MOST;
	ret = reserve(m, want, &region);
	return ret < 0 ? ret : commit(m, &region, want);
}

/* ---- memory of the caller's own; without frames only ---- */

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
			complain(m->works, "send takes nothing, too much, or not all");
			return -EIO;
		}
		fell_short = (uint64_t)n < bytes && !m->config->nonblock;
		advance(m, (uint64_t)n);
		from += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int make_send(struct maker *m)
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

static int make_repeat(struct maker *m)
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
			complain(w, "no thread");
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
			complain(&w, "bytes are pending after the flush");
		note_ways(&w);
		gush_producer_close(w.producer);
	}
	if (w.constant) /* the pipes keep its pages, which free() might change */
		munmap(w.constant, 2 * c->wrap_bytes);
}
