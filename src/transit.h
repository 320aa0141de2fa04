/* SPDX-License-Identifier: MIT */
/*
 * The pool of transit pipes: making one costs more than moving a small file through it, and a user has only
 * so many full-size ones (64 with the usual limits).
 */
#ifndef GI_TRANSIT_H
#define GI_TRANSIT_H

#include "endpoint.h"
#include "forks.h"
#include "pipe.h"

#include <stdbool.h>
#include <stdint.h>

struct gi_transit {
	struct gi_pipe pipe;
	size_t capacity_bytes;
	bool enlarged;
	struct gi_origin origin; /* a process forked since has the descriptors, but the pipe is not its own */
};

#define GI_TRANSIT_NONE                                                                                      \
	{                                                                                                    \
		.pipe = GI_PIPE_NONE                                                                         \
	}

/* An empty pipe, from the pool or new. 0 or -errno. */
int gi_transit_get(struct gi_transit *ret_transit);

/* Makes it hold 1 MiB, if that is allowed and this process has not too many such already. */
void gi_transit_enlarge(struct gi_transit *transit);

/* Whether a pipe of the caller's may be made large: one budget for all. It is not given back: the pipe stays
 * large. */
bool gi_transit_may_enlarge(void);

#define GI_GROW_AFTER 16 /* times its capacity must have moved before a pipe is worth enlarging */
#define GI_TRANSIT_LARGE ((size_t)1 << 20) /* an unprivileged user's largest */

/* Makes an end that is a pipe large, once it has moved enough to be worth it, and if the budget has room. */
void gi_transit_enlarge_end(struct gi_endpoint *end, uint64_t moved_bytes);

/*
 * Gives it back. One that is not known to be empty is closed: what is left in it would come out of another
 * transfer. So is one that this process has inherited.
 */
void gi_transit_put(struct gi_transit *transit, size_t bytes_in_it);

#endif
