/* SPDX-License-Identifier: MIT */
/* How a transfer waits, and for which end. */
#include "sys.h"
#include "transfer.h"

#define FUTILE_WAITS 3 /* in a row: then the call's word and poll's contradict, and another way is tried */

static bool has_no_wait_of_its_own(enum gi_kind kind)
{
	return kind == GI_KIND_PIPE || kind == GI_KIND_REGULAR || kind == GI_KIND_NULL;
}

/*
 * Two ends of a pipe on two CPUs wait for each other all the time, and a wake-up costs more than what it
 * waits for: adaptive waiting made pipe to pipe 2 to 3 times as fast here (6.18, virtual machine;
 * docs/results/). Elsewhere the kernel's own waiting does as well.
 */
static bool adaptive_pays(const struct gush_transfer *t)
{
	return (t->source.kind == GI_KIND_PIPE || t->sink.kind == GI_KIND_PIPE) &&
	       has_no_wait_of_its_own(t->source.kind) && has_no_wait_of_its_own(t->sink.kind);
}

void gi_transfer_choose_waiting(struct gush_transfer *t)
{
	if (t->options.flags & GUSH_NONBLOCK) { /* the caller waits */
		gi_wait_init(&t->wait, GI_WAIT_BLOCK);
		return;
	}
	switch (t->options.wait) {
	case GUSH_WAIT_SPIN:
		gi_wait_init(&t->wait, GI_WAIT_SPIN);
		return;
	case GUSH_WAIT_ADAPTIVE:
		gi_wait_init(&t->wait, GI_WAIT_ADAPTIVE);
		return;
	case GUSH_WAIT_BLOCK:
		gi_wait_init(&t->wait, GI_WAIT_BLOCK);
		return;
	default:
		break;
	}
	if (adaptive_pays(t))
		gi_wait_init_cheaply(&t->wait);
	else
		gi_wait_init(&t->wait, GI_WAIT_BLOCK);
}

bool gi_transfer_ready_now(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return gi_sys_poll(&p, 1, 0) != 0; /* an error counts: the call then meets it */
}

static void wait_for(struct gush_transfer *t, int fd, short events)
{
	t->wait_fd = fd;
	t->wait_events = events;
}

/*
 * A splice between two ends says EAGAIN for an empty source and for a full sink alike. False: both are ready,
 * and the call still will not do it.
 */
bool gi_transfer_find_wait(struct gush_transfer *t)
{
	switch (t->failed_call) {
	case GI_CALL_READ:
	case GI_CALL_SPLICE_IN:
		wait_for(t, t->source.fd, POLLIN);
		return true;
	case GI_CALL_WRITE:
	case GI_CALL_SPLICE_OUT:
		wait_for(t, t->sink.fd, POLLOUT);
		return true;
	default:
		break;
	}
	if (!gi_transfer_ready_now(t->source.fd, POLLIN)) {
		wait_for(t, t->source.fd, POLLIN);
		t->futile_waits = 0;
		return true;
	}
	wait_for(t, t->sink.fd, POLLOUT);
	if (!gi_transfer_ready_now(t->sink.fd, POLLOUT)) {
		t->futile_waits = 0;
		return true;
	}
	return ++t->futile_waits < FUTILE_WAITS;
}
