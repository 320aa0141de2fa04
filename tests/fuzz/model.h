/* SPDX-License-Identifier: MIT */
/* The ends of a fuzzed transfer, and what must be in them. */
#ifndef MODEL_H
#define MODEL_H

#include "unit/support.h"

#include <gush.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define CONTENT_MOST (1 << 20)
#define SINKS_MOST 4
#define LOG_MOST 60000

enum kind { KIND_FILE, KIND_APPEND, KIND_PIPE, KIND_UNIX, KINDS };

struct source {
	enum kind kind;
	int fd, feed_fd; /* feed_fd < 0: no more to come */
	char *content;
	size_t fed;   /* bytes of content that were given to it */
	size_t taken; /* where the next handle begins to read */
};

struct sink {
	enum kind kind;
	int fd, drain_fd; /* drain_fd < 0: the reader has gone */
	char *expect;	  /* a file's contents; a stream's, from its first byte */
	size_t bytes;	  /* in expect */
	size_t at;	  /* a file's offset */
	size_t drained;
};

struct run {
	const uint8_t *data;
	size_t size, pos;
	struct source source;
	struct sink sinks[SINKS_MOST];
	size_t sink_count;
};

static char op_log[LOG_MOST];
static size_t op_log_length;
static uint64_t seed, operations;

/* ---- input, log and failure ---- */

static inline unsigned take(struct run *r, unsigned below)
{
	unsigned value = 0;

	for (int i = 0; i < 3 && r->pos < r->size; i++)
		value = value << 8 | r->data[r->pos++];
	return value % below;
}

/* Small numbers and large ones alike. */
static inline size_t take_bytes(struct run *r)
{
	return take(r, 1u << take(r, 19)) + 1;
}

static inline void note(const char *format, ...)
{
	va_list args;

	operations++;
	va_start(args, format);
	if (op_log_length + 100 < LOG_MOST)
		op_log_length += (size_t)vsnprintf(op_log + op_log_length, 100, format, args);
	va_end(args);
}

static inline void fail(const char *what, long long got, long long want)
{
	fprintf(stderr, "%s: got %lld, want %lld\nseed %llu\n%s", what, got, want, (unsigned long long)seed,
		op_log);
	abort();
}

static inline void must(const char *what, long long got, long long want)
{
	if (got != want)
		fail(what, got, want);
}

static inline void hang(int number)
{
	(void)number;
	fprintf(stderr, "it hangs\nseed %llu\n", (unsigned long long)seed);
	if (write(STDERR_FILENO, op_log, op_log_length) < 0)
		_exit(2);
	abort();
}

/* ---- ends ---- */

static inline void nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static inline void open_stream(struct run *r, enum kind kind, int fds[2])
{
	int ret = kind == KIND_PIPE ? pipe2(fds, O_CLOEXEC)
				    : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);

	must("a pair", ret, 0);
	if (kind == KIND_PIPE && take(r, 3) == 0)
		fcntl(fds[0], F_SETPIPE_SZ, 4096);
}

static inline void open_source(struct run *r)
{
	struct source *s = &r->source;
	int fds[2];

	*s = (struct source){ .kind = (enum kind)take(r, KINDS), .content = calloc(1, CONTENT_MOST) };
	if (s->kind == KIND_FILE || s->kind == KIND_APPEND) {
		s->kind = KIND_FILE;
		s->fd = memfd_create("source", MFD_CLOEXEC);
		s->feed_fd = dup(s->fd);
		return;
	}
	open_stream(r, s->kind, fds);
	s->fd = fds[0];
	s->feed_fd = fds[1];
	nonblock(s->feed_fd);
	if (take(r, 3) == 0)
		nonblock(s->fd);
}

static inline void open_sink(struct run *r, struct sink *k)
{
	int fds[2];

	*k = (struct sink){ .kind = (enum kind)take(r, KINDS), .expect = calloc(1, 4 * CONTENT_MOST) };
	if (k->kind == KIND_FILE || k->kind == KIND_APPEND) {
		k->fd = memfd_create("sink", MFD_CLOEXEC);
		k->drain_fd = dup(k->fd);
		if (k->kind == KIND_APPEND)
			fcntl(k->fd, F_SETFL, O_APPEND);
		return;
	}
	open_stream(r, k->kind, fds);
	k->fd = fds[1];
	k->drain_fd = fds[0];
	nonblock(k->drain_fd);
	if (take(r, 3) == 0)
		nonblock(k->fd);
}

static inline bool is_file(enum kind kind)
{
	return kind == KIND_FILE || kind == KIND_APPEND;
}

static inline void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* What the sink must hold now, after bytes of the source from `from` have been delivered. */
static inline void expect(struct sink *k, const char *from, size_t bytes)
{
	size_t at = is_file(k->kind) && k->kind != KIND_APPEND ? k->at : k->bytes;

	memcpy(k->expect + at, from, bytes);
	k->at = at + bytes;
	if (k->at > k->bytes)
		k->bytes = k->at;
}

static inline void drain(struct sink *k, size_t bytes)
{
	static char got[CONTENT_MOST];
	ssize_t n;

	if (k->drain_fd < 0 || is_file(k->kind))
		return;
	n = read(k->drain_fd, got, bytes < sizeof(got) ? bytes : sizeof(got));
	if (n <= 0)
		return;
	if (k->drained + (size_t)n > k->bytes)
		fail("more in the sink than was delivered", (long long)k->drained + n, (long long)k->bytes);
	must("bytes of the sink", memcmp(got, k->expect + k->drained, (size_t)n), 0);
	k->drained += (size_t)n;
}

static inline void check_sink(struct sink *k)
{
	static char got[4 * CONTENT_MOST];

	if (k->drain_fd < 0)
		return;
	if (is_file(k->kind)) {
		must("size of the sink", pread(k->drain_fd, got, sizeof(got), 0), (long long)k->bytes);
		must("contents of the sink", memcmp(got, k->expect, k->bytes), 0);
		must("offset of the sink", lseek(k->fd, 0, SEEK_CUR), (long long)k->at);
		return;
	}
	for (size_t before = SIZE_MAX; before != k->drained;) {
		before = k->drained;
		drain(k, CONTENT_MOST);
	}
	must("bytes drained", (long long)k->drained, (long long)k->bytes);
}

/* Zeros are a hole where the source is a file. */
static inline void feed(struct run *r, size_t bytes)
{
	struct source *s = &r->source;
	bool hole = s->kind == KIND_FILE && take(r, 4) == 0;
	ssize_t n = (ssize_t)bytes;

	if (s->feed_fd < 0 || s->fed + bytes > CONTENT_MOST)
		return;
	for (size_t i = 0; i < bytes && !hole; i++)
		s->content[s->fed + i] = (char)((s->fed + i) * 2654435761u >> 13);
	if (hole)
		n = ftruncate(s->feed_fd, (off_t)(s->fed + bytes)) < 0 ? 0 : n;
	else if (s->kind == KIND_FILE)
		n = pwrite(s->feed_fd, s->content + s->fed, bytes, (off_t)s->fed);
	else
		n = write(s->feed_fd, s->content + s->fed, bytes);
	if (n > 0)
		s->fed += (size_t)n;
	note("feed %zu: %zd%s\n", bytes, n, hole ? " hole" : "");
}

static inline bool ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) != 0;
}

#endif
