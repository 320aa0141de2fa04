/* SPDX-License-Identifier: MIT */
/* The same bytes again and again: many copies side by side in memory that never changes, sent by reference.
 */
#include "producer.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COPIED_BYTES ((size_t)64 << 10) /* a usual pipe's worth, for the first writes */
/*
 * In a huge page: vmsplice of it took half the time of small ones (6.18). Little of it, again and again: a
 * reader that copies finds it in the cache.
 */
#define SHARED_BYTES ((size_t)256 << 10)
#define CALL_BYTES ((size_t)1 << 20) /* a large pipe's worth */
#define CALL_PIECES 16
#define SHARE_AFTER ((uint64_t)256 << 10) /* mapping and filling 2 MiB takes as long as copying so much */
#define MASTER_BYTES ((size_t)1 << 20)
#define RACE_AFTER ((uint64_t)64 << 20) /* tee or vmsplice: 0.3 ms to find out */
#define RACE_ROUNDS 8

struct repeat {
	struct gush_producer *p;
	const char *unit; /* what is repeated */
	size_t unit_bytes;
	uint64_t left;

	const char *base; /* many of them */
	size_t bytes, at;
	char *copied; /* on the heap */
	struct gi_hugebuf shared;

	struct gi_pipe master;	   /* filled from `base`; tee takes nothing out of it */
	size_t master_bytes, teed; /* teed: of it, what has gone since it was teed last, in whichever way */
	bool raced;
	uint64_t sent;
};

static void fill_with_units(const struct repeat *r, char *base, size_t bytes)
{
	size_t have = r->unit_bytes;

	memcpy(base, r->unit, have);
	while (have < bytes) {
		size_t n = have < bytes - have ? have : bytes - have;

		memcpy(base + have, base, n);
		have += n;
	}
}

/* As many whole units as fit, at least one; whole pages too where that is possible. */
static size_t whole_units(size_t unit_bytes, size_t room)
{
	size_t page = gi_page_bytes(), step = unit_bytes;

	while (step % page && step <= room / 2)
		step *= 2;
	if (step % page || step > room)
		step = unit_bytes;
	return step > room ? step : room / step * step;
}

/* From byte `at` on, up to `most` bytes, round and round. Returns how many pieces. */
static size_t pieces_from(const struct repeat *r, size_t at, uint64_t most, struct iovec *ret_pieces)
{
	size_t count = 0;

	while (most > 0 && count < CALL_PIECES) {
		size_t n = r->bytes - at < most ? r->bytes - at : (size_t)most;

		ret_pieces[count++] = (struct iovec){ (void *)(uintptr_t)(r->base + at), n };
		most -= n;
		at = 0;
	}
	return count;
}

/* ---- copied ---- */

static int begin_copying(struct repeat *r)
{
	r->bytes = whole_units(r->unit_bytes, COPIED_BYTES);
	r->base = r->unit;
	if (r->bytes == r->unit_bytes)
		return 0;
	r->copied = malloc(r->bytes);
	if (!r->copied)
		return -ENOMEM;
	fill_with_units(r, r->copied, r->bytes);
	r->base = r->copied;
	return 0;
}

/* ---- shared ---- */

/* 0, or -errno: then it goes on as before. `at` stays at the same byte of the unit. */
static int begin_sharing(struct repeat *r)
{
	size_t bytes = whole_units(r->unit_bytes, SHARED_BYTES);
	int ret = gi_hugebuf_map(bytes, gi_huge_page_bytes() ? GI_HUGEBUF_HUGE : 0, &r->shared);

	if (ret < 0)
		return ret;
	fill_with_units(r, r->shared.base, bytes);
	r->base = r->shared.base;
	r->bytes = bytes;
	r->at %= r->unit_bytes;
	return 0;
}

/* Whole rounds, and pages: another slot for each part of one would not fit. */
static size_t choose_master_bytes(const struct repeat *r)
{
	if (r->bytes > MASTER_BYTES)
		return whole_units(r->unit_bytes, MASTER_BYTES);
	return r->bytes % gi_page_bytes() ? r->bytes : MASTER_BYTES / r->bytes * r->bytes;
}

/* A master's worth into an empty pipe. 0 or -errno. */
static int put_round(const struct repeat *r, int fd)
{
	for (size_t have = 0; have < r->master_bytes;) {
		size_t at = have % r->bytes, most = r->master_bytes - have;
		ssize_t n = gi_sys_vmsplice(
			fd, r->base + at, r->bytes - at < most ? r->bytes - at : most, SPLICE_F_NONBLOCK);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		have += (size_t)n;
	}
	return 0;
}

static int drain_round(const struct repeat *r, int fd, int null)
{
	for (size_t left = r->master_bytes; left > 0;) {
		ssize_t n = gi_sys_splice(fd, null, left, SPLICE_F_NONBLOCK);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		left -= (size_t)n;
	}
	return 0;
}

static int fill_master(struct repeat *r)
{
	size_t capacity = 0;
	int ret = gi_pipe_open(&r->master);

	if (ret == 0)
		ret = gi_pipe_grow(r->master.write_fd, MASTER_BYTES, &capacity);
	r->master_bytes = choose_master_bytes(r);
	return ret == 0 ? put_round(r, r->master.write_fd) : ret;
}

/* How long it takes to put a pipe's worth into a pipe again and again. INT64_MAX: it cannot. */
static int64_t time_of(const struct repeat *r, const struct gi_pipe *to, int null, bool by_tee)
{
	int64_t began = gi_sys_now_ns();

	for (unsigned i = 0; i < RACE_ROUNDS; i++) {
		ssize_t n;

		if (by_tee)
			n = gi_sys_tee(r->master.read_fd, to->write_fd, r->master_bytes, SPLICE_F_NONBLOCK);
		else
			n = put_round(r, to->write_fd);
		if (n < 0 || drain_round(r, to->read_fd, null) < 0)
			return INT64_MAX;
	}
	return gi_sys_now_ns() - began;
}

/* In pipes of our own, so that no reader has a part in it. */
static bool tee_is_faster(const struct repeat *r)
{
	struct gi_pipe to = GI_PIPE_NONE;
	int null = gi_sys_open("/dev/null", O_WRONLY, 0);
	bool faster = false;
	size_t capacity;

	if (null >= 0 && gi_pipe_open(&to) == 0 && gi_pipe_grow(to.write_fd, MASTER_BYTES, &capacity) == 0) {
		time_of(r, &to, null, false); /* the first round is slower */
		faster = time_of(r, &to, null, true) < time_of(r, &to, null, false);
	}
	gi_pipe_close(&to);
	if (null >= 0)
		gi_sys_close(null);
	return faster;
}

static void race(struct repeat *r)
{
	int ret = fill_master(r);

	r->raced = true;
	if (ret == 0 && tee_is_faster(r))
		return;
	gi_pipe_close(&r->master);
	if (!r->p->tee_told)
		gi_record_add(&r->p->record, "tee", ret < 0 ? GUSH_TRIED_FAILED : GUSH_TRIED_UNFIT, ret,
			ret < 0 ? "no pipe to repeat from" : "vmsplice is as fast here, or faster");
	r->p->tee_told = true;
}

/* ---- the loop ---- */

static bool may_share(const struct repeat *r)
{
	return r->p->sink.kind == GI_KIND_PIPE && r->p->options.policy != GUSH_COPY &&
	       !r->p->refused[GI_SEND_SHARE];
}

/* What tee has put out in part is finished from memory: the next tee begins at the front again. */
static ssize_t step(struct repeat *r)
{
	bool share = r->shared.base && may_share(r);
	bool tees = share && r->master.read_fd >= 0 && !r->p->refused[GI_SEND_TEE];
	bool aligns = !share || (!r->raced && r->sent >= RACE_AFTER); /* the race begins at the front */
	uint64_t most = aligns ? r->bytes - r->at : CALL_BYTES;
	struct iovec pieces[CALL_PIECES];
	struct gi_parcel parcel = { .way = "write", .pieces = pieces };

	if (share) {
		parcel.by = GI_SEND_SHARE;
		parcel.way = "vmsplice";
	}
	if (tees && r->teed == 0 && r->left >= r->master_bytes)
		parcel = (struct gi_parcel){ .by = GI_SEND_TEE,
			.way = "tee",
			.master = r->master.read_fd,
			.master_bytes = r->master_bytes };
	else if (tees && most > r->master_bytes - r->teed)
		most = r->master_bytes - r->teed;
	if (parcel.by != GI_SEND_TEE)
		parcel.count = pieces_from(r, r->at, most < r->left ? most : r->left, pieces);
	return gi_producer_move(r->p, &parcel);
}

static void change_way(struct repeat *r)
{
	if (!may_share(r))
		return;
	if (!r->shared.base && r->sent >= SHARE_AFTER)
		begin_sharing(r); /* without the memory it is copied on */
	if (r->shared.base && !r->raced && r->sent >= RACE_AFTER && r->at == 0)
		race(r);
}

static int64_t run(struct repeat *r)
{
	int ret = begin_copying(r);

	while (ret == 0 && r->left > 0) {
		ssize_t n;

		change_way(r);
		n = step(r);
		if (n < 0) {
			ret = (int)n;
			continue;
		}
		r->at = (r->at + (size_t)n) % r->bytes;
		if (r->master.read_fd >= 0)
			r->teed = (r->teed + (size_t)n) % r->master_bytes;
		r->left -= (uint64_t)n;
		r->sent += (uint64_t)n;
	}
	if (r->sent > INT64_MAX)
		r->sent = INT64_MAX;
	return ret < 0 && r->sent == 0 ? ret : (int64_t)r->sent;
}

int64_t gush_producer_repeat(struct gush_producer *p, const void *memory, size_t bytes, uint64_t total_bytes)
{
	struct repeat r = {
		.p = p, .unit = memory, .unit_bytes = bytes, .left = total_bytes, .master = GI_PIPE_NONE
	};
	int64_t ret;

	if (bytes == 0 || bytes > SSIZE_MAX || p->options.flags & GUSH_NONBLOCK)
		return -EINVAL;
	gi_producer_lock(p);
	ret = gi_producer_take_turn(p);
	if (ret == 0) {
		ret = run(&r);
		gi_producer_end_turn(p);
	}
	pthread_mutex_unlock(&p->lock);
	gi_pipe_close(&r.master);
	gi_hugebuf_unmap(&r.shared);
	free(r.copied);
	return ret;
}
