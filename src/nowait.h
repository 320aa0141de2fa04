/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing an inherited descriptor without waiting, and without setting O_NONBLOCK on it: that
 * flag belongs to the description, which the shell, the other end or a parent may share.
 *
 * RWF_NOWAIT where the file takes it (pipes since 6.5, sockets, files); else MSG_DONTWAIT for a socket, and a
 * description of our own, opened again through /proc/self/fd, for what is not one. Files and devices that
 * never make a caller wait are simply read and written.
 */
#ifndef GI_NOWAIT_H
#define GI_NOWAIT_H

#include "endpoint.h"

#include <sys/types.h>

struct gi_nowait {
	int fd;		/* the caller's */
	int private_fd; /* ours, O_NONBLOCK; -1: not needed so far */
	int access;	/* O_RDONLY, O_WRONLY or O_RDWR: as the caller's is */
	bool plain;	/* never waits by its nature */
	bool pipe, socket;
};

void gi_nowait_init(struct gi_nowait *io, const struct gi_endpoint *endpoint);
void gi_nowait_close(struct gi_nowait *io); /* closes what init and the calls opened, never the caller's fd */

/*
 * Bytes moved, 0 at the end, -EAGAIN when it would wait, or another -errno: -EOPNOTSUPP for the master side
 * of a pseudo-terminal, which takes no RWF_NOWAIT and cannot be opened again.
 */
ssize_t gi_nowait_read(struct gi_nowait *io, void *buf, size_t bytes);
ssize_t gi_nowait_write(struct gi_nowait *io, const void *buf, size_t bytes);

#endif
