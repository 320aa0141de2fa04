/* SPDX-License-Identifier: MIT */
#include "drive.h"

#include <sys/resource.h>

#define SLOW_SECONDS 20 /* coarse: a case is over in far less */
#define CPU_MS 3000

enum pace drive_source_pace, drive_sink_pace;
void (*drive_before)(void);

static void wait_as_told(const struct gush_transfer *t)
{
	struct pollfd p = { .fd = -1 };
	int ret;

	CHECK_INT(gush_transfer_wait_for(t, &p.fd, &p.events), 0);
	while ((ret = poll(&p, 1, 10000)) < 0 && errno == EINTR)
		;
	CHECK_INT(ret, 1);
}

struct outcome drive(int source, int sink, enum manner manner, const struct gush_transfer_options *options)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer *t = NULL;
	struct outcome out = { 0 };
	uint64_t sum = 0;
	int64_t n;

	if (options)
		o = *options;
	if (manner >= MANNER_LOOP)
		o.flags |= GUSH_NONBLOCK;
	out.error = gush_transfer_open(source, sink, &o, &t);
	if (out.error < 0)
		return out;
	while ((n = gush_transfer_step(t)) > 0 || (n == -EAGAIN && manner >= MANNER_LOOP)) {
		out.steps++;
		sum += n > 0 ? (uint64_t)n : 0;
		out.waits += n < 0;
		if (n < 0)
			wait_as_told(t);
		if (test_bad)
			break;
	}
	out.error = (int)n;
	out.side = gush_transfer_side(t);
	out.bytes = gush_transfer_delivered(t);
	out.pending = gush_transfer_pending(t);
	CHECK_INT(out.bytes, sum);
	CHECK_INT(gush_transfer_step(t), n); /* what is over stays over */
	CHECK(gush_transfer_close(t) == NULL);
	return out;
}

static void set_nonblock(const struct end *e)
{
	CHECK(fcntl(e->fd, F_SETFL, fcntl(e->fd, F_GETFL) | O_NONBLOCK) == 0);
}

/* Bytes that a regular sink holds must be what it held, then the wanted ones. */
static void check_file(const struct end *e, uint64_t bytes)
{
	static char got[65536];
	struct stat st;

	CHECK(fstat(e->fd, &st) == 0 && (uint64_t)st.st_size == e->start + bytes);
	CHECK_INT(lseek(e->fd, 0, SEEK_CUR), e->start + bytes);
	for (uint64_t at = 0; at < bytes;) {
		ssize_t n = pread(e->fd, got, sizeof(got), (off_t)(e->start + at));

		if (!CHECK(n > 0 && memcmp(got, want + at, (size_t)n) == 0))
			break;
		at += (uint64_t)n;
	}
	if (e->start > 0) {
		CHECK(pread(e->fd, got, e->start, 0) == (ssize_t)e->start &&
			memcmp(got, APPEND_BEFORE, e->start) == 0);
	}
}

static uint64_t cpu_ms(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

/* What should come of it. */
static void check_outcome(const struct outcome *out, const struct end *sink)
{
	uint64_t given = drive_source_pace == PACE_STOP ? want_bytes / 2 : want_bytes;

	if (sink->error && sink->room_bytes < given) {
		CHECK_INT(out->error, sink->error);
		CHECK_INT(out->side, GUSH_SIDE_SINK);
		CHECK_INT(out->bytes, sink->room_bytes);
		return;
	}
	if (drive_sink_pace == PACE_STOP && sink->child) {
		CHECK(out->error == -EPIPE || out->error == -ECONNRESET || out->error == -EIO);
		CHECK_INT(out->side, GUSH_SIDE_SINK);
		if (!CHECK(out->bytes < given))
			printf("  %llu of %llu\n", (unsigned long long)out->bytes, (unsigned long long)given);
		return;
	}
	CHECK_INT(out->error, 0);
	CHECK_INT(out->side, GUSH_SIDE_NONE);
	CHECK_INT(out->bytes, given);
	CHECK_INT(out->pending, 0);
}

static void check_ends(struct end *source, struct end *sink, const struct outcome *out)
{
	struct end kept = *sink;
	bool stops = drive_sink_pace == PACE_STOP;

	if (source->regular)
		CHECK_INT(lseek(source->fd, 0, SEEK_CUR), out->bytes);
	if (sink->regular)
		check_file(sink, out->bytes);
	end_close(source);
	end_close(sink);
	if (kept.seen)
		end_check_sink(&kept, stops ? kept.seen->bytes : out->bytes, "drained");
	if (stops && kept.child)
		CHECK(kept.room_bytes == 0);
}

static const char *open_ends(const struct end_kind *source_kind, const struct end_kind *sink_kind,
	struct end *source, struct end *sink)
{
	const char *why;

	end_pace = drive_source_pace;
	why = source_kind->open(source);
	end_pace = drive_sink_pace;
	if (!why)
		why = sink_kind->open(sink);
	return why;
}

void drive_pair(const struct end_kind *source_kind, const struct end_kind *sink_kind, enum manner manner,
	size_t bytes)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct end source = { .fd = -1 }, sink = { .fd = -1 };
	struct outcome out;
	int source_flags, sink_flags;
	const char *why;
	uint64_t before = cpu_ms();

	signal(SIGPIPE, SIG_IGN);
	alarm(SLOW_SECONDS);
	want_stamp(bytes);
	why = open_ends(source_kind, sink_kind, &source, &sink);
	if (why)
		SKIP(why);
	if (manner == MANNER_FDS || manner == MANNER_LOOP_FDS) {
		set_nonblock(&source);
		set_nonblock(&sink);
	}
	source_flags = fcntl(source.fd, F_GETFL);
	sink_flags = fcntl(sink.fd, F_GETFL);
	if (source_kind->limit)
		o.limit_bytes = drive_source_pace == PACE_STOP ? want_bytes / 2 : want_bytes;
	if (drive_before)
		drive_before();
	out = drive(source.fd, sink.fd, manner, &o);
	CHECK_INT(fcntl(source.fd, F_GETFL), source_flags);
	CHECK_INT(fcntl(sink.fd, F_GETFL), sink_flags);
	check_outcome(&out, &sink);
	check_ends(&source, &sink, &out);
	CHECK(cpu_ms() - before < CPU_MS);
}
