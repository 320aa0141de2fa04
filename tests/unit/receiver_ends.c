/* SPDX-License-Identifier: MIT */
/* tools/pair/receiver.c where a run ends: no more input, the stop flag, a call that fails. */
#include "receiver.h"

#include "stream.h"

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

static const char *const call_names[] = { "read", "splice", "splice" };

/* All that came is counted and looked at, though it was not enough. */
static void input_ends_early(void)
{
	static const uint64_t bytes[] = { 0, 1, 4096, 100001 };

	for (size_t i = 0; i < 3 * 5 * COUNT(bytes); i++) {
		struct receiver_config c = { .call = i % 3,
			.wait = i / 3 % 5,
			.contents = CONTENTS_COUNTER,
			.check = true,
			.chunk_bytes = 8192 };
		struct writer writer = { .bytes = bytes[i / 15], .contents = CONTENTS_COUNTER };
		struct receiver r;

		open_two();
		writer_start(&writer, two[1]);
		CHECK_INT(receiver_prepare(&r, two[0], &c), 0);
		CHECK_INT(receiver_run(&r, 1 << 20), -ENODATA);
		CHECK_TEXT(r.failed_at ? r.failed_at : "nowhere", call_names[c.call]);
		CHECK_INT(r.received_bytes, writer.bytes);
		CHECK_INT(r.seen.bytes, c.call == RECEIVER_SPLICE ? 0 : writer.bytes);
		CHECK_INT(r.seen.bad_bytes, 0);
		pthread_join(writer.thread, NULL);
		receiver_release(&r);
		close(two[0]);
	}
}

static void wrong_sources(void)
{
	static const struct {
		enum receiver_call call;
		const char *path;
		int flags, error;
	} cases[] = {
		{ RECEIVER_READ, "/", O_RDONLY, -EISDIR }, { RECEIVER_READ, "/dev/null", O_WRONLY, -EBADF },
		{ RECEIVER_SPLICE, "/dev/zero", O_WRONLY, -EBADF }, { RECEIVER_HOLD, "/", O_RDONLY, -EINVAL },
		{ RECEIVER_SPLICE, "/", O_RDONLY, -EINVAL },
		{ RECEIVER_SPLICE, "/proc/self/exe", O_RDONLY, -EINVAL }, /* one side must be a pipe */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct receiver_config c = { .call = cases[i].call, .chunk_bytes = 4096 };
		int fd = open(cases[i].path, cases[i].flags | O_CLOEXEC);
		struct receiver r;

		CHECK_INT(receiver_prepare(&r, fd, &c), 0);
		CHECK_INT(receiver_run(&r, 1), cases[i].error);
		CHECK_TEXT(r.failed_at ? r.failed_at : "nowhere", call_names[c.call]);
		CHECK_INT(r.received_bytes, 0);
		receiver_release(&r);
		close(fd);
	}
}

static void closed_before_the_run(void)
{
	static const char *const failed_at[] = { "read", "poll", "read", "poll", "read" };

	for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
		struct receiver_config c = { .wait = wait, .chunk_bytes = 4096 };
		struct receiver r;

		open_two();
		CHECK_INT(receiver_prepare(&r, two[0], &c), 0);
		close_two();
		CHECK_INT(receiver_run(&r, 1), -EBADF);
		CHECK_TEXT(r.failed_at ? r.failed_at : "nowhere", failed_at[wait]);
		receiver_release(&r);
	}
}

/* The writer writes on and on; the stop flag ends it. */
static void stopped_while_it_receives(void)
{
	for (size_t i = 0; i < 15; i++) {
		struct receiver_config c = {
			.call = i % 3, .wait = i / 3, .check = true, .chunk_bytes = 8192
		};
		struct writer writer = { .bytes = UINT64_MAX };
		struct receiver r;
		struct stopper stopper;

		open_two();
		writer_start(&writer, two[1]);
		CHECK_INT(receiver_prepare(&r, two[0], &c), 0);
		r.stop = &stopper.stop;
		stopper_start(&stopper, &writer.done_bytes);
		CHECK_INT(receiver_run(&r, UINT64_MAX), 0);
		CHECK(r.received_bytes > 0);
		CHECK_INT(r.seen.bytes, c.call == RECEIVER_SPLICE ? 0 : r.received_bytes);
		CHECK_INT(r.seen.bad_bytes, 0);
		close(two[0]);
		pthread_join(stopper.thread, NULL);
		pthread_join(writer.thread, NULL);
		receiver_release(&r);
	}
}

/* A spinning receiver sees the flag though nothing comes at all; those that wait need an end of input. */
static void stopped_while_nothing_comes(void)
{
	static const enum gi_wait_kind kinds[] = { GI_WAIT_SPIN, GI_WAIT_POLL_SPIN };

	for (size_t i = 0; i < 3 * COUNT(kinds); i++) {
		struct receiver_config c = { .call = i % 3, .wait = kinds[i / 3], .chunk_bytes = 8192 };
		struct receiver r;
		struct stopper stopper;

		open_two();
		CHECK_INT(receiver_prepare(&r, two[0], &c), 0);
		r.stop = &stopper.stop;
		stopper_start(&stopper, NULL);
		CHECK_INT(receiver_run(&r, 1), 0);
		CHECK_INT(r.received_bytes, 0);
		pthread_join(stopper.thread, NULL);
		receiver_release(&r);
		close_two();
	}
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(input_ends_early);
	TEST(wrong_sources);
	TEST(closed_before_the_run);
	TEST(stopped_while_it_receives);
	TEST(stopped_while_nothing_comes);
	return test_end();
}
