/* SPDX-License-Identifier: MIT */
/*
 * GUSH_NONBLOCK: a step never waits, for a source that has nothing nor for a sink that is full, and names the
 * one to wait for. A call that waits after all is ended by the alarm.
 */
#include "drive.h"

#define STEPS_MOST 4000

static const char *source_kind, *sink_kind;
static bool stable;

/* Our end of a pair: for reading, or for writing. */
static int our_end(const char *kind, bool writes, int *ret_far)
{
	int fds[2] = { -1, -1 };
	bool second = strcmp(kind, "terminal") == 0 ? false : writes;

	CHECK(end_pair(kind, fds) == NULL);
	*ret_far = fds[!second];
	return fds[second];
}

static struct gush_transfer *open_loop(int source, int sink)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer *t = NULL;

	o.flags = GUSH_NONBLOCK | (stable ? GUSH_STABLE : 0);
	CHECK_INT(gush_transfer_open(source, sink, &o, &t), 0);
	return t;
}

static void check_waits_for(const struct gush_transfer *t, int fd, short events)
{
	int got = -1;
	short got_events = 0;
	struct pollfd p = { .fd = fd, .events = events };

	CHECK_INT(gush_transfer_wait_for(t, &got, &got_events), 0);
	CHECK_INT(got, fd);
	CHECK_INT(got_events, events);
	CHECK_INT(poll(&p, 1, 0), 0); /* a loop would spin else */
}

static void silent_source(void)
{
	int far_source, far_sink, source = our_end(source_kind, false, &far_source);
	int sink = our_end(sink_kind, true, &far_sink);
	struct gush_transfer *t = open_loop(source, sink);

	alarm(10);
	for (int i = 0; t && i < 3; i++) {
		CHECK_INT(gush_transfer_step(t), -EAGAIN);
		check_waits_for(t, source, POLLIN);
	}
	CHECK_INT(gush_transfer_delivered(t) + gush_transfer_pending(t), 0);
	gush_transfer_close(t);
}

/* A full terminal takes more once the kernel's own worker has run, which a busy machine puts off. */
static bool still_settling(struct pollfd *p)
{
	return strcmp(sink_kind, "terminal") == 0 && poll(p, 1, 300) == 1;
}

/* A process at the far end may need a moment for more. */
static int64_t step_until_sink_waits(struct gush_transfer *t, int source)
{
	struct pollfd p = { .fd = -1 };
	int64_t n;

	for (int i = 0; i < STEPS_MOST; i++) {
		n = gush_transfer_step(t);
		if (n > 0)
			continue;
		if (n != -EAGAIN || gush_transfer_wait_for(t, &p.fd, &p.events) < 0)
			return n;
		if (p.fd != source && !still_settling(&p))
			return n;
		if (p.fd == source && poll(&p, 1, 5000) != 1)
			return -ETIMEDOUT;
	}
	return 1;
}

/* Never drained: must come to -EAGAIN of the sink in the end, and stay there. */
static void full_sink(void)
{
	int far, source = SOURCE(source_kind)->limit ? open("/dev/zero", O_RDONLY | O_CLOEXEC) : -1;
	struct end file = { .fd = -1 };
	int sink = our_end(sink_kind, true, &far);
	struct gush_transfer *t;
	const char *why = NULL;

	want_stamp(WANT_MOST - 8);
	if (source < 0)
		why = SOURCE(source_kind)->open(&file);
	if (why)
		SKIP(why);
	source = source < 0 ? file.fd : source;
	t = open_loop(source, sink);
	alarm(10);
	CHECK_INT(step_until_sink_waits(t, source), -EAGAIN);
	check_waits_for(t, sink, POLLOUT);
	CHECK_INT(gush_transfer_step(t), -EAGAIN);
	gush_transfer_close(t);
	if (file.child) {
		kill(file.child, SIGKILL);
		end_close(&file);
	}
}

static void silent_source_in_child(void)
{
	in_child(silent_source);
}

static void full_sink_in_child(void)
{
	in_child(full_sink);
}

int main(void)
{
	static const char *const pairs[] = { "pipe", "fifo", "tcp", "unix", "seqpacket", "terminal" };
	static const char *const full[] = { "disk", "loop", "zero", "pipe", "tcp", "unix", "seqpacket" };
	char name[100];

	for (size_t k = 0; k < COUNT(pairs) * 2; k++) {
		sink_kind = pairs[k / 2];
		stable = k % 2;
		for (size_t i = 0; i < COUNT(pairs); i++) {
			source_kind = pairs[i];
			snprintf(name, sizeof(name), "silent_%s_to_%s%s", source_kind, sink_kind,
				stable ? "_stable" : "");
			test_run(name, silent_source_in_child);
		}
		for (size_t i = 0; i < COUNT(full); i++) {
			source_kind = full[i];
			snprintf(name, sizeof(name), "%s_to_full_%s%s", source_kind, sink_kind,
				stable ? "_stable" : "");
			test_run(name, full_sink_in_child);
		}
	}
	return test_end();
}
