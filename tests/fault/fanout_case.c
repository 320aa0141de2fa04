/* SPDX-License-Identifier: MIT */
#include "fanout_case.h"

#include "far_end.h"
#include "gush.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define STEPS_MOST 3000
#define CALLS_MOST 6000
#define FED_FIRST ((size_t)7000)
#define FED_LATER ((size_t)11003)

static struct sink sinks[FANOUT_SINKS];
static unsigned char content[ENDS_TOTAL];

/* ---- the judgement ---- */

/* What a sink fails with by its own nature; 0: it does not. */
static int natural_error(enum end_kind kind)
{
	return kind == END_FULL ? -ENOSPC : kind == END_DEAD ? -EPIPE : 0;
}

static bool hit_sink(const struct fanout_setup *s, const struct fanout_outcome *o)
{
	for (size_t i = 0; i < s->count; i++)
		if (inject.hit_out == o->sink_fds[i] || inject.hit_in == o->sink_fds[i])
			return true;
	return false;
}

/* The call that failed went into this very sink, and its error is the sink's. */
static bool hit_this(const struct fanout_outcome *o, size_t i)
{
	return inject.kind == INJECT_ERRNO && inject.hits > 0 && inject.hit_out == o->sink_fds[i] &&
	       o->errors[i] == -inject.value;
}

static bool failing(const struct fanout_setup *s, const struct fanout_outcome *o)
{
	return o->ret < 0 && !(o->ret == -EPIPE && s->count > 0);
}

/* Calls whose failure nobody may notice: write does what tee does, read what splice does; but see hit_this.
 */
static bool harmless(void)
{
	switch (inject.call) {
	case INJECT_TEE:
	case INJECT_SPLICE:
	case INJECT_CLOSE:
	case INJECT_MUNMAP:
	case INJECT_IOCTL:
	case INJECT_SET_PIPE_SIZE:
		return true;
	default:
		return inject.kind != INJECT_ERRNO;
	}
}

static const char *judge_sink(const struct fanout_setup *s, const struct fanout_outcome *o, size_t i)
{
	int natural = natural_error(s->sinks[i]);
	const struct sink *k = &sinks[i];

	if (s->sinks[i] != END_FULL && k->got_bytes != k->start + o->delivered[i])
		return "a sink holds more or less than was delivered to it";
	if (o->delivered[i] > ENDS_TOTAL ||
		(s->sinks[i] != END_FULL && memcmp(k->got + k->start, content, (size_t)o->delivered[i]) != 0))
		return "a sink does not hold the source's bytes";
	if (natural && o->opened && o->delivered[i] != 0)
		return "delivered to a sink that takes nothing";
	if (o->ret == 0 && o->errors[i] == 0 && o->delivered[i] != ENDS_TOTAL)
		return "success, but a sink did not get all";
	if (o->errors[i] && o->errors[i] != natural && !hit_this(o, i) && (harmless() || inject.hits == 0))
		return "a sink's error where there should be none";
	return NULL;
}

static const char *judge_end(const struct fanout_setup *s, const struct fanout_outcome *o)
{
	size_t working = 0, unnatural = 0;
	unsigned calls = 0;

	for (size_t i = 0; i < s->count; i++) {
		working += o->errors[i] == 0;
		unnatural += o->errors[i] != 0 && o->errors[i] != natural_error(s->sinks[i]);
	}
	for (size_t i = 0; i < INJECT_CALLS; i++)
		calls += inject.seen[i];
	if (calls > CALLS_MOST)
		return "calls without end";
	if (o->opened && o->ret == -EPIPE && working > 0 && inject.value != EPIPE)
		return "it says that no sink works any more";
	if (unnatural > 1)
		return "one fault, and more than one sink has failed";
	if (failing(s, o) && (harmless() || inject.hits == 0 || hit_sink(s, o)))
		return "an error where there should be none";
	if (failing(s, o) && o->ret != -inject.value && o->ret != -ENOMEM && o->ret != -EIO)
		return "not the error that happened";
	return o->ret == 0 && working > 0 && o->returned != ENDS_TOTAL ? "the returns do not add up" : NULL;
}

static const char *judge(const struct fanout_setup *s, const struct fanout_outcome *o)
{
	const char *wrong = o->wrong;

	for (size_t i = 0; i < s->count && !wrong; i++)
		wrong = judge_sink(s, o, i);
	return wrong ? wrong : judge_end(s, o);
}

/* ---- running ---- */

/* After -EAGAIN: does what the other ends would. False: it waits for nothing that comes. */
static bool attend(const struct gush_fanout *f, const struct fanout_setup *s, struct source *from)
{
	struct pollfd fds[FANOUT_SINKS + 1];
	size_t n = gush_fanout_wait_for(f, fds, FANOUT_SINKS + 1);

	if (n == 0 || n > FANOUT_SINKS + 1)
		return false;
	for (size_t at = 0; at < n; at++) {
		if (fds[at].fd == from->fd)
			source_feed(from, FED_LATER);
		for (size_t i = 0; i < s->count; i++)
			if (fds[at].fd == sinks[i].fd)
				sink_drain(&sinks[i], FED_LATER);
	}
	return poll(fds, n, 2000) > 0;
}

static void drive(
	struct gush_fanout *f, const struct fanout_setup *s, struct source *from, struct fanout_outcome *o)
{
	for (unsigned steps = 0; !o->wrong; steps++) {
		o->ret = gush_fanout_step(f);
		if (o->ret > 0)
			o->returned += (uint64_t)o->ret;
		else if (o->ret != -EAGAIN || !(s->flags & GUSH_NONBLOCK))
			return;
		else if (!attend(f, s, from))
			o->wrong = "it waits for what does not come";
		if (steps > STEPS_MOST)
			o->wrong = "steps without end";
	}
}

static void run(const struct fanout_setup *s, struct source *from, struct fanout_outcome *o)
{
	struct gush_fanout_options options = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;

	options.flags = s->flags;
	o->ret = gush_fanout_open(from->fd, o->sink_fds, s->count, &options, &f);
	if (o->ret < 0)
		return;
	o->opened = true;
	inject.running = true;
	drive(f, s, from, o);
	if (!o->wrong && gush_fanout_step(f) != o->ret)
		o->wrong = "another return after the end";
	for (size_t i = 0; i < s->count; i++) {
		o->errors[i] = gush_fanout_error(f, i);
		o->delivered[i] = gush_fanout_delivered(f, i);
	}
	gush_fanout_close(f);
}

static int open_ends(const struct fanout_setup *s, struct source *from, struct fanout_outcome *o)
{
	bool waits = s->flags & GUSH_NONBLOCK;
	int ret = source_open(from, s->source, content, ENDS_TOTAL, waits ? FED_FIRST : ENDS_TOTAL);

	for (size_t i = 0; i < s->count && ret == 0; i++) {
		ret = sink_open(&sinks[i], s->sinks[i], waits, s->sinks[i] == END_APPEND ? 100 : 0, 0);
		o->sink_fds[i] = sinks[i].fd;
	}
	o->source_fd = from->fd;
	return ret;
}

const char *fanout_case_run(
	const struct fanout_setup *s, const struct inject *fault, struct fanout_outcome *o)
{
	struct source from;
	const char *wrong;

	for (size_t i = 0; i < ENDS_TOTAL; i++)
		content[i] = stamp_byte(STAMP_COUNTER, i);
	*o = (struct fanout_outcome){ 0 };
	if (open_ends(s, &from, o) < 0)
		return "no ends for the test";
	inject = *fault;
	inject.cap_bytes = s->cap_bytes;
	inject.missing = INJECT_TEE;
	inject.missing_errno = s->no_tee ? EPERM : 0;
	run(s, &from, o);
	for (size_t i = 0; i < s->count; i++)
		sink_finish(&sinks[i]);
	wrong = judge(s, o);
	for (size_t i = 0; i < s->count; i++)
		sink_close(&sinks[i]);
	source_close(&from);
	if (!wrong && inject.mapped_bytes != 0 && inject.call != INJECT_MUNMAP)
		wrong = "a mapping was left";
	return wrong;
}
