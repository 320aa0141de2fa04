/* SPDX-License-Identifier: MIT */
/* The loop: choose a way, step, wait, drain, switch. It knows no system call that moves bytes. */
#include "transfer.h"

#include "buffer.h"
#include "env.h"
#include "sparse.h"
#include "sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one step moves at most. A pipe's largest capacity for an unprivileged user; files take more at a time.
 */
#define STEP_BYTES ((size_t)1 << 20)
#define STEP_FILE_BYTES ((size_t)64 << 20)

#define GO_ON INT64_MAX /* no result yet */

/* ---- options ---- */

static const struct gi_method *find_method(const char *name)
{
	const struct gi_method *m;

	for (size_t i = 0; (m = gi_method_at(i)); i++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

static int take_options(struct gush_transfer *t, const struct gush_transfer_options *given)
{
	const struct gush_transfer_options defaults = GUSH_TRANSFER_OPTIONS_INIT;
	const char *stable = gi_environment("GUSH_STABLE"), *method = gi_environment("GUSH_METHOD");
	const uint32_t known = GUSH_STABLE | GUSH_SPARSE | GUSH_NONBLOCK;

	t->options = defaults;
	if (given) {
		if (given->size < sizeof(*given) || given->flags & ~known || given->wait > GUSH_WAIT_BLOCK)
			return -EINVAL;
		if (given->source_offset < GUSH_OWN_OFFSET || given->sink_offset < GUSH_OWN_OFFSET)
			return -EINVAL;
		t->options = *given;
	}
	if (stable && strcmp(stable, "1") == 0)
		t->options.flags |= GUSH_STABLE;
	if (t->options.method)
		method = t->options.method;
	if (method) {
		t->pinned = find_method(method);
		if (!t->pinned && t->options.method)
			return -EINVAL;
	}
	t->source_at = t->options.source_offset;
	t->sink_at = t->options.sink_offset;
	return 0;
}

/* ---- what the ways call ---- */

static int64_t end_with(struct gush_transfer *t, int error, int side)
{
	t->ended = true;
	t->error = error;
	t->side = side;
	t->wait_fd = -1;
	return error;
}

static struct gi_verdict socket_verdict(const struct gush_transfer *t)
{
	if (t->source.kind == GI_KIND_SOCKET)
		return (struct gi_verdict){ GI_CLASS_FATAL, GUSH_SIDE_SOURCE };
	if (t->sink.kind == GI_KIND_SOCKET)
		return (struct gi_verdict){ GI_CLASS_FATAL, GUSH_SIDE_SINK };
	return (struct gi_verdict){ GI_CLASS_NEXT, GUSH_SIDE_NONE };
}

ssize_t gi_transfer_fail(struct gush_transfer *t, enum gi_call call, ssize_t error)
{
	t->failed_call = call;
	t->verdict = gi_errclass(call, (int)error);
	if (t->verdict.side == GI_SIDE_SOCKET)
		t->verdict = socket_verdict(t);
	return error;
}

void gi_transfer_fail_after(struct gush_transfer *t, enum gi_call call, int error)
{
	gi_transfer_fail(t, call, error);
	gi_record_outcome(&t->record, GUSH_TRIED_USED, error, NULL);
	end_with(t, error, t->verdict.side);
}

bool gi_transfer_nonblocking(const struct gush_transfer *t)
{
	return t->options.flags & GUSH_NONBLOCK || gi_wait_nonblocking(&t->wait);
}

void gi_transfer_took(struct gush_transfer *t, size_t bytes)
{
	if (t->source_at != GUSH_OWN_OFFSET)
		t->source_at += (int64_t)bytes;
}

void gi_transfer_gave(struct gush_transfer *t, size_t bytes)
{
	if (t->sink_at != GUSH_OWN_OFFSET)
		t->sink_at += (int64_t)bytes;
}

int64_t *gi_transfer_offset(int64_t *at)
{
	return *at == GUSH_OWN_OFFSET ? NULL : at;
}

/* ---- choosing ---- */

static void close_method(struct gush_transfer *t)
{
	if (t->method && t->method->close)
		t->method->close(t);
	t->method = NULL;
}

static int try_method(struct gush_transfer *t, const struct gi_method *m)
{
	const char *unfit = gi_method_unfit(m, t);
	int ret;

	if (unfit) {
		gi_record_add(&t->record, m->name, GUSH_TRIED_UNFIT, 0, unfit);
		return -ENOTSUP;
	}
	ret = m->open ? m->open(t) : 0;
	gi_record_add(&t->record, m->name, ret < 0 ? GUSH_TRIED_FAILED : GUSH_TRIED_USED, ret, NULL);
	if (ret == 0)
		t->method = m;
	return ret;
}

/* The next way of the table that fits. 0, or -errno when none is left. */
static int choose(struct gush_transfer *t)
{
	const struct gi_method *m;
	int ret = -ENOTSUP;

	if (t->pinned) {
		if (t->method_index++ > 0)
			return -ENOTSUP;
		return try_method(t, t->pinned);
	}
	while ((m = gi_method_at(t->method_index))) {
		t->method_index++;
		ret = try_method(t, m);
		if (ret == 0)
			return 0;
	}
	return ret;
}

static bool another_left(const struct gush_transfer *t)
{
	return !t->pinned && gi_method_at(t->method_index);
}

/* Past the ways that might be fooled in the same manner, to the one that reads. */
static void skip_to_last_method(struct gush_transfer *t)
{
	while (gi_method_at(t->method_index + 1))
		t->method_index++;
}

/* ---- opening and closing ---- */

static int prepare(struct gush_transfer *t, int source, int sink, const struct gush_transfer_options *options)
{
	int ret = take_options(t, options);

	if (ret == 0)
		ret = gi_endpoint_classify(source, &t->source);
	if (ret == 0)
		ret = gi_endpoint_classify(sink, &t->sink);
	if (ret < 0)
		return ret;
	if (!t->source.readable || !t->sink.writable)
		return -EBADF;
	t->overlap = gi_overlap_of(&t->source, &t->sink, &t->options);
	if (t->overlap == GI_OVERLAP_ENDLESS)
		return -EINVAL;
	gi_nowait_init(&t->source_io, &t->source);
	gi_nowait_init(&t->sink_io, &t->sink);
	gi_transfer_choose_waiting(t);
	t->sparse = t->options.flags & GUSH_SPARSE && gi_sparse_possible(t);
	return choose(t);
}

int gush_transfer_open(int source, int sink, const struct gush_transfer_options *options,
	struct gush_transfer **ret_transfer)
{
	struct gush_transfer *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return -ENOMEM;
	t->transit = (struct gi_transit)GI_TRANSIT_NONE;
	t->source_io.private_fd = t->sink_io.private_fd = -1;
	t->wait_fd = -1;
	ret = prepare(t, source, sink, options);
	if (ret < 0) {
		gush_transfer_close(t);
		return ret;
	}
	*ret_transfer = t;
	return 0;
}

/* Bytes read and not delivered go back, where the source can take them. */
static void put_back(struct gush_transfer *t)
{
	bool seekable = t->source.kind == GI_KIND_REGULAR || t->source.kind == GI_KIND_BLOCK;
	uint64_t pending = gush_transfer_pending(t);

	if (pending > 0 && seekable && t->source_at == GUSH_OWN_OFFSET)
		gi_sys_lseek(t->source.fd, -(int64_t)pending, SEEK_CUR);
}

struct gush_transfer *gush_transfer_close(struct gush_transfer *t)
{
	if (!t)
		return NULL;
	put_back(t);
	close_method(t);
	gi_buffer_close(t);
	free(t);
	return NULL;
}

/* ---- stepping ---- */

static size_t step_bytes(const struct gush_transfer *t)
{
	uint64_t left = t->options.limit_bytes - t->delivered_bytes - gush_transfer_pending(t);
	size_t most = STEP_BYTES;

	if (t->source.kind == GI_KIND_REGULAR && t->sink.kind == GI_KIND_REGULAR)
		most = STEP_FILE_BYTES;
	return left < most ? (size_t)left : most;
}

void gi_transfer_keep_pipe(struct gush_transfer *t, int side)
{
	(side == GUSH_SIDE_SOURCE ? &t->source : &t->sink)->capacity_bytes = GI_TRANSIT_LARGE;
}

static int64_t account(struct gush_transfer *t, ssize_t n)
{
	t->delivered_bytes += (uint64_t)n;
	t->futile_waits = 0;
	gi_record_bytes(&t->record, (uint64_t)n);
	gi_wait_moved(&t->wait);
	gi_transit_enlarge_end(&t->source, t->delivered_bytes);
	gi_transit_enlarge_end(&t->sink, t->delivered_bytes);
	return n;
}

/* Leaves the way in use, whose bytes in transit are out. GO_ON, or the error to end with. */
static int64_t next_method(struct gush_transfer *t, int error, int side, const char *reason)
{
	int ret;

	gi_record_outcome(&t->record, error ? GUSH_TRIED_FAILED : GUSH_TRIED_USED, error, reason);
	close_method(t);
	ret = choose(t);
	if (ret == 0)
		return GO_ON;
	if (ret != -ENOTSUP || error == -EAGAIN ||
		error == 0) /* -EAGAIN would say that there is more to come */
		return end_with(t, ret, GUSH_SIDE_NONE);
	return end_with(t, error, side);
}

static int64_t wait_or_tell(struct gush_transfer *t)
{
	int ret;

	if (!gi_transfer_find_wait(t)) {
		t->verdict = (struct gi_verdict){ GI_CLASS_NEXT, GUSH_SIDE_NONE };
		return GO_ON;
	}
	if (t->options.flags & GUSH_NONBLOCK)
		return -EAGAIN;
	ret = gi_wait_again(&t->wait, t->wait_fd, t->wait_events);
	if (ret == 0)
		return GO_ON;
	if (t->wait.kind == GI_WAIT_ADAPTIVE && !t->source.nonblock && !t->sink.nonblock) {
		gi_wait_init(
			&t->wait, GI_WAIT_BLOCK); /* no poll in this sandbox: the calls can wait themselves */
		return GO_ON;
	}
	gi_record_outcome(&t->record, GUSH_TRIED_USED, ret, NULL);
	return end_with(t, ret, GUSH_SIDE_NONE);
}

/* Some sources make a reader wait whatever is said: then only what poll has announced is taken. 1, 0 or
 * -errno. */
static int source_ready(struct gush_transfer *t)
{
	struct pollfd p = { .fd = t->source.fd, .events = POLLIN };

	if (!(t->options.flags & GUSH_NONBLOCK) || t->source.nonblock || gush_transfer_pending(t) > 0)
		return 1;
	if (t->source.kind != GI_KIND_SOCKET && t->source.kind != GI_KIND_CHAR &&
		t->source.kind != GI_KIND_OTHER)
		return 1;
	return gi_sys_poll(&p, 1, 0);
}

static ssize_t call_step(struct gush_transfer *t)
{
	size_t most = step_bytes(t);
	ssize_t n;

	if (t->leaving)
		return t->method->drain(t);
	n = source_ready(t);
	if (n <= 0)
		return n < 0 ? gi_transfer_fail(t, GI_CALL_POLL, n)
			     : gi_transfer_fail(t, GI_CALL_READ, -EAGAIN);
	if (t->sparse && most > 0) {
		n = gi_sparse_step(t, &most);
		if (n != 0)
			return n;
	}
	return t->method->step(t, most);
}

/*
 * Files that claim size 0 say 0 at once; a TCP socket says it at the mark of urgent data (MSG_OOB), with more
 * to come, which any peer can send. Only a pipe's 0 is sure.
 */
static bool doubts_end(const struct gush_transfer *t)
{
	return t->method->flags & GI_METHOD_DOUBTS_END && t->source.kind != GI_KIND_PIPE;
}

/* Nothing moved, and no error: the end, or nothing left to drain. */
static int64_t handle_nothing(struct gush_transfer *t)
{
	if (t->leaving) {
		t->leaving = false;
		return next_method(t, t->leaving_error, t->leaving_side, NULL);
	}
	if (doubts_end(t) && another_left(t)) {
		skip_to_last_method(t);
		return next_method(
			t, 0, GUSH_SIDE_NONE, "said that the source has ended; a read has the last word");
	}
	return end_with(t, 0, GUSH_SIDE_NONE);
}

static int64_t handle_error(struct gush_transfer *t, int error)
{
	if (t->verdict.class == GI_CLASS_WAIT) {
		int64_t ret = wait_or_tell(t);

		if (ret != GO_ON || t->verdict.class != GI_CLASS_NEXT)
			return ret;
	}
	if (t->verdict.class == GI_CLASS_FATAL || t->leaving) {
		gi_record_outcome(&t->record, GUSH_TRIED_USED, error, NULL);
		return end_with(t, error, t->verdict.side);
	}
	if (gush_transfer_pending(t) == 0)
		return next_method(t, error, t->verdict.side, NULL);
	t->leaving = true;
	t->leaving_error = error;
	t->leaving_side = t->verdict.side;
	return GO_ON;
}

int64_t gush_transfer_step(struct gush_transfer *t)
{
	int64_t ret = GO_ON;

	t->wait_fd = -1;
	if (t->ended)
		return t->error;
	while (ret == GO_ON) {
		ssize_t n;

		if (t->delivered_bytes == t->options.limit_bytes)
			return end_with(t, 0, GUSH_SIDE_NONE);
		n = call_step(t);
		if (n > 0)
			return account(t, n);
		ret = n == 0 ? handle_nothing(t) : handle_error(t, (int)n);
	}
	return ret;
}

/* ---- what is known of a transfer ---- */

int gush_transfer_wait_for(const struct gush_transfer *t, int *ret_fd, short *ret_events)
{
	if (t->wait_fd < 0)
		return -EINVAL;
	*ret_fd = t->wait_fd;
	*ret_events = t->wait_events;
	return 0;
}

uint64_t gush_transfer_delivered(const struct gush_transfer *t)
{
	return t->delivered_bytes;
}

uint64_t gush_transfer_pending(const struct gush_transfer *t)
{
	return t->transit_bytes + gi_buffer_pending(t);
}

int gush_transfer_side(const struct gush_transfer *t)
{
	return t->side;
}

int gush_copy(int source, int sink, const struct gush_transfer_options *options, uint64_t *ret_bytes)
{
	struct gush_transfer *t = NULL;
	int64_t n = gush_transfer_open(source, sink, options, &t);

	if (ret_bytes)
		*ret_bytes = 0;
	if (n < 0)
		return (int)n;
	do {
		n = gush_transfer_step(t);
	} while (n > 0);
	if (ret_bytes)
		*ret_bytes = gush_transfer_delivered(t);
	gush_transfer_close(t);
	return (int)n;
}
