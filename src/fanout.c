/* SPDX-License-Identifier: MIT */
/*
 * One source, many sinks. The source is moved into a hub pipe; tee(2) puts the hub's slots into a pipe of
 * each sink's own, and a transfer takes them from there to the sink, whatever its kind. So a sink that is
 * slow, dead or odd is that transfer's business and nobody else's. A sink that is a pipe with room gets the
 * slots at once, past its own pipe, and so does one that may empty the hub.
 *
 * tee takes nothing out, and a second tee starts at the head again. A sink that got more than another, since
 * its pipe had more room, is "ahead": when the hub's head comes round again, it drops that many bytes.
 */
#include "fanout.h"

#include "overlap.h"
#include "pipe.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_BYTES ((size_t)1 << 20)
#define GROW_AFTER_BYTES ((uint64_t)1 << 20) /* 16 times the capacity of a fresh pipe */

/* One that may empty the hub: the last that works, and does something with the bytes. NULL: none works. */
static struct gi_leg *last_working_leg(struct gush_fanout *f)
{
	struct gi_leg *null = NULL;

	for (size_t i = f->leg_count; i-- > 0;) {
		if (!gi_leg_works(&f->legs[i]))
			continue;
		if (!gi_leg_is_null(&f->legs[i]))
			return &f->legs[i];
		null = &f->legs[i];
	}
	return null;
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
static ssize_t feed_copy(struct gush_fanout *f, const struct gi_leg *leg)
{
	size_t capacity = leg->transit.capacity_bytes;
	int ret = fill_copy(f);

	if (ret < 0)
		return hub_broken(f, ret);
	return gi_sys_write(
		leg->transit.pipe.write_fd, f->copy, f->copy_bytes < capacity ? f->copy_bytes : capacity);
}

/* Puts the hub's slots into the leg's empty pipe: bytes, or -errno. */
static ssize_t feed_slots(struct gush_fanout *f, const struct gi_leg *leg, bool take_out)
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
static ssize_t feed(struct gush_fanout *f, struct gi_leg *leg, bool take_out)
{
	size_t doubled;
	ssize_t n = 0;
	int ret;

	if (!f->copying)
		n = gi_leg_direct(leg, f->hub.pipe.read_fd, f->hub_bytes, take_out);
	if (n < 0 || (size_t)n == f->hub_bytes || (n > 0 && take_out))
		return n;
	leg->ahead_bytes += (size_t)n;
	n = feed_slots(f, leg, take_out);
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
		if (gi_leg_works(&f->legs[i]))
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

/* *least: how far from the hub's head every sink has bytes. False: the leg is out, or the hub is broken. */
static bool feed_leg(struct gush_fanout *f, struct gi_leg *leg, bool take_out, size_t *least)
{
	ssize_t n = feed(f, leg, take_out);

	if (n < 0) {
		if (!f->broken)
			gi_leg_out(leg, (int)n);
		return false;
	}
	leg->ahead_bytes = (size_t)n;
	if ((size_t)n < *least)
		*least = (size_t)n;
	return true;
}

/* Hands the hub's bytes to all legs. 0 or -errno. */
static int feed_legs(struct gush_fanout *f)
{
	struct gi_leg *last = last_working_leg(f);
	size_t least = f->hub_bytes;
	bool take_out = false;

	for (size_t i = 0; i < f->leg_count && !f->broken; i++)
		if (&f->legs[i] != last && gi_leg_works(&f->legs[i]))
			feed_leg(f, &f->legs[i], false, &least);
	/* It may empty the hub when all others have all of it. */
	if (last && !f->broken) {
		take_out = least == f->hub_bytes && last->ahead_bytes == 0 && !gi_leg_is_null(last);
		take_out &= feed_leg(f, last, take_out, &least);
	}
	return f->broken ? f->broken : advance_hub(f, least, take_out);
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
			ret = gi_leg_open(&f->legs[i], sinks[i], f->options.flags);

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
		gi_leg_close(&f->legs[i]);
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
		if (gi_leg_works(&f->legs[i]))
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
static bool move_leg(struct gush_fanout *f, struct gi_leg *leg, int64_t now_ns)
{
	int64_t n = gush_transfer_step(leg->transfer);

	if (n > 0) {
		leg->waiting_since_ns = 0;
		return true;
	}
	if (n != -EAGAIN) {
		gi_leg_out(leg, n < 0 ? (int)n : -EPIPE);
		return true;
	}
	if (leg->waiting_since_ns == 0)
		leg->waiting_since_ns = now_ns;
	if (f->options.policy == GUSH_FANOUT_DROP &&
		now_ns - leg->waiting_since_ns >= f->options.drop_after_ns)
		gi_leg_out(leg, -ETIMEDOUT);
	return !gi_leg_works(leg);
}

/* True: something moved, call again. *ret_pending: some sink has bytes to come. */
static bool move_legs(struct gush_fanout *f, bool *ret_pending)
{
	int64_t now_ns = gi_sys_now_ns();
	bool moved = false;

	*ret_pending = false;
	for (size_t i = 0; i < f->leg_count; i++) {
		struct gi_leg *leg = &f->legs[i];

		if (gi_leg_pending(leg) == 0)
			continue;
		moved |= move_leg(f, leg, now_ns);
		*ret_pending |= gi_leg_pending(leg) > 0;
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
		const struct gi_leg *leg = &f->legs[i];
		int64_t left = leg->waiting_since_ns + f->options.drop_after_ns - now_ns;

		if (gi_leg_pending(leg) > 0 && leg->waiting_since_ns && (least < 0 || left < least))
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
	return sink < f->leg_count ? gi_leg_delivered(&f->legs[sink]) : 0;
}

int gush_fanout_drop(struct gush_fanout *f, size_t sink, int error)
{
	if (sink >= f->leg_count)
		return -ENOENT;
	if (error >= 0)
		return -EINVAL;
	if (gi_leg_works(&f->legs[sink]))
		gi_leg_out(&f->legs[sink], error);
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
		if (gi_leg_pending(&f->legs[i]) > 0)
			count = add_wait(f->legs[i].transfer, ret_fds, room, count);
	if (count == 0 && !f->input_ended)
		count = add_wait(f->input, ret_fds, room, count);
	return count;
}
