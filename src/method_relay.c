/* SPDX-License-Identifier: MIT */
/* splice into a pipe of ours and out of it again, for two ends of which neither is a pipe. */
#include "buffer.h"
#include "sys.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>

static ssize_t fill(struct gush_transfer *t, size_t most)
{
	int64_t from = t->source_at;
	unsigned flags = gi_transfer_nonblocking(t) ? SPLICE_F_NONBLOCK : 0;
	ssize_t n;
	int ret = t->transit.pipe.read_fd < 0 ? gi_transit_get(&t->transit) : 0;

	if (ret < 0)
		return gi_transfer_fail(t, GI_CALL_OWN, ret);
	if (t->delivered_bytes >= GI_GROW_AFTER * t->transit.capacity_bytes)
		gi_transit_enlarge(&t->transit);
	n = gi_sys_splice_at(
		t->source.fd, gi_transfer_offset(&from), t->transit.pipe.write_fd, NULL, most, flags);
	if (n < 0) {
		/* An event loop with hundreds of idle transfers must not keep hundreds of pipes. */
		if (t->options.flags & GUSH_NONBLOCK)
			gi_transit_put(&t->transit, 0);
		return gi_transfer_fail(t, GI_CALL_SPLICE_IN, n);
	}
	gi_transfer_took(t, (size_t)n);
	t->transit_bytes = (size_t)n;
	return n;
}

static ssize_t step(struct gush_transfer *t, size_t most)
{
	unsigned flags = gi_transfer_nonblocking(t) ? SPLICE_F_NONBLOCK : 0;
	int64_t to = t->sink_at;
	ssize_t n;

	if (t->transit_bytes == 0) {
		n = fill(t, most);
		if (n <= 0)
			return n;
	}
	n = gi_sys_splice_at(
		t->transit.pipe.read_fd, NULL, t->sink.fd, gi_transfer_offset(&to), t->transit_bytes, flags);
	if (n <= 0) /* 0 out of a pipe that holds bytes is no end */
		return gi_transfer_fail(t, GI_CALL_SPLICE_OUT, n < 0 ? n : -EIO);
	t->transit_bytes -= (size_t)n;
	gi_transfer_gave(t, (size_t)n);
	return n;
}

/* Another way takes over: what is in the pipe goes out by read and write. */
static ssize_t drain(struct gush_transfer *t)
{
	ssize_t n;

	if (gi_buffer_pending(t) == 0 && t->transit_bytes > 0) {
		n = gi_buffer_fill(t, t->transit.pipe.read_fd, t->transit_bytes);
		if (n < 0)
			return n;
		t->transit_bytes -= (size_t)n;
	}
	return gi_buffer_write(t);
}

static void close_transit(struct gush_transfer *t)
{
	gi_transit_put(&t->transit, t->transit_bytes);
}

const struct gi_method gi_method_relay = {
	.name = "relay",
	.sources = GI_ANY_KIND & ~GI_KINDS(GI_KIND_TERMINAL),
	.sinks = GI_ANY_KIND & ~GI_KINDS(GI_KIND_TERMINAL),
	.flags = GI_METHOD_NO_PIPE | GI_METHOD_NO_APPEND | GI_METHOD_SHARES_PAGES | GI_METHOD_SOCKET_WAITS |
		 GI_METHOD_CUTS_MESSAGES | GI_METHOD_DOUBTS_END,
	.step = step,
	.drain = drain,
	.close = close_transit,
};
