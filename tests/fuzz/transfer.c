/* SPDX-License-Identifier: MIT */
/*
 * Random operations on transfers and fan-outs, each compared with a model of plain reads and writes.
 *
 *	tests/fuzz/transfer [SECONDS [SEED]]	as part of `make check`: 3 seconds, a new seed each time,
 *printed make fuzz SECONDS=600			with clang's libFuzzer and AddressSanitizer, guided by
 *coverage
 *
 * A difference prints what differs, the seed and the operations; the seed brings it back. libFuzzer writes
 *the input to a file instead, which its binary takes as an argument.
 *
 * One run: a source and some sinks of random kinds; then open with random options, feed, step, drain, close
 *an end, close the handle and open another, until the input is used up. Nothing may wait: a hang is ended by
 *an alarm.
 */
#include "model.h"

/* ---- transfers ---- */

struct handle {
	struct gush_transfer *t;
	struct gush_transfer_options o;
	size_t from; /* of the source */
	size_t delivered;
	size_t sink_own_at; /* before */
	int64_t over;	    /* 1: not yet */
};

static void choose_options(struct run *r, struct handle *h)
{
	const struct gush_transfer_options defaults = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer_options *o = &h->o;

	*o = defaults;
	o->method = gush_method_name(take(r, 12));
	o->flags = GUSH_NONBLOCK | (take(r, 3) ? 0 : GUSH_STABLE) | (take(r, 2) ? 0 : GUSH_SPARSE);
	o->wait = take(r, 3);
	if (take(r, 3) == 0)
		o->limit_bytes = take_bytes(r) - 1;
	if (r->source.kind == KIND_FILE && take(r, 3) == 0)
		o->source_offset = (int64_t)take(r, (unsigned)r->source.fed + 2);
	if (r->sinks[0].kind == KIND_FILE && take(r, 3) == 0)
		o->sink_offset = (int64_t)take(r, (unsigned)r->sinks[0].bytes + 2);
}

static void open_handle(struct run *r, struct handle *h)
{
	struct sink *k = &r->sinks[0];
	int ret;

	choose_options(r, h);
	ret = gush_transfer_open(r->source.fd, k->fd, &h->o, &h->t);
	if (ret == -ENOTSUP && h->o.method) {
		h->o.method = NULL;
		ret = gush_transfer_open(r->source.fd, k->fd, &h->o, &h->t);
	}
	note("open %s flags %x limit %lld from %lld to %lld: %d\n", h->o.method ? h->o.method : "-",
		h->o.flags, (long long)h->o.limit_bytes, (long long)h->o.source_offset,
		(long long)h->o.sink_offset, ret);
	must("open", ret, 0);
	h->from = h->o.source_offset >= 0 ? (size_t)h->o.source_offset : r->source.taken;
	h->delivered = 0;
	h->over = 1;
	h->sink_own_at = k->at;
	if (h->o.sink_offset >= 0)
		k->at = (size_t)h->o.sink_offset;
}

static void check_end(const struct run *r, const struct handle *h)
{
	size_t left = r->source.fed > h->from ? r->source.fed - h->from : 0;

	if (h->delivered == h->o.limit_bytes)
		return;
	if (r->source.kind != KIND_FILE && r->source.feed_fd >= 0)
		fail("an end, and the writer is there", (long long)h->delivered, (long long)left);
	must("bytes at the end", (long long)h->delivered, (long long)left);
}

static void check_wait(const struct run *r, const struct handle *h)
{
	short events = 0;
	int fd = -1;

	must("wait_for", gush_transfer_wait_for(h->t, &fd, &events), 0);
	if (fd != r->source.fd && fd != r->sinks[0].fd)
		fail("whom to wait for", fd, r->sinks[0].fd);
	if (ready(fd, events))
		fail("what to wait for is ready", fd == r->sinks[0].fd, events);
}

static void step(struct run *r, struct handle *h)
{
	int64_t n = gush_transfer_step(h->t);
	bool was_over = h->over <= 0;

	note("step: %lld\n", (long long)n);
	if (was_over) {
		must("a step after the end", n, h->over);
	} else if (n > 0) {
		if (h->from + h->delivered + (size_t)n > r->source.fed)
			fail("more delivered than fed", (long long)h->delivered + n,
				(long long)r->source.fed);
		expect(&r->sinks[0], r->source.content + h->from + h->delivered, (size_t)n);
		h->delivered += (size_t)n;
		if (h->delivered > h->o.limit_bytes)
			fail("past the limit", (long long)h->delivered, (long long)h->o.limit_bytes);
	} else if (n == 0) {
		check_end(r, h);
		h->over = 0;
	} else if (n == -EAGAIN) {
		check_wait(r, h);
	} else if ((n == -EPIPE || n == -ECONNRESET) && r->sinks[0].drain_fd < 0) {
		must("side", gush_transfer_side(h->t), GUSH_SIDE_SINK);
		h->over = n;
	} else {
		fail("step", n, 0);
	}
	must("delivered", (long long)gush_transfer_delivered(h->t), (long long)h->delivered);
}

static void close_handle(struct run *r, struct handle *h)
{
	size_t pending = (size_t)gush_transfer_pending(h->t);
	struct source *s = &r->source;
	int unread = 0;

	h->t = gush_transfer_close(h->t);
	note("close: %zu delivered, %zu pending\n", h->delivered, pending);
	if (s->kind == KIND_FILE) {
		if (h->o.source_offset < 0)
			s->taken += h->delivered;
		must("offset of the source", lseek(s->fd, 0, SEEK_CUR), (long long)s->taken);
	} else {
		s->taken += h->delivered + pending;
		must("FIONREAD", ioctl(s->fd, FIONREAD, &unread), 0);
		must("left in the source", unread, (long long)(s->fed - s->taken));
	}
	if (h->o.sink_offset >= 0)
		r->sinks[0].at = h->sink_own_at;
}

static void transfer_operation(struct run *r, struct handle *h)
{
	switch (take(r, 16)) {
	case 0:
	case 1:
	case 2:
		feed(r, take_bytes(r));
		break;
	case 3:
	case 4:
		drain(&r->sinks[0], take_bytes(r));
		note("drain\n");
		break;
	case 5:
		if (r->source.kind != KIND_FILE && take(r, 8) == 0) {
			shut(&r->source.feed_fd);
			note("close the writer\n");
		}
		break;
	case 6:
		if (!is_file(r->sinks[0].kind) && take(r, 8) == 0) {
			shut(&r->sinks[0].drain_fd);
			note("close the reader\n");
		}
		break;
	case 7:
		if (r->sinks[0].bytes < 2 * CONTENT_MOST) {
			close_handle(r, h);
			open_handle(r, h);
		}
		break;
	default:
		step(r, h);
	}
}

static void run_transfer(struct run *r)
{
	struct handle h;

	feed(r, take_bytes(r));
	open_handle(r, &h);
	while (r->pos < r->size)
		transfer_operation(r, &h);
	close_handle(r, &h);
	check_sink(&r->sinks[0]);
}

/* ---- fan-outs ---- */

struct fan {
	struct gush_fanout *f;
	size_t told, delivered[SINKS_MOST];
	bool dropped[SINKS_MOST];
	int64_t over;
};

static void check_fan(struct run *r, struct fan *fan, int64_t n)
{
	for (size_t i = 0; i < r->sink_count; i++) {
		size_t now = (size_t)gush_fanout_delivered(fan->f, i);
		int error = gush_fanout_error(fan->f, i);

		if (now > r->source.fed || now < fan->delivered[i])
			fail("delivered to a sink", (long long)now, (long long)r->source.fed);
		expect(&r->sinks[i], r->source.content + fan->delivered[i], now - fan->delivered[i]);
		fan->delivered[i] = now;
		if (error && !fan->dropped[i] && r->sinks[i].drain_fd >= 0)
			fail("error of a good sink", error, 0);
		if (n >= 0 && !error)
			must("delivered to a good sink", (long long)now, (long long)fan->told);
	}
}

static void step_fan(struct run *r, struct fan *fan)
{
	struct pollfd fds[SINKS_MOST + 1];
	int64_t n = gush_fanout_step(fan->f);
	size_t waits;

	note("step: %lld\n", (long long)n);
	fan->told += n > 0 ? (size_t)n : 0;
	check_fan(r, fan, n);
	if (n == -EAGAIN) {
		waits = gush_fanout_wait_for(fan->f, fds, SINKS_MOST + 1);
		if (waits == 0 || waits > r->sink_count)
			fail("how many to wait for", (long long)waits, 1);
		for (size_t i = 0; i < waits; i++)
			if (ready(fds[i].fd, fds[i].events))
				fail("what to wait for is ready", fds[i].fd, fds[i].events);
	} else if (n == 0) {
		if (r->source.kind != KIND_FILE && r->source.feed_fd >= 0)
			fail("an end, and the writer is there", 0, 1);
		if (fan->over > 0)
			must("all of it", (long long)fan->told, (long long)r->source.fed);
		fan->over = 0;
	} else if (n < 0) {
		must("step", n, -EPIPE);
		for (size_t i = 0; i < r->sink_count; i++)
			must("all sinks have failed", gush_fanout_error(fan->f, i) < 0, 1);
	}
}

static void fan_operation(struct run *r, struct fan *fan)
{
	size_t i = take(r, (unsigned)r->sink_count);

	switch (take(r, 16)) {
	case 0:
	case 1:
		if (fan->over > 0)
			feed(r, take_bytes(r));
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		drain(&r->sinks[i], take_bytes(r));
		note("drain %zu\n", i);
		break;
	case 6:
		if (r->source.kind != KIND_FILE && take(r, 8) == 0) {
			shut(&r->source.feed_fd);
			note("close the writer\n");
		}
		break;
	case 7:
		if (!is_file(r->sinks[i].kind) && take(r, 8) == 0) {
			shut(&r->sinks[i].drain_fd);
			note("close reader %zu\n", i);
		} else if (take(r, 16) == 0) {
			fan->dropped[i] = true;
			must("drop", gush_fanout_drop(fan->f, i, -ECANCELED), 0);
			note("drop %zu\n", i);
		}
		break;
	default:
		step_fan(r, fan);
	}
}

static void run_fan(struct run *r)
{
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct fan fan = { .over = 1 };
	int fds[SINKS_MOST];

	for (size_t i = 0; i < r->sink_count; i++)
		fds[i] = r->sinks[i].fd;
	o.flags = GUSH_NONBLOCK | (take(r, 3) ? 0 : GUSH_STABLE);
	feed(r, take_bytes(r));
	must("open", gush_fanout_open(r->source.fd, fds, r->sink_count, &o, &fan.f), 0);
	note("fan out to %zu\n", r->sink_count);
	while (r->pos < r->size)
		fan_operation(r, &fan);
	gush_fanout_close(fan.f);
	for (size_t i = 0; i < r->sink_count; i++)
		check_sink(&r->sinks[i]);
}

/* ---- runs ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = { .data = data, .size = size };
	bool fan;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, hang);
	alarm(20);
	op_log_length = 0;
	op_log[0] = '\0';
	fan = take(&r, 3) == 0;
	r.sink_count = fan ? take(&r, SINKS_MOST) + 1 : 1;
	open_source(&r);
	for (size_t i = 0; i < r.sink_count; i++)
		open_sink(&r, &r.sinks[i]);
	note("source %d, %zu sinks, first %d\n", r.source.kind, r.sink_count, r.sinks[0].kind);
	if (fan)
		run_fan(&r);
	else
		run_transfer(&r);
	for (size_t i = 0; i < r.sink_count; i++) {
		shut(&r.sinks[i].fd);
		shut(&r.sinks[i].drain_fd);
		free(r.sinks[i].expect);
	}
	shut(&r.source.fd);
	shut(&r.source.feed_fd);
	free(r.source.content);
	alarm(0);
	return 0;
}

#ifndef WITH_LIBFUZZER

#include "runner.h"

#endif
