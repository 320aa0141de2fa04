/* SPDX-License-Identifier: MIT */
#include "flow.h"

#include "crew.h"
#include "gush.h"
#include "pipe.h"
#include "sys.h"
#include "tcp_pair.h"
#include "usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_BYTES ((off_t)64 << 20) /* larger than the level-2 cache, small enough to make in a moment */
#define WARM_UP_BYTES ((uint64_t)32 << 20)
#define SOCKET_CHUNK ((size_t)256 << 10)
#define PIPE_CHUNK ((size_t)1 << 20)
#define PLAIN_CHUNK ((size_t)64 << 10)

/* A descriptor for the mover, and what is behind it for the process that feeds or empties it (-1: nothing
 * is). */
struct end {
	int fd, behind;
};

const char *flow_end_name(enum flow_end end)
{
	static const char *const names[] = { "pipe", "file", "tcp", "unix", "/dev/null" };

	return names[end];
}

const char *flow_way_name(enum flow_way way)
{
	static const char *const names[] = { "chosen", "read-write", "plain" };

	return names[way];
}

/* ---- ends ---- */

static int open_pipe(struct end *ret, bool source)
{
	struct gi_pipe pipe;
	size_t capacity;
	int error = gi_pipe_open(&pipe);

	if (error < 0)
		return error;
	*ret = source ? (struct end){ pipe.read_fd, pipe.write_fd }
		      : (struct end){ pipe.write_fd, pipe.read_fd };
	return gi_pipe_grow(pipe.write_fd, PIPE_CHUNK, &capacity);
}

static int open_file(struct end *ret, bool source)
{
	static const char zeros[1 << 16];

	*ret = (struct end){ memfd_create("gush-bench", MFD_CLOEXEC), -1 };
	if (ret->fd < 0)
		return -errno;
	for (off_t at = 0; source && at < FILE_BYTES; at += (off_t)sizeof(zeros)) {
		ssize_t n = gi_sys_pwrite(ret->fd, zeros, sizeof(zeros), at);

		if (n != (ssize_t)sizeof(zeros))
			return n < 0 ? (int)n : -EIO;
	}
	return 0;
}

static int open_tcp(struct end *ret)
{
	int fds[2], error = tcp_pair_open(fds);

	if (error == 0)
		*ret = (struct end){ fds[0], fds[1] };
	return error;
}

static int open_unix(struct end *ret)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	*ret = (struct end){ fds[0], fds[1] };
	return 0;
}

static int open_end(enum flow_end kind, bool source, struct end *ret)
{
	*ret = (struct end){ -1, -1 };
	switch (kind) {
	case FLOW_PIPE:
		return open_pipe(ret, source);
	case FLOW_FILE:
		return open_file(ret, source);
	case FLOW_TCP:
		return open_tcp(ret);
	case FLOW_UNIX:
		return open_unix(ret);
	case FLOW_NULL:
		ret->fd = gi_sys_open("/dev/null", O_WRONLY, 0);
		return ret->fd < 0 ? ret->fd : 0;
	}
	return -EINVAL;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		gi_sys_close(*fd);
	*fd = -1;
}

/* ---- what feeds and what empties, in processes of their own, until the mover has gone ---- */

static void feed_socket(int fd)
{
	static char chunk[SOCKET_CHUNK];

	while (gi_sys_write(fd, chunk, sizeof(chunk)) > 0)
		;
}

static void empty_socket(int fd)
{
	static char chunk[SOCKET_CHUNK];

	while (gi_sys_read(fd, chunk, sizeof(chunk)) > 0)
		;
}

/* ---- the mover ---- */

/* One pass: until the source ends, or `*left` bytes are through. Files start over in the next. */
static int pass_library(const struct flow *flow, const struct end *from, const struct end *to, uint64_t bytes,
	struct flow_figures *figures, uint64_t *ret_moved)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_report_entry e = { .size = sizeof(e) };
	struct gush_transfer *t;
	int64_t n;

	o.limit_bytes = bytes;
	o.method = flow->way == FLOW_READ_WRITE ? "read-write" : NULL;
	n = gush_transfer_open(from->fd, to->fd, &o, &t);
	if (n < 0)
		return (int)n;
	do {
		n = gush_transfer_step(t);
	} while (n > 0);
	*ret_moved = gush_transfer_delivered(t);
	for (size_t i = 0; gush_report_entry(t, i, &e) == 0; i++)
		if (e.bytes > 0)
			snprintf(figures->method, sizeof(figures->method), "%s", e.method);
	gush_transfer_close(t);
	return (int)n;
}

static int pass_plain(const struct end *from, const struct end *to, uint64_t bytes, uint64_t *ret_moved)
{
	static char chunk[PLAIN_CHUNK];
	uint64_t moved = 0;

	while (moved < bytes) {
		ssize_t n = gi_sys_read(from->fd, chunk, sizeof(chunk)), at = 0;

		if (n <= 0)
			break;
		while (at < n) {
			ssize_t m = gi_sys_write(to->fd, chunk + at, (size_t)(n - at));

			if (m <= 0)
				return m < 0 ? (int)m : -EIO;
			at += m;
		}
		moved += (uint64_t)n;
	}
	*ret_moved = moved;
	return 0;
}

static int pass(const struct flow *flow, const struct end *from, const struct end *to, uint64_t bytes,
	struct flow_figures *figures, uint64_t *ret_moved)
{
	*ret_moved = 0;
	if (flow->source == FLOW_FILE)
		gi_sys_lseek(from->fd, 0, SEEK_SET);
	if (flow->sink == FLOW_FILE)
		gi_sys_lseek(to->fd, 0, SEEK_SET);
	if (flow->way == FLOW_PLAIN)
		return pass_plain(from, to, bytes, ret_moved);
	return pass_library(flow, from, to, bytes, figures, ret_moved);
}

static void move_bytes(
	const struct flow *flow, const struct end *from, const struct end *to, struct flow_figures *ret)
{
	uint64_t moved, warm = 0;
	int64_t start_ns = 0;
	struct usage start;

	snprintf(ret->method, sizeof(ret->method), "%s", flow_way_name(flow->way));
	while (ret->error == 0 && (start_ns == 0 || gi_sys_now_ns() - start_ns < flow->time_ns)) {
		ret->error = pass(flow, from, to, FILE_BYTES, ret, &moved);
		if (start_ns)
			ret->bytes += moved;
		else if ((warm += moved) >= WARM_UP_BYTES) {
			start = usage_now();
			start_ns = gi_sys_now_ns();
		}
		if (ret->error == 0 && moved == 0)
			ret->error = -ENODATA; /* what feeds it has died */
	}
	if (ret->error == 0) {
		ret->seconds = (double)(gi_sys_now_ns() - start_ns) * 1e-9;
		ret->mover_cpu_s = usage_since(&start).cpu_s;
	}
}

/* ---- processes ---- */

static pid_t start_other(void (*work)(int), struct end *mine, struct end *others, int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	close_fd(&mine->fd);
	close_fd(&others->fd);
	close_fd(&others->behind);
	if (crew_settle_in(parent, cpu) == 0)
		work(mine->behind);
	_exit(0);
}

static pid_t start_mover(
	const struct flow *flow, struct end *from, struct end *to, struct flow_figures *shared)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	close_fd(&from->behind);
	close_fd(&to->behind);
	shared->error = crew_settle_in(parent, flow->mover_cpu);
	if (shared->error == 0)
		move_bytes(flow, from, to, shared);
	_exit(0);
}

static bool is_socket(enum flow_end end)
{
	return end == FLOW_TCP || end == FLOW_UNIX;
}

static void run_processes(
	const struct flow *flow, struct end *from, struct end *to, struct flow_figures *shared)
{
	pid_t feeder = 0, drainer = 0, mover;

	if (from->behind >= 0)
		feeder = start_other(is_socket(flow->source) ? feed_socket : crew_feed_by_vmsplice, from, to,
			flow->other_cpu);
	if (to->behind >= 0)
		drainer = start_other(is_socket(flow->sink) ? empty_socket : crew_empty_by_splice, to, from,
			flow->other_cpu);
	shared->error = feeder < 0 || drainer < 0 ? -EAGAIN : -ECHILD; /* until the mover says otherwise */
	mover = feeder < 0 || drainer < 0 ? -1 : start_mover(flow, from, to, shared);
	/* With our copies gone, the end of the mover is the end of the others: EPIPE and end of file. */
	close_fd(&from->fd);
	close_fd(&from->behind);
	close_fd(&to->fd);
	close_fd(&to->behind);
	crew_reap(mover);
	crew_reap(feeder);
	crew_reap(drainer);
}

struct flow_figures flow_run(const struct flow *flow)
{
	struct flow_figures *shared, figures = { 0 };
	struct end from = { -1, -1 }, to = { -1, -1 };

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return (struct flow_figures){ .error = -errno };
	figures.error = open_end(flow->source, true, &from);
	if (figures.error == 0)
		figures.error = open_end(flow->sink, false, &to);
	if (figures.error == 0) {
		run_processes(flow, &from, &to, shared);
		figures = *shared;
	}
	close_fd(&from.fd);
	close_fd(&from.behind);
	close_fd(&to.fd);
	close_fd(&to.behind);
	munmap(shared, sizeof(*shared));
	return figures;
}
