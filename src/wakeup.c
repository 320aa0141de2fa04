/* SPDX-License-Identifier: MIT */
#include "wakeup.h"

#include "pipe.h"
#include "sys.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 31
#define UNKNOWN_NS 50000 /* seen on 6.18 in a virtual machine: 20 to 60 us between two CPUs */

struct pair {
	struct gi_pipe there, back;
	int cpu; /* the measuring thread's */
};

/* A peer that is worth spinning for runs on another CPU: so must this thread, if there is one. */
static void leave_cpu(int cpu)
{
	cpu_set_t others;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	memset(&others, 0xff, sizeof(others));
	CPU_CLR((size_t)cpu, &others);
	sched_setaffinity(0, sizeof(others), &others); /* fails where there is only one: then it stays. Pinned
							  or not: the peer is elsewhere */
}

/* It closes its end when it fails: the other reads on for ever otherwise. */
static void *echo(void *arg)
{
	struct pair *pair = arg;
	char byte;

	leave_cpu(pair->cpu);
	while (gi_sys_read(pair->there.read_fd, &byte, 1) == 1)
		if (gi_sys_write(pair->back.write_fd, &byte, 1) != 1)
			break;
	gi_pipe_close_write(&pair->back);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Each round is two wake-ups: the other thread's, and ours. */
static int64_t measure(const struct pair *pair)
{
	int64_t took_ns[ROUNDS];
	char byte = 'w';

	for (int i = 0; i < ROUNDS; i++) {
		int64_t start_ns = gi_sys_now_ns();

		if (gi_sys_write(pair->there.write_fd, &byte, 1) != 1 ||
			gi_sys_read(pair->back.read_fd, &byte, 1) != 1)
			return UNKNOWN_NS;
		took_ns[i] = (gi_sys_now_ns() - start_ns) / 2;
	}
	qsort(took_ns, ROUNDS, sizeof(*took_ns), compare);
	return took_ns[ROUNDS / 2];
}

/* The thread handles no signals: those are the caller's business, in the caller's threads. */
static int start_quietly(pthread_t *ret_thread, struct pair *pair)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(ret_thread, NULL, echo, pair);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

static int64_t wakeup_ns;

static void measure_once(void)
{
	struct pair pair = { GI_PIPE_NONE, GI_PIPE_NONE, sched_getcpu() };
	pthread_t thread;

	wakeup_ns = UNKNOWN_NS;
	if (gi_pipe_open(&pair.there) == 0 && gi_pipe_open(&pair.back) == 0 &&
		start_quietly(&thread, &pair) == 0) {
		wakeup_ns = measure(&pair);
		gi_pipe_close_write(&pair.there);
		pthread_join(thread, NULL);
	}
	gi_pipe_close(&pair.there);
	gi_pipe_close(&pair.back);
}

int64_t gi_wakeup_ns(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, measure_once);
	return wakeup_ns;
}
