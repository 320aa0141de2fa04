/* SPDX-License-Identifier: MIT */
/* What include/gush.h promises of consumers, statement by statement; records of every length against a model.
 */
#include "consuming.h"

#include <poll.h>
#include <sys/ioctl.h>

/* ---- opening ---- */

static int try_open(int fd, struct gush_consumer_options o)
{
	struct gush_consumer *c = (struct gush_consumer *)stamp;
	int ret = gush_consumer_open(fd, &o, &c);

	if (ret == 0)
		CHECK(gush_consumer_close(c) == NULL);
	else
		CHECK(c == (struct gush_consumer *)stamp);
	return ret;
}

static void bad_options(void)
{
	const struct gush_consumer_options good = GUSH_CONSUMER_OPTIONS_INIT;
	struct gush_consumer_options o[7];
	int fd = file_of(10), p[2];

	for (size_t i = 0; i < COUNT(o); i++)
		o[i] = good;
	o[1].size--;
	o[2].size = 0;
	o[3].flags = GUSH_STABLE;
	o[4].flags = 1u << 31;
	o[5].wait = GUSH_WAIT_BLOCK + 1;
	o[6].wait = UINT32_MAX;
	for (size_t i = 1; i < COUNT(o); i++)
		CHECK_INT(try_open(fd, o[i]), -EINVAL);
	o[0].size += 100; /* of a later version */
	CHECK_INT(try_open(fd, o[0]), 0);
	CHECK_INT(try_open(-1, good), -EBADF);
	make_pipe(p);
	CHECK_INT(try_open(p[1], good), -EBADF);
	CHECK_INT(try_open(p[0], good), 0);
	CHECK(gush_consumer_close(NULL) == NULL);
	close(p[0]);
	close(p[1]);
	close(fd);
}

/* ---- next ---- */

static void next_brings_all(void)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, BEGIN_BYTES - 1, BEGIN_BYTES, BEGIN_BYTES + 1,
		TOTAL };
	static const uint64_t begins[] = { 0, 1, 4095, 4096, 4097, 5000, TOTAL + 1, UINT64_MAX };

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t b = 0; b < COUNT(begins); b++) {
			int fd = file_of(sizes[i]);
			struct gush_consumer *c = open_with(fd, begins[b], begins[b], 0);
			size_t at = 0;

			if (begins[b] == 1 && sizes[i] > 5000)
				lseek(fd, (off_t)(at = sizes[i] - 5000), SEEK_SET);
			while (next(c) == 1 && bytes > 0 && at + bytes <= sizes[i] &&
				(begins[b] == 0 || bytes <= begins[b]) &&
				memcmp(data, stamp + at, bytes) == 0)
				at += bytes;
			CHECK_INT(at, sizes[i]);
			check_none(next(c), 0);
			gush_consumer_close(c);
			close(fd);
		}
}

/* The end is told again, but the source is not asked again. */
static void end_stays(void)
{
	int fd = file_of(3);
	struct gush_consumer *c = open_with(fd, 0, 0, 0);

	check_got(next(c), stamp, 3);
	check_none(next(c), 0);
	CHECK_INT(pwrite(fd, "more", 4, 3), 4);
	check_none(next(c), 0);
	check_none(peek(c, 1), 0);
	check_none(peek(c, 0), 0);
	check_none(split(c, '\n'), 0);
	CHECK_INT(gush_consumer_consume(c, 0), 0);
	CHECK_INT(gush_consumer_consume(c, 1), -EINVAL);
	gush_consumer_close(c);
	CHECK_INT(lseek(fd, 0, SEEK_CUR), 3);
	close(fd);
}

static void error_stays(void)
{
	int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gush_consumer *c = open_with(folder, 0, 0, 0);

	check_none(next(c), -EISDIR);
	check_none(peek(c, 0), -EISDIR);
	check_none(peek(c, 5), -EISDIR);
	check_none(split(c, 0), -EISDIR);
	gush_consumer_close(c);
	close(folder);
}

/* ---- peek and consume ---- */

static void peek_sizes(void)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8191, 8192, 8193, BEGIN_BYTES - 1,
		BEGIN_BYTES, BEGIN_BYTES + 1, TOTAL - 1, TOTAL, TOTAL + 1 };
	static const size_t limits[] = { 1, 3, 4095, 4096, 4097, 10000, BEGIN_BYTES + 1, TOTAL + 1 };
	static const uint64_t begins[] = { 0, 1, 4097 };

	for (size_t l = 0; l < COUNT(limits); l++)
		for (size_t b = 0; b < COUNT(begins); b++)
			for (size_t i = 0; i < COUNT(sizes); i++) {
				int fd = file_of(TOTAL), ret;
				struct gush_consumer *c = open_with(fd, begins[b], limits[l], 0);

				ret = peek(c, sizes[i]);
				if (sizes[i] > limits[l]) {
					check_none(ret, -EMSGSIZE);
				} else {
					CHECK_INT(ret, 1);
					CHECK(bytes >= (sizes[i] < TOTAL ? sizes[i] : TOTAL));
					CHECK(bytes <= limits[l]);
					CHECK(bytes > TOTAL || memcmp(data, stamp, bytes) == 0);
				}
				gush_consumer_close(c);
				CHECK_INT(lseek(fd, 0, SEEK_CUR), 0);
				close(fd);
			}
}

static void peek_of_nothing(void)
{
	int p[2];
	struct gush_consumer *c;

	make_pipe(p);
	c = open_with(p[0], 0, 0, 0); /* would wait, if it read */
	check_got(peek(c, 0), "", 0);
	put(p[1], "ab");
	check_got(peek(c, 0), "", 0);
	CHECK_GOT(peek(c, 1), "ab");
	CHECK_GOT(peek(c, 0), "ab");
	close(p[1]);
	CHECK_GOT(peek(c, 9), "ab");
	CHECK_GOT(peek(c, 9), "ab");
	check_none(peek(c, SIZE_MAX), -EMSGSIZE);
	CHECK_GOT(next(c), "ab");
	check_none(peek(c, 0), 0);
	gush_consumer_close(c);
	close(p[0]);
}

static void consume(void)
{
	int fd = file_of(100);
	struct gush_consumer *c = open_with(fd, 0, 0, 0);

	CHECK_INT(gush_consumer_consume(c, 1), -EINVAL);
	CHECK_INT(gush_consumer_consume(c, 0), 0);
	check_got(peek(c, 10), stamp, 100);
	CHECK_INT(gush_consumer_consume(c, 101), -EINVAL);
	CHECK_INT(gush_consumer_consume(c, 30), 0);
	CHECK_INT(gush_consumer_consume(c, 71), -EINVAL);
	CHECK_INT(gush_consumer_consume(c, SIZE_MAX), -EINVAL);
	check_got(peek(c, 1), stamp + 30, 70);
	CHECK_INT(gush_consumer_consume(c, 60), 0);
	check_none(peek(c, SIZE_MAX), -EMSGSIZE); /* what was shown before is there still */
	CHECK_INT(gush_consumer_consume(c, 5), 0);
	check_got(next(c), stamp + 95, 5);
	CHECK_INT(gush_consumer_consume(c, 1), -EINVAL);
	gush_consumer_close(c);
	close(fd);

	fd = file_of(100);
	c = open_with(fd, 0, 0, 0);
	check_got(peek(c, 10), stamp, 100);
	check_got(split(c, (unsigned char)stamp[9]), stamp, 10);
	CHECK_INT(gush_consumer_consume(c, 1), -EINVAL);
	gush_consumer_close(c);
	CHECK_INT(lseek(fd, 0, SEEK_CUR), 10);
	close(fd);
}

/* All of a stream by peeks of one size that each consume a part: the buffer is moved and grown on the way. */
static void sliding_peeks(void)
{
	static const size_t leasts[] = { 1, 100, 4095, 4096, 4097, 70000 };
	static const uint64_t limits[] = { 0, 70000, 70001 };

	for (size_t l = 0; l < COUNT(limits); l++)
		for (size_t i = 0; i < COUNT(leasts); i++) {
			int fd = file_of(TOTAL);
			struct gush_consumer *c = open_with(fd, 4096, limits[l], 0);
			size_t at = 0, eaten;

			while (at < TOTAL && peek(c, leasts[i]) == 1) {
				if (!CHECK(bytes >= leasts[i] || at + bytes == TOTAL) ||
					!CHECK(memcmp(data, stamp + at, bytes) == 0))
					break;
				eaten = bytes < 997 ? bytes : 997;
				CHECK_INT(gush_consumer_consume(c, eaten), 0);
				at += eaten;
			}
			CHECK_INT(at, TOTAL);
			check_none(peek(c, 1), 0);
			gush_consumer_close(c);
			close(fd);
		}
}

/* ---- split ---- */

static void split_words(void)
{
	int p[2];
	struct gush_consumer *c;

	make_pipe(p);
	c = open_with(p[0], 0, 0, 0);
	put(p[1], "one\n\ntwo\nthree,four\nlast");
	close(p[1]);
	CHECK_GOT(split(c, '\n'), "one\n");
	CHECK_GOT(split(c, '\n'), "\n");
	CHECK_GOT(split(c, 'o'), "two");
	CHECK_GOT(split(c, '\n'), "\n");
	CHECK_GOT(split(c, ','), "three,");
	CHECK_GOT(split(c, '\n'), "four\n");
	CHECK_GOT(split(c, 0), "last");
	check_none(split(c, 0), 0);
	check_none(split(c, '\n'), 0);
	gush_consumer_close(c);
	close(p[0]);
}

/* Every byte value may delimit. */
static void split_bytes(void)
{
	unsigned char all[256];
	int fd = file_of(0);

	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	CHECK_INT(pwrite(fd, all, 256, 0), 256);
	for (int i = 0; i < 256; i++) {
		struct gush_consumer *c = open_with(fd, 0, 0, 0);

		check_got(split(c, (unsigned char)i), (const char *)all, (size_t)i + 1);
		gush_consumer_close(c);
		lseek(fd, 0, SEEK_SET);
	}
	close(fd);
}

/* Exactly the limit fits, with its delimiter; a longer record comes in pieces, by next. */
static void split_limit(void)
{
	static const size_t limits[] = { 1, 2, 100, 4095, 4096, 4097, 10000, BEGIN_BYTES, BEGIN_BYTES + 1 };

	for (size_t i = 0; i < COUNT(limits); i++) {
		size_t n = limits[i];
		int fd = file_of(2 * n - 1);
		struct gush_consumer *c = open_with(fd, 0, n, 0);

		CHECK_INT(pwrite(fd, "\n", 1, (off_t)n - 1), 1);
		CHECK_INT(split(c, '\n'), 1);
		CHECK_INT(bytes, n);
		if (n > 1) /* one without its delimiter must be shorter */
			check_got(split(c, '\n'), stamp + n, n - 1);
		check_none(split(c, '\n'), 0);
		gush_consumer_close(c);
		close(fd);

		fd = file_of(2 * n + 1);
		CHECK_INT(pwrite(fd, "\n", 1, (off_t)(2 * n)), 1);
		c = open_with(fd, 0, n, 0);
		check_none(split(c, '\n'), -EMSGSIZE);
		check_none(split(c, '\n'), -EMSGSIZE);
		check_none(peek(c, n + 1), -EMSGSIZE);
		check_got(next(c), stamp, n);
		check_none(split(c, '\n'), -EMSGSIZE);
		check_got(next(c), stamp + n, n);
		CHECK_GOT(split(c, '\n'), "\n");
		check_none(split(c, '\n'), 0);
		gush_consumer_close(c);
		close(fd);
	}
}

static unsigned draw(unsigned below)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 16) % below;
}

#define MODEL_LONGEST ((size_t)3 * 4096)

/* The stream of the model: record i is i bytes of the stamp, from i % 251 on, and the delimiter. */
struct model {
	int fd;
	char delimiter;
	size_t record, at; /* to write next */
	size_t got;	   /* records */
};

/* Writes up to `most` bytes of the stream. False: all has been written. */
static bool feed(struct model *m, size_t most)
{
	static char piece[MODEL_LONGEST];
	size_t n = 0;

	while (n < most && (m->record < MODEL_LONGEST || m->at < MODEL_LONGEST)) { /* the last one lacks it */
		piece[n++] = m->at < m->record ? stamp[m->record % 251 + m->at] : m->delimiter;
		if (m->at++ == m->record) {
			m->record++;
			m->at = 0;
		}
	}
	return n > 0 && write(m->fd, piece, n) == (ssize_t)n;
}

static bool is_record(size_t i, char delimiter)
{
	const char *got = data;
	size_t want = i == MODEL_LONGEST ? i : i + 1;

	return bytes == want && memcmp(got, stamp + i % 251, i) == 0 && (want == i || got[i] == delimiter);
}

static void run_model(char delimiter, uint64_t begin, bool socket)
{
	struct model m = { .delimiter = delimiter };
	struct gush_consumer *c;
	int fds[2], ret;

	if (socket)
		make_sockets(SOCK_STREAM, fds);
	else
		make_pipe(fds);
	m.fd = fds[1];
	c = open_with(fds[0], begin, 0, GUSH_NONBLOCK);
	for (;;) {
		while ((ret = split(c, (unsigned char)delimiter)) == 1 && is_record(m.got, delimiter))
			m.got++;
		if (ret != -EAGAIN)
			break;
		if (!feed(&m, 1 + draw(draw(4) ? MODEL_LONGEST : 1u << draw(12))))
			close(fds[1]);
	}
	CHECK_INT(ret, 0);
	CHECK_INT(m.got, MODEL_LONGEST + 1);
	gush_consumer_close(c);
	close(fds[0]);
}

static void records_of_every_length(void)
{
	run_model('\n', 0, false);
	run_model('\0', 1, false);
	run_model('\n', 4097, true);
}

/* ---- waiting ---- */

static void nonblock(void)
{
	int p[2];
	struct gush_consumer *c;

	make_pipe(p);
	c = open_with(p[0], 0, 0, GUSH_NONBLOCK);
	check_none(next(c), -EAGAIN);
	check_none(peek(c, 1), -EAGAIN);
	check_none(split(c, '\n'), -EAGAIN);
	put(p[1], "abc");
	check_none(split(c, '\n'), -EAGAIN);
	CHECK_GOT(split(c, 'a'), "a"); /* another delimiter, in what was looked at */
	put(p[1], "a");
	check_none(peek(c, 4), -EAGAIN);
	CHECK_GOT(peek(c, 0), "bca");
	CHECK_INT(gush_consumer_consume(c, 1), 0);
	CHECK_GOT(peek(c, 2), "ca");
	CHECK_INT(gush_consumer_consume(c, 1), 0);
	put(p[1], "d\ne");
	CHECK_GOT(split(c, '\n'), "ad\n");
	CHECK_GOT(next(c), "e");
	check_none(next(c), -EAGAIN);
	CHECK_INT(fcntl(p[0], F_GETFL) & O_NONBLOCK, 0);
	close(p[1]);
	check_none(next(c), 0);
	gush_consumer_close(c);
	close(p[0]);
}

static void *feed_slowly(void *arg)
{
	for (int i = 0; i < 6; i++) {
		sleep_ms(10);
		put(*(int *)arg, i % 2 ? "34\n" : "12");
	}
	close(*(int *)arg);
	return NULL;
}

/* O_NONBLOCK is waited for, in every manner, and kept. */
static void waiting(void)
{
	for (uint32_t wait = GUSH_WAIT_DEFAULT; wait <= GUSH_WAIT_BLOCK; wait++)
		for (int kind = 0; kind < 4; kind++) {
			struct gush_consumer_options o = GUSH_CONSUMER_OPTIONS_INIT;
			struct gush_consumer *c = NULL;
			pthread_t thread;
			int fds[2], flags = kind % 2 ? O_NONBLOCK : 0;

			if (kind < 2)
				make_pipe(fds);
			else
				make_sockets(SOCK_STREAM, fds);
			fcntl(fds[0], F_SETFL, flags);
			o.wait = wait;
			CHECK_INT(gush_consumer_open(fds[0], &o, &c), 0);
			thread = start_thread(feed_slowly, &fds[1]);
			CHECK_INT(peek(c, 5), 1);
			CHECK(bytes >= 5 && memcmp(data, "1234\n", 5) == 0);
			for (int i = 0; i < 3; i++)
				CHECK_GOT(split(c, '\n'), "1234\n");
			check_none(split(c, '\n'), 0);
			pthread_join(thread, NULL);
			CHECK_INT(fcntl(fds[0], F_GETFL) & O_NONBLOCK, flags);
			gush_consumer_close(c);
			close(fds[0]);
		}
}

int main(void)
{
	alarm(HANG_SECONDS);
	fill_stamp();
	TEST(bad_options);
	TEST(next_brings_all);
	TEST(end_stays);
	TEST(error_stays);
	TEST(peek_sizes);
	TEST(peek_of_nothing);
	TEST(consume);
	TEST(sliding_peeks);
	TEST(split_words);
	TEST(split_bytes);
	TEST(split_limit);
	TEST(records_of_every_length);
	TEST(nonblock);
	TEST(waiting);
	return test_end();
}
