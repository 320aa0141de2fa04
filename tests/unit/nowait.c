/* SPDX-License-Identifier: MIT */
/* src/nowait.c: never waits, and never touches the flags of a description that others share. */
#include "ends.h"

static char bytes[65536];

/* Where what is read here comes from: a terminal's input is what its master side writes. */
static int source_of(const struct ends *e)
{
	return isatty(e->read_fd) ? e->extra_fd : e->write_fd;
}

static int sink_of(const struct ends *e)
{
	return isatty(e->write_fd) ? e->extra_fd : e->read_fd;
}

static ssize_t read_soon(struct gi_nowait *io, char *to, size_t size)
{
	ssize_t n;

	while ((n = gi_nowait_read(io, to, size)) == -EAGAIN)
		sleep_ms(1);
	return n;
}

static void check_reading(struct ends e)
{
	int flags = fcntl(e.read_fd, F_GETFL);
	struct gi_nowait io;
	char text[8] = "";

	init(&io, e.read_fd);
	for (int i = 0; i < 3; i++)
		CHECK_INT(gi_nowait_read(&io, text, 7), -EAGAIN);
	CHECK_INT(write(source_of(&e), "abcdef", 6), 6);
	CHECK_INT(read_soon(&io, text, 4), 4); /* a terminal's bytes pass through a work queue first */
	CHECK_TEXT(text, "abcd");
	CHECK_INT(read_soon(&io, text, 4), 2);
	CHECK_INT(gi_nowait_read(&io, text, 4), -EAGAIN);
	CHECK_INT(fcntl(e.read_fd, F_GETFL), flags);
	CHECK_INT(io.fd, e.read_fd);
	gi_nowait_close(&io);
	CHECK_INT(io.private_fd, -1);
	CHECK_INT(fcntl(e.read_fd, F_GETFL), flags);
	close_ends(&e);
}

static void check_writing(struct ends e)
{
	int flags = fcntl(e.write_fd, F_GETFL), sink = sink_of(&e);
	struct gi_nowait io;
	ssize_t n;

	init(&io, e.write_fd);
	while ((n = gi_nowait_write(&io, bytes, 1000)) > 0)
		;
	CHECK_INT(n, -EAGAIN);
	while ((n = gi_nowait_write(&io, bytes, sizeof(bytes))) > 0)
		; /* a terminal makes room once more, when its work queue has run */
	CHECK_INT(n, -EAGAIN);
	fcntl(sink, F_SETFL, fcntl(sink, F_GETFL) | O_NONBLOCK); /* ours to change: only this test has it */
	while ((n = gi_nowait_write(&io, bytes, 1000)) == -EAGAIN)
		if (read(sink, bytes, sizeof(bytes)) < 0)
			sleep_ms(1);
	CHECK(n > 0);
	CHECK_INT(fcntl(e.write_fd, F_GETFL), flags);
	gi_nowait_close(&io);
	CHECK_INT(io.private_fd, -1);
	CHECK_INT(fcntl(e.write_fd, F_GETFL), flags);
	close_ends(&e);
}

static void without_leaks(struct ends (*open_ends)(void))
{
	struct fds before = fds_now();

	check_reading(open_ends());
	check_writing(open_ends());
	CHECK_INT(fds_opened_since(&before), 0);
}

static void on_pipes(void)
{
	without_leaks(open_pipe);
}

static void on_nonblocking_pipes(void)
{
	without_leaks(open_nonblocking_pipe);
}

static void on_fifos(void)
{
	without_leaks(open_fifo);
}

static void on_sockets(void)
{
	without_leaks(open_sockets);
}

static void on_terminals(void)
{
	struct ends e = open_terminal();

	if (e.write_fd < 0)
		SKIP("no pseudo-terminals here");
	close_ends(&e);
	without_leaks(open_terminal);
}

/* A file that does not take GI_RWF_NOWAIT is opened again: one descriptor more, ours, not inherited. */
static void private_description(void)
{
	struct ends e = open_terminal();
	struct gi_nowait io;
	struct fds before;
	char c;

	if (e.write_fd < 0)
		SKIP("no pseudo-terminals here");
	before = fds_now();
	init(&io, e.read_fd);
	CHECK_INT(fds_opened_since(&before), 0);
	CHECK_INT(gi_nowait_read(&io, &c, 1), -EAGAIN);
	CHECK_INT(gi_nowait_read(&io, &c, 1), -EAGAIN);
	CHECK(io.private_fd >= 0 && io.private_fd != io.fd);
	CHECK(fcntl(io.private_fd, F_GETFL) & O_NONBLOCK);
	CHECK_INT(fds_opened_since(&before), 1);
	gi_nowait_close(&io);
	gi_nowait_close(&io);
	CHECK_INT(fds_opened_since(&before), 0);
	close_ends(&e);
}

/* What never makes anybody wait is read and written as ever. */
static void files_and_devices(void)
{
	int file = open_nameless(S_IFREG, O_RDWR), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct gi_nowait io;
	char text[8] = "";

	init(&io, file);
	CHECK_INT(gi_nowait_write(&io, "abc", 3), 3);
	CHECK_INT(lseek(file, 0, SEEK_SET), 0);
	CHECK_INT(gi_nowait_read(&io, text, 7), 3);
	CHECK_TEXT(text, "abc");
	CHECK_INT(gi_nowait_read(&io, text, 7), 0);
	CHECK_INT(io.private_fd, -1);
	close(file);
	init(&io, full);
	CHECK_INT(gi_nowait_write(&io, "abc", 3), -ENOSPC);
	close(full);
	init(&io, zero);
	CHECK_INT(gi_nowait_read(&io, text, 7), 7);
	CHECK_INT(text[0], 0);
	gi_nowait_close(&io);
	close(zero);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(on_pipes);
	TEST(on_nonblocking_pipes);
	TEST(on_fifos);
	TEST(on_sockets);
	TEST(on_terminals);
	TEST(private_description);
	TEST(files_and_devices);
	return test_end();
}
