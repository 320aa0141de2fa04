/* SPDX-License-Identifier: MIT */
/* Those in the middle, who pass pages on and keep them meanwhile. */
#include "stream.h"
#include "team.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* ---- the holder ---- */

#define HOSTAGES 4

/* Bytes teed off, to be looked at much later. */
struct hostage {
	int fds[2];
	uint64_t at;	/* where in the stream they are */
	uint64_t until; /* when to look: at which place of the stream */
	size_t bytes;
};

struct holder {
	const struct config *config;
	struct seen *seen;
	struct rng *r;
	uint64_t at;
	struct hostage hostages[HOSTAGES];
};

static void release(struct holder *h, struct hostage *s)
{
	static unsigned char buf[64 << 10];

	while (s->bytes > 0) {
		ssize_t n = read(s->fds[0], buf, s->bytes < sizeof(buf) ? s->bytes : sizeof(buf));

		if (n <= 0)
			return;
		h->seen->bad += place_count_bad(h->config, buf, (size_t)n, s->at);
		h->seen->words += (uint64_t)n / 8;
		s->at += (uint64_t)n;
		s->bytes -= (size_t)n;
	}
}

static void capture(struct holder *h, struct hostage *s, int fd, size_t bytes)
{
	size_t ring = h->config->ring_bytes > 0 ? h->config->ring_bytes : DEFAULT_RING;
	ssize_t n = tee(fd, s->fds[1], bytes, SPLICE_F_NONBLOCK);

	if (n <= 0)
		return;
	s->bytes = (size_t)n;
	s->at = h->at;
	s->until = h->at + rng_below(h->r, 10 * ring);
}

/* Without frames a place in the stream tells what must be there. */
static bool pass_on(void *context, int fd, size_t bytes)
{
	struct holder *h = context;

	for (size_t i = 0; h->config->threads == 0 && i < HOSTAGES; i++) {
		struct hostage *s = &h->hostages[i];

		if (s->bytes > 0 && h->at >= s->until)
			release(h, s);
		if (s->bytes == 0 && rng_one_in(h->r, 4))
			capture(h, s, fd, bytes);
	}
	h->at += bytes;
	return splice_all(fd, 1, bytes);
}

static void hold(const struct config *c, struct board *board)
{
	struct rng r = { c->seed ^ 0x401d };
	struct holder h = { .config = c, .seen = &board->seen[SEER_HOLDER], .r = &r };
	size_t ring = c->ring_bytes > 0 ? c->ring_bytes : DEFAULT_RING;

	for (size_t i = 0; i < HOSTAGES; i++)
		if (!open_pipe(h.hostages[i].fds, 256 * KIB))
			return;
	delay(&r, ring + rng_below(&r, 2 * ring), c->pause_us, pass_on, &h);
	close(1);
	for (size_t i = 0; i < HOSTAGES; i++)
		release(&h, &h.hostages[i]);
	h.seen->done = true;
}

/* ---- our own commands, and other people's ---- */

static void copy(const struct config *c, struct board *board)
{
	(void)c;
	(void)board;
	gush_copy(0, 1, NULL, NULL);
}

static void fan_out(const struct config *c, struct board *board)
{
	static const int sinks[] = { 1, 3 };
	struct gush_fanout *f = NULL;

	(void)c;
	(void)board;
	if (gush_fanout_open(0, sinks, 2, NULL, &f) < 0)
		return;
	while (gush_fanout_step(f) > 0)
		;
	gush_fanout_close(f);
}

static void execute(const struct config *c, struct board *board)
{
	(void)board;
	signal(SIGPIPE, SIG_DFL);
	if (c->middle == MIDDLE_OUR_CAT)
		execl(our_gush(), "cat", (char *)NULL);
	else if (c->middle == MIDDLE_OUR_TEE)
		execl(our_gush(), "tee", "/dev/null", (char *)NULL);
	else if (c->middle == MIDDLE_CAT)
		execlp("cat", "cat", (char *)NULL);
	else if (c->middle == MIDDLE_PV)
		execlp("pv", "pv", "-q", (char *)NULL);
	else
		execlp("tee", "tee", "/dev/null", (char *)NULL);
	_exit(127);
}

/* ---- putting them in their place ---- */

static role *const roles[MIDDLES] = {
	[MIDDLE_HOLDER] = hold,
	[MIDDLE_TCP] = tcp_copy_slowly,
	[MIDDLE_TCP_PIPE] = tcp_splice_slowly,
	[MIDDLE_COPY] = copy,
	[MIDDLE_FANOUT] = fan_out,
	[MIDDLE_OUR_CAT] = execute,
	[MIDDLE_OUR_TEE] = execute,
	[MIDDLE_CAT] = execute,
	[MIDDLE_PV] = execute,
	[MIDDLE_TEE] = execute,
};

/* Replaces the input by the far end of a connection that is fed from it. */
static bool through_tcp(struct team *t, int *in)
{
	int fds[2];
	bool good;

	if (!tcp_pair(fds))
		return false;
	good = team_add(t, tcp_pump, *in, fds[1], -1);
	close(fds[1]);
	close(*in);
	*in = fds[0];
	return good;
}

int middle_start(struct team *t, int in)
{
	const struct config *c = t->config;
	int out[2], side[2] = { -1, -1 };
	bool good = true;

	if (c->middle == MIDDLE_NONE)
		return in;
	if (c->middle == MIDDLE_TCP || c->middle == MIDDLE_TCP_PIPE)
		good = through_tcp(t, &in);
	if (!good || !open_pipe(out, c->pipe_bytes))
		return -1;
	if (c->middle == MIDDLE_FANOUT)
		good = open_pipe(side, c->pipe_bytes) && team_add(t, reader_side, side[0], -1, -1);
	good = good && team_add(t, roles[c->middle], in, out[1], side[1]);
	close(in);
	close(out[1]);
	if (side[0] >= 0) {
		close(side[0]);
		close(side[1]);
	}
	if (!good)
		close(out[0]);
	return good ? out[0] : -1;
}
