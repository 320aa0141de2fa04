/* SPDX-License-Identifier: MIT */
#include "forks.h"

#include <pthread.h>
#include <unistd.h>

static unsigned forks; /* changed in a child of fork only, which has one thread then */

static void count_fork(void)
{
	forks++;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

struct gi_origin gi_origin_now(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	return (struct gi_origin){ getpid(), forks };
}

bool gi_origin_forked(const struct gi_origin *origin)
{
	return origin->forks != forks;
}

bool gi_origin_is_here(const struct gi_origin *origin)
{
	return !gi_origin_forked(origin) && origin->pid == getpid();
}
