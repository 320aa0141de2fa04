/* SPDX-License-Identifier: MIT */
/* src/producer*.c: what gush.h says of producers, call by call. What keeps bytes in flight is the gauntlet's.
 */
#include "producing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void streams(uint64_t ring_bytes, uint64_t total)
{
	for (size_t i = 0; i < COUNT(policies); i++) {
		struct gush_producer *p;
		struct far far;
		int fds[2];

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		far_start(&far, fds[0]);
		p = open_producer(fds[1], policies[i], ring_bytes, 0);
		CHECK_INT(produce(p, total), 0);
		CHECK_INT(gush_producer_delivered(p), total);
		CHECK_INT(gush_producer_pending(p), 0);
		CHECK(gush_producer_close(p) == NULL);
		close(fds[1]);
		far_end(&far, total);
	}
}

static void whole_streams(void)
{
	streams(0, 3000001);
	streams(0, 40 * MIB + 13); /* long enough to share pages by itself */
}

static void small_rings(void)
{
	streams(1, 9 * MIB + 1);
	streams(4 * MIB, 33 * MIB);
}

/* ---- sinks that are no pipes ---- */

static int other_sink(int kind, int *ret_read)
{
	int fds[2];

	if (kind == 0) {
		*ret_read = -1;
		return memfd_create("sink", MFD_CLOEXEC);
	}
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	*ret_read = fds[0];
	return fds[1];
}

static void look_at_file(int fd, uint64_t total)
{
	struct far far;

	lseek(fd, 0, SEEK_SET);
	far_start(&far, dup(fd));
	far_end(&far, total);
}

static void files_and_sockets(void)
{
	const uint64_t total = 20 * MIB + 5;

	for (size_t i = 0; i < 2 * COUNT(policies); i++) {
		struct gush_report_entry e = { .size = sizeof(e) };
		struct gush_producer *p;
		struct far far;
		int reader, fd = other_sink(i % 2, &reader);

		if (reader >= 0)
			far_start(&far, reader);
		p = open_producer(fd, policies[i / 2], 0, 0);
		CHECK_INT(produce(p, total), 0);
		CHECK_INT(gush_producer_report_entry(p, 0, &e), 0);
		CHECK_TEXT(e.method, "write");
		gush_producer_close(p);
		if (reader < 0)
			look_at_file(fd, total);
		close(fd);
		if (reader >= 0)
			far_end(&far, total);
	}
}

/* ---- errors ---- */

static void bad_arguments(void)
{
	struct gush_producer_options o = GUSH_PRODUCER_OPTIONS_INIT;
	struct gush_producer *p = NULL;
	struct gush_region region = { NULL, 77, 0 }, other;
	int fds[2];

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	CHECK_INT(gush_producer_open(-1, NULL, &p), -EBADF);
	CHECK_INT(gush_producer_open(fds[0], NULL, &p), -EBADF);
	o.size--;
	CHECK_INT(gush_producer_open(fds[1], &o, &p), -EINVAL);
	o = (struct gush_producer_options)GUSH_PRODUCER_OPTIONS_INIT;
	o.policy = GUSH_GIVE + 1;
	CHECK_INT(gush_producer_open(fds[1], &o, &p), -EINVAL);
	o.policy = GUSH_COPY;
	o.flags = GUSH_STABLE;
	CHECK_INT(gush_producer_open(fds[1], &o, &p), -EINVAL);
	o.flags = 0;
	o.wait = GUSH_WAIT_BLOCK + 1;
	CHECK_INT(gush_producer_open(fds[1], &o, &p), -EINVAL);
	o.wait = 0;
	o.reserved = 1;
	CHECK_INT(gush_producer_open(fds[1], &o, &p), -EINVAL);
	CHECK(p == NULL);
	CHECK_INT(gush_producer_open(fds[1], NULL, &p), 0);
	CHECK_INT(gush_producer_reserve(p, 0, 1, &region), -EINVAL);
	CHECK_INT(gush_producer_reserve(p, 2, 1, &region), -EINVAL);
	CHECK_INT(gush_producer_reserve(p, GUSH_REGION_MOST + 1, SIZE_MAX, &region), -EINVAL);
	CHECK(region.memory == NULL && region.bytes == 77);
	CHECK_INT(gush_producer_commit(p, &region, 0), -EINVAL);
	CHECK_INT(gush_producer_reserve(p, GUSH_REGION_MOST, SIZE_MAX, &region), 0);
	CHECK(region.bytes >= GUSH_REGION_MOST);
	CHECK_INT(gush_producer_reserve(p, 1, 1, &other), -EDEADLK);
	CHECK_INT(gush_producer_commit(p, &region, region.bytes + 1), -EINVAL);
	other = region;
	other.reserved = 1000;
	CHECK_INT(gush_producer_commit(p, &other, 1), -EINVAL);
	CHECK_INT(gush_producer_commit(p, &region, 0), 0);
	CHECK_INT(gush_producer_commit(p, &region, 0), -EINVAL); /* twice */
	CHECK_INT(gush_producer_flush(p), 0);
	CHECK(gush_producer_close(p) == NULL && gush_producer_close(NULL) == NULL);
	close(fds[0]);
	close(fds[1]);
}

static void reader_gone(void)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < COUNT(policies); i++) {
		struct gush_report_entry e = { .size = sizeof(e) };
		struct gush_region region;
		struct gush_producer *p;
		uint64_t delivered;
		struct far far;
		int fds[2];

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		far = (struct far){ .fd = fds[0], .stop_at = 5 * MIB };
		far.thread = start_thread(far_read, &far);
		p = open_producer(fds[1], policies[i], 4 * MIB, 0);
		CHECK_INT(produce(p, 100 * MIB), -EPIPE);
		pthread_join(far.thread, NULL);
		CHECK_INT(far.wrong, 0);
		delivered = gush_producer_delivered(p);
		CHECK(delivered >= 5 * MIB && delivered < 10 * MIB);
		CHECK_INT(gush_producer_flush(p), -EPIPE);
		CHECK_INT(gush_producer_reserve(p, 1, 1, &region), -EPIPE);
		CHECK_INT(gush_producer_send(p, &(struct iovec){ "x", 1 }, 1), -EPIPE);
		CHECK_INT(gush_producer_repeat(p, "x", 1, 1), -EPIPE);
		CHECK_INT(gush_producer_delivered(p), delivered);
		for (size_t k = 0; gush_producer_report_entry(p, k, &e) == 0; k++)
			;
		CHECK_INT(e.error, -EPIPE);
		gush_producer_close(p);
		close(fds[1]);
	}
}

/* ---- GUSH_NONBLOCK ---- */

static void never_waits(void)
{
	for (size_t i = 0; i < COUNT(policies); i++) {
		struct gush_producer *p;
		struct gush_region region;
		uint64_t at = 0, seen = 0, wrong = 0;
		unsigned char data[5000];
		int fds[2], ret = 0;

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		p = open_producer(fds[1], policies[i], 4 * MIB, GUSH_NONBLOCK);
		while ((ret = gush_producer_reserve(p, 1, 30000, &region)) == 0 && at < 20 * MIB) {
			fill(region.memory, region.bytes, at);
			at += region.bytes;
			CHECK_INT(gush_producer_commit(p, &region, region.bytes), 0);
		}
		CHECK_INT(ret, -EAGAIN);
		CHECK_INT(gush_producer_flush(p), -EAGAIN);
		CHECK_INT(gush_producer_delivered(p) + gush_producer_pending(p), at);
		CHECK_INT(gush_producer_send(p, &(struct iovec){ "x", 1 }, 1), -EAGAIN);
		CHECK_INT(gush_producer_repeat(p, "x", 1, 1), -EINVAL);
		while (seen < at) {
			ssize_t n = read(fds[0], data, sizeof(data));

			for (ssize_t k = 0; k < n; k++)
				wrong += data[k] != stamp(seen + (uint64_t)k);
			seen += n > 0 ? (uint64_t)n : at;
			ret = gush_producer_flush(p);
		}
		CHECK_INT(wrong, 0);
		CHECK_INT(ret, 0);
		CHECK(!(fcntl(fds[1], F_GETFL) & O_NONBLOCK));
		gush_producer_close(p);
		close(fds[0]);
		close(fds[1]);
	}
}

/* A sink that is O_NONBLOCK itself is waited for. */
static void nonblocking_sink(void)
{
	for (size_t i = 0; i < COUNT(policies); i++) {
		struct gush_producer *p;
		struct far far;
		int fds[2];

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		fcntl(fds[1], F_SETFL, O_NONBLOCK);
		far_start(&far, fds[0]);
		p = open_producer(fds[1], policies[i], 2 * MIB, 0);
		CHECK_INT(produce(p, 6 * MIB), 0);
		gush_producer_close(p);
		close(fds[1]);
		far_end(&far, 6 * MIB);
	}
}

/* ---- memory of the caller's own ---- */

static void send_in_pieces(struct gush_producer *p, const unsigned char *memory, uint64_t total, size_t piece)
{
	struct iovec pieces[100];
	uint64_t at = 0;

	while (at < total) {
		size_t count = 0;
		uint64_t bytes = 0;

		for (; count < COUNT(pieces) && at + bytes < total; count++) {
			size_t n = count % 4 == 2 ? 0 : piece + count;

			if (n > total - at - bytes)
				n = (size_t)(total - at - bytes);
			pieces[count] = (struct iovec){ (void *)(uintptr_t)(memory + at + bytes), n };
			bytes += n;
		}
		CHECK_INT(gush_producer_send(p, pieces, count), bytes);
		at += bytes;
	}
}

static void own_memory(void)
{
	static const size_t piece_bytes[] = { 1, 100, 4096, 70000 };
	const uint64_t total = 2 * MIB + 77;
	unsigned char *memory = malloc(total);

	fill(memory, total, 0);
	for (size_t i = 0; i < COUNT(policies) * COUNT(piece_bytes); i++) {
		struct gush_producer *p;
		struct gush_region region;
		struct far far;
		int fds[2];

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		far_start(&far, fds[0]);
		p = open_producer(fds[1], policies[i % COUNT(policies)], 0, 0);
		CHECK_INT(gush_producer_reserve(p, 1, 100, &region), 0); /* what was committed goes first */
		fill(region.memory, 50, 0);
		CHECK_INT(gush_producer_commit(p, &region, 50), 0);
		send_in_pieces(p, memory + 50, total - 50, piece_bytes[i / COUNT(policies)]);
		CHECK_INT(gush_producer_send(p, NULL, 0), 0);
		gush_producer_close(p);
		close(fds[1]);
		far_end(&far, total);
	}
	free(memory);
}

/* Also where nothing was ever reserved. */
static void own_memory_on_record(void)
{
	static unsigned char memory[9000];

	for (size_t i = 0; i < COUNT(policies); i++) {
		const struct iovec pieces[] = { { memory, 5000 }, { memory + 5000, 4000 } };
		struct gush_report_entry e = { .size = sizeof(e) };
		struct gush_producer *p;
		int fds[2];

		CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
		p = open_producer(fds[1], policies[i], 0, 0);
		CHECK_INT(gush_producer_send(p, pieces, 2), 9000);
		if (CHECK_INT(gush_producer_report_entry(p, 0, &e), 0))
			CHECK_TEXT(e.method, policies[i] == GUSH_CONSTANT ? "vmsplice" : "write");
		CHECK_INT(e.bytes, 9000);
		gush_producer_close(p);
		close(fds[0]);
		close(fds[1]);
	}
}

static void pieces_too_long(void)
{
	struct iovec pieces[] = { { NULL, SIZE_MAX - 5 }, { NULL, 10 } };
	struct gush_producer *p = open_producer(STDERR_FILENO, GUSH_COPY, 0, 0);

	CHECK_INT(gush_producer_send(p, pieces, 2), -EINVAL);
	CHECK_INT(gush_producer_send(p, pieces, 1), -EINVAL);
	CHECK_INT(gush_producer_repeat(p, "", 0, 1), -EINVAL);
	gush_producer_close(p);
}

/* ---- repeating ---- */

struct repeated {
	int fd;
	const unsigned char *unit;
	size_t unit_bytes;
	uint64_t bytes, wrong;
};

static void *read_repeated(void *arg)
{
	struct repeated *r = arg;
	static unsigned char data[100000];
	ssize_t n;

	while ((n = read(r->fd, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			r->wrong += data[i] != r->unit[(r->bytes + (uint64_t)i) % r->unit_bytes];
		r->bytes += (uint64_t)n;
	}
	close(r->fd);
	return NULL;
}

static void repeat_unit(size_t unit_bytes, uint64_t total, uint32_t policy)
{
	unsigned char *unit = malloc(unit_bytes);
	struct repeated r = { .unit = unit, .unit_bytes = unit_bytes };
	struct gush_producer *p;
	pthread_t thread;
	int fds[2];

	for (size_t i = 0; i < unit_bytes; i++)
		unit[i] = (unsigned char)(i * i + 1);
	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	r.fd = fds[0];
	thread = start_thread(read_repeated, &r);
	p = open_producer(fds[1], policy, 0, 0);
	CHECK_INT(gush_producer_repeat(p, unit, unit_bytes, total), total);
	CHECK_INT(gush_producer_delivered(p), total);
	gush_producer_close(p);
	close(fds[1]);
	pthread_join(thread, NULL);
	CHECK_INT(r.bytes, total);
	CHECK_INT(r.wrong, 0);
	free(unit);
}

static void repeats(void)
{
	static const size_t units[] = { 1, 2, 7, 4095, 4096, 4097, 65536, 100003, 3 * 1024 * 1024 + 5 };

	for (size_t i = 0; i < COUNT(units); i++)
		for (size_t k = 0; k < COUNT(policies); k++)
			repeat_unit(units[i], 5 * MIB + 3, policies[k]);
	repeat_unit(7, 80 * MIB + 1, GUSH_CONSTANT); /* past where tee and vmsplice race */
	repeat_unit(2, 80 * MIB, GUSH_CONSTANT);
	repeat_unit(5, 3, GUSH_CONSTANT);
	repeat_unit(5, 0, GUSH_CONSTANT);
}

/* ---- the environment, descriptors ---- */

static uint64_t bytes_on_record(const struct gush_producer *p, const char *way)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	uint64_t bytes = 0;

	for (size_t i = 0; gush_producer_report_entry(p, i, &e) == 0; i++)
		if (strcmp(e.method, way) == 0)
			bytes += e.bytes;
	return bytes;
}

/* Each way's bytes are its own, however ways take turns. */
static void mixed_ways(void)
{
	static unsigned char page[65536];
	struct gush_region region;
	struct gush_producer *p;
	uint64_t total = 0;
	struct far far;
	int fds[2];

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	far_start(&far, fds[0]);
	p = open_producer(fds[1], GUSH_CONSTANT, 0, 0);
	for (int i = 0; i < 20; i++) {
		CHECK_INT(gush_producer_reserve(p, 100, 100, &region), 0);
		fill(region.memory, 100, total);
		CHECK_INT(gush_producer_commit(p, &region, 100), 0);
		fill(page, sizeof(page), total + 100);
		CHECK_INT(gush_producer_send(p, &(struct iovec){ page, sizeof(page) }, 1), sizeof(page));
		total += 100 + sizeof(page);
		while (far.bytes < total) /* the page is written again */
			usleep(100);
	}
	CHECK_INT(bytes_on_record(p, "write"), 20 * 100);
	CHECK_INT(bytes_on_record(p, "vmsplice"), 20 * sizeof(page));
	gush_producer_close(p);
	close(fds[1]);
	far_end(&far, total);
}

static void policy_from_environment(void)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	struct gush_producer *p;
	struct far far;
	int fds[2];

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	far_start(&far, fds[0]);
	setenv("GUSH_POLICY", "copy", 1);
	p = open_producer(fds[1], GUSH_PROTECT, 4 * MIB, 0);
	unsetenv("GUSH_POLICY");
	CHECK_INT(produce(p, 20 * MIB), 0);
	CHECK_INT(gush_producer_report_entry(p, 0, &e), 0);
	CHECK_TEXT(e.method, "write");
	CHECK_INT(e.bytes, 20 * MIB);
	CHECK_INT(gush_producer_report_entry(p, 1, &e), -ENOENT);
	e.size--;
	CHECK_INT(gush_producer_report_entry(p, 0, &e), -EINVAL);
	gush_producer_close(p);
	close(fds[1]);
	far_end(&far, 20 * MIB);
}

static void leaves_nothing_open(void)
{
	struct fds before = fds_now();

	streams(2 * MIB, 5 * MIB);
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(whole_streams);
	TEST(small_rings);
	TEST(files_and_sockets);
	TEST(bad_arguments);
	TEST(reader_gone);
	TEST(never_waits);
	TEST(nonblocking_sink);
	TEST(own_memory);
	TEST(own_memory_on_record);
	TEST(pieces_too_long);
	TEST(repeats);
	TEST(mixed_ways);
	TEST(policy_from_environment);
	TEST(leaves_nothing_open);
	return test_end();
}
