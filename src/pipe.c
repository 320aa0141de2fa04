/* SPDX-License-Identifier: MIT */
#include "pipe.h"

#include "sys.h"

#include <errno.h>

int gi_pipe_open(struct gi_pipe *ret_pipe)
{
	int fds[2], ret = gi_sys_pipe(fds);

	if (ret < 0)
		return ret;
	ret_pipe->read_fd = fds[0];
	ret_pipe->write_fd = fds[1];
	return 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		gi_sys_close(*fd);
	*fd = -1;
}

void gi_pipe_close_read(struct gi_pipe *pipe)
{
	close_end(&pipe->read_fd);
}

void gi_pipe_close_write(struct gi_pipe *pipe)
{
	close_end(&pipe->write_fd);
}

void gi_pipe_close(struct gi_pipe *pipe)
{
	gi_pipe_close_read(pipe);
	gi_pipe_close_write(pipe);
}

int gi_pipe_capacity(int fd, size_t *ret_capacity_bytes)
{
	int capacity = gi_sys_get_pipe_size(fd);

	if (capacity < 0)
		return capacity;
	*ret_capacity_bytes = (size_t)capacity;
	return 0;
}

int gi_pipe_grow(int fd, size_t bytes, size_t *ret_capacity_bytes)
{
	int ret = gi_sys_get_pipe_size(fd);

	if (ret >= 0 && (size_t)ret < bytes)
		ret = gi_sys_set_pipe_size(fd, bytes);
	if (ret < 0)
		return ret;
	*ret_capacity_bytes = (size_t)ret;
	return 0;
}

int gi_pipe_resize(int fd, size_t bytes, size_t *ret_capacity_bytes)
{
	int ret = gi_sys_set_pipe_size(fd, bytes);

	if (ret < 0)
		return ret;
	*ret_capacity_bytes = (size_t)ret;
	return (size_t)ret == bytes ? 0 : -ERANGE;
}
