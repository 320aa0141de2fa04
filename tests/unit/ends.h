/* SPDX-License-Identifier: MIT */
#ifndef ENDS_H
#define ENDS_H

#include "nowait.h"
#include "support.h"

#include <sys/socket.h>
#include <termios.h>

/* Two ends of one thing, to read from and to write to. */
struct ends {
	int read_fd, write_fd;
	int extra_fd; /* held open, not used; -1: none */
};

static inline struct ends open_pipe(void)
{
	int fds[2] = { -1, -1 };

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	return (struct ends){ fds[0], fds[1], -1 };
}

static inline struct ends open_nonblocking_pipe(void)
{
	int fds[2] = { -1, -1 };

	CHECK_INT(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	return (struct ends){ fds[0], fds[1], -1 };
}

static inline struct ends open_fifo(void)
{
	struct ends e = { .extra_fd = open_nameless(S_IFIFO, O_RDWR) };
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", e.extra_fd);
	e.read_fd = open(path, O_RDONLY | O_CLOEXEC);
	e.write_fd = open(path, O_WRONLY | O_CLOEXEC);
	return e;
}

static inline struct ends open_sockets(void)
{
	int fds[2] = { -1, -1 };

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	return (struct ends){ fds[0], fds[1], -1 };
}

/* Read from and written to at its slave side, where tools meet it; the master is the extra one. */
static inline struct ends open_terminal(void)
{
	struct ends e = { -1, -1, posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };
	struct termios raw;

	if (e.extra_fd < 0 || grantpt(e.extra_fd) < 0 || unlockpt(e.extra_fd) < 0)
		return e;
	e.read_fd = open(ptsname(e.extra_fd), O_RDONLY | O_NOCTTY | O_CLOEXEC);
	e.write_fd = open(ptsname(e.extra_fd), O_WRONLY | O_NOCTTY | O_CLOEXEC);
	tcgetattr(e.read_fd, &raw);
	cfmakeraw(&raw);
	tcsetattr(e.read_fd, TCSANOW, &raw);
	return e;
}

static inline void close_ends(const struct ends *e)
{
	close(e->read_fd);
	close(e->write_fd);
	if (e->extra_fd >= 0)
		close(e->extra_fd);
}

static inline void init(struct gi_nowait *io, int fd)
{
	struct gi_endpoint endpoint;

	CHECK_INT(gi_endpoint_classify(fd, &endpoint), 0);
	gi_nowait_init(io, &endpoint);
}

#endif
