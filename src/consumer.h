/* SPDX-License-Identifier: MIT */
/* A consumer from the inside: what handing bytes out and reading them share. */
#ifndef GI_CONSUMER_H
#define GI_CONSUMER_H

#include "endpoint.h"
#include "gush.h"
#include "hugebuf.h"
#include "nowait.h"
#include "wait.h"

#include <stdbool.h>
#include <stddef.h>

struct gush_consumer {
	struct gi_endpoint source;
	struct gi_nowait io;
	struct gi_wait wait;
	bool nonblock;	  /* GUSH_NONBLOCK */
	bool nowait;	  /* a read must not wait: GUSH_NONBLOCK, or a strategy that spins */
	bool polls_first; /* a read that must not wait might, unless poll has announced something */
	bool ended;	  /* with `error`, or 0 */
	int error;

	/* The buffer: `first`, or what is mapped. */
	size_t begin_bytes, limit_bytes;
	struct gi_hugebuf buf;
	char first[4096];
	char *data;
	size_t room;	 /* from begin_bytes, or what `first` has, to limit_bytes */
	bool filled;	 /* to the brim, once: begin_bytes are worth mapping */
	size_t from, to; /* read and not consumed yet */

	size_t shown;	/* by the last peek, of what follows `from` */
	size_t scanned; /* of what follows `from`: no `scanned_for` in it */
	unsigned char scanned_for;
};

static inline size_t gi_consumer_held(const struct gush_consumer *c)
{
	return c->to - c->from;
}

/* consumer_room.c: room for `more` bytes, at least 1, in one piece behind what is held. 0; -EMSGSIZE,
 * -ENOMEM: nothing has changed. */
int gi_consumer_make_room(struct gush_consumer *c, size_t more);

/*
 * consumer_fill.c: how it waits, decided once; and one read, with room for `more` bytes, behind what is held.
 * fill returns 1 (something came), 0 (the end) or -errno. When the source is at fault, or has ended, c->ended
 * is set; else nothing is lost and it may be called again.
 */
void gi_consumer_choose_waiting(struct gush_consumer *c, unsigned wait);
int gi_consumer_fill(struct gush_consumer *c, size_t more);

#endif
