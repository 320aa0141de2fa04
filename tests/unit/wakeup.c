/* SPDX-License-Identifier: MIT */
/* src/wakeup.c: a measurement that leaves nothing behind and takes no part in the caller's affairs. */
#include "wakeup.h"

#include "support.h"
#include "sys.h"

#include <sched.h>
#include <sys/resource.h>

#define UNKNOWN_NS 50000

static void measured_once(void)
{
	int64_t first = gi_wakeup_ns(), start_ns = gi_sys_now_ns();

	CHECK(first > 100 && first < 20000000);
	for (int i = 0; i < 1000; i++)
		CHECK(gi_wakeup_ns() == first);
	CHECK(gi_sys_now_ns() - start_ns < 20000000); /* remembered, not measured again */
}

static void leaves_nothing(void)
{
	struct fds before = fds_now();
	cpu_set_t cpus_before, cpus;
	sigset_t mask_before, mask;

	sched_getaffinity(0, sizeof(cpus_before), &cpus_before);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	gi_wakeup_ns();
	CHECK_INT(fds_opened_since(&before), 0);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	CHECK(CPU_EQUAL(&cpus_before, &cpus));
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number < NSIG; number++)
		CHECK_INT(sigismember(&mask, number), sigismember(&mask_before, number));
}

static void no_descriptors(void)
{
	struct rlimit none = { 3, 3 };

	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	CHECK_INT(gi_wakeup_ns(), UNKNOWN_NS);
}

/* One pipe and not the other: the first is closed again. */
static void one_pipe_only(void)
{
	struct fds before = fds_now();
	int next = dup(0);
	struct rlimit few = { (rlim_t)next + 3, (rlim_t)next + 3 };

	close(next);
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK_INT(gi_wakeup_ns(), UNKNOWN_NS);
	few.rlim_cur = few.rlim_max; /* the folder of /proc needs one */
	CHECK_INT(fds_opened_since(&before), 0);
}

static void *ask(void *arg)
{
	*(int64_t *)arg = gi_wakeup_ns();
	return NULL;
}

static void many_threads(void)
{
	pthread_t threads[8];
	int64_t answers[8];

	for (size_t i = 0; i < COUNT(threads); i++)
		threads[i] = start_thread(ask, &answers[i]);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < COUNT(threads); i++)
		CHECK(answers[i] > 0 && answers[i] == answers[0]);
}

static void signals(void)
{
	int64_t ns;

	storm_start(20000);
	ns = gi_wakeup_ns();
	storm_stop();
	CHECK(ns > 100 && ns < 20000000);
}

static void measured_once_case(void)
{
	in_child(measured_once);
}

static void leaves_nothing_case(void)
{
	in_child(leaves_nothing);
}

static void no_descriptors_case(void)
{
	in_child(no_descriptors);
}

static void one_pipe_only_case(void)
{
	in_child(one_pipe_only);
}

static void many_threads_case(void)
{
	in_child(many_threads);
}

static void signals_case(void)
{
	in_child(signals);
}

/* Each in a process of its own, since it is measured once. */
int main(void)
{
	TEST(measured_once_case);
	TEST(leaves_nothing_case);
	TEST(no_descriptors_case);
	TEST(one_pipe_only_case);
	TEST(many_threads_case);
	TEST(signals_case);
	return test_end();
}
