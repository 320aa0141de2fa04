/* SPDX-License-Identifier: MIT */
/*
 * A sender and a receiver together. A receiver that holds bytes (as any splicing reader may) sees a ring that
 * is written again under them, unless the barrier protects it.
 */
#include "receiver.h"
#include "sender.h"
#include "stream.h"

#define RING (2 << 20) /* less than two chunks of the receiver and a pipe: pages in flight are reused */
#define IN_FLIGHT (1 << 20)
#define STREAM (64ull << 20)

struct receiving {
	int fd;
	struct receiver_config config;
	struct receiver receiver;
	uint64_t limit;
	int prepared, ret;
};

static void *receiving_thread(void *argument)
{
	struct receiving *r = argument;

	r->prepared = receiver_prepare(&r->receiver, r->fd, &r->config);
	if (r->prepared == 0)
		r->ret = receiver_run(&r->receiver, r->limit);
	close(r->fd);
	return NULL;
}

/* What prepare of the sender returned; the outcome is in *r. */
static int run_pair(const struct sender_config *c, struct receiving *r)
{
	pthread_t thread;
	struct sender s;
	int fds[2], ret;

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	r->fd = fds[0];
	thread = start_thread(receiving_thread, r);
	ret = sender_prepare(&s, fds[1], c);
	if (ret == 0) {
		CHECK_INT(sender_run(&s, r->limit), 0);
		CHECK_INT(s.sent_bytes, r->limit);
	}
	close(fds[1]);
	pthread_join(thread, NULL);
	sender_release(&s);
	receiver_release(&r->receiver);
	CHECK_INT(r->prepared, 0);
	return ret;
}

/* Two ends that both spin take turns with whatever else wants the CPUs: one of them waits. */
static enum gi_wait_kind peer_of(enum gi_wait_kind wait)
{
	return wait == GI_WAIT_SPIN || wait == GI_WAIT_POLL_SPIN ? GI_WAIT_BLOCK : wait;
}

static struct sender_config ring(bool protect, enum gi_wait_kind wait)
{
	return (struct sender_config){
		.call = SENDER_VMSPLICE,
		.wait = wait,
		.chunk_bytes = 65536,
		.chunks = RING / 65536,
		.one_mapping = true,
		.huge = gi_huge_page_bytes() > 0,
		.pipe_bytes = IN_FLIGHT,
		.contents = CONTENTS_COUNTER,
		.protect = protect,
	};
}

static struct receiving hold_much(enum gi_wait_kind wait)
{
	return (struct receiving){
		.limit = STREAM,
		.config = { .call = RECEIVER_HOLD,
			.wait = wait,
			.chunk_bytes = IN_FLIGHT,
			.check = true,
			.contents = CONTENTS_COUNTER },
	};
}

/* The article's way: two buffers, each as large as the pipe. */
static void double_buffering_corrupts(void)
{
	struct sender_config c = ring(false, GI_WAIT_BLOCK);
	struct receiving r = hold_much(GI_WAIT_BLOCK);

	c.chunks = 2;
	c.pipe_bytes = c.chunk_bytes;
	r.config.chunk_bytes = c.chunk_bytes;
	CHECK_INT(run_pair(&c, &r), 0);
	CHECK_INT(r.ret, 0);
	CHECK_INT(r.receiver.seen.bytes, STREAM);
	CHECK(r.receiver.seen.bad_bytes > 0);
}

/* The control for the next: the same ring without the barrier. */
static void unprotected_ring_corrupts(void)
{
	struct sender_config c = ring(false, GI_WAIT_BLOCK);
	struct receiving r = hold_much(GI_WAIT_BLOCK);

	CHECK_INT(run_pair(&c, &r), 0);
	CHECK_INT(r.receiver.seen.bytes, STREAM);
	CHECK(r.receiver.seen.bad_bytes > 0);
}

static void protected_ring_never_does(void)
{
	for (int wait = GI_WAIT_BLOCK; wait <= GI_WAIT_ADAPTIVE; wait++) {
		struct sender_config c = ring(true, wait);
		struct receiving r = hold_much(peer_of(wait));
		int ret = run_pair(&c, &r);

		if (ret == -EOPNOTSUPP)
			SKIP("no barrier protects here");
		CHECK_INT(ret, 0);
		CHECK_INT(r.ret, 0);
		CHECK_INT(r.receiver.seen.bytes, STREAM);
		CHECK_CASE(r.receiver.seen.bad_bytes == 0, wait_names[wait]);
	}
}

static void protected_small_pages(void)
{
	struct sender_config c = ring(true, GI_WAIT_BLOCK);
	struct receiving r = hold_much(GI_WAIT_BLOCK);
	int ret;

	c.huge = false;
	c.one_mapping = false;
	r.limit = 16ull << 20;
	ret = run_pair(&c, &r);
	if (ret == -EOPNOTSUPP)
		SKIP("no barrier protects here");
	CHECK_INT(ret, 0);
	CHECK_INT(r.receiver.seen.bytes, r.limit);
	CHECK_INT(r.receiver.seen.bad_bytes, 0);
}

/* Writing copies: whoever holds what, nothing changes. */
static void writing_never_does(void)
{
	struct sender_config c = ring(false, GI_WAIT_ADAPTIVE);
	struct receiving r = hold_much(GI_WAIT_ADAPTIVE);

	c.call = SENDER_WRITE;
	c.chunks = 1;
	CHECK_INT(run_pair(&c, &r), 0);
	CHECK_INT(r.receiver.seen.bytes, STREAM);
	CHECK_INT(r.receiver.seen.bad_bytes, 0);
}

/* Every way to send with every way to receive, with contents that do not change. */
static void every_pair(void)
{
	struct fds before = fds_now();

	for (int i = 0; i < 3 * 3 * 5 * 2; i++) {
		enum contents contents = i % 2 ? CONTENTS_ZERO : CONTENTS_X;
		struct sender_config c = { .call = i / 2 % 3,
			.wait = i / 18,
			.chunk_bytes = 65536,
			.chunks = 2,
			.contents = contents,
			.untouched = contents == CONTENTS_ZERO,
			.gift = i % 5 == 0 };
		enum gi_wait_kind peer = peer_of(c.wait);
		struct receiving r = { .limit = 3 * 65536 + 4096 + 13,
			.config = { .call = i / 6 % 3,
				.wait = peer,
				.chunk_bytes = 65536,
				.check = true,
				.contents = contents,
				.move = i % 5 == 0 } };

		CHECK_INT(run_pair(&c, &r), 0);
		CHECK_INT(r.ret, 0);
		CHECK_INT(r.receiver.received_bytes, r.limit);
		CHECK_INT(r.receiver.seen.bad_bytes, 0);
	}
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(double_buffering_corrupts);
	TEST(unprotected_ring_corrupts);
	TEST(protected_ring_never_does);
	TEST(protected_small_pages);
	TEST(writing_never_does);
	TEST(every_pair);
	return test_end();
}
