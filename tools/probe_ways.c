/* SPDX-License-Identifier: MIT */
#include "probe_ways.h"

#include "tcp_pair.h"

#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define TRIAL_BYTES 4096

/* A descriptor to try, and what must stay open behind it. */
struct trial {
	int fd, other;
};

static int error_of(int ret)
{
	return ret < 0 ? -errno : 0;
}

static int put_bytes(int fd)
{
	char bytes[TRIAL_BYTES];

	memset(bytes, 'p', sizeof(bytes));
	bytes[sizeof(bytes) - 1] = '\n';
	return write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) ? 0 : -EIO;
}

static int open_file(struct trial *t)
{
	int ret;

	t->fd = memfd_create("gush-probe", MFD_CLOEXEC);
	ret = t->fd < 0 ? -errno : put_bytes(t->fd);
	return ret < 0 ? ret : error_of((int)lseek(t->fd, 0, SEEK_SET));
}

static int open_append(struct trial *t)
{
	t->fd = memfd_create("gush-probe", MFD_CLOEXEC);
	return t->fd < 0 ? -errno : error_of(fcntl(t->fd, F_SETFL, O_APPEND)); /* ours, not inherited */
}

static int open_pipe(struct trial *t, int end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	t->fd = fds[end];
	t->other = fds[!end];
	return end == 0 ? put_bytes(t->other) : 0;
}

static int open_pipe_source(struct trial *t)
{
	return open_pipe(t, 0);
}

static int open_pipe_sink(struct trial *t)
{
	return open_pipe(t, 1);
}

static int open_unix(struct trial *t)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	t->fd = fds[0];
	t->other = fds[1];
	return put_bytes(t->other);
}

static int open_tcp(struct trial *t)
{
	int fds[2], ret = tcp_pair_open(fds);

	if (ret < 0)
		return ret;
	t->fd = fds[0];
	t->other = fds[1];
	return put_bytes(t->other);
}

static int open_terminal(struct trial *t)
{
	struct termios raw;

	t->other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->other < 0 || grantpt(t->other) < 0 || unlockpt(t->other) < 0)
		return -errno;
	t->fd = open(ptsname(t->other), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->fd < 0 || tcgetattr(t->fd, &raw) < 0)
		return -errno;
	cfmakeraw(&raw);
	if (tcsetattr(t->fd, TCSANOW, &raw) < 0)
		return -errno;
	return write(t->other, "line\n", 5) == 5 ? 0 : -EIO;
}

static int open_path(struct trial *t, const char *path, int flags)
{
	t->fd = open(path, flags | O_CLOEXEC);
	return error_of(t->fd);
}

static int open_zero(struct trial *t)
{
	return open_path(t, "/dev/zero", O_RDONLY);
}

static int open_proc(struct trial *t)
{
	return open_path(t, "/proc/self/status", O_RDONLY);
}

static int open_null(struct trial *t)
{
	return open_path(t, "/dev/null", O_WRONLY);
}

struct kind {
	const char *name;
	int (*open)(struct trial *t);
};

static const struct kind sources[] = {
	{ "file", open_file },
	{ "pipe", open_pipe_source },
	{ "tcp", open_tcp },
	{ "unix", open_unix },
	{ "terminal", open_terminal },
	{ "/dev/zero", open_zero },
	{ "/proc", open_proc },
};

static const struct kind sinks[] = {
	{ "file", open_file },
	{ "append", open_append },
	{ "pipe", open_pipe_sink },
	{ "tcp", open_tcp },
	{ "unix", open_unix },
	{ "terminal", open_terminal },
	{ "/dev/null", open_null },
};

static void close_trial(struct trial *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->other >= 0)
		close(t->other);
}

static void append(char *text, size_t size, const char *between, const char *name, const char *words)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s%s", n ? between : "", name, words);
}

static void add_why(struct probe_way *way, const struct gush_report_entry *e)
{
	char words[128];

	snprintf(words, sizeof(words), ": %s",
		e->error    ? strerror(-e->error)
		: e->reason ? e->reason
			    : "moved nothing");
	append(way->why, sizeof(way->why), "; ", e->method, words);
	if (!e->error)
		return;
	snprintf(words, sizeof(words), " %s", diag_errno_name(e->error));
	append(way->refused, sizeof(way->refused), ", ", e->method, words);
}

static void read_report(const struct gush_transfer *t, struct probe_way *way)
{
	struct gush_report_entry e = { .size = sizeof(e) };

	for (size_t i = 0; gush_report_entry(t, i, &e) == 0; i++) {
		if (e.bytes > 0)
			way->way = e.method;
		else if (!way->way)
			add_why(way, &e);
	}
}

static int move(const struct trial *source, const struct trial *sink, uint32_t flags, struct probe_way *way)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer *t;
	int64_t n;
	int ret;

	options.limit_bytes = TRIAL_BYTES;
	options.flags = flags;
	ret = gush_transfer_open(source->fd, sink->fd, &options, &t);
	if (ret < 0)
		return ret;
	n = gush_transfer_step(t); /* one step: there are bytes, and room for them */
	read_report(t, way);
	gush_transfer_close(t);
	return n < 0 ? (int)n : 0;
}

static void try_pair(
	const struct kind *source, const struct kind *sink, uint32_t flags, struct probe_way *way)
{
	struct trial from = { -1, -1 }, to = { -1, -1 };

	*way = (struct probe_way){ .source = source->name, .sink = sink->name };
	way->error = source->open(&from);
	if (way->error == 0)
		way->error = sink->open(&to);
	if (way->error == 0)
		way->error = move(&from, &to, flags, way);
	close_trial(&from);
	close_trial(&to);
}

size_t probe_ways(struct probe_way ret[PROBE_WAYS_MOST], uint32_t flags)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		for (size_t k = 0; k < sizeof(sinks) / sizeof(*sinks) && count < PROBE_WAYS_MOST; k++)
			try_pair(&sources[i], &sinks[k], flags, &ret[count++]);
	return count;
}
