/* SPDX-License-Identifier: MIT */
#include "pair_case.h"

#include "child_case.h"
#include "far_end.h"
#include "receiver.h"
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum expect {
	COMPLETE,
	FAILED, /* with the very errno that was injected */
	EITHER,
};

enum phase { ANY_PHASE, PREPARING, RUNNING };

/* Where the outcome is not "that errno comes back". First match counts. */
static const struct exception {
	enum inject_call call;
	int error; /* 0: any */
	enum phase phase;
	enum expect expect;
} exceptions[] = {
	{ INJECT_CLOSE, 0, ANY_PHASE, COMPLETE },
	{ INJECT_MUNMAP, 0, ANY_PHASE, COMPLETE },
	{ INJECT_IOCTL, 0, ANY_PHASE, COMPLETE },   /* smaps knows too */
	{ INJECT_OPEN, EAGAIN, RUNNING, COMPLETE }, /* asked again, it opens */
	{ INJECT_READ_FLAGS, EAGAIN, RUNNING, COMPLETE },
	{ INJECT_READ_FLAGS, EPERM, RUNNING, COMPLETE }, /* a sandbox */
	{ INJECT_READ_FLAGS, ENOSYS, RUNNING, COMPLETE },
	{ INJECT_READ_FLAGS, EOPNOTSUPP, RUNNING, COMPLETE },
	{ INJECT_WRITE_FLAGS, EAGAIN, RUNNING, COMPLETE },
	{ INJECT_WRITE_FLAGS, EPERM, RUNNING, COMPLETE },
	{ INJECT_WRITE_FLAGS, ENOSYS, RUNNING, COMPLETE },
	{ INJECT_WRITE_FLAGS, EOPNOTSUPP, RUNNING, COMPLETE },
	{ INJECT_WRITE, EAGAIN, RUNNING, COMPLETE },
	{ INJECT_SPLICE, EAGAIN, RUNNING, COMPLETE },
	{ INJECT_VMSPLICE, EAGAIN, RUNNING, COMPLETE },
	{ INJECT_TEE, EAGAIN, RUNNING, COMPLETE },
	{ INJECT_READ, 0, PREPARING, EITHER },	 /* the size of a huge page, or the barrier's trial */
	{ INJECT_CLONE3, 0, PREPARING, EITHER }, /* another way to clone may do */
	{ INJECT_CLONE_PIDFD, 0, PREPARING, EITHER },
};

static enum expect expected(const struct setup *s, enum phase phase)
{
	int error = (int)inject.value;

	if (inject.hits == 0 || inject.kind == INJECT_NOTHING)
		return COMPLETE;
	if (inject.kind != INJECT_ERRNO)
		return phase == PREPARING ? EITHER : COMPLETE;
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++) {
		const struct exception *e = &exceptions[i];

		if (e->call == inject.call && (!e->error || e->error == error) &&
			(!e->phase || e->phase == phase))
			return e->expect;
	}
	if (inject.call == INJECT_READ && error == EAGAIN) /* of its own pipe, HOLD may try again or not */
		return s->call == RECEIVER_HOLD ? EITHER : COMPLETE;
	if (inject.call == INJECT_MADVISE && error == EINVAL)
		return s->huge ? EITHER
			       : COMPLETE; /* it may be the answer for locked pages: asked again then */
	if (phase == PREPARING && inject.call == INJECT_VMSPLICE && s->protect)
		return EITHER; /* the trial: one way may fail and the other do */
	if (phase == PREPARING && inject.call == INJECT_OPEN && s->huge)
		return EITHER;
	return FAILED;
}

/* THE check, the same for faults and for planted bugs. NULL: right; or what is not. */
static const char *judge(const struct setup *s, const struct outcome *o)
{
	enum expect want = expected(s, inject.hit_running ? RUNNING : PREPARING);

	if (o->wrong)
		return o->wrong;
	if (o->bad)
		return "bytes are wrong";
	if (o->claimed != o->arrived)
		return "the count is not what was moved";
	if (o->ret == 0 && o->claimed != CASE_TOTAL)
		return "success, but not all of the bytes";
	if (inject.poll_strayed)
		return "poll waits for the wrong thing";
	if (o->ret > 0)
		return "a return value that is neither 0 nor an error";
	if (o->ret < 0 && !o->failed_at)
		return "an error without failed_at";
	if (o->ret < 0 && o->claimed > 0 && !inject.running)
		return "bytes moved before it was prepared";
	if (want == COMPLETE && o->ret != 0)
		return "an error where there should be none";
	if (want == FAILED && o->ret != -(int)inject.value)
		return "not the error that happened";
	return NULL;
}

static struct sender_config sender_setup(const struct setup *s)
{
	struct sender_config c = {
		.call = (enum sender_call)s->call,
		.chunk_bytes = CASE_CHUNK,
		.chunks = 1,
		.contents = s->call == SENDER_TEE ? CONTENTS_X : CONTENTS_COUNTER,
		.protect = s->protect,
		.wait = s->wait,
		.huge = s->huge,
		.lock = s->huge,
		.check_huge = s->huge,
	};

	if (s->call == SENDER_VMSPLICE) {
		c.chunks = 2;
		c.pipe_bytes =
			s->protect ? 2 * CASE_CHUNK : CASE_CHUNK / 2; /* unprotected: double buffering */
	}
	return c;
}

static struct outcome run_sender(const struct setup *s)
{
	struct sender_config c = sender_setup(s);
	struct outcome o = { 0 };
	struct far_end far = { .stamp = s->call == SENDER_TEE ? STAMP_X : STAMP_COUNTER };
	struct sender sender;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return (struct outcome){ .wrong = "no pipe for the test" };
	far.fd = fds[0];
	far.late_us = inject.kind == INJECT_PRETEND ? 20000 : 0;
	if (pthread_create(&far.thread, NULL, far_drain, &far) != 0)
		abort();
	inject.poll_fd = fds[1];
	inject.poll_events = POLLOUT;
	o.ret = sender_prepare(&sender, fds[1], &c);
	if (o.ret == 0) {
		inject.running = true;
		o.ret = sender_run(&sender, CASE_TOTAL);
	}
	o.failed_at = sender.failed_at;
	o.claimed = sender.sent_bytes;
	sender_release(&sender);
	close(fds[1]);
	pthread_join(far.thread, NULL);
	close(fds[0]);
	o.arrived = far.bytes;
	o.bad = far.bad;
	return o;
}

/* What the receiver left in the pipe must go on exactly where it says it stopped. */
static void account_for_rest(const struct receiver *r, int fd, struct outcome *o)
{
	struct far_end rest = { .fd = fd, .at = r->received_bytes, .calls = 1 };
	uint64_t looked_at = r->seen.bytes;

	if (o->ret < 0) /* then some may not have been taken out of its own pipes */
		looked_at += r->held_bytes[0] + r->held_bytes[1];
	far_drain(&rest);
	o->arrived = CASE_TOTAL - rest.bytes;
	o->bad = rest.bad;
	if (r->config.call == RECEIVER_SPLICE)
		return;
	o->bad += r->seen.bad_bytes;
	if (looked_at != r->received_bytes)
		o->wrong = "bytes were not looked at";
}

static struct outcome run_receiver(const struct setup *s)
{
	struct receiver_config c = {
		.call = (enum receiver_call)s->call,
		.chunk_bytes = CASE_CHUNK,
		.check = true,
		.contents = CONTENTS_COUNTER,
		.wait = s->wait,
		.huge = s->huge,
		.lock = s->huge,
		.check_huge = s->huge,
	};
	struct outcome o = { 0 };
	struct far_end far = { .stamp = STAMP_COUNTER, .total = CASE_TOTAL };
	struct receiver receiver;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return (struct outcome){ .wrong = "no pipe for the test" };
	far.fd = fds[1];
	if (pthread_create(&far.thread, NULL, far_feed, &far) != 0)
		abort();
	inject.poll_fd = fds[0];
	inject.poll_events = POLLIN;
	o.ret = receiver_prepare(&receiver, fds[0], &c);
	if (o.ret == 0) {
		inject.running = true;
		o.ret = receiver_run(&receiver, CASE_TOTAL);
	}
	o.failed_at = receiver.failed_at;
	o.claimed = receiver.received_bytes;
	account_for_rest(&receiver, fds[0], &o);
	receiver_release(&receiver);
	pthread_join(far.thread, NULL);
	close(fds[0]);
	return o;
}

const char *case_run(const struct setup *s, const struct inject *fault, struct outcome *ret_outcome)
{
	unsigned descriptors = child_open_descriptors();
	const char *wrong;

	inject = *fault;
	inject.missing = s->missing;
	inject.missing_errno = s->missing_errno;
	*ret_outcome = s->sends ? run_sender(s) : run_receiver(s);
	wrong = judge(s, ret_outcome);
	if (!wrong && child_open_descriptors() != descriptors)
		wrong = "a descriptor was left open";
	if (!wrong && inject.mapped_bytes != (long)inject.left_bytes)
		wrong = "a mapping was left";
	if (inject.left_bytes) /* or locked ones add up to the limit of a user */
		munmap(inject.left_base, inject.left_bytes);
	return wrong;
}
