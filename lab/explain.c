/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include "wrap.h"

#include <string.h>

#define MUCH_DISTURBED 0.2 /* of the rounds: then say so */
#define BOUND_SHARE 0.6	   /* reaching so much of what copying allows means that copying is the bound */

#define LEAST_ROUNDS 3 /* an interval of one or two values says nothing: no difference is told from noise */

struct sentences {
	char (*text)[EXPLAIN_TEXT];
	size_t count;
};

static char *next(struct sentences *s)
{
	return s->text[s->count++];
}

static double rate(const struct row *row)
{
	return row->gib_per_s.median;
}

static double times(const struct row *a, const struct row *b)
{
	return rate(a) / rate(b);
}

/* The intervals lie apart: the difference is more than noise. */
static bool differ(const struct row *a, const struct row *b)
{
	return a->gib_per_s.low > b->gib_per_s.high || b->gib_per_s.low > a->gib_per_s.high;
}

static bool faster(const struct row *a, const struct row *b)
{
	return differ(a, b) && rate(a) > rate(b);
}

/* The near row of a step that runs at both: any placement but one CPU. */
static const struct row *find_apart(const struct ladder *l, const char *step)
{
	for (int kind = PLACEMENT_SAME_CPU + 1; kind < PLACEMENT_KINDS; kind++) {
		const struct row *row = ladder_find(l, step, kind);

		if (row)
			return row;
	}
	return NULL;
}

/* Their CPU times can be compared; a clock too coarse may show none. */
static bool both_took_cpu(const struct row *a, const struct row *b)
{
	return a->cpu_s_per_gib > 0 && b->cpu_s_per_gib > 0;
}

static const struct row *fastest(const struct ladder *l, const char *step)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < l->row_count; i++) {
		const struct row *row = &l->rows[i];
		bool wanted = step ? strcmp(row->step->name, step) == 0
				   : row->step->group == STEP_ARTICLE || row->step->group == STEP_OURS;

		if (wanted && row->status == ROW_OK && (!best || rate(row) > rate(best)))
			best = row;
	}
	return best;
}

static void say_top(struct sentences *s, const struct ladder *l)
{
	const struct row *top = fastest(l, NULL), *first = ladder_find(l, "write-read", -1);

	if (!top)
		return;
	if (first && first != top)
		snprintf(next(s), EXPLAIN_TEXT,
			"The fastest way here is %s (%s): %.1f GiB/s, %.1f times write-read.",
			top->step->name, row_where(top), rate(top), times(top, first));
	else
		snprintf(next(s), EXPLAIN_TEXT, "The fastest way here is %s (%s): %.1f GiB/s.",
			top->step->name, row_where(top), rate(top));
}

static void say_article(struct sentences *s, const struct ladder *l)
{
	const struct row *top = fastest(l, NULL), *busy = fastest(l, "busy-loop");

	if (!top || !busy || !both_took_cpu(top, busy))
		return;
	if (top == busy)
		snprintf(next(s), EXPLAIN_TEXT,
			"That is the article's own best step: nothing added since then beats it here. It "
			"takes %.4f CPU "
			"seconds per GiB.",
			busy->cpu_s_per_gib);
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"That is %.2f times the article's best step here (busy-loop, %s: %.1f GiB/s)%s, with "
			"%.0f %% of its CPU "
			"time per GiB.",
			times(top, busy), row_where(busy), rate(busy),
			differ(top, busy) ? "" : ", a difference within the noise",
			100 * top->cpu_s_per_gib / busy->cpu_s_per_gib);
}

static void say_limit(struct sentences *s, const struct ladder *l)
{
	const struct row *top = fastest(l, NULL), *limit = ladder_find(l, "limit", -1);

	if (!top || !limit)
		return;
	if (faster(limit, top))
		snprintf(next(s), EXPLAIN_TEXT,
			"The calls alone, in one process on one CPU, reach %.1f GiB/s (limit): %s gets %.0f "
			"%% of "
			"that with two processes; the rest goes into the hand-over between them (%.0f "
			"context "
			"switches per GiB).",
			rate(limit), top->step->name, 100 * times(top, limit), top->switches_per_gib);
	else if (faster(top, limit))
		snprintf(next(s), EXPLAIN_TEXT,
			"%s is faster than vmsplice and splice in one process on one CPU (limit: %.1f "
			"GiB/s): its "
			"calls cost less, or its two CPUs share the work.",
			top->step->name, rate(limit));
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"%s cannot be told apart from its calls alone in one process on one CPU "
			"(limit: %.1f GiB/s): what the hand-over between two processes costs is within the "
			"noise.",
			top->step->name, rate(limit));
}

static void say_copying(struct sentences *s, const struct ladder *l)
{
	const struct row *plain = ladder_find(l, "write-read", -1), *copy = ladder_find(l, "memcpy", -1);
	double share;

	if (!plain || !copy)
		return;
	share = 2 * rate(plain) / rate(copy);
	if (share >= BOUND_SHARE)
		snprintf(next(s), EXPLAIN_TEXT,
			"write-read copies twice; at the speed of memcpy (%.1f GiB/s) that allows %.1f, and "
			"it reaches %.1f: the "
			"copying bounds it.",
			rate(copy), rate(copy) / 2, rate(plain));
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"write-read copies twice, which at the speed of memcpy (%.1f GiB/s) would allow "
			"%.1f; it reaches %.1f, "
			"%.0f %% of that: not the copying bounds it but pages, locks and hand-overs (%.0f "
			"context switches per "
			"GiB).",
			rate(copy), rate(copy) / 2, rate(plain), 100 * share, plain->switches_per_gib);
}

static void say_zero_copy(struct sentences *s, const struct ladder *l)
{
	const struct row *plain = ladder_find(l, "write-read", -1),
			 *half = ladder_find(l, "vmsplice-read", -1),
			 *none = ladder_find(l, "vmsplice-splice", -1);

	if (!plain || !half || !none)
		return;
	snprintf(next(s), EXPLAIN_TEXT,
		"Leaving out the sender's copy makes it %.1f times as fast%s, leaving out the reader's "
		"%s%.1f times%s.",
		times(half, plain), differ(half, plain) ? "" : " (within the noise)",
		faster(none, half) ? "another " : "", times(none, half),
		differ(none, half) ? "" : " (within the noise)");
}

static void say_huge_pages(struct sentences *s, const struct ladder *l)
{
	const struct row *small = ladder_find(l, "vmsplice-splice", -1),
			 *huge = ladder_find(l, "vmsplice-splice-huge", -1);
	double pages = l->env.page_bytes ? (double)(1ull << 30) / (double)l->env.page_bytes : 0;

	if (!small || !huge || pages <= 0)
		return;
	if (faster(huge, small))
		snprintf(next(s), EXPLAIN_TEXT,
			"Huge pages make zero-copy %.1f times as fast: finding a page of %.0f KiB in the "
			"page tables and counting "
			"its users cost %.0f ns more each.",
			times(huge, small), (double)l->env.page_bytes / 1024,
			(1 / rate(small) - 1 / rate(huge)) * 1e9 / pages);
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"Huge pages do not help zero-copy here (%.2f times): something other than finding "
			"pages bounds it.",
			times(huge, small));
}

static void say_waiting(struct sentences *s, const struct ladder *l)
{
	const struct row *sleeping = ladder_find(l, "vmsplice-splice-huge", -1),
			 *busy = find_apart(l, "busy-loop");

	if (!sleeping || !busy || !both_took_cpu(sleeping, busy))
		return;
	if (faster(busy, sleeping))
		snprintf(next(s), EXPLAIN_TEXT,
			"Sleeping and waking up cost: a busy loop is %.1f times as fast as waiting in the "
			"kernel (%.0f context "
			"switches per GiB), for %.1f times the CPU time per GiB.",
			times(busy, sleeping), sleeping->switches_per_gib,
			busy->cpu_s_per_gib / sleeping->cpu_s_per_gib);
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"A busy loop gains nothing over waiting in the kernel here (%.2f times), for %.1f "
			"times the CPU time per "
			"GiB.",
			times(busy, sleeping), busy->cpu_s_per_gib / sleeping->cpu_s_per_gib);
}

static void say_placement(struct sentences *s, const struct ladder *l)
{
	const struct row *two = ladder_find(l, "full-capacity", -1), *one = ladder_find(l, "one-cpu", -1);

	if (!two || !one || two->placement.sender_cpu == two->placement.receiver_cpu)
		return;
	if (faster(one, two))
		snprintf(next(s), EXPLAIN_TEXT,
			"Both ends on one CPU are %.1f times as fast as on two (sharing %s): the pipe's lock "
			"lets only one work "
			"at a time, and apart they trade its cache lines.",
			times(one, two), placement_meaning(two->placement.kind));
	else if (faster(two, one))
		snprintf(next(s), EXPLAIN_TEXT,
			"Two CPUs (sharing %s) are %.1f times as fast as one: what runs outside the pipe's "
			"lock weighs more than "
			"the cache lines that travel.",
			placement_meaning(two->placement.kind), times(two, one));
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"One CPU or two (sharing %s) make no difference beyond the noise.",
			placement_meaning(two->placement.kind));
}

static void say_memory(struct sentences *s, const struct ladder *l)
{
	const struct row *top = fastest(l, NULL), *memory = ladder_find(l, "mem-read", -1);

	if (!top || !memory)
		return;
	if (faster(top, memory))
		snprintf(next(s), EXPLAIN_TEXT,
			"%s passes bytes on %.1f times faster than one core reads memory (%.1f GiB/s): a "
			"reader that looks at "
			"them is bound by memory, not by the pipe.",
			top->step->name, times(top, memory), rate(memory));
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"One core reads memory at %.1f GiB/s, no slower than the fastest pipe: the pipe "
			"bounds even a reader that "
			"looks at all bytes.",
			rate(memory));
}

static void say_changing_at(struct sentences *s, const struct ladder *l, int kind)
{
	const struct row *copy = ladder_find(l, "fill-write", kind),
			 *unsafe = ladder_find(l, "fill-unsafe", kind),
			 *protect = ladder_find(l, "protect", kind);

	if (!copy || !protect)
		return;
	if (faster(protect, copy))
		snprintf(next(s), EXPLAIN_TEXT,
			"Contents rewritten each time, %s: the copy-on-write barrier brings %.1f GiB/s, %.1f "
			"times write, and stays "
			"right behind any reader.",
			placement_name((enum placement_kind)kind), rate(protect), times(protect, copy));
	else
		snprintf(next(s), EXPLAIN_TEXT,
			"Contents rewritten each time, %s: the copy-on-write barrier does not pay here (%.1f "
			"GiB/s, %.2f times "
			"write).",
			placement_name((enum placement_kind)kind), rate(protect), times(protect, copy));
	if (unsafe) {
		char *text = s->text[s->count - 1];
		size_t n = strlen(text);

		snprintf(text + n, EXPLAIN_TEXT - n, " Unsafe double buffering reaches %.1f.", rate(unsafe));
	}
}

static void say_changing(struct sentences *s, const struct ladder *l)
{
	const struct row *apart = find_apart(l, "protect");

	if (apart)
		say_changing_at(s, l, (int)apart->placement.kind);
	say_changing_at(s, l, PLACEMENT_SAME_CPU);
}

static void say_disturbed(struct sentences *s, const struct ladder *l)
{
	size_t rounds = 0, rejected = 0;

	for (size_t i = 0; i < l->row_count; i++) {
		rounds += l->rows[i].round_count;
		rejected += row_rejected(&l->rows[i]);
	}
	if (rounds > 0 && (double)rejected > MUCH_DISTURBED * (double)rounds)
		snprintf(next(s), EXPLAIN_TEXT,
			"Other load disturbed %.0f %% of the rounds: a run on a quiet machine would be "
			"surer.",
			100.0 * (double)rejected / (double)rounds);
}

size_t explain_sentences(const struct ladder *l, char ret[EXPLAIN_MOST][EXPLAIN_TEXT])
{
	struct sentences s = { .text = ret };

	if (l->rounds_run < LEAST_ROUNDS) {
		snprintf(next(&s), EXPLAIN_TEXT,
			"That takes at least %d rounds: with fewer, no difference can be told from noise.",
			LEAST_ROUNDS);
		return s.count;
	}
	say_disturbed(&s, l); /* first: it qualifies all others */
	say_top(&s, l);
	say_article(&s, l);
	say_limit(&s, l);
	say_copying(&s, l);
	say_zero_copy(&s, l);
	say_huge_pages(&s, l);
	say_waiting(&s, l);
	say_placement(&s, l);
	say_memory(&s, l);
	say_changing(&s, l);
	return s.count;
}

void explain(const struct ladder *l, int columns, FILE *stream)
{
	char text[EXPLAIN_MOST][EXPLAIN_TEXT];
	size_t count = explain_sentences(l, text);

	if (count > 0)
		fputs("\nWhat bounds this machine:\n", stream);
	for (size_t i = 0; i < count; i++) {
		fputs("- ", stream);
		wrap_text(stream, text[i], 2, 2, columns);
	}
}
