/* SPDX-License-Identifier: MIT */
/* Which steps run, and where: rows for the ladder from what was asked and what this machine has. */
#ifndef SELECTION_H
#define SELECTION_H

#include "result.h"

#include <stdbool.h>
#include <stddef.h>

struct machine {
	int *cpus; /* usable, ascending */
	size_t cpu_count;
	struct placement placements[PLACEMENT_KINDS];
	size_t placement_count;
	bool by_hand; /* placements[0] is what --cpus said, and there is no other */
};

/* 0 or -errno. Release it in either case. */
int machine_read(const char *sysfs, struct machine *ret);
/* --cpus. 0, -EINVAL or -EPERM as placement_parse. */
int machine_place_by_hand(struct machine *m, const char *text);
/* Where two ends run: as told by hand, or on the nearest two CPUs, or on the only one. */
const struct placement *machine_near_placement(const struct machine *m);
void machine_release(struct machine *m);

/* "a,b,c". NULL: all are steps; else the first that is not, in a static buffer. */
const char *selection_unknown(const char *only);

/* Adds a row for each step and placement; what cannot be placed here becomes a skipped row. 0 or -ENOMEM. */
int selection_add_rows(struct ladder *l, const struct machine *m, const char *only, bool ablations);

#endif
