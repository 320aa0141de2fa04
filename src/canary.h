/* SPDX-License-Identifier: MIT */
/*
 * Eight bytes of a page in a private pipe, overwritten after each barrier: whether the barrier still does
 * what it did when it was tried. A sandbox may have come since, or advice on the memory, or another kernel.
 */
#ifndef GI_CANARY_H
#define GI_CANARY_H

#include "pipe.h"

#include <stdbool.h>
#include <stdint.h>

struct gi_canary {
	volatile uint64_t *page; /* in the mapping that is to be protected */
	uint64_t song;
	bool singing; /* its bytes are in the pipe, or what became of them is not known */
	struct gi_pipe pipe;
};

/* The page stays the caller's. 0 or -errno. */
int gi_canary_open(struct gi_canary *canary, void *page);
void gi_canary_close(struct gi_canary *canary);

int gi_canary_send(struct gi_canary *canary);  /* before the barrier; 0 or -errno */
int gi_canary_check(struct gi_canary *canary); /* after it; 0, -EOPNOTSUPP: the bytes changed, or -errno */

#endif
