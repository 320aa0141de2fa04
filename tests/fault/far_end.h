/* SPDX-License-Identifier: MIT */
/*
 * The other end of the pipe in the fault tests: a thread that feeds or drains it with plain system calls, no
 * code of the product, and knows for each byte of the stream what it must be.
 */
#ifndef FAR_END_H
#define FAR_END_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum stamp {
	STAMP_COUNTER, /* 64-bit words in machine order: the one at byte 8n is n */
	STAMP_X,
};

struct far_end {
	int fd;
	enum stamp stamp;
	unsigned late_us;    /* how long to wait before the first call */
	uint64_t total;	     /* to feed, then close */
	uint64_t at;	     /* position in the stream */
	uint64_t bytes, bad; /* drained; of these wrong */
	unsigned calls;
	pthread_t thread;
};

#define FAR_PIECE 24576 /* neither a chunk nor a pipe's worth */

static inline unsigned char stamp_byte(enum stamp stamp, uint64_t at)
{
	uint64_t word = at / 8;

	return stamp == STAMP_X ? 'X' : ((unsigned char *)&word)[at % 8];
}

static inline void far_look(struct far_end *f, const unsigned char *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->bad += data[i] != stamp_byte(f->stamp, f->at + i);
	f->at += n;
	f->bytes += n;
}

/* Now and then it lets the near end find the pipe empty, or full. */
static inline void far_dawdle(struct far_end *f)
{
	if (f->calls++ == 0 && f->late_us)
		usleep(f->late_us);
	else if (f->calls % 3 == 0)
		usleep(20);
}

static inline void *far_drain(void *arg)
{
	struct far_end *f = arg;
	unsigned char data[FAR_PIECE];
	ssize_t n;

	do {
		far_dawdle(f);
		n = read(f->fd, data, sizeof(data));
		if (n > 0)
			far_look(f, data, (size_t)n);
	} while (n > 0);
	return NULL;
}

static inline void *far_feed(void *arg)
{
	struct far_end *f = arg;
	unsigned char data[FAR_PIECE];
	ssize_t n = 0;

	while (f->at < f->total && n >= 0) {
		size_t bytes = f->total - f->at < sizeof(data) ? (size_t)(f->total - f->at) : sizeof(data);

		for (size_t i = 0; i < bytes; i++)
			data[i] = stamp_byte(f->stamp, f->at + i);
		far_dawdle(f);
		n = write(f->fd, data, bytes);
		if (n > 0)
			f->at += (uint64_t)n;
	}
	close(f->fd);
	return NULL;
}

#endif
