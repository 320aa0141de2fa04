/* SPDX-License-Identifier: MIT */
/* tools/pair/sender.c where a run ends: a reader that goes, a call that fails, the stop flag. */
#include "sender.h"

#include "stream.h"

#define CHUNK 65536

static const struct sender_config plain = { .chunk_bytes = CHUNK, .chunks = 2 };
static int two[2];

static void open_two(void)
{
	CHECK_INT(pipe2(two, O_CLOEXEC), 0);
}

static void close_two(void)
{
	close(two[0]);
	close(two[1]);
}

/* The call itself fails; nothing was sent. */
static void expect_fails(const struct sender_config *c, int fd, int error, const char *failed_at)
{
	struct sender s;

	CHECK_INT(sender_prepare(&s, fd, c), 0);
	CHECK_INT(sender_run(&s, 10 * CHUNK), error);
	CHECK_TEXT(s.failed_at ? s.failed_at : "nowhere", failed_at);
	CHECK_INT(s.sent_bytes, 0);
	sender_release(&s);
}

static void reader_gone(void)
{
	static const char *const names[] = { "write", "vmsplice", "tee" };

	for (int call = SENDER_WRITE; call <= SENDER_TEE; call++)
		for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
			struct sender_config c = plain;

			c.call = call;
			c.wait = wait;
			open_two();
			close(two[0]);
			expect_fails(&c, two[1], -EPIPE, names[call]);
			close(two[1]);
		}
}

/* The reader goes after so many bytes: what it got is at most what was sent, and no more than a pipe less. */
static void reader_leaves(void)
{
	for (int call = SENDER_WRITE; call <= SENDER_TEE; call++)
		for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
			struct reader reader = { .limit = 300000 };
			struct sender_config c = plain;
			struct sender s;

			c.call = call;
			c.wait = wait;
			c.pipe_bytes = CHUNK;
			open_two();
			reader_start(&reader, two[0], CONTENTS_X);
			CHECK_INT(sender_prepare(&s, two[1], &c), 0);
			CHECK_INT(sender_run(&s, 0), -EPIPE);
			close(two[1]);
			pthread_join(reader.thread, NULL);
			sender_release(&s);
			CHECK(s.sent_bytes >= reader.seen.bytes);
			CHECK(s.sent_bytes <= reader.seen.bytes + 2 * CHUNK);
			CHECK_INT(reader.seen.bad_bytes, 0);
		}
}

static void wrong_sinks(void)
{
	static const struct {
		const char *path;
		enum sender_call call;
		int error;
		const char *failed_at;
	} cases[] = {
		{ "/dev/full", SENDER_WRITE, -ENOSPC, "write" },
		{ "/dev/null", SENDER_VMSPLICE, -EBADF, "vmsplice" },
		{ "/dev/null", SENDER_TEE, -EINVAL, "tee" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
			int fd = open(cases[i].path, O_WRONLY | O_CLOEXEC);
			struct sender_config c = plain;

			c.call = cases[i].call;
			c.wait = wait;
			expect_fails(&c, fd, cases[i].error, cases[i].failed_at);
			close(fd);
		}
}

static void closed_before_the_run(void)
{
	static const char *const failed_at[] = { "write", "poll", "write", "poll", "write" };

	for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
		struct sender_config c = plain;
		struct sender s;

		c.wait = wait;
		open_two();
		CHECK_INT(sender_prepare(&s, two[1], &c), 0);
		close_two();
		CHECK_INT(sender_run(&s, 1), -EBADF);
		CHECK_TEXT(s.failed_at ? s.failed_at : "nowhere", failed_at[wait]);
		sender_release(&s);
	}
}

static long is_forbidden(void)
{
	return -EPERM;
}

/* The ring may not be written again: it was sent once round, and not a byte more. */
static void barrier_stops_working(void)
{
	struct sender_config c = { .call = SENDER_VMSPLICE,
		.chunk_bytes = 8192,
		.chunks = 3,
		.one_mapping = true,
		.contents = CONTENTS_COUNTER,
		.protect = true };
	struct reader reader = { 0 };
	struct sender s;
	int ret;

	open_two();
	reader_start(&reader, two[0], CONTENTS_COUNTER);
	ret = sender_prepare(&s, two[1], &c);
	if (ret == 0) {
		s.barrier.copy_memory = is_forbidden;
		CHECK_INT(sender_run(&s, 10 * CHUNK), -EPERM);
		CHECK_TEXT(s.failed_at, "copy-on-write barrier");
		CHECK_INT(s.sent_bytes, 3 * 8192);
	}
	close(two[1]);
	pthread_join(reader.thread, NULL);
	sender_release(&s);
	CHECK_INT(reader.seen.bytes, s.sent_bytes);
	CHECK_INT(reader.seen.bad_bytes, 0);
	if (ret == -EOPNOTSUPP)
		SKIP("no barrier protects here");
	CHECK_INT(ret, 0);
}

static void stopped_while_it_sends(void)
{
	for (int call = SENDER_WRITE; call <= SENDER_TEE; call++)
		for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
			struct reader reader = { .piece = CHUNK };
			struct sender_config c = plain;
			struct stopper stopper;
			struct sender s;

			c.call = call;
			c.wait = wait;
			open_two();
			reader_start(&reader, two[0], CONTENTS_X);
			CHECK_INT(sender_prepare(&s, two[1], &c), 0);
			s.stop = &stopper.stop;
			stopper_start(&stopper, &reader.done_bytes);
			CHECK_INT(sender_run(&s, 0), 0);
			close(two[1]);
			pthread_join(stopper.thread, NULL);
			pthread_join(reader.thread, NULL);
			sender_release(&s);
			CHECK_INT(reader.seen.bytes, s.sent_bytes);
			CHECK_INT(reader.seen.bad_bytes, 0);
		}
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(reader_gone);
	TEST(reader_leaves);
	TEST(wrong_sinks);
	TEST(closed_before_the_run);
	TEST(barrier_stops_working);
	TEST(stopped_while_it_sends);
	return test_end();
}
