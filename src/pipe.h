/* SPDX-License-Identifier: MIT */
/* Create, grow and query a pipe. Sizes are bytes; the kernel counts slots of one page each. */
#ifndef GI_PIPE_H
#define GI_PIPE_H

#include <stddef.h>

struct gi_pipe {
	int read_fd, write_fd; /* -1: not open */
};

#define GI_PIPE_NONE                                                                                         \
	{                                                                                                    \
		-1, -1                                                                                       \
	}

int gi_pipe_open(struct gi_pipe *ret_pipe);
void gi_pipe_close(struct gi_pipe *pipe); /* either end may be closed already; both become -1 */
void gi_pipe_close_read(struct gi_pipe *pipe);
void gi_pipe_close_write(struct gi_pipe *pipe);

/*
 * Makes the pipe hold `bytes` at least; one that already does is left alone, since a larger pipe never hurts
 * and shrinking one that holds data is EBUSY. Returns 0 and the capacity, or -errno with the pipe as it was:
 * -EPERM past /proc/sys/fs/pipe-max-size or the user's soft limit, -EBADF when it is no pipe.
 */
int gi_pipe_grow(int fd, size_t bytes, size_t *ret_capacity_bytes);

/* Sets exactly `bytes`, up or down. -ERANGE when the kernel rounded to another size, which it then keeps. */
int gi_pipe_resize(int fd, size_t bytes, size_t *ret_capacity_bytes);

int gi_pipe_capacity(int fd, size_t *ret_capacity_bytes);

#endif
