/* SPDX-License-Identifier: MIT */
/* tools/pair/sender.c: every call, wait, ring and kind of contents, through a pipe to a plain reader. */
#include "sender.h"

#include "stream.h"

#define CHUNK 65536

static const char *const call_names[] = { "write", "vmsplice", "tee" };

/* No multiple of a chunk, a page or a word, and some that are. The first is for the ways that spin, too. */
static const uint64_t limits[] = { 2 * CHUNK + 3 * 4096 + 13, 1, 4096, 5 * CHUNK };

static const struct layout {
	const char *name;
	size_t chunk_bytes;
	unsigned chunks;
	bool one_mapping, huge;
} layouts[] = {
	{ "1 chunk", CHUNK, 1, false, false },
	{ "1 odd chunk", 5000, 1, false, false },
	{ "2 chunks", CHUNK, 2, false, false },
	{ "2 odd chunks", 5000, 2, false, false },
	{ "2 odd chunks, one mapping", 5000, 2, true, false },
	{ "2 chunks, one mapping, huge", CHUNK, 2, true, true },
	{ "7 chunks, huge", CHUNK, 7, false, true },
};

static struct sender_config configure(
	const struct layout *l, enum sender_call call, enum gi_wait_kind wait, enum contents contents)
{
	return (struct sender_config){
		.call = call,
		.wait = wait,
		.contents = contents,
		.chunk_bytes = l->chunk_bytes,
		.chunks = l->chunks,
		.one_mapping = l->one_mapping,
		.huge = l->huge && gi_huge_page_bytes() > 0,
		.untouched = contents == CONTENTS_ZERO,
		/* As many slots as a chunk has pages: then double buffering is safe before a plain reader. */
		.pipe_bytes = l->chunk_bytes == CHUNK ? CHUNK : 8192,
	};
}

/* A counter changes its buffer, which is right only if the reader has copied what was there. */
static bool makes_sense(const struct sender_config *c)
{
	if (c->contents != CONTENTS_COUNTER || c->call == SENDER_WRITE)
		return true;
	return c->call == SENDER_VMSPLICE && c->chunks >= 2;
}

static void send_one(const struct sender_config *c, const char *layout, uint64_t limit)
{
	struct reader reader = { .piece = 20000 };
	struct sender s;
	char name[120];
	int fds[2], flags;

	snprintf(name, sizeof(name), "%s, %s, %s, %s, %llu bytes", call_names[c->call], wait_names[c->wait],
		layout, contents_names[c->contents], (unsigned long long)limit);
	CHECK_CASE(pipe2(fds, O_CLOEXEC) == 0, name);
	reader_start(&reader, fds[0], c->contents);
	flags = fcntl(fds[1], F_GETFL);
	CHECK_CASE(sender_prepare(&s, fds[1], c) == 0, name);
	CHECK_CASE(sender_run(&s, limit) == 0, name);
	CHECK_CASE(s.sent_bytes == limit, name);
	CHECK_CASE(s.failed_at == NULL, name);
	CHECK_CASE(fcntl(fds[1], F_GETFL) == flags, name);
	close(fds[1]);
	pthread_join(reader.thread, NULL); /* before the release: what is in flight is not copied yet */
	sender_release(&s);
	CHECK_CASE(reader.seen.bytes == limit, name);
	CHECK_CASE(reader.seen.bad_bytes == 0, name);
}

static bool spins(enum gi_wait_kind wait)
{
	return wait == GI_WAIT_SPIN || wait == GI_WAIT_POLL_SPIN;
}

static void send_all(enum sender_call call)
{
	struct fds before = fds_now();

	for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++)
		for (size_t l = 0; l < COUNT(layouts); l++)
			for (int contents = 0; contents < 3; contents++) {
				struct sender_config c = configure(&layouts[l], call, wait, contents);

				if (!makes_sense(&c))
					continue;
				for (size_t i = 0; i < (spins(wait) ? 1 : COUNT(limits)); i++)
					send_one(&c, layouts[l].name, limits[i]);
			}
	CHECK_INT(fds_opened_since(&before), 0);
}

static void by_write(void)
{
	send_all(SENDER_WRITE);
}

static void by_vmsplice(void)
{
	send_all(SENDER_VMSPLICE);
}

static void by_tee(void)
{
	send_all(SENDER_TEE);
}

static void by_gift(void)
{
	struct sender_config c = configure(&layouts[2], SENDER_VMSPLICE, GI_WAIT_BLOCK, CONTENTS_X);

	c.gift = true;
	send_one(&c, "gift", 3 * CHUNK + 13);
}

/* Other sinks than a pipe, where write is what works. */
static void to_a_file(void)
{
	struct sender_config c = configure(&layouts[3], SENDER_WRITE, GI_WAIT_ADAPTIVE, CONTENTS_COUNTER);
	struct contents_check check = { .expected = CONTENTS_COUNTER };
	int file = open_nameless(S_IFREG, O_RDWR);
	static char bytes[100001];
	struct sender s;

	c.pipe_bytes = 0;
	CHECK_INT(sender_prepare(&s, file, &c), 0);
	CHECK_INT(sender_run(&s, sizeof(bytes)), 0);
	sender_release(&s);
	CHECK_INT(lseek(file, 0, SEEK_END), sizeof(bytes));
	CHECK_INT(pread(file, bytes, sizeof(bytes), 0), sizeof(bytes));
	contents_check(&check, bytes, sizeof(bytes));
	CHECK_INT(check.bad_bytes, 0);
	close(file);
}

/* In several runs: the limit is of all bytes sent, and the stream goes on where it was. */
static void in_several_runs(void)
{
	static const uint64_t totals[] = { 8, 5000, 5008, 20000, 20000, 123456 };
	struct sender_config c = configure(&layouts[3], SENDER_WRITE, GI_WAIT_BLOCK, CONTENTS_COUNTER);
	struct reader reader = { 0 };
	struct sender s;
	int fds[2];

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	reader_start(&reader, fds[0], CONTENTS_COUNTER);
	CHECK_INT(sender_prepare(&s, fds[1], &c), 0);
	for (size_t i = 0; i < COUNT(totals); i++) {
		CHECK_INT(sender_run(&s, totals[i]), 0);
		CHECK_INT(s.sent_bytes, totals[i]);
	}
	close(fds[1]);
	pthread_join(reader.thread, NULL);
	sender_release(&s);
	CHECK_INT(reader.seen.bytes, 123456);
	CHECK_INT(reader.seen.bad_bytes, 0);
}

static void opens_what_it_needs_only(void)
{
	struct fds before;
	struct sender s;
	int fds[2];

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	before = fds_now();
	for (int call = SENDER_WRITE; call <= SENDER_TEE; call++) {
		struct sender_config c = configure(&layouts[2], call, GI_WAIT_SPIN, CONTENTS_X);

		CHECK_INT(sender_prepare(&s, fds[1], &c), 0);
		CHECK_INT(fds_opened_since(&before), call == SENDER_TEE ? 2 : 0);
		sender_release(&s);
		CHECK_INT(fds_opened_since(&before), 0);
		sender_release(&s);
		CHECK_INT(fds_opened_since(&before), 0);
	}
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(by_write);
	TEST(by_vmsplice);
	TEST(by_tee);
	TEST(by_gift);
	TEST(to_a_file);
	TEST(in_several_runs);
	TEST(opens_what_it_needs_only);
	return test_end();
}
