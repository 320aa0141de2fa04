/* SPDX-License-Identifier: MIT */
#include "transfer_case.h"

#include "child_case.h"
#include "far_end.h"
#include "gush.h"
#include "transfer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_OFFSET 77
#define SINK_OFFSET 55
#define LIMIT ((uint64_t)3 * CASE_CAP + 5)
#define OLD_BYTES (ENDS_TOTAL + 999)
#define STEPS_MOST 3000 /* a case needs a hundred or so */
#define CALLS_MOST 3000
#define FED_FIRST ((size_t)7000)
#define FED_LATER ((size_t)11003)

static struct sink sink; /* large */
static unsigned char content[ENDS_TOTAL];

static void fill_content(unsigned holes)
{
	for (size_t i = 0; i < ENDS_TOTAL; i++)
		content[i] = holes & 1u << i / CASE_PIECE ? 0 : stamp_byte(STAMP_COUNTER, i);
}

static size_t first_byte(const struct setup *s)
{
	return s->offsets ? SOURCE_OFFSET : 0;
}

static uint64_t wanted(const struct setup *s)
{
	uint64_t all = ENDS_TOTAL - first_byte(s);

	return s->limited && LIMIT < all ? LIMIT : all;
}

/* ---- what is expected ---- */

enum expect {
	COMPLETE,
	FAILED, /* with the errno that was injected */
	EITHER,
	ENDED, /* it was told that the source has ended, and may believe it */
};

static bool in_list(const int *list, int error)
{
	while (*list && *list != error)
		list++;
	return *list;
}

static bool moves_between(enum inject_call call)
{
	return call >= INJECT_SPLICE_AT && call <= INJECT_COPY_FILE_RANGE;
}

/* The next way need not ask again: these are the sink's, or a socket's, for good. */
static const int last_words[] = { EPIPE, EFBIG, ENOSPC, EDQUOT, ECONNRESET, 0 };
static const int not_served[] = { EPERM, ENOSYS, EOPNOTSUPP, 0 };

static enum expect expected_of_move(const struct setup *s, const struct outcome *o, int error)
{
	if (error == EAGAIN)
		return inject.call == INJECT_READ && inject.hit_in != o->source_fd ? EITHER : COMPLETE;
	if (moves_between(inject.call)) {
		if (inject.hit_in != o->source_fd &&
			s->method) /* what is in the pipe may be all that was missing */
			return EITHER;
		if (s->method)
			return FAILED;
		return in_list(last_words, error) ? EITHER : COMPLETE;
	}
	if ((inject.call == INJECT_READ_FLAGS || inject.call == INJECT_WRITE_FLAGS) &&
		in_list(not_served, error))
		return COMPLETE; /* there are other ways not to wait */
	return FAILED;
}

static enum expect expected(const struct setup *s, const struct outcome *o)
{
	if (inject.hits == 0 || inject.kind == INJECT_NOTHING || inject.kind == INJECT_SHORT)
		return COMPLETE;
	if (inject.kind == INJECT_END && moves_between(inject.call)) {
		if (inject.hit_in != o->source_fd) /* a pipe of its own, that holds bytes */
			return s->method ? EITHER : COMPLETE;
		return s->method || s->source != END_FILE ? ENDED : COMPLETE;
	}
	if (inject.kind != INJECT_ERRNO)
		return COMPLETE;
	switch (inject.call) {
	case INJECT_CLOSE:
	case INJECT_MUNMAP:
	case INJECT_IOCTL:
	case INJECT_SET_PIPE_SIZE:
	case INJECT_FTRUNCATE:
	case INJECT_FALLOCATE:
		return COMPLETE;
	case INJECT_GET_FLAGS:
	case INJECT_GET_PIPE_SIZE:
		return inject.hit_running ? EITHER : FAILED;
	default:
		return inject_moves_bytes(inject.call) ? expected_of_move(s, o, (int)inject.value) : EITHER;
	}
}

/* Bit masks of GUSH_SIDE_... that a failure may name. */
static unsigned sides(const struct outcome *o)
{
	const unsigned none = 1u << GUSH_SIDE_NONE, source = 1u << GUSH_SIDE_SOURCE,
		       at_sink = 1u << GUSH_SIDE_SINK;

	switch (inject.call) {
	case INJECT_READ:
	case INJECT_READ_FLAGS:
	case INJECT_PREAD:
		return inject.hit_in == o->source_fd ? source : none;
	case INJECT_WRITE:
	case INJECT_WRITE_FLAGS:
	case INJECT_PWRITE:
	case INJECT_FTRUNCATE:
	case INJECT_FALLOCATE:
		return at_sink;
	case INJECT_LSEEK:
		return inject.hit_in == o->source_fd ? source : at_sink;
	case INJECT_SPLICE_AT:
		if (inject.hit_in != o->source_fd)
			return at_sink;
		if (inject.hit_out != o->sink_fd)
			return source;
		return none | source | at_sink;
	case INJECT_SENDFILE:
	case INJECT_COPY_FILE_RANGE:
		return in_list(last_words, (int)inject.value) ? at_sink | none : none;
	case INJECT_OPEN: /* of a description of its own, of either */
		return none | source | at_sink;
	default:
		return none;
	}
}

/* ---- the judgement ---- */

static bool sink_holds_prefix(const struct setup *s, const struct outcome *o)
{
	size_t n = (size_t)o->delivered, start = sink.start;

	if (o->delivered > ENDS_TOTAL || sink.got_bytes < start + n)
		return false;
	return memcmp(sink.got + start, content + first_byte(s), n) == 0;
}

/* Before and behind what was delivered: old bytes, or zeros of a hole that was about to be made. */
static bool rest_of_sink_is_old(const struct outcome *o)
{
	size_t end = sink.start + (size_t)o->delivered, known = sink.old > end ? sink.old : end;

	for (size_t i = 0; i < sink.got_bytes; i++)
		if ((i < sink.start || i >= end) && sink.got[i] != ENDS_OLD && (o->ret == 0 || sink.got[i]))
			return false;
	return sink.got_bytes == known;
}

static bool record_tells(const struct gush_transfer *t, const struct setup *s, const struct outcome *o)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	uint64_t bytes = 0;
	bool named = o->ret == 0;

	for (size_t i = 0; gush_report_entry(t, i, &e) == 0; i++) {
		bytes += e.bytes;
		named |= e.error == o->ret && (!s->method || strcmp(e.method, s->method) == 0);
	}
	return named && bytes == o->delivered;
}

static const char *judge_counts(const struct setup *s, struct source *from, const struct outcome *o)
{
	uint64_t left_source = o->delivered + (s->source == END_FILE ? 0 : o->pending);
	bool seek_failed = inject.kind == INJECT_ERRNO && inject.call == INJECT_LSEEK && inject.hits > 0;

	if (!sink_holds_prefix(s, o))
		return "the sink does not hold the source's bytes";
	if (!rest_of_sink_is_old(o))
		return "the sink holds more than was delivered";
	if (o->returned != o->delivered)
		return "the steps' returns do not add up to what was delivered";
	if (!seek_failed && !s->offsets && source_rest(from, (size_t)left_source) < 0)
		return "what is left in the source does not begin behind what was taken";
	return NULL;
}

/* Of its own pipe, which it knows to hold bytes, nothing and "later" are faults. */
static bool is_no_answer(const struct outcome *o)
{
	if (inject.hits == 0 || inject.hit_in == o->source_fd)
		return false;
	return inject.kind == INJECT_END || (inject.call == INJECT_READ && inject.value == EAGAIN);
}

/* To the caller, -EAGAIN says that there is more to come. */
static int64_t reported(void)
{
	bool memory = inject.call == INJECT_MMAP || inject.call == INJECT_MADVISE;

	return memory && inject.value == EAGAIN ? -ENOMEM : -inject.value;
}

static int broken_side(const struct outcome *o)
{
	if (inject.missing == INJECT_WRITE || inject.missing_in != o->source_fd)
		return GUSH_SIDE_SINK;
	return GUSH_SIDE_SOURCE;
}

static const char *judge_error(const struct setup *s, const struct outcome *o)
{
	bool broken = s->broken_from && o->ret == -s->broken_errno;

	if (o->ret == 0)
		return NULL;
	if (o->ret != reported() && !broken && !(o->ret == -EIO && is_no_answer(o)))
		return "not the error that happened";
	if (o->again != o->ret)
		return "another return after the end";
	if (broken)
		return o->side == broken_side(o) ? NULL : "not the side of the broken call";
	if (o->opened && !(sides(o) & 1u << o->side))
		return "the wrong side";
	return NULL;
}

static const char *judge(const struct setup *s, struct source *from, const struct outcome *o)
{
	enum expect want = expected(s, o);
	const char *wrong = o->wrong;
	unsigned calls = 0;

	if (!wrong)
		wrong = judge_counts(s, from, o);
	if (!wrong)
		wrong = judge_error(s, o);
	if (wrong)
		return wrong;
	if (o->ret == 0 && want != ENDED && o->delivered != wanted(s))
		return "success, but not all of the bytes";
	if (want == COMPLETE && o->ret != 0 && !s->broken_from)
		return "an error where there should be none";
	if (want == FAILED && o->ret == 0)
		return "no error";
	for (size_t i = 0; i < INJECT_CALLS; i++)
		calls += inject.seen[i];
	return calls > CALLS_MOST ? "calls without end" : NULL;
}

/* ---- running ---- */

/* After -EAGAIN: does what the other ends would. False: it waits for nothing that comes. */
static bool attend(const struct gush_transfer *t, struct source *from)
{
	struct pollfd p = { .fd = -1 };

	if (gush_transfer_wait_for(t, &p.fd, &p.events) < 0)
		return false;
	if (p.fd == from->fd && p.events == POLLIN)
		source_feed(from, FED_LATER);
	else if (p.fd == sink.fd && p.events == POLLOUT)
		sink_drain(&sink, FED_LATER);
	else
		return false;
	return poll(&p, 1, 2000) > 0;
}

static void drive(struct gush_transfer *t, const struct setup *s, struct source *from, struct outcome *o)
{
	for (unsigned steps = 0;; steps++) {
		o->ret = gush_transfer_step(t);
		if (o->ret > 0) {
			o->returned += (uint64_t)o->ret;
		} else if (o->ret != -EAGAIN || !(s->flags & GUSH_NONBLOCK)) {
			return;
		} else if (!attend(t, from)) {
			o->wrong = "it waits for what does not come";
			return;
		}
		if (steps > STEPS_MOST) {
			o->wrong = "steps without end";
			return;
		}
	}
}

static void run(const struct setup *s, struct source *from, struct outcome *o)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer *t = NULL;

	options.method = s->method;
	options.flags = s->flags;
	if (s->limited)
		options.limit_bytes = LIMIT;
	if (s->offsets) {
		options.source_offset = SOURCE_OFFSET;
		options.sink_offset = s->sink == END_FILE ? SINK_OFFSET : GUSH_OWN_OFFSET;
	}
	o->ret = gush_transfer_open(from->fd, sink.fd, &options, &t);
	if (o->ret < 0) {
		o->again = (int)o->ret;
		o->wrong = t ? "a handle in spite of the error" : NULL;
		return;
	}
	o->opened = true;
	inject.running = true;
	drive(t, s, from, o);
	o->again = (int)gush_transfer_step(t);
	o->delivered = gush_transfer_delivered(t);
	o->pending = gush_transfer_pending(t);
	o->side = gush_transfer_side(t);
	if (!o->wrong && !record_tells(t, s, o))
		o->wrong = "the record does not name the way and its error, or its bytes do not add up";
	gush_transfer_close(t);
}

/* A small transfer through the pool of pipes: it must bring its own bytes and no others. */
static bool next_is_clean(void)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	struct source from;
	bool clean;

	options.method = "relay";
	if (source_open(&from, END_FILE, content + 1, 3000, 3000) < 0 ||
		sink_open(&sink, END_UNIX, false, 0, 0) < 0)
		return false;
	clean = gush_copy(from.fd, sink.fd, &options, NULL) == 0;
	sink_finish(&sink);
	clean &= sink.got_bytes == 3000 && memcmp(sink.got, content + 1, 3000) == 0;
	source_close(&from);
	sink_close(&sink);
	return clean;
}

static const char *check_after(const struct outcome *o)
{
	struct inject kept = inject;
	const char *wrong = NULL;

	if (inject.mapped_bytes != 0 && inject.call != INJECT_MUNMAP)
		return "a mapping was left";
	inject.kind = INJECT_NOTHING;
	inject.missing_errno = 0;
	if (o->ret < 0 && !next_is_clean())
		wrong = "the next transfer does not get its own bytes";
	inject = kept;
	return wrong;
}

static int open_ends(const struct setup *s, struct source *from)
{
	bool waits = s->flags & GUSH_NONBLOCK;
	int ret;

	if (s->source == END_FILE)
		ret = source_open_file(from, content, ENDS_TOTAL, CASE_PIECE, s->holes);
	else
		ret = source_open(from, s->source, content, ENDS_TOTAL, waits ? FED_FIRST : ENDS_TOTAL);
	if (ret == 0)
		ret = sink_open(&sink, s->sink, waits,
			s->old_data  ? OLD_BYTES
			: s->offsets ? SINK_OFFSET
				     : 0,
			s->offsets ? SINK_OFFSET : 0);
	return ret;
}

const char *transfer_case_run(const struct setup *s, const struct inject *fault, struct outcome *o)
{
	struct source from;
	const char *wrong;

	fill_content(s->holes);
	*o = (struct outcome){ 0 };
	if (open_ends(s, &from) < 0)
		return "no ends for the test";
	o->source_fd = from.fd;
	o->sink_fd = sink.fd;
	inject = *fault;
	inject.cap_bytes = CASE_CAP;
	inject.missing = s->broken;
	inject.missing_errno = s->broken_errno;
	inject.missing_from = s->broken_from;
	run(s, &from, o);
	sink_finish(&sink);
	wrong = judge(s, &from, o);
	source_close(&from);
	sink_close(&sink);
	return wrong ? wrong : check_after(o);
}
