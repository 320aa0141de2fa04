/* SPDX-License-Identifier: MIT */
/*
 * Bugs of the barrier, planted at the seam of system calls: a program linked with --wrap for each name in
 * tests/gauntlet/wrapped asks these. A further one is a further lie here, and a line in plants.c.
 */
#ifndef LIE_H
#define LIE_H

#include "gauntlet.h"

enum lie_kind {
	LIE_NONE,
	LIE_SKIP,	      /* every second barrier is not run, and reported as run */
	LIE_EARLY,	      /* the barrier is run before the last calls of vmsplice that it is there for */
	LIE_DONTNEED,	      /* no clone works; MADV_DONTNEED does nothing, and says 0 */
	LIE_DONTNEED_FAILS,   /* the same, but it says EINVAL */
	LIE_CLONE_FORBIDDEN,  /* a sandbox that comes later: EPERM */
	LIE_NO_CLONE3,	      /* from the start: a sandbox, or an old kernel */
	LIE_NO_FAILING_CLONE, /* nor the other that makes no child */
	LIE_NO_CLONE,
	LIE_MEMFD,   /* the ring is shared memory */
	LIE_HUGETLB, /* the ring is of hugetlb pages */
};

struct lie {
	enum lie_kind kind;
	bool blind; /* the library's own guards are lied to as well: canary, and whether pages are huge */
	bool told;  /* set once lying has begun */
	struct board *board;
};

extern struct lie lie;

/* Begins in the midst, when the library has tried out what it wants to. */
void lie_hook(uint64_t bytes_so_far);

#endif
