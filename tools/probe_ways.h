/* SPDX-License-Identifier: MIT */
/* Which way the library takes between two kinds of descriptors, found by moving a few bytes between real
 * ones. */
#ifndef PROBE_WAYS_H
#define PROBE_WAYS_H

#include <gush.h>
#include <stddef.h>

struct probe_way {
	const char *source, *sink; /* names of kinds */
	const char *way;	   /* NULL: none worked */
	char why[256];		   /* what became of the ways before it */
	char refused[128];	   /* of those, what the kernel itself refused: "relay EINVAL, ..." */
	int error;		   /* 0, or why none worked, or why such a descriptor cannot be had here */
};

#define PROBE_WAYS_MOST 64

/* Tries every pair; returns how many. `flags` as for a transfer (GUSH_STABLE). */
size_t probe_ways(struct probe_way ret[PROBE_WAYS_MOST], uint32_t flags);

#endif
