/* SPDX-License-Identifier: MIT */
#include "nowait.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

void gi_nowait_init(struct gi_nowait *io, const struct gi_endpoint *endpoint)
{
	*io = (struct gi_nowait){ .fd = endpoint->fd, .private_fd = -1 };
	switch (endpoint->kind) {
	case GI_KIND_PIPE:
	case GI_KIND_SOCKET:
	case GI_KIND_TERMINAL:
		break;
	default:
		io->plain = true; /* a file answers EAGAIN until somebody else reads the page in */
	}
	if (endpoint->nonblock)
		io->plain = true;
	io->pipe = endpoint->kind == GI_KIND_PIPE;
	io->socket = endpoint->kind == GI_KIND_SOCKET;
	io->access = endpoint->readable && endpoint->writable ? O_RDWR
		     : endpoint->writable		      ? O_WRONLY
							      : O_RDONLY;
}

void gi_nowait_close(struct gi_nowait *io)
{
	if (io->private_fd >= 0)
		gi_sys_close(io->private_fd);
	io->private_fd = -1;
}

static int open_private(struct gi_nowait *io)
{
	unsigned number;
	char path[64];
	int fd;

	/* The master side of a pseudo-terminal: opening /dev/ptmx again makes another terminal. */
	if (gi_sys_ioctl(io->fd, TIOCGPTN, &number) == 0)
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", io->fd);
	fd = gi_sys_open(path, io->access | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return fd;
	io->private_fd = fd;
	return 0;
}

/* Too old a kernel (pipes: before 6.5), or a sandbox that forbids preadv2 and pwritev2. */
static bool no_such_way(ssize_t ret)
{
	return ret == -EOPNOTSUPP || ret == -ENOSYS || ret == -EPERM;
}

ssize_t gi_nowait_read(struct gi_nowait *io, void *buf, size_t bytes)
{
	ssize_t ret;

	if (io->plain)
		return gi_sys_read(io->fd, buf, bytes);
	if (io->private_fd < 0) {
		ret = gi_sys_read_flags(io->fd, buf, bytes, GI_RWF_NOWAIT);
		if (!no_such_way(ret))
			return ret;
		if (io->socket) /* cannot be opened again */
			return gi_sys_recv(io->fd, buf, bytes, MSG_DONTWAIT);
		ret = open_private(io);
		if (ret < 0)
			return ret;
	}
	return gi_sys_read(io->private_fd, buf, bytes);
}

ssize_t gi_nowait_write(struct gi_nowait *io, const void *buf, size_t bytes)
{
	ssize_t ret;

	if (io->plain)
		return gi_sys_write(io->fd, buf, bytes);
	if (io->private_fd < 0) {
		ret = gi_sys_write_flags(io->fd, buf, bytes, GI_RWF_NOWAIT);
		if (!no_such_way(ret))
			return ret;
		if (io->socket)
			return gi_sys_send(io->fd, buf, bytes, MSG_DONTWAIT);
		ret = open_private(io);
		if (ret == -ENXIO && io->pipe) /* a FIFO without a reader: EPIPE, and SIGPIPE */
			return gi_sys_write(io->fd, buf, bytes);
		if (ret < 0)
			return ret;
	}
	return gi_sys_write(io->private_fd, buf, bytes);
}
