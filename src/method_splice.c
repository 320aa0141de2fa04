/* SPDX-License-Identifier: MIT */
/* splice, one end being a pipe: slots move, pages are shared, nothing is copied but into files. */
#include "sys.h"
#include "transfer.h"

#include <fcntl.h>

static ssize_t step(struct gush_transfer *t, size_t most)
{
	int64_t from = t->source_at, to = t->sink_at;
	unsigned flags = gi_transfer_nonblocking(t) ? SPLICE_F_NONBLOCK : 0;
	ssize_t n = gi_sys_splice_at(
		t->source.fd, gi_transfer_offset(&from), t->sink.fd, gi_transfer_offset(&to), most, flags);

	if (n < 0)
		return gi_transfer_fail(t, GI_CALL_SPLICE, n);
	gi_transfer_took(t, (size_t)n);
	gi_transfer_gave(t, (size_t)n);
	return n;
}

const struct gi_method gi_method_splice = {
	.name = "splice",
	/* A splice from a terminal holds the pipe's lock while it waits for a line: read it instead. */
	.sources = GI_ANY_KIND & ~GI_KINDS(GI_KIND_TERMINAL),
	.sinks = GI_ANY_KIND & ~GI_KINDS(GI_KIND_TERMINAL),
	.flags = GI_METHOD_NEEDS_PIPE | GI_METHOD_NO_APPEND | GI_METHOD_SHARES_PAGES |
		 GI_METHOD_SOCKET_WAITS | GI_METHOD_CUTS_MESSAGES | GI_METHOD_DOUBTS_END,
	.step = step,
};
