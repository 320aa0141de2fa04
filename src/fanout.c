/* SPDX-License-Identifier: MIT */
/*
 * One source, many sinks. The source is moved into a hub pipe; tee(2) puts the hub's slots into a pipe of
 * each sink's own, and a transfer takes them from there to the sink, whatever its kind. So a sink that is
 * slow, dead or odd is that transfer's business and nobody else's.
 *
 * tee takes nothing out, and a second tee starts at the head again. A sink that got more than another, since
 * its pipe had more room, is "ahead": when the hub's head comes round again, it drops that many bytes.
 */
#include "gush.h"
#include "overlap.h"
#include "pipe.h"
#include "sys.h"
#include "transfer.h"
#include "transit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_BYTES ((size_t)1 << 20)
#define GROW_AFTER_BYTES ((uint64_t)1 << 20) /* 16 times the capacity of a fresh pipe */

struct leg {
	struct gi_transit transit;
	struct gush_transfer *transfer; /* from the pipe to the sink; NULL: the sink is out */
	uint64_t queued_bytes;		/* put into the pipe and meant for the sink */
	uint64_t delivered_bytes;	/* of a sink that is out */
	size_t ahead_bytes;		/* of the hub, that this sink has already */
	int64_t waiting_since_ns;	/* 0: not waiting */
	int error;
};

struct gush_fanout {
	struct gush_fanout_options options;
	struct gi_transit hub;
	size_t hub_bytes;
	struct gush_transfer *input; /* from the source to the hub */
	struct leg *legs;
	size_t leg_count;
	int null_fd;
	uint64_t taken_bytes, told_bytes; /* told: by the returns of steps */
	bool input_ended, grown;
	bool copying; /* tee does not work here */
	char *copy;   /* then: what the hub held */
	size_t copy_bytes;
	int broken; /* the hub's error: what it holds cannot be handed out any more */
	int error;  /* of the source: everything taken before it is delivered first */
};

/* ---- legs ---- */

static bool leg_works(const struct leg *leg)
{
	return leg->transfer != NULL;
}

static uint64_t leg_pending(const struct leg *leg)
{
	return leg_works(leg) ? leg->queued_bytes - gush_transfer_delivered(leg->transfer) : 0;
}

static void leg_out(struct leg *leg, int error)
{
	leg->error = error;
	leg->delivered_bytes = gush_transfer_delivered(leg->transfer);
	leg->transfer = gush_transfer_close(leg->transfer);
	gi_transit_put(&leg->transit, 1); /* what is in it is for nobody: closed, not pooled */
}

/* Of a sink with the source. What is wrong with it otherwise, opening its leg tells. */
static enum gi_overlap overlap_of(int source, int sink, uint64_t limit_bytes)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct gi_endpoint from, to;

	o.limit_bytes = limit_bytes;
	if (gi_endpoint_classify(source, &from) < 0 || gi_endpoint_classify(sink, &to) < 0)
		return GI_OVERLAP_NONE;
	return gi_overlap_of(&from, &to, &o);
}

static int leg_open(struct leg *leg, int sink, uint32_t flags)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int ret = gi_transit_get(&leg->transit);

	o.flags = (flags & GUSH_STABLE) | GUSH_NONBLOCK;
	if (ret == 0)
		ret = gush_transfer_open(leg->transit.pipe.read_fd, sink, &o, &leg->transfer);
	if (ret == 0)
		gi_transfer_keep_pipe(leg->transfer, GUSH_SIDE_SOURCE);
	return ret;
}

static void leg_close(struct leg *leg)
{
	bool empty = leg_works(leg) && leg_pending(leg) == 0;

	leg->transfer = gush_transfer_close(leg->transfer);
	gi_transit_put(&leg->transit, !empty);
}

static struct leg *last_working_leg(struct gush_fanout *f)
{
	for (size_t i = f->leg_count; i-- > 0;)
		if (leg_works(&f->legs[i]))
			return &f->legs[i];
	return NULL;
}

/* ---- the hub ---- */

/* Out of a pipe that holds them, to nowhere. 0 or -errno. */
static int discard(struct gush_fanout *f, int pipe_fd, size_t bytes)
{
	while (bytes > 0) {
		char scratch[4096];
		ssize_t n =
			f->copying ? -ENOSYS : gi_sys_splice(pipe_fd, f->null_fd, bytes, SPLICE_F_NONBLOCK);

		if (n < 0)
			n = gi_sys_read(pipe_fd, scratch, bytes < sizeof(scratch) ? bytes : sizeof(scratch));
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Where tee is forbidden, the hub's bytes are kept in memory and written to each pipe. */
static int fill_copy(struct gush_fanout *f)
{
	f->copying = true;
	if (!f->copy)
		f->copy = malloc(ROUND_BYTES);
	if (!f->copy)
		return -ENOMEM;
	while (f->copy_bytes < f->hub_bytes) {
		ssize_t n = gi_sys_read(
			f->hub.pipe.read_fd, f->copy + f->copy_bytes, f->hub_bytes - f->copy_bytes);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		f->copy_bytes += (size_t)n;
	}
	return 0;
}

static int hub_broken(struct gush_fanout *f, int error)
{
	f->broken = error == -EAGAIN ? -EIO : error;
	return f->broken;
}

/* The pipe is empty, so a write of no more than its capacity does not wait. */
static ssize_t feed_copy(struct gush_fanout *f, const struct leg *leg)
{
	size_t capacity = leg->transit.capacity_bytes;
	int ret = fill_copy(f);

	if (ret < 0)
		return hub_broken(f, ret);
	return gi_sys_write(
		leg->transit.pipe.write_fd, f->copy, f->copy_bytes < capacity ? f->copy_bytes : capacity);
}

/* Puts the hub's slots into the leg's empty pipe: bytes, or -errno. */
static ssize_t feed_slots(struct gush_fanout *f, const struct leg *leg, bool take_out)
{
	ssize_t n = -ENOSYS;

	if (!f->copying && take_out)
		n = gi_sys_splice(
			f->hub.pipe.read_fd, leg->transit.pipe.write_fd, f->hub_bytes, SPLICE_F_NONBLOCK);
	else if (!f->copying)
		n = gi_sys_tee(
			f->hub.pipe.read_fd, leg->transit.pipe.write_fd, f->hub_bytes, SPLICE_F_NONBLOCK);
	if (n <= 0) /* whatever the error: a write succeeds, or meets the real one */
		n = feed_copy(f, leg);
	return n == 0 || n == -EAGAIN ? -EIO : n;
}

/*
 * Gives a leg, whose pipe is empty, what the hub holds. Returns how far from the hub's head the sink has
 * bytes now, or -errno: the leg's, unless the hub is broken.
 */
static ssize_t feed(struct gush_fanout *f, struct leg *leg, bool take_out)
{
	size_t doubled;
	ssize_t n = feed_slots(f, leg, take_out);
	int ret;

	if (n < 0)
		return n;
	doubled = leg->ahead_bytes < (size_t)n ? leg->ahead_bytes : (size_t)n;
	ret = discard(f, leg->transit.pipe.read_fd, doubled);
	if (ret < 0)
		return ret;
	leg->queued_bytes += (size_t)n - doubled;
	return (size_t)n > leg->ahead_bytes ? n : (ssize_t)leg->ahead_bytes;
}

/* The hub's head moves to `to`, which every sink has. */
static int advance_hub(struct gush_fanout *f, size_t to, bool taken_out)
{
	int ret;

	for (size_t i = 0; i < f->leg_count; i++)
		if (leg_works(&f->legs[i]))
			f->legs[i].ahead_bytes -= to;
	f->hub_bytes -= to;
	if (f->copying) {
		f->copy_bytes -= to;
		memmove(f->copy, f->copy + to, f->copy_bytes);
		return 0;
	}
	ret = taken_out ? 0 : discard(f, f->hub.pipe.read_fd, to);
	return ret < 0 ? hub_broken(f, ret) : 0;
}

/* Hands the hub's bytes to all legs. 0 or -errno. */
static int feed_legs(struct gush_fanout *f)
{
	struct leg *last = last_working_leg(f);
	size_t least = f->hub_bytes;
	bool take_out = false;

	for (size_t i = 0; last && i < f->leg_count; i++) {
		struct leg *leg = &f->legs[i];
		ssize_t n;

		if (!leg_works(leg))
			continue;
		/* The last one may empty the hub when all others have all of it. */
		take_out = leg == last && least == f->hub_bytes && leg->ahead_bytes == 0;
		n = feed(f, leg, take_out);
		if (f->broken)
			return f->broken;
		if (n < 0) {
			leg_out(leg, (int)n);
			take_out = false;
			continue;
		}
		leg->ahead_bytes = (size_t)n;
		if ((size_t)n < least)
			least = (size_t)n;
	}
	return advance_hub(f, least, take_out);
}

/* ---- opening and closing ---- */

static int take_options(struct gush_fanout *f, const struct gush_fanout_options *given)
{
	const struct gush_fanout_options defaults = GUSH_FANOUT_OPTIONS_INIT;

	if (given && given->size < sizeof(*given))
		return -EINVAL;
	f->options = given ? *given : defaults;
	if (f->options.flags & ~(uint32_t)(GUSH_STABLE | GUSH_NONBLOCK))
		return -EINVAL;
	if (f->options.drop_after_ns > INT64_MAX / 4)
		f->options.drop_after_ns = INT64_MAX / 4; /* for ever: the sums must not overflow */
	if (f->options.policy > GUSH_FANOUT_DROP || f->options.drop_after_ns < 0)
		return -EINVAL;
	return 0;
}

static int open_input(struct gush_fanout *f, int source)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int ret = gi_transit_get(&f->hub);

	o.flags = f->options.flags | GUSH_NONBLOCK;
	o.limit_bytes = f->options.limit_bytes;
	if (ret == 0)
		ret = gush_transfer_open(source, f->hub.pipe.write_fd, &o, &f->input);
	if (ret == 0)
		gi_transfer_keep_pipe(f->input, GUSH_SIDE_SINK);
	if (ret == 0)
		f->null_fd = gi_sys_open("/dev/null", O_WRONLY, 0);
	return ret < 0 ? ret : f->null_fd < 0 ? f->null_fd : 0;
}

/* A sink that cannot be opened is out at once; that is its error, not the fan-out's. */
static int open_legs(struct gush_fanout *f, int source, const int *sinks, size_t count)
{
	f->legs = calloc(count ? count : 1, sizeof(*f->legs));
	if (!f->legs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		f->legs[i].transit = (struct gi_transit)GI_TRANSIT_NONE;
	f->leg_count = count;
	for (size_t i = 0; i < count; i++) {
		int ret = -EINVAL;

		if (overlap_of(source, sinks[i], f->options.limit_bytes) != GI_OVERLAP_ENDLESS)
			ret = leg_open(&f->legs[i], sinks[i], f->options.flags);

		if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)
			return ret;
		f->legs[i].error = ret;
	}
	return 0;
}

/* A file's own pages must not be in the pipe that is written to it. */
static void copy_if_same(struct gush_fanout *f, int source, const int *sinks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (overlap_of(source, sinks[i], f->options.limit_bytes) == GI_OVERLAP_SAME)
			f->options.flags |= GUSH_STABLE;
}

int gush_fanout_open(int source, const int *sinks, size_t sink_count,
	const struct gush_fanout_options *options, struct gush_fanout **ret_fanout)
{
	struct gush_fanout *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return -ENOMEM;
	f->hub = (struct gi_transit)GI_TRANSIT_NONE;
	f->null_fd = -1;
	ret = take_options(f, options);
	if (ret == 0)
		copy_if_same(f, source, sinks, sink_count);
	if (ret == 0)
		ret = open_input(f, source);
	if (ret == 0)
		ret = open_legs(f, source, sinks, sink_count);
	if (ret < 0) {
		gush_fanout_close(f);
		return ret;
	}
	*ret_fanout = f;
	return 0;
}

struct gush_fanout *gush_fanout_close(struct gush_fanout *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->leg_count; i++)
		leg_close(&f->legs[i]);
	free(f->legs);
	free(f->copy);
	f->input = gush_transfer_close(f->input);
	gi_transit_put(&f->hub, f->hub_bytes);
	if (f->null_fd >= 0)
		gi_sys_close(f->null_fd);
	free(f);
	return NULL;
}

/* ---- stepping ---- */

static void grow_pipes(struct gush_fanout *f)
{
	if (f->grown || f->taken_bytes < GROW_AFTER_BYTES)
		return;
	f->grown = true;
	/* Refused is no harm: unequal pipes only mean that some sinks are ahead for a while. */
	gi_transit_enlarge(&f->hub);
	for (size_t i = 0; i < f->leg_count; i++)
		if (leg_works(&f->legs[i]))
			gi_transit_enlarge(&f->legs[i].transit);
}

/* Takes bytes from the source into the empty hub: bytes, 0 at the end, -EAGAIN or another -errno. */
static int64_t take_in(struct gush_fanout *f)
{
	int64_t n;

	if (f->input_ended)
		return f->error;
	grow_pipes(f);
	n = gush_transfer_step(f->input);
	if (n > 0) {
		f->hub_bytes += (size_t)n;
		f->taken_bytes += (uint64_t)n;
	} else if (n != -EAGAIN) {
		f->input_ended = true;
		f->error = (int)n;
	}
	return n;
}

/* One leg as far as its sink takes it now. True: bytes moved. */
static bool move_leg(struct gush_fanout *f, struct leg *leg, int64_t now_ns)
{
	int64_t n = gush_transfer_step(leg->transfer);

	if (n > 0) {
		leg->waiting_since_ns = 0;
		return true;
	}
	if (n != -EAGAIN) {
		leg_out(leg, n < 0 ? (int)n : -EPIPE);
		return true;
	}
	if (leg->waiting_since_ns == 0)
		leg->waiting_since_ns = now_ns;
	if (f->options.policy == GUSH_FANOUT_DROP &&
		now_ns - leg->waiting_since_ns >= f->options.drop_after_ns)
		leg_out(leg, -ETIMEDOUT);
	return !leg_works(leg);
}

/* True: something moved, call again. *ret_pending: some sink has bytes to come. */
static bool move_legs(struct gush_fanout *f, bool *ret_pending)
{
	int64_t now_ns = gi_sys_now_ns();
	bool moved = false;

	*ret_pending = false;
	for (size_t i = 0; i < f->leg_count; i++) {
		struct leg *leg = &f->legs[i];

		if (leg_pending(leg) == 0)
			continue;
		moved |= move_leg(f, leg, now_ns);
		*ret_pending |= leg_pending(leg) > 0;
	}
	return moved;
}

/* How long until the first waiting sink is to be dropped; -1: no such time. */
static int64_t patience_ns(const struct gush_fanout *f)
{
	int64_t now_ns = gi_sys_now_ns(), least = -1;

	if (f->options.policy != GUSH_FANOUT_DROP)
		return -1;
	for (size_t i = 0; i < f->leg_count; i++) {
		const struct leg *leg = &f->legs[i];
		int64_t left = leg->waiting_since_ns + f->options.drop_after_ns - now_ns;

		if (leg_pending(leg) > 0 && leg->waiting_since_ns && (least < 0 || left < least))
			least = left > 0 ? left : 0;
	}
	return least;
}

/* -EAGAIN with GUSH_NONBLOCK; else waits and returns 0, or -errno. */
static int wait_or_tell(struct gush_fanout *f)
{
	size_t count = gush_fanout_wait_for(f, NULL, 0);
	struct pollfd *fds;
	int ret;

	if (f->options.flags & GUSH_NONBLOCK)
		return -EAGAIN;
	fds = calloc(count ? count : 1, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	gush_fanout_wait_for(f, fds, count);
	ret = gi_sys_poll(fds, count, patience_ns(f));
	free(fds);
	return ret < 0 ? ret : 0;
}

/* Until every sink has what was handed out. 0, or -errno. */
static int finish_legs(struct gush_fanout *f)
{
	bool pending;
	int ret = 0;

	while (ret == 0) {
		bool moved = move_legs(f, &pending);

		if (!pending)
			return 0;
		if (!moved)
			ret = wait_or_tell(f);
	}
	return ret;
}

/* What no step has returned so far. */
static int64_t tell_bytes(struct gush_fanout *f)
{
	uint64_t n = f->taken_bytes - f->told_bytes;

	f->told_bytes = f->taken_bytes;
	return (int64_t)n;
}

int64_t gush_fanout_step(struct gush_fanout *f)
{
	for (;;) {
		int64_t ret = f->broken ? f->broken : finish_legs(f);

		if (ret < 0)
			return ret;
		if (!last_working_leg(f))
			return -EPIPE;
		if (f->hub_bytes == 0 && f->taken_bytes > f->told_bytes)
			return tell_bytes(f);
		if (f->hub_bytes == 0) {
			ret = take_in(f);
			if (ret == -EAGAIN)
				ret = wait_or_tell(f);
			if (ret < 0 || f->input_ended)
				return ret;
		}
		if (f->hub_bytes > 0) {
			ret = feed_legs(f);
			if (ret < 0)
				return ret;
		}
	}
}

/* ---- what is known ---- */

int gush_fanout_error(const struct gush_fanout *f, size_t sink)
{
	return sink < f->leg_count ? f->legs[sink].error : -ENOENT;
}

uint64_t gush_fanout_delivered(const struct gush_fanout *f, size_t sink)
{
	const struct leg *leg;

	if (sink >= f->leg_count)
		return 0;
	leg = &f->legs[sink];
	return leg_works(leg) ? gush_transfer_delivered(leg->transfer) : leg->delivered_bytes;
}

int gush_fanout_drop(struct gush_fanout *f, size_t sink, int error)
{
	if (sink >= f->leg_count)
		return -ENOENT;
	if (error >= 0)
		return -EINVAL;
	if (leg_works(&f->legs[sink]))
		leg_out(&f->legs[sink], error);
	return 0;
}

static size_t add_wait(const struct gush_transfer *t, struct pollfd *fds, size_t room, size_t count)
{
	struct pollfd p = { .fd = -1 };

	if (gush_transfer_wait_for(t, &p.fd, &p.events) < 0)
		return count;
	if (count < room)
		fds[count] = p;
	return count + 1;
}

size_t gush_fanout_wait_for(const struct gush_fanout *f, struct pollfd *ret_fds, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < f->leg_count; i++)
		if (leg_pending(&f->legs[i]) > 0)
			count = add_wait(f->legs[i].transfer, ret_fds, room, count);
	if (count == 0 && !f->input_ended)
		count = add_wait(f->input, ret_fds, room, count);
	return count;
}
