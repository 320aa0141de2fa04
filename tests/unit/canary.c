/* SPDX-License-Identifier: MIT */
/* src/canary.c: it tells whether bytes in flight were kept from changing. */
#include "canary.h"

#include "barrier.h"
#include "hugebuf.h"
#include "support.h"

static struct gi_hugebuf buf;

static void open_canary(struct gi_canary *canary)
{
	CHECK_INT(gi_hugebuf_map(1, 0, &buf), 0);
	CHECK_INT(gi_canary_open(canary, buf.base), 0);
}

static void close_canary(struct gi_canary *canary)
{
	gi_canary_close(canary);
	gi_hugebuf_unmap(&buf);
}

static void without_a_barrier(void)
{
	struct gi_canary canary;

	open_canary(&canary);
	for (int i = 0; i < 3; i++) { /* and the pipe is empty again each time */
		CHECK_INT(gi_canary_send(&canary), 0);
		CHECK_INT(gi_canary_check(&canary), -EOPNOTSUPP);
	}
	close_canary(&canary);
}

static void with_a_barrier(void)
{
	struct gi_canary canary;
	struct gi_barrier barrier;

	if (gi_barrier_probe(0, &barrier) < 0)
		SKIP("no barrier protects here");
	open_canary(&canary);
	for (int i = 0; i < 100; i++) {
		CHECK_INT(gi_canary_send(&canary), 0);
		CHECK_INT(gi_barrier_run(&barrier), 0);
		CHECK_INT(gi_canary_check(&canary), 0);
	}
	CHECK_INT(gi_canary_send(&canary), 0); /* each barrier is good for one time */
	CHECK_INT(gi_canary_check(&canary), -EOPNOTSUPP);
	close_canary(&canary);
}

static void with_fresh_pages(void)
{
	struct gi_canary canary;

	open_canary(&canary);
	CHECK_INT(gi_canary_send(&canary), 0);
	CHECK_INT(gi_hugebuf_renew(buf.base, buf.mapped_bytes), 0);
	CHECK_INT(gi_canary_check(&canary), 0);
	close_canary(&canary);
}

/* What was sent last time and never read is no answer for this time. */
static void sent_twice(void)
{
	struct gi_canary canary;
	struct gi_barrier barrier;

	if (gi_barrier_probe(0, &barrier) < 0)
		SKIP("no barrier protects here");
	open_canary(&canary);
	CHECK_INT(gi_canary_send(&canary), 0);
	CHECK_INT(gi_barrier_run(&barrier), 0);
	CHECK_INT(gi_canary_send(&canary), 0);
	CHECK_INT(gi_barrier_run(&barrier), 0);
	CHECK_INT(gi_canary_check(&canary), -EOPNOTSUPP);
	close_canary(&canary);
}

static void errors(void)
{
	struct gi_canary canary;
	struct fds before = fds_now();

	open_canary(&canary);
	close(canary.pipe.read_fd); /* there is nobody to hear it */
	canary.pipe.read_fd = -1;
	CHECK_INT(gi_canary_send(&canary), -EPIPE);
	CHECK_INT(gi_canary_check(&canary), -EBADF);
	close_canary(&canary);
	gi_canary_close(&canary);
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(without_a_barrier);
	TEST(with_a_barrier);
	TEST(with_fresh_pages);
	TEST(sent_twice);
	TEST(errors);
	return test_end();
}
