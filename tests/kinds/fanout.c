/* SPDX-License-Identifier: MIT */
/* One source to many sinks: of every kind, slow, stalled, dead, there twice, or none at all. */
#include "drive.h"

#include <sys/ioctl.h>

#define SINKS_MOST 100
#define BYTES ((2u << 20) + 77)

static struct end ends[SINKS_MOST];
static int sinks[SINKS_MOST];

/* Until it is over; the bytes that the steps told must be the sum. */
static int run(
	int source, size_t count, const struct gush_fanout_options *options, struct gush_fanout **ret_f)
{
	uint64_t sum = 0;
	int64_t n = gush_fanout_open(source, sinks, count, options, ret_f);

	if (!CHECK_INT(n, 0))
		return (int)n;
	while ((n = gush_fanout_step(*ret_f)) > 0 || n == -EAGAIN) {
		struct pollfd fds[SINKS_MOST];
		size_t waits;

		sum += n > 0 ? (uint64_t)n : 0;
		if (n > 0)
			continue;
		waits = gush_fanout_wait_for(*ret_f, fds, SINKS_MOST);
		CHECK(options->flags & GUSH_NONBLOCK && waits > 0 && waits <= SINKS_MOST);
		if (!CHECK(poll(fds, waits, 10000) > 0))
			break;
	}
	if (n == 0)
		CHECK_INT(sum, want_bytes);
	return (int)n;
}

static void open_sink(size_t i, const char *kind, enum pace pace)
{
	end_pace = pace;
	ends[i] = (struct end){ .fd = -1 };
	CHECK(SINK(kind)->open(&ends[i]) == NULL);
	sinks[i] = ends[i].fd;
}

static void check_memfd(const struct end *e, uint64_t bytes)
{
	char *got = malloc(bytes + 1);

	CHECK(got && pread(e->fd, got, bytes + 1, (off_t)e->start) == (ssize_t)bytes);
	CHECK(got && memcmp(got, want, bytes) == 0);
	free(got);
}

static void finish_sink(struct gush_fanout *f, size_t i, int error, uint64_t bytes)
{
	char name[32];

	snprintf(name, sizeof(name), "sink %zu", i);
	CHECK_CASE(CHECK_INT(gush_fanout_error(f, i), error), name);
	CHECK_CASE(CHECK_INT(gush_fanout_delivered(f, i), bytes), name);
	if (ends[i].regular)
		check_memfd(&ends[i], bytes);
	end_close(&ends[i]);
	end_check_sink(&ends[i], bytes, name);
}

static struct end source_of(const char *kind, size_t bytes)
{
	struct end source = { .fd = -1 };

	signal(SIGPIPE, SIG_IGN);
	alarm(40);
	want_stamp(bytes);
	end_pace = PACE_FAST;
	CHECK(SOURCE(kind)->open(&source) == NULL);
	return source;
}

static const char *source_kind;
static uint32_t flags;

static void hundred_sinks(void)
{
	static const char *const kinds[] = { "pipe", "tcp", "unix", "disk", "append", "null", "fifo",
		"seqpacket", "memfd", "pipe" };
	struct end source = source_of(source_kind, BYTES);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;

	for (size_t i = 0; i < SINKS_MOST; i++)
		open_sink(i, kinds[i % COUNT(kinds)], i == 0 ? PACE_SLOW : PACE_FAST);
	o.flags = flags;
	if (source_kind[0] == 'z')
		o.limit_bytes = want_bytes;
	CHECK_INT(run(source.fd, SINKS_MOST, &o, &f), 0);
	for (size_t i = 0; i < SINKS_MOST; i++)
		finish_sink(f, i, 0, want_bytes);
	gush_fanout_close(f);
	end_close(&source);
}

static void mixed_errors(void)
{
	struct end source = source_of(source_kind, WANT_MOST - 100);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;
	uint64_t some;

	open_sink(0, "pipe", PACE_FAST);
	open_sink(1, "pipe", PACE_STOP);
	open_sink(2, "full", PACE_FAST);
	open_sink(3, "full-disk", PACE_FAST);
	open_sink(4, "terminal", PACE_BYTES);
	open_sink(5, "append", PACE_FAST);
	sinks[4] = open("/dev/null", O_RDONLY | O_CLOEXEC); /* not for writing */
	o.flags = flags;
	CHECK_INT(run(source.fd, 6, &o, &f), 0);
	some = gush_fanout_delivered(f, 1);
	CHECK_INT(gush_fanout_error(f, 1), -EPIPE);
	CHECK(some < want_bytes && some >= want_bytes / 2);
	CHECK_INT(gush_fanout_error(f, 4), -EBADF);
	CHECK_INT(gush_fanout_error(f, 6), -ENOENT);
	finish_sink(f, 0, 0, want_bytes);
	finish_sink(f, 2, -ENOSPC, 0);
	finish_sink(f, 3, -ENOSPC, ends[3].room_bytes);
	finish_sink(f, 5, 0, want_bytes);
	end_close(&ends[1]);
	CHECK(ends[1].seen->bad == 0);
	gush_fanout_close(f);
	end_close(&source);
}

/* A pipe that nobody reads, among others that are read. */
static void stalled_is_dropped(void)
{
	struct end source = source_of("memfd", BYTES);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;
	int stalled[2], in_it = 0;

	open_sink(0, "pipe", PACE_FAST);
	open_sink(1, "pipe", PACE_SLOW);
	open_sink(2, "memfd", PACE_FAST);
	CHECK(pipe2(stalled, O_CLOEXEC) == 0);
	sinks[3] = stalled[1];
	o.policy = GUSH_FANOUT_DROP;
	o.drop_after_ns = 300000000;
	CHECK_INT(run(source.fd, 4, &o, &f), 0);
	CHECK_INT(gush_fanout_error(f, 3), -ETIMEDOUT);
	CHECK(ioctl(stalled[0], FIONREAD, &in_it) == 0);
	CHECK_INT(gush_fanout_delivered(f, 3), in_it);
	for (size_t i = 0; i < 3; i++)
		finish_sink(f, i, 0, want_bytes);
	gush_fanout_close(f);
	end_close(&source);
}

/* One that begins to read after half a second gets everything. */
static void stalled_is_waited_for(void)
{
	struct end source = source_of("pipe", BYTES);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;

	open_sink(0, "pipe", PACE_FAST);
	open_sink(1, "unix", PACE_FAST);
	kill(ends[1].child, SIGSTOP);
	if (fork() == 0) {
		sleep_ms(500);
		kill(ends[1].child, SIGCONT);
		_exit(0);
	}
	CHECK_INT(run(source.fd, 2, &o, &f), 0);
	finish_sink(f, 0, 0, want_bytes);
	finish_sink(f, 1, 0, want_bytes);
	gush_fanout_close(f);
	end_close(&source);
}

static void same_descriptor_twice(void)
{
	struct end source = source_of("memfd", 2 * 65536);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;
	struct stat st;

	open_sink(0, "memfd", PACE_FAST);
	sinks[1] = sinks[0];
	CHECK_INT(run(source.fd, 2, &o, &f), 0);
	CHECK(fstat(sinks[0], &st) == 0 && (uint64_t)st.st_size == 2 * want_bytes);
	CHECK_INT(gush_fanout_delivered(f, 0), want_bytes);
	CHECK_INT(gush_fanout_delivered(f, 1), want_bytes);
	gush_fanout_close(f);
}

static void no_sinks(void)
{
	struct end source = source_of("memfd", 1000);
	struct gush_fanout *f = NULL;

	CHECK_INT(gush_fanout_open(source.fd, sinks, 0, NULL, &f), 0);
	CHECK_INT(gush_fanout_step(f), -EPIPE);
	CHECK_INT(gush_fanout_error(f, 0), -ENOENT);
	CHECK_INT(lseek(source.fd, 0, SEEK_CUR), 0); /* nothing taken for nobody */
	CHECK(gush_fanout_close(f) == NULL);
}

static void all_dead(void)
{
	struct end source = source_of("memfd", WANT_MOST - 8);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;

	open_sink(0, "pipe", PACE_STOP);
	open_sink(1, "full", PACE_FAST);
	CHECK_INT(run(source.fd, 2, &o, &f), -EPIPE);
	CHECK_INT(gush_fanout_step(f), -EPIPE);
	gush_fanout_close(f);
	end_close(&ends[0]);
}

/* A file that is its own sink would grow for ever; the other sinks do not mind. */
static void source_among_sinks(void)
{
	struct end source = source_of("disk", 1000);
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;
	char path[32];

	open_sink(0, "memfd", PACE_FAST);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", source.fd);
	sinks[1] = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_INT(run(source.fd, 2, &o, &f), 0);
	finish_sink(f, 0, 0, 1000);
	CHECK_INT(gush_fanout_error(f, 1), -EINVAL);
	gush_fanout_close(f);
}

static void (*body)(void);

static void body_in_child(void)
{
	in_child(body);
}

static void each_source(const char *name, void (*function)(void))
{
	static const char *const kinds[] = { "disk", "zero", "pipe", "tcp", "unix", "seqpacket",
		"proc-filesystems" };
	char text[100];

	for (size_t i = 0; i < COUNT(kinds) * 3; i++) {
		source_kind = kinds[i / 3];
		flags = i % 3 == 0 ? 0 : i % 3 == 1 ? GUSH_NONBLOCK : GUSH_STABLE;
		body = function;
		snprintf(text, sizeof(text), "%s_%s_%s", name, source_kind,
			i % 3 == 0   ? "block"
			: i % 3 == 1 ? "loop"
				     : "stable");
		test_run(text, body_in_child);
	}
}

#define CASE(function)                                                                                       \
	do {                                                                                                 \
		body = (function);                                                                           \
		test_run(#function, body_in_child);                                                          \
	} while (0)

int main(void)
{
	static const char *const errors[] = { "memfd", "pipe", "tcp" };
	char text[100];

	each_source("hundred_sinks", hundred_sinks);
	for (size_t i = 0; i < COUNT(errors); i++) {
		source_kind = errors[i];
		flags = i % 2 ? GUSH_NONBLOCK : 0;
		body = mixed_errors;
		snprintf(text, sizeof(text), "mixed_errors_%s", errors[i]);
		test_run(text, body_in_child);
	}
	CASE(stalled_is_dropped);
	CASE(stalled_is_waited_for);
	CASE(same_descriptor_twice);
	CASE(no_sinks);
	CASE(all_dead);
	CASE(source_among_sinks);
	return test_end();
}
