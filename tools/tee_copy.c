/* SPDX-License-Identifier: MIT */
/*
 * How tee's bytes get to its outputs. It begins with read and write: a few lines are through before a pipe
 * could be made, and an output that cannot be written to at all says so where everybody expects it. When the
 * input turns out to be a stream, the library takes over, with a pipe for each output and nothing copied;
 * where that does not suit, or descriptors or pipes are scarce, it is read and write to the end.
 */
#include "gush.h"
#include "tee.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* What tee reads at once, everywhere: who looks at how outputs alternate in one pipe sees the same. */
#define READ_BYTES ((size_t)8192)
#define READ_MOST ((size_t)128 << 10)
#define STREAM_READS                                                                                         \
	8 /* so many full reads in a row make a stream: fewer are as fast with read and write                \
	   */
#define PIPE_BYTES 65536

enum way { OVER, STREAM, REFUSED };

/* ---- waiting ---- */

/* The first of the outputs' entries is fds[from]. */
static void drop_gone(struct tee *t, size_t from)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->outputs[i].works && t->outputs[i].gone && t->fds[from++].revents & t->outputs[i].gone)
			tee_drop(t, &t->outputs[i], EPIPE);
}

/*
 * For what the first `count` of fds ask, and for readers of watched outputs to go; those are dropped. Returns
 * what came of the first.
 */
static short wait_for(struct tee *t, size_t count)
{
	const struct timespec ms = { 0, 1000000 };
	size_t all = count;
	int ret;

	for (size_t i = 0; i < t->count; i++)
		if (t->outputs[i].works && t->outputs[i].gone)
			t->fds[all++] = (struct pollfd){ .fd = t->outputs[i].fd };
	do {
		ret = poll(t->fds, (nfds_t)all, all > 0 ? -1 : 1);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0) {
		nanosleep(&ms, NULL); /* no poll in this sandbox: try it slowly */
		return POLLNVAL;
	}
	drop_gone(t, count);
	return t->fds[0].revents;
}

static short wait_for_one(struct tee *t, int fd, short events)
{
	t->fds[0] = (struct pollfd){ .fd = fd, .events = events };
	return wait_for(t, 1);
}

static bool going_on(const struct tee *t)
{
	return t->working > 0 && !t->stopped;
}

/* Whether there is anything to notice while the input is idle. */
static bool is_watching(const struct tee *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->outputs[i].works && t->outputs[i].gone)
			return true;
	return false;
}

/* ---- read and write ---- */

/* Bytes, 0 at the end, or -1 after input_error was set or nothing is left to read for. */
static ssize_t read_input(struct tee *t, char *buffer, size_t bytes)
{
	while (going_on(t)) {
		ssize_t n;

		if (is_watching(t) && wait_for_one(t, STDIN_FILENO, POLLIN) == 0)
			continue;
		n = going_on(t) ? read(STDIN_FILENO, buffer, bytes) : -1;
		if (n >= 0 || !going_on(t))
			return n;
		if (errno == EAGAIN)
			wait_for_one(t, STDIN_FILENO, POLLIN);
		else if (errno != EINTR)
			t->input_error = errno;
		if (t->input_error)
			break;
	}
	return -1;
}

static void write_output(struct tee *t, struct tee_output *o, const char *buffer, size_t bytes)
{
	while (bytes > 0 && o->works) {
		ssize_t n = write(o->fd, buffer, bytes);

		if (n > 0) {
			buffer += n;
			bytes -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			wait_for_one(t, o->fd, POLLOUT); /* others may use it, too, so the flag stays */
		} else if (n == 0 || errno != EINTR) {
			tee_drop(t, o, n == 0 ? EIO : errno);
		}
	}
}

static enum way plain(struct tee *t, size_t bytes, bool until_stream)
{
	static char buffer[READ_MOST];
	unsigned full = 0;

	for (;;) {
		ssize_t n = read_input(t, buffer, bytes);

		if (n <= 0)
			return OVER;
		for (size_t i = 0; i < t->count && !t->stopped; i++)
			write_output(t, &t->outputs[i], buffer, (size_t)n);
		full = (size_t)n == bytes ? full + 1 : 0;
		if (until_stream && full >= STREAM_READS && going_on(t))
			return STREAM;
	}
}

/* ---- by the library ---- */

static bool is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* Terminals and the like are slow in any case, and each has its own idea of not waiting. */
static bool suits(const struct stat *st)
{
	return !S_ISCHR(st->st_mode) || is_null(st);
}

/* Whether two outputs are one: they alternate then, a read at a time. */
static bool has_twins(const struct tee *t)
{
	struct stat a, b;

	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < i; k++)
			if (t->outputs[i].works && t->outputs[k].works && fstat(t->outputs[i].fd, &a) == 0 &&
				fstat(t->outputs[k].fd, &b) == 0 && a.st_ino == b.st_ino &&
				a.st_dev == b.st_dev && !is_null(&a))
				return true;
	return false;
}

static bool all_suit(const struct tee *t)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 || (S_ISCHR(st.st_mode) && isatty(STDIN_FILENO)))
		return false;
	for (size_t i = 0; i < t->count; i++)
		if (t->outputs[i].works && (fstat(t->outputs[i].fd, &st) < 0 || !suits(&st)))
			return false;
	return true;
}

/* Past a user's share, a new pipe holds two pages. */
static bool pipes_are_scarce(void)
{
	int fds[2], capacity;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return true;
	capacity = fcntl(fds[1], F_GETPIPE_SZ);
	close(fds[0]);
	close(fds[1]);
	return capacity < PIPE_BYTES;
}

/* One output is a transfer. */
static enum way transfer(struct tee *t)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	struct tee_output *o = t->outputs;
	struct gush_transfer *transfer;
	int64_t n;

	while (!o->works)
		o++;
	options.flags = (o->gone ? GUSH_NONBLOCK : 0) | (t->stable ? GUSH_STABLE : 0);
	if (gush_transfer_open(STDIN_FILENO, o->fd, &options, &transfer) < 0)
		return REFUSED;
	do {
		n = gush_transfer_step(transfer);
		if (n == -EAGAIN && gush_transfer_wait_for(transfer, &t->fds[0].fd, &t->fds[0].events) == 0)
			wait_for(t, 1);
	} while ((n > 0 || n == -EAGAIN) && going_on(t));
	if (n < 0 && gush_transfer_side(transfer) == GUSH_SIDE_SINK)
		tee_drop(t, o, (int)n);
	else if (n < 0 && going_on(t))
		t->input_error = (int)n;
	gush_transfer_close(transfer);
	return OVER;
}

/* Of the sinks, which are the outputs that worked when it began. */
static void take_errors(
	struct tee *t, const struct gush_fanout *fanout, struct tee_output *const *sinks, size_t count)
{
	for (size_t i = 0; i < count && !t->stopped; i++)
		if (gush_fanout_error(fanout, i) < 0)
			tee_drop(t, sinks[i], gush_fanout_error(fanout, i));
}

/* Those that are gone, the fan-out is to know of. */
static void drop_sinks(struct gush_fanout *fanout, struct tee_output *const *sinks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!sinks[i]->works)
			gush_fanout_drop(fanout, i, -EPIPE);
}

static void drive(struct tee *t, struct gush_fanout *fanout, struct tee_output *const *sinks, size_t count)
{
	int64_t n;

	do {
		n = gush_fanout_step(fanout);
		take_errors(t, fanout, sinks, count);
		if (n == -EAGAIN && going_on(t)) {
			wait_for(t, gush_fanout_wait_for(fanout, t->fds, count));
			drop_sinks(fanout, sinks, count);
		}
	} while ((n > 0 || n == -EAGAIN) && going_on(t));
	if (n < 0 && going_on(t))
		t->input_error = (int)n;
}

static enum way fan_out(struct tee *t, struct tee_output **sinks, int *fds)
{
	struct gush_fanout_options options = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *fanout;
	size_t count = 0;
	enum way way = OVER;

	for (size_t i = 0; i < t->count; i++) {
		if (!t->outputs[i].works)
			continue;
		sinks[count] = &t->outputs[i];
		fds[count++] = t->outputs[i].fd;
	}
	options.flags = GUSH_NONBLOCK | (t->stable ? GUSH_STABLE : 0);
	if (gush_fanout_open(STDIN_FILENO, fds, count, &options, &fanout) < 0)
		return REFUSED;
	for (size_t i = 0; i < count; i++)
		if (gush_fanout_error(fanout, i) < 0)
			way = REFUSED; /* a write may fare better, or tell better what is wrong */
	if (way == OVER)
		drive(t, fanout, sinks, count);
	gush_fanout_close(fanout);
	return way;
}

static enum way fan_out_if_memory(struct tee *t)
{
	struct tee_output **sinks = calloc(t->count, sizeof(struct tee_output *));
	int *fds = calloc(t->count, sizeof(*fds));
	enum way way = sinks && fds ? fan_out(t, sinks, fds) : REFUSED;

	free(sinks);
	free(fds);
	return way;
}

/* A message that a read has no room for is cut. */
static bool keeps_messages_apart(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_STREAM;
}

void tee_copy(struct tee *t)
{
	bool twins;
	enum way way = plain(t, keeps_messages_apart(STDIN_FILENO) ? READ_MOST : READ_BYTES, true);

	if (way == OVER)
		return;
	twins = has_twins(t);
	if (!twins && all_suit(t) && !pipes_are_scarce())
		way = t->working == 1 ? transfer(t) : fan_out_if_memory(t);
	if (way != OVER)
		plain(t, twins ? READ_BYTES : READ_MOST, false);
}
