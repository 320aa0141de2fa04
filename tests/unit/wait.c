/* SPDX-License-Identifier: MIT */
#include "waiting.h"

#include <sys/resource.h>

static const enum gi_wait_kind all_kinds[] = { GI_WAIT_BLOCK, GI_WAIT_POLL, GI_WAIT_SPIN, GI_WAIT_POLL_SPIN,
	GI_WAIT_ADAPTIVE };

static void which_calls_must_not_wait(void)
{
	static const bool nonblocking[] = { false, false, true, true, true };
	struct gi_wait w;

	for (size_t i = 0; i < COUNT(all_kinds); i++) {
		gi_wait_init(&w, all_kinds[i]);
		CHECK_INT(w.kind, all_kinds[i]);
		CHECK_INT(gi_wait_nonblocking(&w), nonblocking[i]);
		CHECK(w.distrust == 0 && w.skip == 0 && w.spin_end_ns == 0);
	}
}

static void waiting_uses_no_cpu(void)
{
	static const struct {
		const char *name;
		enum gi_wait_kind kind;
		int flags;
	} cases[] = {
		{ "block", GI_WAIT_BLOCK, 0 },
		{ "block, came non-blocking", GI_WAIT_BLOCK, O_NONBLOCK },
		{ "poll", GI_WAIT_POLL, 0 },
		{ "poll, came non-blocking", GI_WAIT_POLL, O_NONBLOCK },
		{ "adaptive", GI_WAIT_ADAPTIVE, O_NONBLOCK },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gi_wait w;

		gi_wait_init(&w, cases[i].kind);
		CHECK_CASE(idle_cpu_ns(&w, cases[i].flags) < 50000000, cases[i].name);
	}
}

static void *give_after_calls(void *unused)
{
	(void)unused;
	while (atomic_load(&calls) < 1000)
		sleep_ms(1);
	CHECK_INT(write(two[1], "b", 1), 1);
	return NULL;
}

/* The byte comes only once the waiter was told to call again a thousand times. */
static void spinning_returns_at_once(void)
{
	static const enum gi_wait_kind kinds[] = { GI_WAIT_SPIN, GI_WAIT_POLL_SPIN };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct gi_wait w;
		pthread_t thread;

		gi_wait_init(&w, kinds[i]);
		open_two(O_NONBLOCK);
		atomic_store(&calls, 0);
		thread = start_thread(give_after_calls, NULL);
		CHECK_INT(take_a_byte(&w), 1);
		CHECK(atomic_load(&calls) >= 1000);
		pthread_join(thread, NULL);
		close_two();
	}
}

/* What gi_wait_ready does before the first call, with a pipe that is not ready. */
static void ready_waits_for_poll_only(void)
{
	static const enum gi_wait_kind kinds[] = { GI_WAIT_BLOCK, GI_WAIT_SPIN, GI_WAIT_POLL_SPIN,
		GI_WAIT_ADAPTIVE };
	struct gi_wait w;
	pthread_t thread;
	char c;

	open_two(O_NONBLOCK);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		gi_wait_init(&w, kinds[i]);
		CHECK_INT(gi_wait_ready(&w, two[0], POLLIN), 0);
	}
	gi_wait_init(&w, GI_WAIT_POLL);
	thread = start_thread(give_late, NULL);
	CHECK_INT(gi_wait_ready(&w, two[0], POLLIN), 0);
	CHECK_INT(read(two[0], &c, 1), 1);
	pthread_join(thread, NULL);
	close_two();
}

static void ends_wake(void)
{
	struct gi_wait w;

	for (size_t i = 0; i < COUNT(all_kinds); i++) {
		gi_wait_init(&w, all_kinds[i]);
		w.spin_ns = 0;
		open_two(0);
		close(two[1]);
		CHECK_INT(gi_wait_ready(&w, two[0], POLLIN), 0);
		CHECK_INT(gi_wait_again(&w, two[0], POLLIN), 0);
		close(two[0]);
		open_two(0);
		close(two[0]);
		CHECK_INT(gi_wait_ready(&w, two[1], POLLOUT), 0);
		CHECK_INT(gi_wait_again(&w, two[1], POLLOUT), 0);
		close(two[1]);
	}
}

static void descriptor_not_open(void)
{
	struct gi_wait w;

	for (size_t i = 0; i < COUNT(all_kinds); i++) {
		bool polls_first = all_kinds[i] == GI_WAIT_POLL || all_kinds[i] == GI_WAIT_POLL_SPIN;
		bool polls_then = all_kinds[i] != GI_WAIT_SPIN && all_kinds[i] != GI_WAIT_POLL_SPIN;

		gi_wait_init(&w, all_kinds[i]);
		w.spin_ns = 0;
		CHECK_INT(gi_wait_ready(&w, 1000, POLLIN), polls_first ? -EBADF : 0);
		CHECK_INT(gi_wait_again(&w, 1000, POLLIN), polls_then ? -EBADF : 0);
	}
}

static void poll_itself_fails(void)
{
	struct rlimit old, none;
	struct gi_wait w;

	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){ 0, old.rlim_max };
	open_two(O_NONBLOCK);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0); /* poll of more descriptors than that: EINVAL */
	gi_wait_init(&w, GI_WAIT_POLL);
	CHECK_INT(gi_wait_ready(&w, two[0], POLLIN), -EINVAL);
	CHECK_INT(gi_wait_again(&w, two[0], POLLIN), -EINVAL);
	gi_wait_init(&w, GI_WAIT_ADAPTIVE);
	w.spin_ns = 0;
	CHECK_INT(gi_wait_again(&w, two[0], POLLIN), -EINVAL);
	setrlimit(RLIMIT_NOFILE, &old);
	close_two();
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(which_calls_must_not_wait);
	TEST(waiting_uses_no_cpu);
	TEST(spinning_returns_at_once);
	TEST(ready_waits_for_poll_only);
	TEST(ends_wake);
	TEST(descriptor_not_open);
	TEST(poll_itself_fails);
	return test_end();
}
