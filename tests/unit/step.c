/* SPDX-License-Identifier: MIT */
/* The table of steps: what it promises, and that each step runs and brings the right bytes. */
#include "step.h"

#include "round.h"
#include "support.h"

#define LONG_NS 60000000000 /* no round here is cut by time */

static const char *const article[] = { "write-read", "write-read-huge", "vmsplice-read", "vmsplice-splice",
	"vmsplice-splice-huge", "busy-loop" };
static const char *const ours[] = { "full-capacity", "one-cpu", "adaptive", "tee-master" };
static const char *const changing[] = { "fill-write", "fill-unsafe", "protect" };
static const char *const references[] = { "limit", "mem-read", "memcpy" };
static const char *const ablations[] = { "gift", "same-buffer", "dont-touch-pages", "lock-memory", "pipe-64K",
	"pipe-128K", "pipe-256K", "pipe-512K", "pipe-1M" };

static size_t check_group(size_t at, enum step_group group, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++, at++) {
		if (!CHECK(at < step_count))
			return at;
		CHECK_TEXT(steps[at].name, names[i]);
		CHECK_INT(steps[at].group, group);
	}
	return at;
}

static void names_in_order(void)
{
	size_t at = 0;

	at = check_group(at, STEP_ARTICLE, article, COUNT(article));
	at = check_group(at, STEP_OURS, ours, COUNT(ours));
	at = check_group(at, STEP_CHANGING, changing, COUNT(changing));
	at = check_group(at, STEP_REFERENCE, references, COUNT(references));
	at = check_group(at, STEP_ABLATION, ablations, COUNT(ablations));
	CHECK_INT(at, step_count);
}

static void names_are_unique_and_found(void)
{
	for (size_t i = 0; i < step_count; i++) {
		CHECK(step_find(steps[i].name) == &steps[i]);
		CHECK_CASE(strlen(steps[i].name) <= 20 && !strchr(steps[i].name, ','), steps[i].name);
		for (size_t k = 0; k < i; k++)
			CHECK_CASE(strcmp(steps[k].name, steps[i].name) != 0, steps[i].name);
	}
	CHECK(!step_find("") && !step_find("write") && !step_find("write-read-") && !step_find("WRITE-READ"));
}

static void words_for_people(void)
{
	for (size_t i = 0; i < step_count; i++) {
		CHECK_CASE(*steps[i].summary && !strchr(steps[i].summary, '\n'), steps[i].name);
		CHECK_CASE(*steps[i].why && !strchr(steps[i].why, '\n'), steps[i].name);
		CHECK_CASE(strlen(steps[i].summary) <= 100, steps[i].name);
		CHECK_CASE(steps[i].article_gib_per_s >= 0, steps[i].name);
	}
	for (int a = 0; a <= STEP_ABLATION; a++)
		for (int b = 0; b < a; b++)
			CHECK(strcmp(step_group_title((enum step_group)a),
				      step_group_title((enum step_group)b)) != 0);
}

static void places(void)
{
	CHECK_INT(step_find("busy-loop")->where, STEP_EVERYWHERE);
	CHECK_INT(step_find("one-cpu")->where, STEP_SAME);
	CHECK_INT(step_find("write-read")->where, STEP_NEAR);
	CHECK_INT(step_find("protect")->where, STEP_BOTH);
	for (size_t i = 0; i < step_count; i++) {
		CHECK_CASE((steps[i].where == STEP_ALONE) == (steps[i].reference != NULL), steps[i].name);
		CHECK_CASE((steps[i].group == STEP_REFERENCE) == (steps[i].reference != NULL), steps[i].name);
	}
}

static bool is_power_of_two(size_t n)
{
	return n && !(n & (n - 1));
}

/* What sender.h and receiver.h ask of a configuration, and what the kernel asks of a pipe's size. */
static void check_sender(const struct step *step)
{
	const struct sender_config *s = &step->sender;

	CHECK_CASE(s->chunk_bytes > 0 && s->chunks > 0, step->name);
	CHECK_CASE(is_power_of_two(s->pipe_bytes) && s->pipe_bytes >= 65536, step->name);
	CHECK_CASE(s->pipe_bytes <= 1 << 20, step->name); /* what an unprivileged user gets */
	CHECK_CASE(!s->check_huge || (s->huge && !s->untouched), step->name);
	CHECK_CASE(s->call == SENDER_VMSPLICE ? s->chunks > 1 : s->chunks == 1, step->name);
	/* Double buffering rests on a pipe that is no larger than the rest of the ring. */
	if (s->call == SENDER_VMSPLICE)
		CHECK_CASE(s->pipe_bytes <= s->chunk_bytes * (s->chunks - 1), step->name);
	if (s->contents == CONTENTS_COUNTER)
		CHECK_CASE(s->chunk_bytes % 8 == 0 && step_warm_up_bytes(step) % 8 == 0 && !s->untouched,
			step->name);
	CHECK_CASE(!s->protect || s->contents == CONTENTS_COUNTER, step->name);
	CHECK_CASE(s->untouched == (s->contents == CONTENTS_ZERO), step->name);
}

static void configurations(void)
{
	for (size_t i = 0; i < step_count; i++) {
		const struct receiver_config *r = &steps[i].receiver;

		if (steps[i].reference)
			continue;
		check_sender(&steps[i]);
		CHECK_CASE(r->chunk_bytes > 0, steps[i].name);
		CHECK_CASE(r->contents == steps[i].sender.contents, steps[i].name);
		CHECK_CASE(r->wait == steps[i].sender.wait, steps[i].name);
		CHECK_CASE(!r->check_huge || r->huge, steps[i].name);
		CHECK_CASE(r->call != RECEIVER_SPLICE || !(r->huge || r->lock), steps[i].name);
		CHECK_CASE(!r->check, steps[i].name); /* looking at the bytes would slow what is timed */
	}
}

static void article_settings(void)
{
	const struct step *w = step_find("write-read"), *v = step_find("vmsplice-splice-huge");

	CHECK_INT(w->sender.chunk_bytes, 256 << 10);
	CHECK_INT(w->sender.pipe_bytes, 64 << 10);
	CHECK_INT(v->sender.pipe_bytes, 128 << 10);
	CHECK_INT(v->sender.chunks, 2);
	CHECK(v->sender.huge && v->sender.wait == GI_WAIT_BLOCK);
	CHECK_INT(step_find("busy-loop")->sender.wait, GI_WAIT_SPIN);
	CHECK_INT(step_find("adaptive")->sender.wait, GI_WAIT_ADAPTIVE);
	CHECK_NEAR(w->article_gib_per_s, 3.7, 1e-9);
	CHECK_NEAR(step_find("busy-loop")->article_gib_per_s, 62.5, 1e-9);
	CHECK_INT(step_find("pipe-256K")->sender.pipe_bytes, 256 << 10);
	CHECK_INT(step_find("pipe-1M")->sender.pipe_bytes, 1 << 20);
	CHECK(step_find("gift")->sender.gift && step_find("lock-memory")->sender.lock);
	CHECK(step_find("protect")->sender.protect && !step_find("fill-unsafe")->sender.protect);
	CHECK(step_find("dont-touch-pages")->sender.untouched &&
		step_find("same-buffer")->sender.one_mapping);
}

static void warm_ups(void)
{
	for (size_t i = 0; i < step_count; i++) {
		uint64_t bytes = step_warm_up_bytes(&steps[i]);
		uint64_t ring = (uint64_t)steps[i].sender.chunk_bytes * steps[i].sender.chunks;

		CHECK_CASE(bytes >= 2 * ring && bytes >= 16 * steps[i].sender.pipe_bytes, steps[i].name);
		CHECK_CASE(bytes <= (uint64_t)256 << 20, steps[i].name);
	}
}

static struct placement some_placement(bool apart)
{
	int cpus[2];
	int count = placement_usable_cpus(cpus, 2);

	if (count < 1)
		abort();
	return (struct placement){ apart && count > 1 ? PLACEMENT_SAME_PACKAGE : PLACEMENT_SAME_CPU, cpus[0],
		apart && count > 1 ? cpus[1] : cpus[0] };
}

static enum round_end run_step(const struct step *step, uint64_t bytes, bool check, struct round_result *ret)
{
	/* A busy loop on one CPU crawls. */
	struct placement p = some_placement(step->sender.wait == GI_WAIT_SPIN);
	struct round_plan plan = {
		.step = step,
		.placement = &p,
		.bytes = bytes,
		.time_ns = LONG_NS,
		.check = check,
		.signal_fd = -1,
	};

	round_run(&plan, ret);
	if (ret->end == ROUND_NOT_HERE)
		printf("  %s: not here: %s\n", step->name, ret->reason);
	else if (ret->end != ROUND_DONE)
		printf("  %s: ended %d: %s\n", step->name, ret->end, ret->reason);
	return ret->end;
}

static void each_runs(void)
{
	struct round_result r;
	size_t ran = 0;

	for (size_t i = 0; i < step_count; i++) {
		enum round_end end = run_step(&steps[i], 1 << 20, false, &r);

		/* Touching so much memory can take long on a busy machine. */
		CHECK_CASE(end == ROUND_DONE || (end == ROUND_NOT_HERE && *r.reason) ||
				   strstr(r.reason, "was not ready after"),
			steps[i].name);
		if (end != ROUND_DONE)
			continue;
		ran++;
		CHECK_CASE(r.figures.bytes >= 1 << 20 && r.figures.seconds > 0, steps[i].name);
		CHECK_INT(r.figures.checked_bytes, 0);
	}
	CHECK(ran >= 2); /* write-read and memcpy run anywhere */
}

static void each_brings_the_right_bytes(void)
{
	struct round_result r;
	size_t checked = 0;

	for (size_t i = 0; i < step_count; i++) {
		const struct sender_config *s = &steps[i].sender;
		/* Three times round the ring and the pipe: only then are buffers used again. */
		uint64_t bytes = 3 * (s->chunk_bytes * s->chunks + s->pipe_bytes);

		if (steps[i].reference || strcmp(steps[i].name, "fill-unsafe") == 0 ||
			run_step(&steps[i], bytes, true, &r) == ROUND_NOT_HERE)
			continue;
		checked++;
		CHECK_CASE(r.figures.checked_bytes >= bytes, steps[i].name);
		CHECK_CASE(r.figures.bad_bytes == 0, steps[i].name);
	}
	CHECK(checked > 0);
}

static void fill_unsafe_is_seen_to_be_wrong(void)
{
	struct round_result r;

	if (run_step(step_find("fill-unsafe"), 64 << 20, true, &r) == ROUND_NOT_HERE)
		SKIP("fill-unsafe does not run here");
	CHECK_INT(r.end, ROUND_DONE);
	CHECK(r.figures.bad_bytes > 0 && r.figures.bad_bytes <= r.figures.checked_bytes);
}

/* protect is right because of the barrier, and for no other reason. */
static void protect_without_its_barrier_is_wrong(void)
{
	struct step bare = *step_find("protect");
	struct round_result r;

	bare.sender.protect = false;
	bare.sender.chunks = 2; /* a ring that the readers' pipes can hold */
	if (run_step(&bare, 64 << 20, true, &r) == ROUND_NOT_HERE)
		SKIP("huge pages and vmsplice are not here");
	CHECK_INT(r.end, ROUND_DONE);
	CHECK(r.figures.bad_bytes > 0);
	bare.sender.protect = true;
	if (run_step(&bare, 64 << 20, true, &r) == ROUND_NOT_HERE)
		SKIP("the barrier does not protect here");
	CHECK_INT(r.end, ROUND_DONE);
	CHECK_INT(r.figures.bad_bytes, 0);
}

/* The check sees bytes that are not those expected: all of them, here. */
static void the_check_can_fail(void)
{
	struct step other = *step_find("write-read");
	struct round_result r;

	other.receiver.contents = CONTENTS_ZERO;
	CHECK_INT(run_step(&other, 1 << 20, true, &r), ROUND_DONE);
	CHECK(r.figures.checked_bytes >= 1 << 20);
	CHECK_INT(r.figures.bad_bytes, r.figures.checked_bytes);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(names_in_order);
	TEST(names_are_unique_and_found);
	TEST(words_for_people);
	TEST(places);
	TEST(configurations);
	TEST(article_settings);
	TEST(warm_ups);
	TEST(each_runs);
	TEST(each_brings_the_right_bytes);
	TEST(fill_unsafe_is_seen_to_be_wrong);
	TEST(protect_without_its_barrier_is_wrong);
	TEST(the_check_can_fail);
	return test_end();
}
