/* SPDX-License-Identifier: MIT */
/* Consumers, sources for them, and what a call has brought. */
#ifndef CONSUMING_H
#define CONSUMING_H

#include "gush.h"
#include "support.h"

#include <sys/socket.h>

#define BEGIN_BYTES ((size_t)256 << 10)
#define TOTAL ((size_t)1 << 20)

static char stamp[TOTAL]; /* no '\n' and no 0 in it; neighbours differ, and so do pages */
static const void *data;
static size_t bytes;

static inline void fill_stamp(void)
{
	for (size_t i = 0; i < TOTAL; i++)
		stamp[i] = (char)('0' + (i * 7 + i / 4096 * 3 + i / 251) % 64);
}

static inline struct gush_consumer *open_with(int fd, uint64_t begin, uint64_t limit, uint32_t flags)
{
	struct gush_consumer_options o = GUSH_CONSUMER_OPTIONS_INIT;
	struct gush_consumer *c = NULL;

	o.buffer_bytes = begin;
	o.buffer_limit_bytes = limit;
	o.flags = flags;
	if (gush_consumer_open(fd, &o, &c) < 0)
		abort();
	return c;
}

static inline int file_of(size_t size)
{
	int fd = memfd_create("consumer", MFD_CLOEXEC);

	if (size > 0 && write(fd, stamp, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static inline void make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
}

static inline void make_sockets(int type, int fds[2])
{
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
}

static inline void put(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
}

/* A call has brought these bytes. */
static inline void check_got(int ret, const char *want, size_t want_bytes)
{
	CHECK_INT(ret, 1);
	CHECK_INT(bytes, want_bytes);
	if (ret == 1 && bytes == want_bytes)
		CHECK(memcmp(data, want, bytes) == 0);
}

#define CHECK_GOT(ret, text) check_got((ret), (text), strlen(text))

/* A call has brought nothing, and left the outputs alone. */
static inline void check_none(int ret, int want)
{
	CHECK_INT(ret, want);
	CHECK(data == stamp && bytes == 77);
}

static inline int next(struct gush_consumer *c)
{
	data = stamp;
	bytes = 77;
	return gush_consumer_next(c, &data, &bytes);
}

static inline int peek(struct gush_consumer *c, size_t least)
{
	data = stamp;
	bytes = 77;
	return gush_consumer_peek(c, least, &data, &bytes);
}

static inline int split(struct gush_consumer *c, unsigned char delimiter)
{
	data = stamp;
	bytes = 77;
	return gush_consumer_split(c, delimiter, &data, &bytes);
}

#endif
