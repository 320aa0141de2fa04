/* SPDX-License-Identifier: MIT */
/* A delay line of pipes: it keeps pages, not bytes. */
#include "team.h"

#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define STAGES_MOST 40

struct stage {
	int fds[2];
	size_t held;
};

struct line {
	struct stage stages[STAGES_MOST];
	unsigned count;	       /* of stages */
	unsigned oldest, used; /* `used` of them hold something, the newest is being filled */
};

bool open_pipe(int ret_fds[2], size_t bytes)
{
	size_t capacity;

	if (pipe2(ret_fds, O_CLOEXEC) < 0)
		return false;
	(void)gi_pipe_resize(ret_fds[1], bytes, &capacity); /* past a user's share it stays as it is */
	return true;
}

bool splice_all(int in, int out, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = splice(in, NULL, out, NULL, bytes, 0);

		if (n <= 0)
			return false;
		bytes -= (size_t)n;
	}
	return true;
}

bool write_all(int fd, const void *memory, size_t bytes)
{
	const char *from = memory;

	while (bytes > 0) {
		ssize_t n = write(fd, from, bytes);

		if (n <= 0)
			return false;
		from += n;
		bytes -= (size_t)n;
	}
	return true;
}

static bool open_line(struct line *l, size_t hold_bytes)
{
	l->count = (unsigned)(hold_bytes / MIB) + 1;
	if (l->count > STAGES_MOST)
		l->count = STAGES_MOST;
	for (unsigned i = 0; i < l->count; i++)
		if (!open_pipe(l->stages[i].fds, MIB))
			return false;
	return true;
}

/* 1: took some; 0: the end; -EAGAIN: the stage is full. */
static int take(struct stage *s)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, -1) < 0)
		return -errno;
	n = splice(0, NULL, s->fds[1], NULL, MIB, SPLICE_F_NONBLOCK);
	if (n < 0)
		return -errno;
	s->held += (size_t)n;
	return n > 0;
}

static struct stage *newest(struct line *l)
{
	return &l->stages[(l->oldest + l->used - 1) % l->count];
}

static bool let_go(struct line *l, bool (*emit)(void *context, int fd, size_t bytes), void *context)
{
	struct stage *s = &l->stages[l->oldest];
	bool good = s->held == 0 || emit(context, s->fds[0], s->held);

	s->held = 0;
	l->oldest = (l->oldest + 1) % l->count;
	l->used--;
	return good;
}

bool delay(struct rng *r, size_t hold_bytes, unsigned pause_budget_us,
	bool (*emit)(void *context, int fd, size_t bytes), void *context)
{
	struct line l = { .used = 1 };
	bool good = open_line(&l, hold_bytes);

	while (good) {
		int ret = take(newest(&l));
		unsigned keep;

		if (ret == 1) {
			if (rng_one_in(r, 64))
				rng_pause(r, 4000, &pause_budget_us);
			continue;
		}
		if (ret != -EAGAIN)
			break;
		/* Mostly all it can. */
		keep = rng_one_in(r, 8) ? (unsigned)rng_below(r, l.count) : l.count - 1;
		while (good && l.used > keep)
			good = let_go(&l, emit, context);
		l.used++;
	}
	while (good && l.used > 0)
		good = let_go(&l, emit, context);
	for (unsigned i = 0; i < l.count; i++) {
		close(l.stages[i].fds[0]);
		close(l.stages[i].fds[1]);
	}
	return good;
}
