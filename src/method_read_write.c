/* SPDX-License-Identifier: MIT */
/* read and write: works between any two descriptors, tells the sides apart, and has the last word on the end.
 */
#include "buffer.h"
#include "transfer.h"

static ssize_t step(struct gush_transfer *t, size_t most)
{
	ssize_t n;

	if (gi_buffer_pending(t) == 0) {
		n = gi_buffer_read(t, most);
		if (n <= 0)
			return n;
	}
	return gi_buffer_write(t);
}

const struct gi_method gi_method_read_write = {
	.name = "read-write",
	.sources = GI_ANY_KIND,
	.sinks = GI_ANY_KIND,
	.step = step,
	.drain = gi_buffer_write,
};
