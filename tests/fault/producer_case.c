/* SPDX-License-Identifier: MIT */
#include "producer_case.h"

#include "child_case.h"
#include "far_end.h"
#include "gush.h"
#include "transit.h"
#include "wakeup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define LENT_FIRST ((size_t)5003)
#define LENT_SECOND ((size_t)4441)
#define ROUND_BYTES (LENT_FIRST + LENT_SECOND)
#define ROUNDS_MOST 8
#define UNIT_BYTES 4099				/* of what is repeated */
#define REPEATED ((uint64_t)500001)		/* shares pages after 256 KiB; fits a large pipe */
#define RACED (((uint64_t)66 << 20) + 501)	/* tee after 64 MiB */
#define LOOKED_AT (((uint64_t)63 << 20) + 4099) /* of those, from here on */
#define DRAINED ((size_t)11003)
#define WAITS_MOST 300
#define CALLS_MOST 3000

static struct sink sink; /* large */
static unsigned char content[ROUNDS_MOST * ROUND_BYTES];

static void fill_content(void)
{
	static bool filled;

	for (size_t i = 0; !filled && i < sizeof(content); i++)
		content[i] = stamp_byte(STAMP_COUNTER, i);
	filled = true;
}

/* A socket has less room: nobody drains while it is sent to. */
static unsigned rounds(const struct producer_setup *s)
{
	return s->sink == END_UNIX ? 5 : ROUNDS_MOST;
}

static uint64_t wanted(const struct producer_setup *s)
{
	if (s->feed == FEED_REPEAT)
		return s->races ? RACED : REPEATED;
	return rounds(s) * ROUND_BYTES;
}

static bool nonblocking(const struct producer_setup *s)
{
	return s->flags & GUSH_NONBLOCK;
}

/* ---- what is expected ---- */

enum expect { COMPLETE, FAILED, EITHER };

static bool in_list(const int *list, int error)
{
	while (*list && *list != error)
		list++;
	return *list;
}

/* Copying would only meet them again. */
static const int last_words[] = { EPIPE, EFBIG, ENOSPC, EDQUOT, 0 };
static const int not_served[] = { EPERM, ENOSYS, EOPNOTSUPP, 0 };

static bool is_write(enum inject_call call)
{
	return call == INJECT_WRITE || call == INJECT_WRITEV || call == INJECT_WRITE_FLAGS;
}

static enum expect expected(const struct producer_setup *s, const struct producer_outcome *o)
{
	int error = (int)inject.value;

	if (inject.hits > 0 && inject.kind == INJECT_END)
		return is_write(inject.call) ? FAILED : COMPLETE;
	if (inject.hits == 0 || inject.kind != INJECT_ERRNO)
		return COMPLETE;
	switch (inject.call) {
	case INJECT_FSTAT:
	case INJECT_GET_FLAGS:
	case INJECT_GET_PIPE_SIZE:
		return inject.hit_running ? COMPLETE : FAILED;
	case INJECT_WRITE_FLAGS:
		if (in_list(not_served, error))
			return COMPLETE; /* there are other ways not to wait */
		return error == EAGAIN ? COMPLETE : FAILED;
	case INJECT_WRITE:
	case INJECT_WRITEV:
		return error == EAGAIN ? COMPLETE : FAILED;
	case INJECT_VMSPLICE_PIECES:
	case INJECT_TEE:
		if (inject.call == INJECT_TEE && inject.hit_out != o->sink_fd)
			return COMPLETE; /* the race in pipes of its own */
		return in_list(last_words, error) ? FAILED : COMPLETE;
	case INJECT_MMAP:
	case INJECT_MADVISE: /* of the memory for copying, or of what is shared */
	case INJECT_POLL:
		return EITHER;
	case INJECT_OPEN: /* of a description of its own */
		return nonblocking(s) ? EITHER : COMPLETE;
	default:
		return COMPLETE;
	}
}

static bool breaks_the_stream(const struct producer_setup *s)
{
	if (!s->broken_from || inject.seen[s->broken] < s->broken_from || s->broken_errno == EAGAIN)
		return false;
	if (s->broken == INJECT_WRITE_FLAGS && in_list(not_served, s->broken_errno))
		return false;
	return is_write(s->broken) || in_list(last_words, s->broken_errno);
}

/* Not the sink's: what was committed goes all the same. */
static bool of_memory(void)
{
	return inject.call == INJECT_MMAP || inject.call == INJECT_MADVISE;
}

/* ---- the judgement ---- */

static const char *judge_record(const struct gush_producer *p, const struct producer_outcome *o)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	bool refused = inject.kind == INJECT_ERRNO && inject.hits > 0 && inject.value != EAGAIN &&
		       (inject.call == INJECT_VMSPLICE_PIECES || inject.call == INJECT_TEE) &&
		       inject.hit_running && (inject.call != INJECT_TEE || inject.hit_out == o->sink_fd) &&
		       !in_list(last_words, (int)inject.value);
	bool told_error = o->ret == 0 || of_memory(), told_refusal = !refused, used = false;
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; gush_producer_report_entry(p, i, &e) == 0; i++) {
		bytes += e.bytes;
		used |= e.outcome == GUSH_TRIED_USED;
		told_error |= e.error == o->ret;
		told_refusal |= e.outcome == GUSH_TRIED_FAILED && e.error == -(int)inject.value;
	}
	if (bytes != o->delivered)
		return "the record's bytes do not add up to what was delivered";
	if (i > 0 && !used)
		return "the record has no way that was used";
	if (!told_error)
		return "the record does not name the error";
	return told_refusal ? NULL : "the record does not name what was refused";
}

static const char *judge_bytes(const struct producer_setup *s, const struct producer_outcome *o)
{
	if (s->feed != FEED_REPEAT &&
		(sink.got_bytes > sizeof(content) || memcmp(sink.got, content, sink.got_bytes) != 0))
		return "the sink does not hold what was sent";
	if (sink.got_bytes != o->delivered)
		return "the sink holds more or less than was delivered";
	if (o->delivered + o->pending != o->taken)
		return "delivered and pending do not add up to what was taken";
	if (o->ret == 0 && (o->pending != 0 || o->taken != wanted(s)))
		return "success, but not all of the bytes";
	return NULL;
}

static bool is_the_error(int64_t ret)
{
	bool broken = inject.missing_errno && ret == -inject.missing_errno;

	if (inject.kind == INJECT_END && ret == -EIO)
		return true;
	return broken || ret == -inject.value || (of_memory() && inject.value == EAGAIN && ret == -ENOMEM);
}

static const char *judge_error(const struct producer_setup *s, const struct producer_outcome *o)
{
	bool waits = inject.kind == INJECT_ERRNO && inject.value == EAGAIN && inject.hits > 0 &&
		     inject.hit_running &&
		     (inject.call == INJECT_WRITE || inject.call == INJECT_WRITEV ||
			     inject.call == INJECT_VMSPLICE_PIECES);
	enum expect want = expected(s, o);

	if (waits && !nonblocking(s) && s->wait == GUSH_WAIT_DEFAULT && inject.seen[INJECT_POLL] == 0)
		return "it did not wait";
	if (o->ret == 0)
		return want == FAILED || breaks_the_stream(s) ? "no error" : NULL;
	if (want == COMPLETE && !breaks_the_stream(s))
		return "an error where there should be none";
	if (!is_the_error(o->ret))
		return "not the error that happened";
	if (!o->opened)
		return NULL;
	if (of_memory() && !breaks_the_stream(s))
		return o->again == 0 && o->pending == 0 ? NULL : "what was committed does not go any more";
	return o->again == o->ret && o->sticky ? NULL : "the error does not last";
}

static const char *judge(const struct producer_setup *s, const struct producer_outcome *o)
{
	const char *wrong = o->wrong;
	unsigned calls = 0;

	if (!wrong)
		wrong = judge_bytes(s, o);
	if (!wrong)
		wrong = judge_error(s, o);
	for (size_t i = 0; i < INJECT_CALLS; i++)
		calls += inject.seen[i];
	if (!wrong && calls > CALLS_MOST)
		wrong = "calls without end";
	if (!wrong && inject.poll_strayed)
		wrong = "it waits for something else";
	return wrong;
}

/* ---- feeding ---- */

struct feeding {
	struct gush_producer *p;
	const struct producer_setup *setup;
	struct producer_outcome *o;
	unsigned waits;
};

/* After -EAGAIN: does what the far end would. False: it is the error to return. */
static bool attend(struct feeding *f, int64_t ret)
{
	struct pollfd p = { .fd = sink.fd, .events = POLLOUT };

	if (ret != -EAGAIN || !nonblocking(f->setup))
		return false;
	sink_drain(&sink, DRAINED);
	if (f->waits++ > WAITS_MOST || poll(&p, 1, 2000) <= 0)
		f->o->wrong = "it waits for what does not come";
	return !f->o->wrong;
}

static int flush(struct feeding *f)
{
	int ret;

	do {
		ret = gush_producer_flush(f->p);
	} while (attend(f, ret));
	return ret;
}

struct lending {
	struct feeding *f;
	struct gush_region region;
	int ret;
};

static void *lend(void *arg)
{
	struct lending *l = arg;

	do {
		l->ret = gush_producer_reserve(l->f->p, GUSH_REGION_MOST, SIZE_MAX, &l->region);
	} while (attend(l->f, l->ret));
	return NULL;
}

/* A thread holds one region at a time. */
static void lend_to_another(struct lending *l)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, lend, l) != 0)
		abort();
	pthread_join(thread, NULL);
}

static int give(struct feeding *f, struct lending *l, size_t bytes)
{
	int ret;

	if (l->ret < 0)
		return l->ret;
	memcpy(l->region.memory, content + f->o->taken, bytes);
	ret = gush_producer_commit(f->p, &l->region, bytes);
	f->o->taken += bytes;
	return ret;
}

/*
 * Two regions lent side by side, and little of each is used: of the first the rest is lost, so that a pass
 * over a ring of one huge page is done by every round, and all that was sent is still in the pipe.
 */
static int feed_lent(struct feeding *f)
{
	struct lending first = { .f = f }, second = { .f = f };
	int ret, ret_second = 0;

	lend(&first);
	if (first.ret < 0)
		return first.ret;
	lend_to_another(&second);
	ret = give(f, &first, LENT_FIRST);
	ret_second = give(f, &second, LENT_SECOND);
	return ret < 0 ? ret : ret_second;
}

static int send_own(struct feeding *f, size_t bytes)
{
	uint64_t end = f->o->taken + bytes;

	while (f->o->taken < end) {
		size_t left = (size_t)(end - f->o->taken), half = left > 9000 ? left / 2 : left;
		unsigned char *at = content + f->o->taken;
		struct iovec pieces[] = { { at, half }, { at + half, left - half } };
		int64_t n = gush_producer_send(f->p, pieces, half < left ? 2 : 1);

		if (n > 0)
			f->o->taken += (uint64_t)n;
		else if (!attend(f, n))
			return n < 0 ? (int)n : -EIO;
	}
	return 0;
}

static int feed_both(struct feeding *f)
{
	struct lending l = { .f = f };
	int ret;

	lend(&l);
	ret = give(f, &l, LENT_SECOND);
	return ret < 0 ? ret : send_own(f, LENT_FIRST);
}

static int feed_round(struct feeding *f, unsigned round)
{
	int ret;

	if (f->setup->feed == FEED_OWN)
		return send_own(f, ROUND_BYTES);
	ret = f->setup->feed == FEED_BOTH ? feed_both(f) : feed_lent(f);
	return ret == 0 && round % 2 ? flush(f) : ret;
}

static int64_t repeat(struct feeding *f)
{
	int64_t n = 1;

	while (n > 0 && f->o->taken < wanted(f->setup)) {
		/* From where the last one broke off. */
		size_t at = (size_t)(f->o->taken % UNIT_BYTES);
		unsigned char unit[UNIT_BYTES];

		memcpy(unit, content + at, UNIT_BYTES - at);
		memcpy(unit + UNIT_BYTES - at, content, at);
		n = gush_producer_repeat(f->p, unit, UNIT_BYTES, wanted(f->setup) - f->o->taken);
		if (n > 0)
			f->o->taken += (uint64_t)n;
	}
	return n < 0 ? n : 0;
}

static void feed(struct feeding *f)
{
	int64_t ret = 0;

	if (f->setup->feed == FEED_REPEAT)
		ret = repeat(f);
	else
		for (unsigned i = 0; i < rounds(f->setup) && ret == 0; i++)
			ret = feed_round(f, i);
	f->o->ret = ret == 0 ? flush(f) : ret;
}

/* ---- the far end of what is repeated ---- */

struct far_repeat {
	int fd;
	uint64_t bytes, bad, look_from;
	pthread_t thread;
};

static void look_at_repeated(struct far_repeat *f, const unsigned char *data, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t in_unit = (size_t)((f->bytes + at) % UNIT_BYTES), some = UNIT_BYTES - in_unit;

		if (some > n - at)
			some = n - at;
		f->bad += memcmp(data + at, content + in_unit, some) != 0;
		at += some;
	}
	f->bytes += n;
}

/* What is sent before tee is tried is taken unseen. */
static void *drain_repeated(void *arg)
{
	static unsigned char data[65536];
	struct far_repeat *f = arg;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ssize_t n = 1;

	while (n > 0 && f->bytes < f->look_from) {
		uint64_t most = f->look_from - f->bytes;

		n = splice(f->fd, NULL, null, NULL, most < 1 << 20 ? (size_t)most : 1 << 20, 0);
		f->bytes += n > 0 ? (uint64_t)n : 0;
	}
	while (n > 0 && (n = read(f->fd, data, sizeof(data))) > 0)
		look_at_repeated(f, data, (size_t)n);
	close(null);
	return NULL;
}

/* ---- running ---- */

static void ask_others(struct gush_producer *p, struct producer_outcome *o)
{
	struct gush_region region;

	o->sticky = gush_producer_reserve(p, 1, 1, &region) == o->again &&
		    gush_producer_send(p, &(struct iovec){ content, 1 }, 1) == o->again;
}

static void run(const struct producer_setup *s, struct producer_outcome *o)
{
	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;
	struct feeding f = { .setup = s, .o = o };

	options.policy = s->policy;
	options.flags = s->flags;
	/* A default that tries again first would hide whether it waits. */
	options.wait = s->wait == GUSH_WAIT_DEFAULT ? GUSH_WAIT_BLOCK : s->wait;
	options.ring_bytes = 1;
	o->ret = gush_producer_open(sink.fd, &options, &f.p);
	if (o->ret < 0)
		return;
	o->opened = true;
	inject.running = true;
	feed(&f);
	if (!o->wrong) {
		o->again = flush(&f);
		if (o->again < 0)
			ask_others(f.p, o);
	}
	o->delivered = gush_producer_delivered(f.p);
	o->pending = gush_producer_pending(f.p);
	if (!o->wrong)
		o->wrong = judge_record(f.p, o);
	gush_producer_close(f.p);
}

/* A process makes eight pipes large: none here, but where it is wanted. */
static void set_budget(bool one)
{
	struct gi_transit large = GI_TRANSIT_NONE;

	while (gi_transit_may_enlarge())
		;
	if (!one || gi_pipe_open(&large.pipe) < 0)
		return;
	large.enlarged = true;
	large.origin = gi_origin_now();
	gi_transit_put(&large, 1);
}

static const char *check_after(unsigned descriptors)
{
	const char *wrong = NULL;

	if (inject.mapped_bytes != (long)inject.left_bytes)
		wrong = "a mapping was left";
	if (inject.left_bytes)
		munmap(inject.left_base, inject.left_bytes);
	if (child_open_descriptors() != descriptors)
		wrong = "a descriptor was left open";
	return wrong;
}

static void run_and_drain(const struct producer_setup *s, struct producer_outcome *o)
{
	struct far_repeat far = { .fd = sink.far, .look_from = s->races ? LOOKED_AT : 0 };

	if (s->feed != FEED_REPEAT) {
		run(s, o);
		sink_finish(&sink);
		return;
	}
	if (pthread_create(&far.thread, NULL, drain_repeated, &far) != 0)
		abort();
	run(s, o);
	close(sink.fd);
	sink.fd = -1;
	pthread_join(far.thread, NULL);
	sink.got_bytes = (size_t)far.bytes;
	if (far.bad)
		o->wrong = "the sink does not hold what was sent";
}

const char *producer_case_run(
	const struct producer_setup *s, const struct inject *fault, struct producer_outcome *o)
{
	unsigned descriptors = child_open_descriptors();
	const char *wrong;

	fill_content();
	*o = (struct producer_outcome){ 0 };
	inject = (struct inject){ 0 };
	if (s->wait == GUSH_WAIT_ADAPTIVE)
		gi_wakeup_ns(); /* measures once */
	set_budget(s->grows);
	if (sink_open(&sink, s->sink, nonblocking(s), 0, 0) < 0)
		return "no ends for the test";
	o->sink_fd = sink.fd;
	inject = *fault;
	inject.cap_bytes = s->feed == FEED_REPEAT ? 0 : CASE_CAP;
	inject.missing = s->broken;
	inject.missing_errno = s->broken_errno;
	inject.missing_from = s->broken_from;
	inject.missing_times = s->broken_times;
	inject.poll_fd = sink.fd;
	inject.poll_events = POLLOUT;
	run_and_drain(s, o);
	wrong = judge(s, o);
	if (sink.fd >= 0 || sink.far >= 0)
		sink_close(&sink);
	return wrong ? wrong : check_after(descriptors);
}
