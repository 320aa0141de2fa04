/* SPDX-License-Identifier: MIT */
/* The plain other end of a sender or a receiver: a thread with read(2) or write(2), that looks at every byte.
 */
#ifndef STREAM_H
#define STREAM_H

#include "contents.h"
#include "support.h"
#include "wait.h"

static const char *const contents_names[] = { "X", "zero", "counter" };
static const char *const wait_names[] = { "block", "poll", "spin", "poll-spin", "adaptive" };

struct reader {
	int fd;
	size_t piece;	/* bytes of one read; 0: 3000 */
	uint64_t limit; /* stop after so much; 0: read to the end */
	struct contents_check seen;
	atomic_ullong done_bytes; /* for others to look at while it runs */
	pthread_t thread;
};

static inline void *reader_thread(void *argument)
{
	struct reader *r = argument;
	size_t piece = r->piece ? r->piece : 3000;
	char *buf = malloc(piece);
	ssize_t n = 1;

	while (n > 0 && (!r->limit || r->seen.bytes < r->limit)) {
		n = read(r->fd, buf, piece);
		if (n > 0)
			contents_check(&r->seen, buf, (size_t)n);
		atomic_store(&r->done_bytes, r->seen.bytes);
	}
	free(buf);
	close(r->fd);
	return NULL;
}

/* Takes fd over and closes it at last. */
static inline void reader_start(struct reader *r, int fd, enum contents expected)
{
	r->fd = fd;
	r->seen = (struct contents_check){ .expected = expected };
	r->thread = start_thread(reader_thread, r);
}

struct writer {
	int fd;
	uint64_t bytes; /* how long the stream is */
	size_t piece;	/* bytes of one write; 0: 3000 */
	enum contents contents;
	uint64_t bad_at; /* the byte here is wrong; 0: none is */
	atomic_ullong done_bytes;
	pthread_t thread;
};

static inline unsigned char writer_byte(const struct writer *w, uint64_t at)
{
	uint64_t word = at / 8;
	unsigned char right = w->contents == CONTENTS_X ? 'X' : 0;

	if (w->contents == CONTENTS_COUNTER)
		right = ((unsigned char *)&word)[at % 8];
	return w->bad_at && at == w->bad_at ? right ^ 0x55 : right;
}

static inline void *writer_thread(void *argument)
{
	struct writer *w = argument;
	size_t piece = w->piece ? w->piece : 3000;
	unsigned char *buf = malloc(piece);
	uint64_t at = 0;
	ssize_t n = 1;

	while (at < w->bytes && n > 0) {
		size_t want = w->bytes - at < piece ? (size_t)(w->bytes - at) : piece;

		for (size_t i = 0; i < want; i++)
			buf[i] = writer_byte(w, at + i);
		n = write(w->fd, buf, want);
		if (n > 0)
			at += (uint64_t)n; /* after a short write the next piece starts where it ended */
		atomic_store(&w->done_bytes, at);
	}
	free(buf);
	close(w->fd);
	return NULL;
}

/* Takes fd over and closes it at last. */
static inline void writer_start(struct writer *w, int fd)
{
	w->fd = fd;
	w->thread = start_thread(writer_thread, w);
}

/* Sets the flag once that many bytes went by; more than a pipe holds, so that both ends were at work. */
struct stopper {
	atomic_bool stop;
	const atomic_ullong *done_bytes; /* NULL: after a moment */
	pthread_t thread;
};

static inline void *stopper_thread(void *argument)
{
	struct stopper *s = argument;

	if (!s->done_bytes)
		sleep_ms(20);
	while (s->done_bytes && atomic_load(s->done_bytes) < 200000)
		sleep_ms(1);
	atomic_store(&s->stop, true);
	return NULL;
}

static inline void stopper_start(struct stopper *s, const atomic_ullong *done_bytes)
{
	atomic_store(&s->stop, false);
	s->done_bytes = done_bytes;
	s->thread = start_thread(stopper_thread, s);
}

#endif
