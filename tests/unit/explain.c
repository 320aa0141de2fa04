/* SPDX-License-Identifier: MIT */
/*
 * The sentences follow from the columns: a made-up machine whose sentences are known, then one column altered
 * at a time, and the sentence that rests on it must say something else.
 */
#include "explain.h"

#include "made.h"

static char said[EXPLAIN_MOST][EXPLAIN_TEXT];
static size_t said_count;

static struct ladder machine(void)
{
	struct ladder l = { .rounds_wanted = 9, .rounds_run = 9, .env = { .page_bytes = 4096 } };

	made_ok(&l, "write-read", PLACEMENT_SHARED_L3, 1.5, 1.2, 30000);
	made_ok(&l, "vmsplice-read", PLACEMENT_SHARED_L3, 4.5, 0.4, 9000);
	made_ok(&l, "vmsplice-splice", PLACEMENT_SHARED_L3, 9, 0.2, 8000);
	made_ok(&l, "vmsplice-splice-huge", PLACEMENT_SHARED_L3, 18, 0.1, 7000);
	made_ok(&l, "busy-loop", PLACEMENT_SAME_CPU, 0.2, 5, 500);
	made_ok(&l, "busy-loop", PLACEMENT_SHARED_L3, 36, 0.05, 3);
	made_ok(&l, "full-capacity", PLACEMENT_SHARED_L3, 24, 0.08, 4000);
	made_ok(&l, "one-cpu", PLACEMENT_SAME_CPU, 48, 0.02, 2048);
	made_ok(&l, "fill-write", PLACEMENT_SHARED_L3, 1, 1, 1000);
	made_ok(&l, "fill-write", PLACEMENT_SAME_CPU, 2, 0.5, 1000);
	made_ok(&l, "fill-unsafe", PLACEMENT_SHARED_L3, 6, 0.2, 1000);
	made_ok(&l, "fill-unsafe", PLACEMENT_SAME_CPU, 7, 0.14, 1000);
	made_ok(&l, "protect", PLACEMENT_SHARED_L3, 4, 0.3, 1000);
	made_ok(&l, "protect", PLACEMENT_SAME_CPU, 5, 0.2, 1000);
	made_ok(&l, "limit", PLACEMENT_SAME_CPU, 60, 0.017, 0);
	made_ok(&l, "mem-read", PLACEMENT_SAME_CPU, 8, 0.125, 0);
	made_ok(&l, "memcpy", PLACEMENT_SAME_CPU, 10, 0.1, 0);
	return l;
}

static void say(const struct ladder *l)
{
	memset(said, 0, sizeof(said));
	said_count = explain_sentences(l, said);
	CHECK(said_count <= EXPLAIN_MOST);
	for (size_t i = 0; i < said_count; i++) {
		CHECK_CASE(strlen(said[i]) > 20 && strlen(said[i]) < EXPLAIN_TEXT - 1, said[i]);
		CHECK_CASE(said[i][strlen(said[i]) - 1] == '.', said[i]);
		CHECK_CASE(!strstr(said[i], "nan") && !strstr(said[i], "inf "), said[i]);
	}
}

static bool has(const char *fragment)
{
	for (size_t i = 0; i < said_count; i++)
		if (strstr(said[i], fragment))
			return true;
	return false;
}

static const char *const of_the_machine[] = {
	"The fastest way here is one-cpu (same-cpu): 48.0 GiB/s, 32.0 times write-read.",
	"That is 1.33 times the article's best step here (busy-loop, shared-l3: 36.0 GiB/s), with 40 % of "
	"its "
	"CPU time per GiB.",
	"reach 60.0 GiB/s (limit): one-cpu gets 80 % of that with two processes; the rest goes into the "
	"hand-over "
	"between them (2048 context switches per GiB).",
	"write-read copies twice, which at the speed of memcpy (10.0 GiB/s) would allow 5.0; it reaches 1.5, "
	"30 % of that: not the copying bounds it but pages, locks and hand-overs (30000 context switches per "
	"GiB).",
	"Leaving out the sender's copy makes it 3.0 times as fast, leaving out the reader's another 2.0 "
	"times.",
	"Huge pages make zero-copy 2.0 times as fast: finding a page of 4 KiB in the page tables and "
	"counting its "
	"users cost 212 ns more each.",
	"a busy loop is 2.0 times as fast as waiting in the kernel (7000 context switches per GiB), for 0.5 "
	"times "
	"the CPU time per GiB.",
	"Both ends on one CPU are 2.0 times as fast as on two (sharing the level-3 cache)",
	"one-cpu passes bytes on 6.0 times faster than one core reads memory (8.0 GiB/s)",
	"Contents rewritten each time, shared-l3: the copy-on-write barrier brings 4.0 GiB/s, 4.0 times "
	"write, and "
	"stays right behind any reader. Unsafe double buffering reaches 6.0.",
	"Contents rewritten each time, same-cpu: the copy-on-write barrier brings 5.0 GiB/s, 2.5 times "
	"write, and "
	"stays right behind any reader. Unsafe double buffering reaches 7.0.",
};

static void every_sentence(void)
{
	struct ladder l = machine();

	say(&l);
	CHECK_INT(said_count, COUNT(of_the_machine));
	for (size_t i = 0; i < COUNT(of_the_machine) && i < said_count; i++)
		if (!CHECK(strstr(said[i], of_the_machine[i])))
			printf("  got  \"%s\"\n  want \"%s\"\n", said[i], of_the_machine[i]);
	ladder_release(&l);
}

/* A row's rate (its interval one tenth to either side), or another of its columns. */
enum column { RATE, CPU, SWITCHES, WIDE };

static const struct alteration {
	const char *step;
	enum placement_kind kind;
	enum column column;
	double value;
	const char *gone, *now; /* fragments of the sentence before and after */
} alterations[] = {
	{ "one-cpu", PLACEMENT_SAME_CPU, RATE, 30, "is one-cpu (same-cpu): 48.0",
		"fastest way here is busy-loop (shared-l3): 36.0 GiB/s, 24.0 times write-read" },
	{ "one-cpu", PLACEMENT_SAME_CPU, RATE, 30, "That is 1.33 times",
		"That is the article's own best step: nothing added since then beats it here. It takes "
		"0.0500 CPU" },
	{ "write-read", PLACEMENT_SHARED_L3, RATE, 3, "32.0 times write-read", "16.0 times write-read" },
	{ "busy-loop", PLACEMENT_SHARED_L3, RATE, 24, "1.33 times the article's best",
		"2.00 times the article's" },
	{ "busy-loop", PLACEMENT_SHARED_L3, RATE, 46, "36.0 GiB/s), with",
		"46.0 GiB/s), a difference within the noise, "
		"with 40 %" },
	{ "busy-loop", PLACEMENT_SHARED_L3, CPU, 0.04, "with 40 % of its CPU", "with 50 % of its CPU" },
	{ "one-cpu", PLACEMENT_SAME_CPU, CPU, 0.03, "with 40 % of its CPU", "with 60 % of its CPU" },
	{ "limit", PLACEMENT_SAME_CPU, RATE, 96, "gets 80 % of that", "gets 50 % of that" },
	{ "limit", PLACEMENT_SAME_CPU, RATE, 30, "gets 80 % of that",
		"one-cpu is faster than vmsplice and splice in one process on one CPU (limit: 30.0" },
	{ "limit", PLACEMENT_SAME_CPU, RATE, 47, "gets 80 % of that",
		"one-cpu cannot be told apart from its calls alone in one process on one CPU (limit: 47.0" },
	{ "one-cpu", PLACEMENT_SAME_CPU, SWITCHES, 17, "(2048 context switches",
		"(17 context switches per GiB)" },
	{ "write-read", PLACEMENT_SHARED_L3, RATE, 4, "not the copying bounds it",
		"allows 5.0, and it reaches 4.0: the "
		"copying bounds it" },
	{ "memcpy", PLACEMENT_SAME_CPU, RATE, 4, "not the copying bounds it",
		"allows 2.0, and it reaches 1.5" },
	{ "write-read", PLACEMENT_SHARED_L3, SWITCHES, 99, "(30000 context",
		"(99 context switches per GiB)" },
	{ "vmsplice-read", PLACEMENT_SHARED_L3, RATE, 6, "copy makes it 3.0 times",
		"copy makes it 4.0 times as fast, leaving out the reader's another 1.5 times" },
	{ "vmsplice-splice", PLACEMENT_SHARED_L3, RATE, 4.4, "the reader's another 2.0",
		"leaving out the reader's 1.0 times (within the noise)" },
	{ "vmsplice-read", PLACEMENT_SHARED_L3, RATE, 1.6, "copy makes it 3.0 times as fast,",
		"makes it 1.1 times as fast (within the noise)," },
	{ "vmsplice-splice-huge", PLACEMENT_SHARED_L3, RATE, 9.1, "Huge pages make zero-copy",
		"Huge pages do not help zero-copy here (1.01 times)" },
	{ "vmsplice-splice-huge", PLACEMENT_SHARED_L3, RATE, 4.5, "Huge pages make zero-copy",
		"Huge pages do not help zero-copy here (0.50 times)" },
	{ "vmsplice-splice", PLACEMENT_SHARED_L3, RATE, 6, "cost 212 ns more each", "cost 424 ns more each" },
	{ "busy-loop", PLACEMENT_SHARED_L3, RATE, 18.5, "a busy loop is 2.0 times",
		"A busy loop gains nothing over waiting in the kernel here (1.03 times), for 0.5 times the "
		"CPU" },
	{ "vmsplice-splice-huge", PLACEMENT_SHARED_L3, CPU, 0.02, "for 0.5 times the CPU",
		"for 2.5 times the CPU" },
	{ "vmsplice-splice-huge", PLACEMENT_SHARED_L3, SWITCHES, 5, "(7000 context",
		"(5 context switches per GiB)" },
	{ "full-capacity", PLACEMENT_SHARED_L3, RATE, 12, "on one CPU are 2.0 times",
		"on one CPU are 4.0 times" },
	{ "full-capacity", PLACEMENT_SHARED_L3, RATE, 96, "Both ends on one CPU are",
		"Two CPUs (sharing the level-3 cache) are 2.0 times as fast as one" },
	{ "full-capacity", PLACEMENT_SHARED_L3, RATE, 47, "Both ends on one CPU are",
		"One CPU or two (sharing the level-3 cache) make no difference beyond the noise." },
	{ "mem-read", PLACEMENT_SAME_CPU, RATE, 16, "6.0 times faster than one core reads",
		"3.0 times faster than one "
		"core reads memory (16.0" },
	{ "mem-read", PLACEMENT_SAME_CPU, RATE, 64, "passes bytes on 6.0 times",
		"One core reads memory at 64.0 GiB/s, no slower than the fastest pipe" },
	{ "protect", PLACEMENT_SHARED_L3, RATE, 2, "barrier brings 4.0 GiB/s, 4.0 times",
		"shared-l3: the copy-on-write barrier brings 2.0 GiB/s, 2.0 times write" },
	{ "protect", PLACEMENT_SHARED_L3, RATE, 0.9, "barrier brings 4.0 GiB/s",
		"shared-l3: the copy-on-write barrier does not pay here (0.9 GiB/s, 0.90 times write)" },
	{ "protect", PLACEMENT_SAME_CPU, RATE, 1, "barrier brings 5.0 GiB/s",
		"same-cpu: the copy-on-write barrier does not pay here (1.0 GiB/s, 0.50 times write)" },
	{ "fill-write", PLACEMENT_SAME_CPU, RATE, 1, "5.0 GiB/s, 2.5 times", "5.0 GiB/s, 5.0 times write" },
	{ "fill-unsafe", PLACEMENT_SHARED_L3, RATE, 9, "double buffering reaches 6.0",
		"double buffering reaches 9.0." },
	/* The same medians with intervals that overlap: nothing is faster than anything for sure. */
	{ "one-cpu", PLACEMENT_SAME_CPU, WIDE, 0, "Both ends on one CPU are",
		"make no difference beyond the noise" },
	{ "busy-loop", PLACEMENT_SHARED_L3, WIDE, 0, "a busy loop is 2.0 times",
		"gains nothing over waiting" },
	{ "vmsplice-splice-huge", PLACEMENT_SHARED_L3, WIDE, 0, "Huge pages make", "Huge pages do not help" },
	{ "protect", PLACEMENT_SAME_CPU, WIDE, 0, "barrier brings 5.0",
		"same-cpu: the copy-on-write barrier does not pay" },
	{ "vmsplice-read", PLACEMENT_SHARED_L3, WIDE, 0, "3.0 times as fast,",
		"3.0 times as fast (within the noise)," },
};

static struct row *row_of(struct ladder *l, const char *step, enum placement_kind kind)
{
	struct row *row = (struct row *)(uintptr_t)ladder_find(l, step, (int)kind);

	if (!row)
		abort();
	return row;
}

static void alter(struct row *row, enum column column, double value)
{
	switch (column) {
	case RATE:
		row->gib_per_s = (struct interval){ value, 0.9 * value, 1.1 * value };
		break;
	case CPU:
		row->cpu_s_per_gib = value;
		break;
	case SWITCHES:
		row->switches_per_gib = value;
		break;
	case WIDE:
		row->gib_per_s.low = 0.01;
		row->gib_per_s.high = 1000;
		break;
	}
}

static void altered_columns(void)
{
	for (size_t i = 0; i < COUNT(alterations); i++) {
		const struct alteration *a = &alterations[i];
		struct ladder l = machine();

		say(&l);
		CHECK_CASE(has(a->gone), a->gone);
		CHECK_CASE(!has(a->now), a->now);
		alter(row_of(&l, a->step, a->kind), a->column, a->value);
		say(&l);
		CHECK_CASE(!has(a->gone), a->gone);
		if (!CHECK_INT(has(a->now), 1)) {
			printf("  want \"%s\" in one of\n", a->now);
			for (size_t k = 0; k < said_count; k++)
				printf("  - %s\n", said[k]);
		}
		ladder_release(&l);
	}
}

/* Without this step the sentence that begins so is not said; all others that do not rest on it stay. */
static const struct {
	const char *step, *gone;
} missing[] = {
	{ "write-read", "write-read copies twice" },
	{ "write-read", "Leaving out the sender's copy" },
	{ "write-read", "times write-read." },
	{ "vmsplice-read", "Leaving out the sender's copy" },
	{ "vmsplice-splice", "Leaving out the sender's copy" },
	{ "vmsplice-splice", "Huge pages" },
	{ "vmsplice-splice-huge", "Huge pages" },
	{ "vmsplice-splice-huge", "a busy loop is" },
	{ "busy-loop", "a busy loop is" },
	{ "busy-loop", "the article's best step" },
	{ "full-capacity", "Both ends on one CPU" },
	{ "one-cpu", "Both ends on one CPU" },
	{ "limit", "The calls alone" },
	{ "memcpy", "write-read copies twice" },
	{ "mem-read", "reads memory" },
	{ "fill-write", "Contents rewritten each time" },
	{ "fill-unsafe", "Unsafe double buffering" },
	{ "protect", "Contents rewritten each time" },
};

static void missing_rows(void)
{
	static const enum row_status statuses[] = { ROW_SKIPPED, ROW_FAILED, ROW_PARTIAL };

	for (size_t i = 0; i < COUNT(missing); i++)
		for (size_t s = 0; s < COUNT(statuses); s++) {
			struct ladder l = machine();

			say(&l);
			CHECK_CASE(has(missing[i].gone), missing[i].gone);
			for (size_t k = 0; k < l.row_count; k++)
				if (strcmp(l.rows[k].step->name, missing[i].step) == 0)
					l.rows[k].status = statuses[s];
			say(&l);
			CHECK_CASE(!has(missing[i].gone), missing[i].gone);
			CHECK_CASE(said_count >= COUNT(of_the_machine) - 3, missing[i].step);
			CHECK_CASE(!strstr(said[0], missing[i].step), missing[i].step);
			ladder_release(&l);
		}
}

static void nothing_to_say(void)
{
	struct ladder l = { .rounds_wanted = 9, .rounds_run = 9 };
	char text[64] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	explain(&l, 80, f);
	fclose(f);
	CHECK_TEXT(text, "");
	made_ok(&l, "memcpy", PLACEMENT_SAME_CPU, 1, 1, 1);
	say(&l);
	CHECK_INT(said_count, 0);
	ladder_release(&l);
}

static void only_the_first_step(void)
{
	struct ladder l = { .rounds_wanted = 9, .rounds_run = 9 };

	made_ok(&l, "write-read", PLACEMENT_SMT, 1.5, 1.2, 30000);
	say(&l);
	CHECK_INT(said_count, 1);
	CHECK_TEXT(said[0], "The fastest way here is write-read (smt): 1.5 GiB/s.");
	ladder_release(&l);
}

/* A page size that is not known, CPU times of nothing, values that are none: no sentence with "nan" in it. */
static void odd_values(void)
{
	struct ladder l = machine();

	l.env.page_bytes = 0;
	say(&l);
	CHECK(!has("Huge pages"));
	l.env.page_bytes = 65536;
	say(&l);
	CHECK(has("a page of 64 KiB") && has("cost 3391 ns more each"));
	for (size_t i = 0; i < l.row_count; i++)
		l.rows[i].cpu_s_per_gib = 0;
	say(&l);
	for (size_t i = 0; i < l.row_count; i++) {
		l.rows[i].cpu_s_per_gib = (double)NAN;
		l.rows[i].ratio_to_first = (struct interval){ (double)NAN, (double)NAN, (double)NAN };
	}
	say(&l);
	CHECK(said_count >= 8);
	ladder_release(&l);
}

/* --cpus with one CPU for both: there are no two placements to compare. */
static void by_hand_on_one_cpu(void)
{
	struct ladder l = machine();
	struct row *row = row_of(&l, "full-capacity", PLACEMENT_SHARED_L3);

	row->placement = (struct placement){ PLACEMENT_BY_HAND, 0, 0 };
	say(&l);
	CHECK(!has("Both ends on one CPU are") && !has("CPU or two") && !has("Two CPUs"));
	row->placement = (struct placement){ PLACEMENT_BY_HAND, 0, 5 };
	say(&l);
	CHECK(has("as fast as on two (sharing whatever the CPUs given share)"));
	ladder_release(&l);
}

static void disturbed(size_t rejected, bool said_so)
{
	struct ladder l = machine();

	for (size_t i = 0; i < 100; i++)
		made_round(&l.rows[i % 3], i, 1, i < rejected ? "noise" : NULL);
	say(&l);
	CHECK(has("Other load disturbed") == said_so);
	if (rejected == 55)
		CHECK(has("Other load disturbed 55 % of the rounds"));
	ladder_release(&l);
}

static void disturbed_rounds(void)
{
	disturbed(0, false);
	disturbed(20, false);
	disturbed(21, true);
	disturbed(55, true);
	disturbed(100, true);
}

/* All sentences there are, at once: they fit. */
static void all_at_once(void)
{
	struct ladder l = machine();

	made_round(&l.rows[0], 0, 1, "noise");
	say(&l);
	CHECK_INT(said_count, EXPLAIN_MOST);
	for (size_t i = 0; i < l.row_count; i++)
		alter(&l.rows[i], RATE, 123456.7);
	say(&l);
	for (size_t i = 0; i < l.row_count; i++)
		alter(&l.rows[i], RATE, 1e-9);
	say(&l);
	CHECK_INT(said_count, EXPLAIN_MOST);
	ladder_release(&l);
}

static void printed_as_a_list(void)
{
	struct ladder l = machine();
	static char text[8192];
	FILE *f = fmemopen(text, sizeof(text), "w");

	explain(&l, 72, f);
	fclose(f);
	CHECK(strncmp(text, "\nWhat bounds this machine:\n- The fastest way", 44) == 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		CHECK_CASE(strlen(line) <= 72 && (line[0] == 'W' || strncmp(line, "- ", 2) == 0 ||
							 strncmp(line, "  ", 2) == 0),
			line);
	ladder_release(&l);
}

int main(void)
{
	TEST(every_sentence);
	TEST(altered_columns);
	TEST(missing_rows);
	TEST(nothing_to_say);
	TEST(only_the_first_step);
	TEST(odd_values);
	TEST(by_hand_on_one_cpu);
	TEST(disturbed_rounds);
	TEST(all_at_once);
	TEST(printed_as_a_list);
	return test_end();
}
