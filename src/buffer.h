/* SPDX-License-Identifier: MIT */
/* The memory that bytes pass through where they must be copied: filled by reading, emptied by writing to the
 * sink. */
#ifndef GI_BUFFER_H
#define GI_BUFFER_H

#include "transfer.h"

void gi_buffer_close(struct gush_transfer *t);
size_t gi_buffer_pending(const struct gush_transfer *t);

/* Reads up to `most` bytes from a transit pipe that is known to hold some. The buffer is empty. */
ssize_t gi_buffer_fill(struct gush_transfer *t, int fd, size_t most);
/* Reads from the source. Bytes, 0 at its end, or -errno through gi_transfer_fail. The buffer is empty. */
ssize_t gi_buffer_read(struct gush_transfer *t, size_t most);
/* One write to the sink of what is pending. Bytes delivered, 0: nothing was pending, or -errno through
 * gi_transfer_fail. */
ssize_t gi_buffer_write(struct gush_transfer *t);

#endif
