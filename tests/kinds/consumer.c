/* SPDX-License-Identifier: MIT */
/*
 * Every kind of source handed out by next, by peek and by split, in every manner: all bytes, in their order,
 * the descriptor's flags as they were. An idle source keeps nobody busy.
 */
#include "ends.h"

#define BYTES ((3u << 20) + 4321) /* more than all buffers on the way; no multiple of a page */
#define BYTES_TERMINAL 200001u	  /* they are slow */
#define SLOW_SECONDS 20
#define IDLE_MS 300
#define IDLE_CPU_NS 100000000 /* of them */

enum manner { MANNER_BLOCK, MANNER_FDS, MANNER_LOOP, MANNER_LOOP_FDS, MANNERS };

static const char *const manner_names[] = { "block", "fds", "loop", "loop_fds" };
static const struct end_kind *kind;
static enum manner manner;
static const char *idle_kind;

/* One call, of a kind that changes. 1 and the bytes that it consumed, 0 or -errno. */
static int take(struct gush_consumer *c, unsigned turn, size_t most, const void **ret_data, size_t *ret_bytes)
{
	int ret;

	if (turn % 3 == 0)
		ret = gush_consumer_peek(c, most < 5000 ? most : 5000, ret_data, ret_bytes);
	else if (kind->limit) /* it must not take too much */
		ret = gush_consumer_peek(c, 1, ret_data, ret_bytes);
	else if (turn % 3 == 1)
		return gush_consumer_next(c, ret_data, ret_bytes);
	else
		return gush_consumer_split(c, 'k', ret_data, ret_bytes);
	if (ret == 1) {
		*ret_bytes = *ret_bytes < most ? *ret_bytes : most;
		CHECK_INT(gush_consumer_consume(c, *ret_bytes), 0);
	}
	return ret;
}

static void consume_all(struct gush_consumer *c, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const void *data;
	size_t at = 0, bytes;

	for (unsigned turn = 0; !test_bad; turn++) {
		int ret;

		if (kind->limit && at == want_bytes)
			return;
		ret = take(c, turn, want_bytes - at + !kind->limit, &data, &bytes);
		if (ret == -EAGAIN && manner >= MANNER_LOOP) {
			CHECK_INT(poll(&p, 1, 10000), 1);
		} else if (ret <= 0) {
			CHECK_INT(ret, 0);
			CHECK_INT(gush_consumer_next(c, &data, &bytes), 0);
			break;
		} else {
			CHECK(bytes > 0 && bytes <= want_bytes - at && memcmp(data, want + at, bytes) == 0);
			at += bytes;
		}
	}
	CHECK_INT(at, want_bytes);
}

static void source(void)
{
	struct gush_consumer_options o = GUSH_CONSUMER_OPTIONS_INIT;
	struct end e = { .fd = -1 };
	struct gush_consumer *c = NULL;
	const char *why;
	int flags;

	alarm(SLOW_SECONDS);
	want_stamp(strcmp(kind->name, "terminal") == 0 ? BYTES_TERMINAL : BYTES);
	why = kind->open(&e);
	if (why)
		SKIP(why);
	if (manner == MANNER_FDS || manner == MANNER_LOOP_FDS)
		CHECK_INT(fcntl(e.fd, F_SETFL, fcntl(e.fd, F_GETFL) | O_NONBLOCK), 0);
	flags = fcntl(e.fd, F_GETFL);
	o.flags = manner >= MANNER_LOOP ? GUSH_NONBLOCK : 0;
	if (CHECK_INT(gush_consumer_open(e.fd, &o, &c), 0)) {
		consume_all(c, e.fd);
		gush_consumer_close(c);
	}
	CHECK_INT(fcntl(e.fd, F_GETFL), flags);
	if (e.regular)
		CHECK_INT(lseek(e.fd, 0, SEEK_CUR), want_bytes);
	end_close(&e);
}

static void source_in_child(void)
{
	in_child(source);
}

/* ---- nothing comes ---- */

static void *write_later(void *fd)
{
	sleep_ms(IDLE_MS);
	if (write(*(int *)fd, "x", 1) != 1)
		abort();
	return NULL;
}

/* It waits in the kernel, whether or not the descriptor does. */
static void idle_waits(void)
{
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		struct gush_consumer *c = NULL;
		int fds[2];
		size_t bytes = 0;
		const void *data;
		int64_t before;
		pthread_t thread;

		CHECK(end_pair(idle_kind, fds) == NULL);
		if (nonblock)
			fcntl(fds[0], F_SETFL, fcntl(fds[0], F_GETFL) | O_NONBLOCK);
		CHECK_INT(gush_consumer_open(fds[0], NULL, &c), 0);
		thread = start_thread(write_later, &fds[1]);
		before = thread_cpu_ns();
		CHECK_INT(gush_consumer_next(c, &data, &bytes), 1);
		CHECK(thread_cpu_ns() - before < IDLE_CPU_NS);
		CHECK_INT(bytes, 1);
		pthread_join(thread, NULL);
		gush_consumer_close(c);
		close(fds[0]);
		close(fds[1]);
	}
}

/* GUSH_NONBLOCK: no call waits, also on a blocking descriptor, and poll would. */
static void idle_returns(void)
{
	struct gush_consumer_options o = GUSH_CONSUMER_OPTIONS_INIT;
	struct pollfd p = { .events = POLLIN };
	struct gush_consumer *c = NULL;
	int fds[2];
	size_t bytes = 0;
	const void *data;

	CHECK(end_pair(idle_kind, fds) == NULL);
	o.flags = GUSH_NONBLOCK;
	CHECK_INT(gush_consumer_open(fds[0], &o, &c), 0);
	p.fd = fds[0];
	for (int i = 0; i < 3; i++) {
		CHECK_INT(gush_consumer_next(c, &data, &bytes), -EAGAIN);
		CHECK_INT(gush_consumer_peek(c, 2, &data, &bytes), -EAGAIN);
		CHECK_INT(gush_consumer_split(c, 0, &data, &bytes), -EAGAIN);
		CHECK_INT(poll(&p, 1, 0), 0);
	}
	CHECK_INT(write(fds[1], "x", 1), 1);
	CHECK_INT(poll(&p, 1, 5000), 1); /* a terminal takes a moment */
	CHECK_INT(gush_consumer_peek(c, 2, &data, &bytes), -EAGAIN);
	CHECK_INT(gush_consumer_next(c, &data, &bytes), 1);
	CHECK_INT(bytes, 1);
	gush_consumer_close(c);
	close(fds[0]);
	close(fds[1]);
}

static void idle(void)
{
	alarm(SLOW_SECONDS);
	idle_returns();
	idle_waits();
}

static void idle_in_child(void)
{
	in_child(idle);
}

int main(void)
{
	static const char *const pairs[] = { "pipe", "fifo", "tcp", "unix", "seqpacket", "terminal" };
	char name[100];

	for (size_t i = 0; i < source_kind_count; i++)
		for (int m = 0; m < MANNERS; m++) {
			kind = &source_kinds[i];
			manner = (enum manner)m;
			snprintf(name, sizeof(name), "%s_%s", kind->name, manner_names[m]);
			test_run(name, source_in_child);
		}
	for (size_t i = 0; i < COUNT(pairs); i++) {
		idle_kind = pairs[i];
		snprintf(name, sizeof(name), "idle_%s", idle_kind);
		test_run(name, idle_in_child);
	}
	return test_end();
}
