/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include "sys.h"
#include "wakeup.h"

#include <errno.h>

/* After this many spins in vain, go straight to poll for a while: 16, then 32, ... up to 4096 waits. */
#define DISTRUST_LIMIT 4
#define SKIP_FIRST 16
#define DISTRUST_MAX (DISTRUST_LIMIT + 8)

#define GUESSED_SPIN_NS 20000 /* a wake-up took 2 to 60 us here */
#define TRIALS 16 /* some MiB through a pipe: whoever waits more often gains from the measurement */

void gi_wait_init(struct gi_wait *w, enum gi_wait_kind kind)
{
	*w = (struct gi_wait){ .kind = kind };
	if (kind == GI_WAIT_ADAPTIVE)
		w->spin_ns = gi_wakeup_ns(); /* spinning for longer costs more than it can save */
}

void gi_wait_init_cheaply(struct gi_wait *w)
{
	*w = (struct gi_wait){ .kind = GI_WAIT_ADAPTIVE, .spin_ns = GUESSED_SPIN_NS, .trials = TRIALS };
}

bool gi_wait_nonblocking(const struct gi_wait *w)
{
	return w->kind != GI_WAIT_BLOCK && w->kind != GI_WAIT_POLL;
}

static int poll_one(int fd, short events, int64_t timeout_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	int ret = gi_sys_poll(&p, 1, timeout_ns);

	if (ret > 0 && p.revents & POLLNVAL)
		return -EBADF;
	return ret;
}

int gi_wait_ready(struct gi_wait *w, int fd, short events)
{
	int ret;

	if (w->kind == GI_WAIT_POLL)
		ret = poll_one(fd, events, -1);
	else if (w->kind == GI_WAIT_POLL_SPIN)
		ret = poll_one(fd, events, 0);
	else
		return 0;
	return ret < 0 ? ret : 0;
}

/* The peer did not come within a spin: learn, and sleep until it does. */
static int give_up_spinning(struct gi_wait *w, int fd, short events)
{
	int ret;

	if (w->spin_end_ns) {
		w->spin_end_ns = 0;
		if (w->distrust < DISTRUST_MAX)
			w->distrust++;
		if (w->distrust >= DISTRUST_LIMIT)
			w->skip = SKIP_FIRST << (w->distrust - DISTRUST_LIMIT);
	}
	ret = poll_one(fd, events, -1);
	return ret < 0 ? ret : 0;
}

static int wait_adaptive(struct gi_wait *w, int fd, short events)
{
	int64_t now;

	if (w->skip > 0) {
		w->skip--;
		return give_up_spinning(w, fd, events);
	}
	now = gi_sys_now_ns();
	if (!w->spin_end_ns) {
		if (w->trials > 0 && --w->trials == 0)
			w->spin_ns = gi_wakeup_ns();
		w->spin_end_ns = now + w->spin_ns;
	}
	return now < w->spin_end_ns ? 0 : give_up_spinning(w, fd, events);
}

int gi_wait_again(struct gi_wait *w, int fd, short events)
{
	int ret;

	switch (w->kind) {
	case GI_WAIT_SPIN:
	case GI_WAIT_POLL_SPIN:
		return 0;
	case GI_WAIT_ADAPTIVE:
		return wait_adaptive(w, fd, events);
	case GI_WAIT_BLOCK:
	case GI_WAIT_POLL:
		break;
	}
	ret = poll_one(fd, events, -1);
	return ret < 0 ? ret : 0;
}

void gi_wait_moved(struct gi_wait *w)
{
	if (w->spin_end_ns && w->distrust > 0)
		w->distrust--; /* the spin paid */
	w->spin_end_ns = 0;
}
