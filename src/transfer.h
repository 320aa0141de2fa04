/* SPDX-License-Identifier: MIT */
/* A transfer from the inside: what the ways to move bytes share. */
#ifndef GI_TRANSFER_H
#define GI_TRANSFER_H

#include "endpoint.h"
#include "gush.h"
#include "hugebuf.h"
#include "method.h"
#include "nowait.h"
#include "overlap.h"
#include "pipe.h"
#include "record.h"
#include "transit.h"
#include "wait.h"

#include <stdbool.h>
#include <stdint.h>

struct gush_transfer {
	struct gi_endpoint source, sink;
	enum gi_overlap overlap;
	struct gush_transfer_options options;
	int64_t source_at, sink_at; /* the next byte's place in a file, or GUSH_OWN_OFFSET */
	uint64_t delivered_bytes;

	const struct gi_method *method; /* in use; NULL: none yet, or all tried */
	size_t method_index;
	const struct gi_method *pinned;
	bool ended;
	bool leaving; /* the way in use has failed; its bytes in transit are being drained */
	int leaving_error, leaving_side;
	bool sparse; /* holes are made, not copied */

	/* read-write */
	struct gi_hugebuf buf;
	char first[4096]; /* what the buffer is not mapped for */
	char *data;	  /* one of them */
	bool buf_wanted;
	size_t buf_from, buf_to; /* read and not written yet */
	struct gi_nowait source_io, sink_io;

	/* relay */
	struct gi_transit transit;
	size_t transit_bytes; /* in it */

	/* the last failure */
	enum gi_call failed_call;
	struct gi_verdict verdict;
	int side;
	int error;   /* kept for the next step, when this one has bytes to return */
	int wait_fd; /* -1: nothing to wait for */
	short wait_events;
	unsigned futile_waits; /* both ends said ready, and yet the call would have waited */

	struct gi_wait wait;
	struct gi_record record;
};

/* A way's step failed at this call: classifies it and returns the error. */
ssize_t gi_transfer_fail(struct gush_transfer *t, enum gi_call call, ssize_t error);

/* The same for one that has delivered bytes and cannot go on: the next step ends the transfer. */
void gi_transfer_fail_after(struct gush_transfer *t, enum gi_call call, int error);

/* Whether calls must not wait: GUSH_NONBLOCK, or a strategy that spins. */
bool gi_transfer_nonblocking(const struct gush_transfer *t);

/* transfer_wait.c: the strategy for these ends and options; */
void gi_transfer_choose_waiting(struct gush_transfer *t);
/* whether poll says so, now (an error counts: the call then meets it); */
bool gi_transfer_ready_now(int fd, short events);
/* after EAGAIN, fills in wait_fd and wait_events. False: both are ready, and the call still will not do it.
 */
bool gi_transfer_find_wait(struct gush_transfer *t);

/* Bytes have left the source or reached the sink: moves the offsets that we keep. */
void gi_transfer_took(struct gush_transfer *t, size_t bytes);
void gi_transfer_gave(struct gush_transfer *t, size_t bytes);

/* The pipe at that side is the library's own, with a budget (src/transit.h): it does not enlarge it. */
void gi_transfer_keep_pipe(struct gush_transfer *t, int side);

/* The offset argument for a system call: NULL for the descriptor's own. */
int64_t *gi_transfer_offset(int64_t *at);

#endif
