/* SPDX-License-Identifier: MIT */
/* src/wait.c: what the adaptive way learns. A spin's length is set so that it never or always lasts long
 * enough. */
#include "waiting.h"

#define HOUR_NS 3600000000000

/* A spin that ends in poll; the pipe has a byte, so that poll comes back. */
static void spin_in_vain(struct gi_wait *w)
{
	w->spin_ns = 0;
	CHECK_INT(gi_wait_again(w, two[0], POLLIN), 0);
	CHECK_INT(w->spin_end_ns, 0);
	gi_wait_moved(w);
}

/* A spin that pays: bytes moved before it ended. */
static void spin_that_pays(struct gi_wait *w)
{
	w->spin_ns = HOUR_NS;
	CHECK_INT(gi_wait_again(w, two[0], POLLIN), 0);
	CHECK(w->spin_end_ns > 0);
	gi_wait_moved(w);
	CHECK_INT(w->spin_end_ns, 0);
}

static void begin_adaptive(struct gi_wait *w)
{
	gi_wait_init(w, GI_WAIT_ADAPTIVE);
	open_two(O_NONBLOCK);
	CHECK_INT(write(two[1], "b", 1), 1);
}

/* Waits that go straight to poll until the next one would spin. */
static unsigned count_skipped(struct gi_wait *w)
{
	unsigned skipped = 0;

	w->spin_ns = HOUR_NS;
	for (;; skipped++) {
		CHECK_INT(gi_wait_again(w, two[0], POLLIN), 0);
		if (w->spin_end_ns)
			break;
		gi_wait_moved(w);
	}
	w->spin_end_ns = 0; /* as if this spin had not been */
	return skipped;
}

static void spins_for_a_while_first(void)
{
	struct gi_wait w;

	gi_wait_init(&w, GI_WAIT_ADAPTIVE);
	CHECK(w.spin_ns > 0 && w.spin_ns < 10000000);
	w.spin_ns = HOUR_NS;
	open_two(O_NONBLOCK);
	for (int i = 0; i < 1000; i++) /* nothing there, and yet it comes back */
		CHECK_INT(gi_wait_again(&w, two[0], POLLIN), 0);
	close_two();
}

static void stops_spinning_when_it_never_pays(void)
{
	struct gi_wait w;
	unsigned last = 0, skipped = 0;

	begin_adaptive(&w);
	for (int i = 0; i < 3; i++) {
		spin_in_vain(&w);
		CHECK_INT(count_skipped(&w), 0); /* a few failures are luck */
	}
	for (int i = 0; i < 20; i++) {
		spin_in_vain(&w);
		skipped = count_skipped(&w);
		CHECK(skipped >= 16 && skipped <= 4096);
		CHECK(skipped >= 2 * last || last == 4096);
		last = skipped;
	}
	CHECK_INT(skipped, 4096);
	close_two();
}

static void skipped_waits_use_no_cpu(void)
{
	struct gi_wait w;

	begin_adaptive(&w);
	for (int i = 0; i < 4; i++)
		spin_in_vain(&w);
	close_two();
	CHECK(w.skip > 0);
	w.spin_ns = HOUR_NS; /* would show, were it used */
	CHECK(idle_cpu_ns(&w, O_NONBLOCK) < 50000000);
}

static void spinning_comes_back_when_it_pays(void)
{
	struct gi_wait w;
	unsigned after;

	begin_adaptive(&w);
	for (int i = 0; i < 30; i++) {
		spin_in_vain(&w);
		count_skipped(&w);
	}
	for (int i = 0; i < 20; i++)
		spin_that_pays(&w);
	CHECK_INT(w.distrust, 0);
	spin_in_vain(&w);
	after = count_skipped(&w);
	CHECK_INT(after, 0); /* trusted again: one failure does not count */
	close_two();
}

static void polling_is_not_paying(void)
{
	struct gi_wait w;

	begin_adaptive(&w);
	for (int i = 0; i < 4; i++)
		spin_in_vain(&w);
	for (int i = 0; i < 10; i++)
		gi_wait_moved(&w); /* bytes that came without any wait say nothing about spinning */
	CHECK(count_skipped(&w) >= 16);
	close_two();
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(spins_for_a_while_first);
	TEST(stops_spinning_when_it_never_pays);
	TEST(skipped_waits_use_no_cpu);
	TEST(spinning_comes_back_when_it_pays);
	TEST(polling_is_not_paying);
	return test_end();
}
