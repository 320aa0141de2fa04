/* SPDX-License-Identifier: MIT */
/* One sink of a fan-out: a pipe of its own and a transfer from there; past the pipe where the sink takes all.
 */
#include "fanout.h"

#include "errclass.h"
#include "method.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>

bool gi_leg_works(const struct gi_leg *leg)
{
	return leg->transfer != NULL;
}

uint64_t gi_leg_pending(const struct gi_leg *leg)
{
	return gi_leg_works(leg) ? leg->queued_bytes - gush_transfer_delivered(leg->transfer) : 0;
}

uint64_t gi_leg_delivered(const struct gi_leg *leg)
{
	if (!gi_leg_works(leg))
		return leg->delivered_bytes;
	return leg->direct_bytes + gush_transfer_delivered(leg->transfer);
}

void gi_leg_out(struct gi_leg *leg, int error)
{
	leg->error = error;
	leg->delivered_bytes = gi_leg_delivered(leg);
	leg->transfer = gush_transfer_close(leg->transfer);
	gi_transit_put(&leg->transit, 1); /* what is in it is for nobody: closed, not pooled */
}

int gi_leg_open(struct gi_leg *leg, int sink, uint32_t flags)
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

void gi_leg_close(struct gi_leg *leg)
{
	bool empty = gi_leg_works(leg) && gi_leg_pending(leg) == 0;

	leg->transfer = gush_transfer_close(leg->transfer);
	gi_transit_put(&leg->transit, !empty);
}

bool gi_leg_is_null(const struct gi_leg *leg)
{
	return gi_leg_works(leg) && leg->transfer->sink.kind == GI_KIND_NULL && !leg->transfer->pinned;
}

/* Only where the leg's own transfer does no more than splice; and not ahead of bytes that wait in its pipe.
 */
static bool may_be_direct(const struct gi_leg *leg)
{
	return leg->ahead_bytes == 0 && gi_leg_pending(leg) == 0 && !leg->not_direct &&
	       leg->transfer->method == &gi_method_splice && !leg->transfer->pinned;
}

/* Where the leg's transfer may try again, it finds another way, or whose error it is. */
static ssize_t take_refusal(struct gi_leg *leg, ssize_t error)
{
	enum gi_class class = gi_errclass(GI_CALL_SPLICE_OUT, (int)error).class;

	leg->not_direct = class == GI_CLASS_NEXT;
	return class == GI_CLASS_FATAL ? error : 0;
}

ssize_t gi_leg_direct(struct gi_leg *leg, int hub_fd, size_t bytes, bool take_out)
{
	struct gi_endpoint *sink = &leg->transfer->sink;
	ssize_t n;

	if (!may_be_direct(leg))
		return 0;
	if (gi_leg_is_null(leg))
		n = (ssize_t)bytes;
	else if (take_out)
		n = gi_sys_splice(hub_fd, sink->fd, bytes, SPLICE_F_NONBLOCK);
	else if (sink->kind == GI_KIND_PIPE)
		n = gi_sys_tee(hub_fd, sink->fd, bytes, SPLICE_F_NONBLOCK);
	else
		return 0;
	if (n <= 0)
		return take_refusal(leg, n < 0 ? n : -EIO);
	leg->direct_bytes += (uint64_t)n;
	gi_transit_enlarge_end(sink, gi_leg_delivered(leg));
	return n;
}
