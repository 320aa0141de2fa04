/* SPDX-License-Identifier: MIT */
/* A mover of single bytes that waits as it is told, and its idle CPU time. */
#ifndef WAITING_H
#define WAITING_H

#include "support.h"
#include "sys.h"
#include "wait.h"

static int two[2];
static atomic_int calls; /* of gi_wait_again that came back */

static inline void open_two(int flags)
{
	CHECK_INT(pipe2(two, O_CLOEXEC | flags), 0);
}

static inline void close_two(void)
{
	close(two[0]);
	close(two[1]);
}

/* The loop that moves bytes, as every mover has it. */
static inline ssize_t take_a_byte(struct gi_wait *w)
{
	ssize_t n;
	char c;

	for (;;) {
		CHECK_INT(gi_wait_ready(w, two[0], POLLIN), 0);
		n = gi_sys_read(two[0], &c, 1);
		if (n != -EAGAIN)
			break;
		CHECK_INT(gi_wait_again(w, two[0], POLLIN), 0);
		atomic_fetch_add(&calls, 1);
	}
	gi_wait_moved(w);
	return n;
}

static inline void *give_late(void *unused)
{
	(void)unused;
	sleep_ms(200);
	CHECK_INT(write(two[1], "b", 1), 1);
	return NULL;
}

/* CPU time of this thread while nothing arrives for 200 ms. */
static inline int64_t idle_cpu_ns(struct gi_wait *w, int flags)
{
	pthread_t thread;
	int64_t start;

	open_two(flags);
	thread = start_thread(give_late, NULL);
	start = thread_cpu_ns();
	CHECK_INT(take_a_byte(w), 1);
	start = thread_cpu_ns() - start;
	pthread_join(thread, NULL);
	close_two();
	return start;
}

#endif
