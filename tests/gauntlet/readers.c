/* SPDX-License-Identifier: MIT */
/* Those who look at the bytes, last in the chain. */
#include "stream.h"
#include "team.h"

#include <string.h>
#include <unistd.h>

static unsigned char buf[256 << 10];

/* Until the end, or `most` bytes. pause_us: at random, one time in 16. */
static void read_on(struct checker *k, struct rng *r, size_t piece, uint64_t most, unsigned pause_us)
{
	unsigned budget_us = k->config->pause_us;

	while (k->seen->bytes < most) {
		size_t bytes = 1 + rng_below(r, piece);
		ssize_t n = read(0, buf, bytes);

		if (n <= 0)
			break;
		checker_take(k, buf, (size_t)n);
		if (pause_us > 0 && rng_one_in(r, 16))
			rng_pause(r, pause_us, &budget_us);
	}
}

static bool look(void *context, int fd, size_t bytes)
{
	return checker_read(context, fd, bytes);
}

static void read_as(enum reader how, struct rng *r, struct checker *k)
{
	size_t ring = k->config->ring_bytes > 0 ? k->config->ring_bytes : DEFAULT_RING;

	switch (how) {
	case READER_SLOW:
		read_on(k, r, 40 * KIB, UINT64_MAX, 1000);
		break;
	case READER_SPLICING:
		delay(r, ring / 2 + rng_below(r, 2 * ring), k->config->pause_us / 2, look, k);
		break;
	case READER_STALLING:
		read_on(k, r, sizeof(buf), UINT64_MAX, k->config->pause_us / 3);
		break;
	case READER_DYING:
		read_on(k, r, sizeof(buf), rng_below(r, 2 * ring), 1000);
		break;
	default:
		read_on(k, r, sizeof(buf), UINT64_MAX, 0);
	}
	k->seen->done = true;
}

void reader_main(const struct config *c, struct board *board)
{
	struct checker k = { .config = c, .seen = &board->seen[SEER_READER] };
	struct rng r = { c->seed ^ 0x4ead };

	read_as(c->reader, &r, &k);
}

/* Of a fan-out. It goes early only when the other does, or nobody would tell the producer. */
void reader_side(const struct config *c, struct board *board)
{
	struct checker k = { .config = c, .seen = &board->seen[SEER_SIDE] };
	struct rng r = { c->seed ^ 0x51de };

	read_as(c->reader == READER_DYING ? READER_DYING : (enum reader)rng_below(&r, READER_STALLING), &r,
		&k);
}
