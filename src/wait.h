/* SPDX-License-Identifier: MIT */
/*
 * How an end waits for the other one. The loop that moves bytes asks three things:
 *
 *	gi_wait_ready(w, fd, events)	before each call
 *	gi_wait_nonblocking(w)		shall the call return -EAGAIN rather than wait?
 *	gi_wait_again(w, fd, events)	after -EAGAIN
 *	gi_wait_moved(w)		after bytes moved
 */
#ifndef GI_WAIT_H
#define GI_WAIT_H

#include <stdbool.h>
#include <stdint.h>

enum gi_wait_kind {
	GI_WAIT_BLOCK, /* in the call itself; after -EAGAIN (a descriptor that came non-blocking) in poll */
	GI_WAIT_POLL,  /* poll before each call, the article's --poll */
	GI_WAIT_SPIN,  /* call again at once, the article's --busy-loop */
	GI_WAIT_POLL_SPIN, /* poll again at once, then call: both of the article's options */
	GI_WAIT_ADAPTIVE,  /* call again for about the cost of a wake-up, then poll */
};

struct gi_wait {
	enum gi_wait_kind kind;
	int64_t spin_ns;     /* ADAPTIVE: how long a spin may last: one wake-up */
	int64_t spin_end_ns; /* 0: not spinning */
	unsigned distrust;   /* ADAPTIVE: spins that ended in poll, less those that paid */
	unsigned trials;     /* ADAPTIVE: spins still to go before spin_ns is measured */
	unsigned skip;	     /* ADAPTIVE: waits still to go straight to poll */
};

void gi_wait_init(struct gi_wait *w, enum gi_wait_kind kind);

/*
 * ADAPTIVE for one who may never wait, or only a few times: the cost of a wake-up, which takes 2 ms to
 * measure, is guessed for the first spins.
 */
void gi_wait_init_cheaply(struct gi_wait *w);
bool gi_wait_nonblocking(const struct gi_wait *w);
int gi_wait_ready(struct gi_wait *w, int fd, short events); /* 0 or -errno from poll */
int gi_wait_again(struct gi_wait *w, int fd, short events); /* 0: call again; or -errno from poll */
void gi_wait_moved(struct gi_wait *w);

#endif
