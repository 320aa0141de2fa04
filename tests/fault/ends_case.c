/* SPDX-License-Identifier: MIT */
#include "ends_case.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define SMALL_SOCKET_BYTES 4608

const char *const end_names[END_KINDS] = { "file", "pipe", "unix", "tcp", "append", "full", "dead" };

/* ---- pairs: [0] is read, [1] is written ---- */

static int listener = -1;

static int make_listener(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 4) < 0)
		return -errno;
	return 0;
}

static int tcp_pair(int fds[2])
{
	struct sockaddr_in at;
	socklen_t length = sizeof(at);

	if (listener < 0 && make_listener() < 0)
		return -1;
	if (getsockname(listener, (struct sockaddr *)&at, &length) < 0)
		return -1;
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fds[1], (struct sockaddr *)&at, length) < 0)
		return -1;
	fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return fds[0] < 0 ? -1 : 0;
}

static int make_pair(enum end_kind kind, int fds[2])
{
	int ret;

	if (kind == END_TCP)
		ret = tcp_pair(fds);
	else if (kind == END_UNIX)
		ret = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
	else
		ret = pipe2(fds, O_CLOEXEC);
	return ret < 0 ? -errno : 0;
}

/* A reset in place of a farewell: thousands of connections must not linger in TIME_WAIT. */
static void close_end(int *fd, enum end_kind kind)
{
	const struct linger none = { 1, 0 };

	if (*fd < 0)
		return;
	if (kind == END_TCP)
		setsockopt(*fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(*fd);
	*fd = -1;
}

/* ---- sources ---- */

int source_open_file(
	struct source *s, const unsigned char *content, size_t bytes, size_t piece, unsigned holes)
{
	*s = (struct source){ .kind = END_FILE, .content = content, .bytes = bytes, .fed = bytes, .far = -1 };
	s->fd = memfd_create("source", MFD_CLOEXEC);
	if (s->fd < 0 || ftruncate(s->fd, (off_t)bytes) < 0)
		return -errno;
	for (size_t at = 0, i = 0; at < bytes; at += piece, i++) {
		size_t n = bytes - at < piece ? bytes - at : piece;

		if (holes & 1u << i)
			continue;
		if (pwrite(s->fd, content + at, n, (off_t)at) != (ssize_t)n)
			return -EIO;
	}
	return 0;
}

int source_open(struct source *s, enum end_kind kind, const unsigned char *content, size_t bytes, size_t now)
{
	int fds[2], ret;

	if (kind == END_FILE)
		return source_open_file(s, content, bytes, bytes, 0);
	ret = make_pair(kind, fds);
	if (ret < 0)
		return ret;
	*s = (struct source){ .fd = fds[0], .far = fds[1], .kind = kind, .content = content, .bytes = bytes };
	source_feed(s, now);
	return s->fed == now ? 0 : -EIO;
}

void source_feed(struct source *s, size_t bytes)
{
	size_t left = s->bytes - s->fed;
	ssize_t n;

	if (s->far < 0)
		return;
	n = write(s->far, s->content + s->fed, bytes < left ? bytes : left);
	if (n > 0)
		s->fed += (size_t)n;
	if (s->fed < s->bytes)
		return;
	if (s->kind == END_TCP)
		shutdown(s->far, SHUT_WR);
	else
		close_end(&s->far, s->kind);
}

long source_rest(struct source *s, size_t from)
{
	unsigned char data[8192];
	size_t at = from;
	ssize_t n;

	if (s->kind == END_TCP)
		shutdown(s->far, SHUT_WR);
	else
		close_end(&s->far, s->kind);
	while ((n = read(s->fd, data, sizeof(data))) > 0) {
		if (at + (size_t)n > s->bytes || memcmp(data, s->content + at, (size_t)n) != 0)
			return -1;
		at += (size_t)n;
	}
	return n < 0 ? -1 : (long)(at - from);
}

void source_reset(struct source *s)
{
	close_end(&s->far, s->kind);
}

void source_close(struct source *s)
{
	close_end(&s->far, s->kind);
	close_end(&s->fd, s->kind);
}

/* ---- sinks ---- */

static int open_file(struct sink *s)
{
	static unsigned char old[ENDS_MOST];

	memset(old, ENDS_OLD, sizeof(old));
	s->fd = memfd_create("sink", MFD_CLOEXEC);
	if (s->fd < 0 || write(s->fd, old, s->old) != (ssize_t)s->old)
		return -EIO;
	lseek(s->fd, s->kind == END_APPEND ? 0 : (off_t)s->start, SEEK_SET);
	return s->kind == END_APPEND && fcntl(s->fd, F_SETFL, O_APPEND) < 0 ? -errno : 0;
}

/* Small: filled at once. Else nobody drains while a step runs: the total must fit, also in many pieces, each
 * of which takes a slot or a socket's own overhead, and leave poll(2) saying that there is room. */
static void set_capacity(const struct sink *s, bool small)
{
	const int bytes = small ? SMALL_SOCKET_BYTES : 1 << 20;

	if (s->kind == END_PIPE)
		fcntl(s->fd, F_SETPIPE_SZ, small ? 4096 : 1 << 20);
	else if (s->kind == END_UNIX) /* TCP's small windows take their time */
		setsockopt(s->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int sink_open(struct sink *s, enum end_kind kind, bool small, size_t old, size_t start)
{
	int fds[2], ret;

	s->fd = s->far = -1;
	s->kind = kind;
	s->got_bytes = 0;
	s->old = kind == END_FILE || kind == END_APPEND ? old : 0;
	s->start = kind == END_FILE ? start : s->old;
	if (kind == END_FILE || kind == END_APPEND)
		return open_file(s);
	if (kind == END_FULL) {
		s->fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
		return s->fd < 0 ? -errno : 0;
	}
	ret = make_pair(kind, fds);
	if (ret < 0)
		return ret;
	s->far = fds[0];
	s->fd = fds[1];
	if (kind == END_DEAD)
		close_end(&s->far, kind);
	set_capacity(s, small);
	return 0;
}

static ssize_t take(struct sink *s, size_t most)
{
	size_t room = sizeof(s->got) - s->got_bytes;
	ssize_t n = read(s->far, s->got + s->got_bytes, most < room ? most : room);

	if (n > 0)
		s->got_bytes += (size_t)n;
	return n;
}

void sink_drain(struct sink *s, size_t most)
{
	int there = 0;

	if (s->far >= 0 && ioctl(s->far, FIONREAD, &there) == 0 && there > 0)
		take(s, most);
}

void sink_finish(struct sink *s)
{
	if (s->kind == END_FILE || s->kind == END_APPEND) {
		ssize_t n = pread(s->fd, s->got, sizeof(s->got), 0);

		s->got_bytes = n > 0 ? (size_t)n : 0;
		return;
	}
	if (s->kind == END_TCP || s->kind == END_UNIX)
		shutdown(s->fd, SHUT_WR);
	else
		close_end(&s->fd, s->kind);
	while (s->far >= 0 && take(s, sizeof(s->got)) > 0)
		;
}

void sink_close(struct sink *s)
{
	close_end(&s->far, s->kind);
	close_end(&s->fd, s->kind);
}
