/* SPDX-License-Identifier: MIT */
/* src/producer*.c: several threads with one handle, and a forked child with its parent's. */
#include "producing.h"

#include <sys/wait.h>

#define THREADS 4
#define RECORDS 2000

struct record {
	uint32_t thread, number, bytes;
};

static struct gush_producer *shared_producer;
static atomic_int thread_errors;

static size_t record_bytes(uint32_t thread, uint32_t number)
{
	return sizeof(struct record) + (thread * 77 + number * 31) % 5000;
}

static void *write_records(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < RECORDS; i++) {
		struct record head = { thread, i, (uint32_t)record_bytes(thread, i) };
		struct gush_region region;

		if (gush_producer_reserve(shared_producer, head.bytes, head.bytes, &region) < 0) {
			atomic_fetch_add(&thread_errors, 1);
			return NULL;
		}
		memset(region.memory, (int)(thread + i), head.bytes);
		memcpy(region.memory, &head, sizeof(head));
		if (gush_producer_commit(shared_producer, &region, head.bytes) < 0)
			atomic_fetch_add(&thread_errors, 1);
	}
	return NULL;
}

static bool read_whole(FILE *from, void *data, size_t bytes)
{
	return fread(data, 1, bytes, from) == bytes;
}

/* Each thread's records are whole, right, and in order. */
static void *look_at_records(void *arg)
{
	FILE *from = fdopen((int)(intptr_t)arg, "r");
	uint32_t next[THREADS] = { 0 };
	static unsigned char data[8000];
	struct record head;

	while (read_whole(from, &head, sizeof(head))) {
		bool good = head.thread < THREADS && head.number == next[head.thread]++ &&
			    head.bytes == record_bytes(head.thread, head.number) &&
			    read_whole(from, data, head.bytes - sizeof(head));

		for (size_t i = 0; good && i < head.bytes - sizeof(head); i++)
			good = data[i] == (unsigned char)(head.thread + head.number);
		if (!good) {
			atomic_fetch_add(&thread_errors, 1);
			break;
		}
	}
	for (size_t i = 0; i < THREADS; i++)
		atomic_fetch_add(&thread_errors, next[i] != RECORDS);
	fclose(from);
	return NULL;
}

static void threads_share(void)
{
	for (size_t i = 0; i < COUNT(policies); i++) {
		pthread_t writers[THREADS], reader;
		int fds[2];

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		shared_producer = open_producer(fds[1], policies[i], 4 * MIB, 0);
		reader = start_thread(look_at_records, (void *)(intptr_t)fds[0]);
		for (size_t k = 0; k < THREADS; k++)
			writers[k] = start_thread(write_records, (void *)k);
		for (size_t k = 0; k < THREADS; k++)
			pthread_join(writers[k], NULL);
		CHECK_INT(gush_producer_flush(shared_producer), 0);
		gush_producer_close(shared_producer);
		close(fds[1]);
		pthread_join(reader, NULL);
		CHECK_INT(atomic_load(&thread_errors), 0);
	}
}

/* ---- fork ---- */

/* The child's stream is its own: what the parent had queued and lent is not in it. */
static void forked_child(void)
{
	for (size_t i = 0; i < COUNT(policies); i++) {
		struct gush_region region, lent;
		struct gush_producer *p;
		struct far far;
		int fds[2], status;
		pid_t child;

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		far_start(&far, fds[0]);
		p = open_producer(fds[1], policies[i], 2 * MIB, 0);
		CHECK_INT(produce(p, 5 * MIB), 0);
		CHECK_INT(gush_producer_reserve(p, 10, 10, &region), 0);
		memset(region.memory, 'x', 10);
		CHECK_INT(gush_producer_commit(p, &region, 10), 0); /* queued */
		CHECK_INT(gush_producer_reserve(p, 10, 10, &lent), 0);
		child = fork();
		if (child == 0) {
			int bad = gush_producer_pending(p) != 0;

			bad |= gush_producer_commit(p, &lent, 1) != -EINVAL;
			for (uint64_t at = 5 * MIB; at < 12 * MIB && !bad; at += region.bytes) {
				bad |= gush_producer_reserve(p, 65536, 65536, &region) != 0;
				fill(region.memory, region.bytes, at);
				bad |= gush_producer_commit(p, &region, region.bytes) != 0;
			}
			bad |= gush_producer_flush(p) != 0;
			_exit(bad);
		}
		CHECK_INT(waitpid(child, &status, 0), child);
		CHECK_INT(status, 0);
		CHECK_INT(gush_producer_pending(p), 10);
		gush_producer_close(p);
		close(fds[1]);
		far_end(&far, 12 * MIB);
	}
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(threads_share);
	TEST(forked_child);
	return test_end();
}
