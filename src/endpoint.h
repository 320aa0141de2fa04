/* SPDX-License-Identifier: MIT */
/* What a descriptor is, found out once. */
#ifndef GI_ENDPOINT_H
#define GI_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

enum gi_kind {
	GI_KIND_OTHER,
	GI_KIND_PIPE, /* a FIFO too: the kernel does not tell them apart, nor do we */
	GI_KIND_REGULAR,
	GI_KIND_SOCKET,
	GI_KIND_TERMINAL,
	GI_KIND_NULL, /* /dev/null */
	GI_KIND_CHAR, /* any other character device */
	GI_KIND_BLOCK,
	GI_KIND_DIRECTORY,
};

struct gi_endpoint {
	int fd;
	enum gi_kind kind;
	bool readable, writable; /* as it was opened */
	bool nonblock, append;	 /* flags of the shared description: noted, never changed */
	bool messages;		 /* a socket that is no stream: what does not fit a read is lost */
	size_t capacity_bytes;	 /* of a pipe; 0 otherwise */
};

/* Returns 0, or -errno (-EBADF: not open) with *ret_endpoint untouched. */
int gi_endpoint_classify(int fd, struct gi_endpoint *ret_endpoint);
const char *gi_kind_name(enum gi_kind kind); /* "pipe", "regular file", ... */

#endif
