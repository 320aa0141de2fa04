/* SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include "sys.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *const kind_names[] = {
	[GI_KIND_OTHER] = "something unknown",
	[GI_KIND_PIPE] = "pipe",
	[GI_KIND_REGULAR] = "regular file",
	[GI_KIND_SOCKET] = "socket",
	[GI_KIND_TERMINAL] = "terminal",
	[GI_KIND_NULL] = "/dev/null",
	[GI_KIND_CHAR] = "character device",
	[GI_KIND_BLOCK] = "block device",
	[GI_KIND_DIRECTORY] = "directory",
};

const char *gi_kind_name(enum gi_kind kind)
{
	return kind_names[kind];
}

static enum gi_kind char_device_kind(int fd, const struct stat *st)
{
	if (st->st_rdev == makedev(1, 3)) /* Documentation/admin-guide/devices.txt: 1:3 is /dev/null */
		return GI_KIND_NULL;
	return isatty(fd) ? GI_KIND_TERMINAL : GI_KIND_CHAR;
}

static enum gi_kind kind_of(int fd, const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFIFO:
		return GI_KIND_PIPE;
	case S_IFREG:
		return GI_KIND_REGULAR;
	case S_IFSOCK:
		return GI_KIND_SOCKET;
	case S_IFCHR:
		return char_device_kind(fd, st);
	case S_IFBLK:
		return GI_KIND_BLOCK;
	case S_IFDIR:
		return GI_KIND_DIRECTORY;
	default:
		return GI_KIND_OTHER;
	}
}

int gi_endpoint_classify(int fd, struct gi_endpoint *ret_endpoint)
{
	struct gi_endpoint e = { .fd = fd };
	struct stat st;
	int ret, flags;

	ret = gi_sys_fstat(fd, &st);
	if (ret < 0)
		return ret;
	flags = gi_sys_get_flags(fd);
	if (flags < 0)
		return flags;
	e.kind = kind_of(fd, &st);
	e.readable = (flags & O_ACCMODE) != O_WRONLY;
	e.writable = (flags & O_ACCMODE) != O_RDONLY;
	e.nonblock = flags & O_NONBLOCK;
	e.append = flags & O_APPEND;
	if (e.kind == GI_KIND_SOCKET) {
		int type = gi_sys_socket_type(fd);

		e.messages = type >= 0 && type != SOCK_STREAM;
	}
	if (e.kind == GI_KIND_PIPE) {
		int capacity = gi_sys_get_pipe_size(fd);

		if (capacity < 0)
			return capacity;
		e.capacity_bytes = (size_t)capacity;
	}
	*ret_endpoint = e;
	return 0;
}
