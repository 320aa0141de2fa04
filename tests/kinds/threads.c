/* SPDX-License-Identifier: MIT */
/*
 * Threads with handles of their own, which meet in the pool of transit pipes. What one moves must never come
 * out at another. Run it with SAN=thread, too.
 */
#include "ends.h"

#define THREADS 6
#define ROUNDS 60
#define BYTES 150001u

struct worker {
	pthread_t thread;
	char stamp;
	int bad;
};

static void count_bad(struct worker *w, bool good)
{
	w->bad += !good;
}

static bool holds(int fd, char stamp, size_t bytes)
{
	char *got = malloc(BYTES);
	bool good = got && pread(fd, got, BYTES, 0) == (ssize_t)bytes;

	for (size_t i = 0; good && i < bytes; i++)
		good = got[i] == stamp;
	free(got);
	return good;
}

static int stamped_file(char stamp, size_t bytes)
{
	int fd = memfd_create("threads", MFD_CLOEXEC);
	char *text = malloc(bytes);

	memset(text, stamp, bytes);
	if (pwrite(fd, text, bytes, 0) != (ssize_t)bytes)
		abort();
	free(text);
	return fd;
}

static void relay(struct worker *w, const char *method)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int source = stamped_file(w->stamp, BYTES), sink = memfd_create("threads", MFD_CLOEXEC);
	uint64_t bytes = 0;

	o.method = method;
	o.wait = GUSH_WAIT_ADAPTIVE; /* measures the cost of a wake-up once for all threads */
	count_bad(w, gush_copy(source, sink, &o, &bytes) == 0 && bytes == BYTES);
	count_bad(w, holds(sink, w->stamp, BYTES));
	close(source);
	close(sink);
}

/* Left with bytes in the transit pipe: that must not reach the pool. */
static void abandon(struct worker *w)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer *t = NULL;
	int source = stamped_file(w->stamp, 8 * BYTES), fds[2];

	count_bad(w, end_pair("unix", fds) == NULL);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	o.method = "relay";
	o.flags = GUSH_NONBLOCK;
	count_bad(w, gush_transfer_open(source, fds[1], &o, &t) == 0);
	for (int i = 0; t && i < 40; i++)
		gush_transfer_step(t);
	count_bad(w, t && gush_transfer_pending(t) > 0);
	gush_transfer_close(t);
	close(fds[0]);
	close(fds[1]);
	close(source);
}

static void fan_out(struct worker *w)
{
	int source = stamped_file(w->stamp, BYTES), sinks[3];
	struct gush_fanout *f = NULL;

	for (int i = 0; i < 3; i++)
		sinks[i] = memfd_create("threads", MFD_CLOEXEC);
	count_bad(w, gush_fanout_open(source, sinks, 3, NULL, &f) == 0);
	while (f && gush_fanout_step(f) > 0)
		;
	for (int i = 0; i < 3; i++) {
		count_bad(w, holds(sinks[i], w->stamp, BYTES));
		close(sinks[i]);
	}
	gush_fanout_close(f);
	close(source);
}

static void *work(void *argument)
{
	struct worker *w = argument;

	for (int i = 0; i < ROUNDS && w->bad == 0; i++) {
		relay(w, "relay");
		if (i % 4 == 0)
			abandon(w);
		if (i % 4 == 1)
			fan_out(w);
		if (i % 4 == 2)
			relay(w, NULL);
	}
	return NULL;
}

static void own_handles_in_threads(void)
{
	struct worker workers[THREADS];
	struct fds before;

	relay(&(struct worker){ .stamp = 'x' }, "relay"); /* what is opened once */
	before = fds_now();
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .stamp = (char)('a' + i) };
		workers[i].thread = start_thread(work, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		CHECK(pthread_join(workers[i].thread, NULL) == 0);
		CHECK_INT(workers[i].bad, 0);
	}
	CHECK(fds_opened_since(&before) <= 8); /* the pool: four pipes */
}

int main(void)
{
	TEST(own_handles_in_threads);
	return test_end();
}
