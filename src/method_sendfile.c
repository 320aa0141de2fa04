/* SPDX-License-Identifier: MIT */
/* sendfile: a seekable source to anything but a pipe, through a pipe that the kernel keeps for each thread.
 */
#include "sys.h"
#include "transfer.h"

static ssize_t step(struct gush_transfer *t, size_t most)
{
	int64_t from = t->source_at;
	ssize_t n = gi_sys_sendfile(t->sink.fd, t->source.fd, gi_transfer_offset(&from), most);

	if (n < 0)
		return gi_transfer_fail(t, GI_CALL_SENDFILE, n);
	gi_transfer_took(t, (size_t)n);
	gi_transfer_gave(t, (size_t)n);
	return n;
}

const struct gi_method gi_method_sendfile = {
	.name = "sendfile",
	.sources = GI_KINDS(GI_KIND_REGULAR) | GI_KINDS(GI_KIND_BLOCK),
	.sinks = GI_ANY_KIND & ~GI_KINDS(GI_KIND_TERMINAL),
	.flags = GI_METHOD_NO_PIPE | GI_METHOD_NO_APPEND | GI_METHOD_SHARES_PAGES | GI_METHOD_NO_SINK_OFFSET |
		 GI_METHOD_SOCKET_WAITS | GI_METHOD_DOUBTS_END,
	.step = step,
};
