/* SPDX-License-Identifier: MIT */
/* A producer, and a thread at the other end that knows what the stream must be. */
#ifndef PRODUCING_H
#define PRODUCING_H

#include "gush.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static const uint32_t policies[] = { GUSH_COPY, GUSH_CONSTANT, GUSH_PROTECT, GUSH_TRUST_READER, GUSH_GIVE };

/* ---- the other end: a thread that reads, and knows what the stream must be ---- */

static inline unsigned char stamp(uint64_t at)
{
	return (unsigned char)(at * 7 + (at >> 11));
}

struct far {
	int fd;
	uint64_t bytes, wrong, stop_at;
	pthread_t thread;
};

static inline void *far_read(void *arg)
{
	struct far *f = arg;
	static _Thread_local unsigned char data[60000];
	ssize_t n;

	while (f->bytes < f->stop_at && (n = read(f->fd, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			f->wrong += data[i] != stamp(f->bytes + (uint64_t)i);
		f->bytes += (uint64_t)n;
	}
	close(f->fd);
	return NULL;
}

static inline void far_start(struct far *f, int fd)
{
	*f = (struct far){ .fd = fd, .stop_at = UINT64_MAX };
	f->thread = start_thread(far_read, f);
}

static inline void far_end(struct far *f, uint64_t bytes)
{
	pthread_join(f->thread, NULL);
	CHECK_INT(f->bytes, bytes);
	CHECK_INT(f->wrong, 0);
}

static inline struct gush_producer *open_producer(
	int fd, uint32_t policy, uint64_t ring_bytes, uint32_t flags)
{
	struct gush_producer_options o = GUSH_PRODUCER_OPTIONS_INIT;
	struct gush_producer *p = NULL;

	o.policy = policy;
	o.ring_bytes = ring_bytes;
	o.flags = flags;
	CHECK_INT(gush_producer_open(fd, &o, &p), 0);
	return p;
}

static inline void fill(void *memory, size_t bytes, uint64_t at)
{
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)memory)[i] = stamp(at + i);
}

/* Regions of odd sizes, of which not all is committed. */
static inline int produce(struct gush_producer *p, uint64_t total)
{
	uint64_t at = 0;
	unsigned n = 0;
	int ret = 0;

	while (ret == 0 && at < total) {
		struct gush_region region;
		size_t least = 1 + (size_t)n * 7919 % 70000, bytes;

		ret = gush_producer_reserve(p, least, n % 5 ? SIZE_MAX : least, &region);
		if (ret < 0)
			break;
		CHECK(region.bytes >= least && (n % 5 || region.bytes == least));
		bytes = n % 3 ? region.bytes : region.bytes / 2 + 1;
		if (bytes > total - at)
			bytes = (size_t)(total - at);
		if (n % 7 == 3)
			bytes = 0;
		fill(region.memory, region.bytes, at);
		ret = gush_producer_commit(p, &region, bytes);
		at += bytes;
		if (ret == 0 && n % 11 == 0)
			ret = gush_producer_flush(p);
		n++;
	}
	return ret == 0 ? gush_producer_flush(p) : ret;
}

#endif
