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

#define COPIED_BYTES ((size_t)64 << 10)	  /* a usual pipe's worth, for the first writes */
#define SHARED_BYTES ((size_t)2 << 20)	  /* one huge page: vmsplice of it took half the time (6.18) */
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

	struct gi_pipe master; /* filled from `base`; tee takes nothing out of it */
	size_t master_bytes;
	bool raced;
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

static int fill_master(struct repeat *r)
{
	size_t capacity = 0;
	int ret = gi_pipe_open(&r->master);

	if (ret == 0)
		ret = gi_pipe_grow(r->master.write_fd, MASTER_BYTES, &capacity);
	r->master_bytes = r->bytes < MASTER_BYTES ? r->bytes : whole_units(r->unit_bytes, MASTER_BYTES);
	for (size_t have = 0; ret == 0 && have < r->master_bytes;) {
		ssize_t n = gi_sys_vmsplice(
			r->master.write_fd, r->base + have, r->master_bytes - have, SPLICE_F_NONBLOCK);

		if (n > 0)
			have += (size_t)n;
		else
			ret = n < 0 ? (int)n : -EIO;
	}
	return ret;
}

/* How long it takes to put a pipe's worth into a pipe again and again. INT64_MAX: it cannot. */
static int64_t time_of(const struct repeat *r, const struct gi_pipe *to, int null, bool by_tee)
{
	int64_t began = gi_sys_now_ns();

	for (unsigned i = 0; i < RACE_ROUNDS; i++) {
		ssize_t n =
			by_tee ? gi_sys_tee(
					 r->master.read_fd, to->write_fd, r->master_bytes, SPLICE_F_NONBLOCK)
			       : gi_sys_vmsplice(to->write_fd, r->base, r->master_bytes, SPLICE_F_NONBLOCK);

		if (n <= 0 || gi_sys_splice(to->read_fd, null, (size_t)n, 0) != n)
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
	size_t most = r->bytes - r->at, behind = r->at % (r->master_bytes ? r->master_bytes : 1);
	struct iovec piece = { (void *)(uintptr_t)(r->base + r->at), most };
	struct gi_parcel parcel = { .way = "write", .pieces = &piece, .count = 1 };

	if (r->shared.base && may_share(r)) {
		parcel.by = GI_SEND_SHARE;
		parcel.way = "vmsplice";
	}
	if (parcel.by == GI_SEND_SHARE && r->master.read_fd >= 0 && !r->p->refused[GI_SEND_TEE]) {
		if (behind == 0 && r->left >= r->master_bytes)
			parcel = (struct gi_parcel){ .by = GI_SEND_TEE,
				.way = "tee",
				.master = r->master.read_fd,
				.master_bytes = r->master_bytes };
		else if (most > r->master_bytes - behind)
			piece.iov_len = r->master_bytes - behind;
	}
	if (piece.iov_len > r->left)
		piece.iov_len = (size_t)r->left;
	return gi_producer_move(r->p, &parcel);
}

static void change_way(struct repeat *r, uint64_t sent)
{
	if (!may_share(r))
		return;
	if (!r->shared.base && sent >= SHARE_AFTER)
		begin_sharing(r); /* without the memory it is copied on */
	if (r->shared.base && !r->raced && sent >= RACE_AFTER && r->at == 0)
		race(r);
}

static int64_t run(struct repeat *r)
{
	uint64_t sent = 0;
	int ret = begin_copying(r);

	while (ret == 0 && r->left > 0) {
		ssize_t n;

		change_way(r, sent);
		n = step(r);
		if (n < 0) {
			ret = (int)n;
			continue;
		}
		r->at = (r->at + (size_t)n) % r->bytes;
		r->left -= (uint64_t)n;
		sent += (uint64_t)n;
	}
	if (sent > INT64_MAX)
		sent = INT64_MAX;
	return ret < 0 && sent == 0 ? ret : (int64_t)sent;
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
