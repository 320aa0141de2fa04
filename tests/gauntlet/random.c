/* SPDX-License-Identifier: MIT */
#include "gauntlet.h"

#include <unistd.h>

/* splitmix64: any seed is a good one. */
uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	return rng_next(r) % bound;
}

bool rng_one_in(struct rng *r, unsigned n)
{
	return rng_below(r, n) == 0;
}

void rng_pause(struct rng *r, unsigned most_us, unsigned *budget_us)
{
	unsigned us = (unsigned)rng_below(r, most_us) + 1;

	if (us > *budget_us)
		return;
	*budget_us -= us;
	usleep(us);
}
