/* SPDX-License-Identifier: MIT */
/* A producer of the words that a holder (hold.h) looks for, and what it reports of its ways. */
#ifndef WORDS_H
#define WORDS_H

#include "gush.h"
#include "hold.h"

struct words {
	struct gush_producer *p;
	uint64_t at;
	void *region; /* the last that was lent */
};

/* With a ring that stays as small as that, unless limit_bytes allows it more. */
void words_open(struct words *w, int fd, uint32_t policy, uint64_t ring_bytes, uint64_t limit_bytes);
void words_write(struct words *w, uint64_t bytes); /* and flushes */
void words_close(struct words *w);		   /* the ways' bytes add up */

/* The entry of the way in use, or of one by name; false: there is none. */
bool words_way(const struct words *w, const char *name, struct gush_report_entry *ret_entry);
/* The barrier was given up for its cost: on a busy machine that can come at any time. */
bool words_dear(const struct words *w);
/* That way is in use; but for one that was too dear. */
void check_way(const struct words *w, const char *name);
void check_shared(const struct words *w); /* by a barrier, or with fresh pages */
void show_ways(const struct words *w);

/* Whether huge pages are given and a barrier protects here; else why not. */
const char *cannot_protect(void);

#endif
