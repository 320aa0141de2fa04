/* SPDX-License-Identifier: MIT */
/* File to file inside the kernel; where the file system can, by sharing blocks (reflink). */
#include "sys.h"
#include "transfer.h"

static ssize_t step(struct gush_transfer *t, size_t most)
{
	int64_t from = t->source_at, to = t->sink_at;
	ssize_t n = gi_sys_copy_file_range(
		t->source.fd, gi_transfer_offset(&from), t->sink.fd, gi_transfer_offset(&to), most);

	if (n < 0)
		return gi_transfer_fail(t, GI_CALL_COPY_FILE_RANGE, n);
	gi_transfer_took(t, (size_t)n);
	gi_transfer_gave(t, (size_t)n);
	return n;
}

const struct gi_method gi_method_copy_file_range = {
	.name = "copy_file_range",
	.sources = GI_KINDS(GI_KIND_REGULAR),
	.sinks = GI_KINDS(GI_KIND_REGULAR),
	/* On /proc and FUSE it answers 0 at once for files that claim size 0. */
	.flags = GI_METHOD_NO_APPEND | GI_METHOD_DOUBTS_END,
	.step = step,
};
