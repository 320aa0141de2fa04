/* SPDX-License-Identifier: MIT */
/* tools/pair/receiver.c: every call, wait and kind of contents, from a plain writer. */
#include "receiver.h"

#include "stream.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#define CHUNK 65536

static const char *const call_names[] = { "read", "splice", "hold" };

static const struct {
	uint64_t limit;
	size_t chunk, piece;
} shapes[] = {
	{ 1, CHUNK, 1 },
	{ 4096, 4096, 4096 },
	{ 1000, 1, 7 },
	{ 5 * CHUNK, CHUNK, 5000 },
	{ 5 * CHUNK + 3 * 4096 + 13, CHUNK, 3000 },
	{ 3 * CHUNK + 13, 5000, CHUNK },
	{ 300001, CHUNK + 4096, 10007 },
};

static void pipe_or_die(int fds[2])
{
	if (!CHECK(pipe2(fds, O_CLOEXEC) == 0))
		exit(1);
}

static void receive_one(enum receiver_call call, enum gi_wait_kind wait, enum contents contents, size_t shape)
{
	uint64_t limit = shapes[shape].limit;
	struct receiver_config c = { .call = call,
		.wait = wait,
		.contents = contents,
		.check = true,
		.chunk_bytes = shapes[shape].chunk };
	struct writer writer = { .bytes = limit, .piece = shapes[shape].piece, .contents = contents };
	struct receiver r;
	char name[100];
	int fds[2], flags;

	snprintf(name, sizeof(name), "%s, %s, %s, shape %d", call_names[call], wait_names[wait],
		contents_names[contents], (int)shape);
	pipe_or_die(fds);
	flags = fcntl(fds[0], F_GETFL);
	writer_start(&writer, fds[1]);
	CHECK_CASE(receiver_prepare(&r, fds[0], &c) == 0, name);
	CHECK_CASE(receiver_run(&r, limit) == 0, name);
	CHECK_CASE(r.received_bytes == limit, name);
	CHECK_CASE(r.failed_at == NULL, name);
	CHECK_CASE(r.seen.bytes == (call == RECEIVER_SPLICE ? 0 : limit), name);
	CHECK_CASE(r.seen.bad_bytes == 0, name);
	CHECK_CASE(fcntl(fds[0], F_GETFL) == flags, name);
	pthread_join(writer.thread, NULL);
	receiver_release(&r);
	close(fds[0]);
}

static void receive_all(enum receiver_call call)
{
	struct fds before = fds_now();

	for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++)
		for (int contents = 0; contents < 3; contents++)
			for (size_t shape = 0; shape < COUNT(shapes); shape++)
				receive_one(call, wait, contents, shape);
	CHECK_INT(fds_opened_since(&before), 0);
}

static void by_read(void)
{
	receive_all(RECEIVER_READ);
}

static void by_splice(void)
{
	receive_all(RECEIVER_SPLICE);
}

static void by_hold(void)
{
	receive_all(RECEIVER_HOLD);
}

/* One byte is wrong, wherever it comes: among the first, in the middle, the last. */
static void sees_bad_bytes(void)
{
	static const uint64_t places[] = { 1, 4095, 4096, 100000, 199999 };
	static const enum receiver_call calls[] = { RECEIVER_READ, RECEIVER_HOLD };

	for (size_t i = 0; i < COUNT(calls) * COUNT(places) * 3; i++) {
		enum contents contents = i % 3;
		struct receiver_config c = {
			.call = calls[i / 3 % 2], .contents = contents, .check = true, .chunk_bytes = 10000
		};
		struct writer writer = { .bytes = 200000, .contents = contents, .bad_at = places[i / 6] };
		struct receiver r;
		int fds[2];

		pipe_or_die(fds);
		writer_start(&writer, fds[1]);
		CHECK_INT(receiver_prepare(&r, fds[0], &c), 0);
		CHECK_INT(receiver_run(&r, 200000), 0);
		pthread_join(writer.thread, NULL);
		CHECK_INT(r.seen.bytes, 200000);
		if (contents == CONTENTS_COUNTER) /* the word counts whole, unless it came in parts */
			CHECK(r.seen.bad_bytes >= 1 && r.seen.bad_bytes <= 8);
		else
			CHECK_INT(r.seen.bad_bytes, 1);
		receiver_release(&r);
		close(fds[0]);
	}
}

static void looks_only_when_asked(void)
{
	struct receiver_config c = { .call = RECEIVER_READ, .chunk_bytes = 1000 };
	struct writer writer = { .bytes = 5000, .contents = CONTENTS_COUNTER };
	struct receiver r;
	int fds[2];

	pipe_or_die(fds);
	writer_start(&writer, fds[1]);
	CHECK_INT(receiver_prepare(&r, fds[0], &c), 0);
	CHECK_INT(receiver_run(&r, 5000), 0);
	pthread_join(writer.thread, NULL);
	CHECK(r.seen.bytes == 0 && r.seen.bad_bytes == 0);
	CHECK_INT(r.received_bytes, 5000);
	receiver_release(&r);
	close(fds[0]);
}

/* A call may bring more than the limit, and all of it counts; the rest stays in the pipe. */
static void more_than_the_limit(void)
{
	static char bytes[50000];

	for (int call = RECEIVER_READ; call <= RECEIVER_HOLD; call++) {
		struct receiver_config c = {
			.call = call, .contents = CONTENTS_ZERO, .check = true, .chunk_bytes = 20000
		};
		struct receiver r;
		int fds[2], left;

		pipe_or_die(fds);
		CHECK_INT(write(fds[1], bytes, sizeof(bytes)), sizeof(bytes));
		CHECK_INT(receiver_prepare(&r, fds[0], &c), 0);
		CHECK_INT(receiver_run(&r, 20001), 0);
		CHECK(r.received_bytes > 20000 && r.received_bytes <= 40000);
		CHECK_INT(ioctl(fds[0], FIONREAD, &left), 0);
		CHECK_INT(left, sizeof(bytes) - r.received_bytes);
		if (call != RECEIVER_SPLICE)
			CHECK_INT(r.seen.bytes, r.received_bytes);
		CHECK_INT(receiver_run(&r, r.received_bytes), 0); /* there is enough already */
		CHECK_INT(receiver_run(&r, sizeof(bytes)), 0);	  /* goes on */
		CHECK_INT(r.received_bytes, sizeof(bytes));
		CHECK_INT(r.seen.bad_bytes, 0);
		receiver_release(&r);
		close(fds[0]);
		close(fds[1]);
	}
}

static void from_other_sources(void)
{
	static const enum receiver_call calls[] = { RECEIVER_READ, RECEIVER_HOLD };

	for (size_t i = 0; i < 5 * COUNT(calls); i++) {
		struct receiver_config c = { .call = calls[i / 5],
			.wait = i % 5,
			.contents = CONTENTS_COUNTER,
			.check = true,
			.chunk_bytes = 8192 };
		struct writer writer = { .bytes = 100001, .contents = CONTENTS_COUNTER };
		struct receiver r;
		int fds[2], flags;

		CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
		flags = fcntl(fds[0], F_GETFL);
		writer_start(&writer, fds[1]);
		CHECK_INT(receiver_prepare(&r, fds[0], &c), 0);
		CHECK_INT(receiver_run(&r, 100001), 0);
		CHECK_INT(r.received_bytes, 100001);
		CHECK_INT(r.seen.bad_bytes, 0);
		CHECK_INT(fcntl(fds[0], F_GETFL), flags);
		pthread_join(writer.thread, NULL);
		receiver_release(&r);
		close(fds[0]);
	}
}

static void from_a_file(void)
{
	static char zeros[30000];
	int file = open_nameless(S_IFREG, O_RDWR);
	struct receiver_config c = {
		.contents = CONTENTS_ZERO, .check = true, .wait = GI_WAIT_ADAPTIVE, .chunk_bytes = 4096
	};
	struct receiver r;

	CHECK_INT(write(file, zeros, sizeof(zeros)), sizeof(zeros));
	for (int call = RECEIVER_READ; call <= RECEIVER_HOLD; call += RECEIVER_HOLD - RECEIVER_READ) {
		CHECK_INT(lseek(file, 0, SEEK_SET), 0);
		c.call = call;
		CHECK_INT(receiver_prepare(&r, file, &c), 0);
		CHECK_INT(receiver_run(&r, sizeof(zeros)), 0);
		CHECK_INT(r.received_bytes, sizeof(zeros));
		CHECK_INT(r.seen.bad_bytes, 0);
		receiver_release(&r);
	}
	close(file);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(by_read);
	TEST(by_splice);
	TEST(by_hold);
	TEST(sees_bad_bytes);
	TEST(looks_only_when_asked);
	TEST(more_than_the_limit);
	TEST(from_other_sources);
	TEST(from_a_file);
	return test_end();
}
