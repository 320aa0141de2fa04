/* SPDX-License-Identifier: MIT */
/* src/nowait.c where things end: no more input, a reader that has gone, a descriptor of the other direction.
 */
#include "ends.h"

static void ends_of_input(void)
{
	struct ends (*const kinds[])(void) = { open_pipe, open_nonblocking_pipe, open_fifo, open_sockets };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct ends e = kinds[i]();
		struct gi_nowait io;
		char text[8] = "";

		init(&io, e.read_fd);
		CHECK_INT(write(e.write_fd, "last", 4), 4);
		close(e.write_fd);
		if (e.extra_fd >= 0)
			close(e.extra_fd);
		CHECK_INT(gi_nowait_read(&io, text, 7), 4);
		CHECK_INT(gi_nowait_read(&io, text, 7), 0);
		CHECK_INT(gi_nowait_read(&io, text, 7), 0);
		gi_nowait_close(&io);
		close(e.read_fd);
	}
}

/* The reader went before the first write, or between two. */
static void reader_gone(void)
{
	struct ends (*const kinds[])(void) = { open_pipe, open_nonblocking_pipe, open_fifo, open_sockets };

	for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
		struct ends e = kinds[i / 2]();
		struct gi_nowait io;

		init(&io, e.write_fd);
		if (i % 2)
			CHECK_INT(gi_nowait_write(&io, "b", 1), 1);
		close(e.read_fd);
		if (e.extra_fd >= 0)
			close(e.extra_fd);
		for (int again = 0; again < 2; again++)
			CHECK_INT(gi_nowait_write(&io, "b", 1), -EPIPE);
		gi_nowait_close(&io);
		close(e.write_fd);
	}
}

static void both_directions(void)
{
	struct ends (*const kinds[])(void) = { open_sockets, open_terminal };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct ends e = kinds[i]();
		char text[8] = "";
		struct gi_nowait io;
		int fd = -1;

		if (e.write_fd < 0)
			SKIP("no pseudo-terminals here");
		if (e.extra_fd >= 0)
			fd = open(ptsname(e.extra_fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
		init(&io, fd >= 0 ? fd : e.read_fd);
		CHECK_INT(gi_nowait_read(&io, text, 7), -EAGAIN);
		CHECK_INT(gi_nowait_write(&io, "there", 5), 5);
		CHECK_INT(read(fd >= 0 ? e.extra_fd : e.write_fd, text, 7), 5);
		CHECK_TEXT(text, "there");
		CHECK_INT(gi_nowait_read(&io, text, 7), -EAGAIN);
		gi_nowait_close(&io);
		if (fd >= 0)
			close(fd);
		close_ends(&e);
	}
}

/* The master side of a terminal is one too, and opening it again makes another terminal. */
static void master_side(void)
{
	struct ends e = open_terminal();
	struct gi_nowait io;
	char text[8] = "";

	if (e.write_fd < 0)
		SKIP("no pseudo-terminals here");
	init(&io, e.extra_fd);
	CHECK_INT(gi_nowait_read(&io, text, 7), -EOPNOTSUPP);
	CHECK_INT(gi_nowait_write(&io, "b", 1), -EOPNOTSUPP);
	CHECK_INT(io.private_fd, -1);
	gi_nowait_close(&io);
	close_ends(&e);
}

static void wrong_direction(void)
{
	struct ends (*const kinds[])(void) = { open_pipe, open_nonblocking_pipe, open_fifo, open_terminal };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct ends e = kinds[i]();
		struct gi_nowait io;
		char c = 0;

		if (e.write_fd < 0)
			continue;
		init(&io, e.write_fd);
		CHECK_INT(gi_nowait_read(&io, &c, 1), -EBADF);
		gi_nowait_close(&io);
		init(&io, e.read_fd);
		CHECK_INT(gi_nowait_write(&io, &c, 1), -EBADF);
		gi_nowait_close(&io);
		close_ends(&e);
	}
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(ends_of_input);
	TEST(reader_gone);
	TEST(both_directions);
	TEST(master_side);
	TEST(wrong_direction);
	return test_end();
}
