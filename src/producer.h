/* SPDX-License-Identifier: MIT */
/*
 * A producer from the inside. producer.c opens and closes; producer_lend.c lends memory and takes it back
 * (reserve, commit); producer_way.c decides between copying and sharing; producer_send.c moves the bytes.
 *
 * One lock guards all of it. It is not held while the sink is waited for: `sending` says that a thread is at
 * it then, and everybody else may lend, fill and commit meanwhile.
 */
#ifndef GI_PRODUCER_H
#define GI_PRODUCER_H

#include "endpoint.h"
#include "forks.h"
#include "gush.h"
#include "nowait.h"
#include "protect.h"
#include "queue.h"
#include "record.h"
#include "ring.h"
#include "wait.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/uio.h>

enum gi_sending { GI_SEND_COPY, GI_SEND_SHARE, GI_SEND_TEE };

/* What one call is to send. */
struct gi_parcel {
	enum gi_sending by;
	const char *way;	    /* for the record */
	const struct iovec *pieces; /* COPY, SHARE */
	size_t count;
	int master; /* TEE: a pipe that holds this much, and keeps it */
	size_t master_bytes;
};

/* A region that is lent. */
struct gi_loan {
	char *base; /* NULL: free for another */
	size_t bytes;
	struct gi_block *block;
	pthread_t thread;
};

struct gush_producer {
	struct gush_producer_options options;
	struct gi_endpoint sink;
	struct gi_nowait io;
	struct gi_wait wait;
	struct gi_origin origin;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* something was sent, or committed */
	unsigned waiting;
	bool sending;
	bool tee_told; /* on record */
	bool turn;     /* it sends more than one piece, and lets nobody in between */
	int error;     /* of the sink, for good */
	uint64_t delivered_bytes;

	bool sharing;		       /* pages go to the pipe by reference; else they are copied */
	bool sharing_tried;	       /* once is enough */
	bool refused[GI_SEND_TEE + 1]; /* by the kernel: not to be tried again */
	struct gi_ring ring;	       /* in use */
	struct gi_ring
		left[2]; /* earlier ones, of which regions may be lent or queued still: copy, share, copy */
	size_t left_count;
	struct gi_protect protect;
	struct gi_queue queue;
	struct gi_loan *loans;
	size_t loan_room;

	struct gi_record record;
};

/* Takes the lock; in a forked child the first time, what was queued and lent is dropped: it is the parent's.
 */
void gi_producer_lock(struct gush_producer *p);

/* With the lock held, all that follow. */

/* producer_way.c */
size_t gi_producer_chunk(const struct gush_producer *p);    /* sent in one go */
const char *gi_producer_way(const struct gush_producer *p); /* of what is queued, for the record */
/* Opens the ring, and copies or shares as the policy, the sink and the bytes sent so far suggest. 0 or
 * -errno. */
int gi_producer_choose_way(struct gush_producer *p);
void gi_producer_stop_sharing(struct gush_producer *p);
/* Makes an idle block one that may be written. 0, or 1: the ring has become another one. */
int gi_producer_prepare_block(struct gush_producer *p, struct gi_block *block, bool pass);

/* producer_send.c */
/*
 * Sends what is queued now, but for the last `leave` bytes; not locked meanwhile. 0 or -errno.
 */
int gi_producer_drain(struct gush_producer *p, size_t leave);
/* Until another thread has sent or committed something. 0, -EAGAIN with GUSH_NONBLOCK, or the sink's error.
 */
int gi_producer_wait_change(struct gush_producer *p);
void gi_producer_tell_change(struct gush_producer *p);
/*
 * For what does not go through the queue: sends all of that first, then keeps everybody else from sending.
 * 0 or -errno.
 */
int gi_producer_take_turn(struct gush_producer *p);
void gi_producer_end_turn(struct gush_producer *p);
/*
 * In one's turn: bytes that went; 0: call again in another way, this one has been refused; or -errno. Not
 * locked meanwhile.
 */
ssize_t gi_producer_move(struct gush_producer *p, const struct gi_parcel *parcel);

#endif
