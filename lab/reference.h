/* SPDX-License-Identifier: MIT */
/* What a pipe is compared with: the same calls, or memory itself, in one process on one CPU. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "hugebuf.h"
#include "pipe.h"

#include <stddef.h>
#include <stdint.h>

struct reference_state {
	struct gi_hugebuf buf;
	struct gi_pipe pipe;
	int null_fd;
	size_t at; /* where the next pass starts in buf */
	const char *failed_at;
};

struct reference {
	int (*prepare)(struct reference_state *state); /* 0 or -errno with failed_at */
	int (*pass)(struct reference_state *state);    /* moves pass_bytes */
	size_t pass_bytes;
};

extern const struct reference
	reference_limit; /* vmsplice from a huge page into a pipe, splice out to /dev/null */
extern const struct reference reference_mem_read; /* every word of a buffer larger than the caches */
extern const struct reference reference_memcpy;

void reference_init(struct reference_state *state);
void reference_release(struct reference_state *state);

#endif
