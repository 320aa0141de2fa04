/* SPDX-License-Identifier: MIT */
/*
 * gauntlet                       the short form, for `make check`: the library before each middleman and
 *                                reader once, each tool of ours before a third of them
 * gauntlet --seconds 180         all policies, again and again with other sizes, for so long
 * gauntlet --soak 600            random configurations in one process, which must not grow
 * --seed N                       what the random numbers begin with; each failure says how to see it again
 * --large, --only NAME           as a failure says
 * --verbose                      each run
 */
#include "gauntlet.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEED 20261130
#define SHORT_SECONDS 80 /* it takes 15; tests/run waits for 120, and emulation is slow */

/* One policy behind one middleman before one reader. */
struct tally {
	uint64_t runs, could_show, shared, words, bad, failures;
	char why[400]; /* of the first failure */
};

static struct tally tallies[POLICIES][MIDDLES][READERS];
static const char *only;
static bool large, verbose, all_policies, control_failed;
static unsigned skipped, failed, passed;

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static struct tally *tally_of(const struct config *c)
{
	return &tallies[c->policy][c->middle][c->reader];
}

/* What it was, and how to see it again. */
static void describe(
	const struct config *c, uint64_t seed, const struct board *board, char *ret_text, size_t bytes)
{
	char name[60];

	config_name(c, name, sizeof(name));
	snprintf(ret_text, bytes,
		"pipe %zu KiB, ring %zu KiB, threads %u, style %d%s%s; used %s; gauntlet --seed %" PRIu64
		" %s--only %s",
		c->pipe_bytes >> 10, c->ring_bytes >> 10, c->threads, (int)c->style,
		c->nonblock ? ", nonblock" : "", troubles_name(c->troubles), board->used, seed,
		large ? "--large " : "", name);
}

static void note_failure(
	struct tally *t, const struct config *c, uint64_t seed, const char *why, const struct board *board)
{
	char text[300];

	describe(c, seed, board, text, sizeof(text));
	if (t->failures++ == 0)
		snprintf(t->why, sizeof(t->why), "%s (%s)", why, text);
	printf("  FAILED: %s (%s)\n", why, text);
	fflush(stdout);
}

static void note_run(const struct config *c, uint64_t seed, const struct board *board)
{
	char text[300];

	describe(c, seed, board, text, sizeof(text));
	printf("  %" PRIu64 " bad of %" PRIu64 ": %s\n", board_bad(board), board_words(board), text);
}

/* A run in which the library chose to copy all the time says little. */
static bool shares_pages(const struct board *board)
{
	return board->used[0] != '\0' && strcmp(board->used, "write") != 0;
}

static void run_one(struct config *c, uint64_t seed, bool could_show, struct board *board)
{
	struct tally *t = tally_of(c);
	enum outcome outcome;
	const char *why;

	config_draw(c, seed, large);
	outcome = run_guarded(c, board);
	why = outcome == RUN_HUNG ? "it hung" : outcome == RUN_CRASHED ? "it crashed" : judge(c, board);
	t->runs++;
	t->could_show += could_show;
	t->shared += shares_pages(board);
	t->words += board_words(board);
	t->bad += board_bad(board);
	if (verbose)
		note_run(c, seed, board);
	if (why)
		note_failure(t, c, seed, why, board);
}

/* The short form has some of the policies at each place, PROTECT at all of them. */
static bool policy_is_due(enum policy policy, unsigned place)
{
	if (policy_is_control(policy)) /* they come with others */
		return only;
	if (all_policies || policy == POLICY_PROTECT)
		return true;
	switch (policy) {
	case POLICY_BARRIER:
		return place % 4 == 1;
	case POLICY_GIVE:
		return place % 2 == 0;
	case POLICY_TRUST:
		return place < READERS || place % 8 == 3;
	default:
		return (place + (unsigned)policy) % 3 == 0;
	}
}

static bool is_wanted(const struct config *c)
{
	char name[60];

	config_name(c, name, sizeof(name));
	return !only || strcmp(only, name) == 0;
}

/* Returns whether the control showed corruption there. */
static bool run_control(enum policy control, struct config c, uint64_t seed, struct board *board)
{
	c.policy = control;
	run_one(&c, seed, false, board);
	if (control == POLICY_NAIVE && board->error != 0 && board->error != -EPIPE)
		control_failed = true;
	tally_of(&c)->could_show += board_bad(board) > 0;
	return board_bad(board) > 0;
}

static void run_place(enum middle middle, enum reader reader, uint64_t seed, struct board *board)
{
	struct config c = { .middle = middle, .reader = reader };
	int could_show[POLICIES] = { -1, -1 }; /* of each control */

	if (!config_makes_sense(&c))
		return;
	for (unsigned p = 0; p < POLICIES; p++) {
		enum policy control = control_of((enum policy)p);

		c.policy = (enum policy)p;
		if (config_missing(&c) || !policy_is_due(c.policy, (unsigned)middle * READERS + reader) ||
			!is_wanted(&c))
			continue;
		if (could_show[control] < 0)
			could_show[control] = run_control(control, c, seed, board);
		if (c.policy != control)
			run_one(&c, seed, could_show[control], board);
	}
}

static void run_round(uint64_t seed, struct board *board, int64_t end_s)
{
	unsigned places = MIDDLES * READERS;

	/* In an order of its own each time: the time may not be enough for all. 7 does not divide their
	 * number.
	 */
	for (unsigned i = 0; i < places && now_s() < end_s; i++) {
		unsigned place = (unsigned)((seed + i * 7) % places);

		run_place((enum middle)(place / READERS), (enum reader)(place % READERS), seed, board);
	}
}

/* ---- what came of it ---- */

static void print_case(enum policy policy, enum middle middle, enum reader reader)
{
	struct config c = { .policy = policy, .middle = middle, .reader = reader };
	const struct tally *t = tally_of(&c);
	char name[60];

	if (t->runs == 0)
		return;
	config_name(&c, name, sizeof(name));
	if (t->failures > 0) {
		failed++;
		printf("not ok %s: %" PRIu64 " of %" PRIu64 " times; first: %s\n", name, t->failures, t->runs,
			t->why);
	} else {
		passed++;
		printf("ok %s\n", name);
	}
}

static void print_skip(const char *where, const char *name, const char *missing)
{
	if (!missing || only)
		return;
	skipped++;
	printf("skip %s_%s: %s\n", where, name, missing);
}

/* Controls may be wrong about bytes; whether all came and how it ended is judged of the tools, also as such.
 */
static void print_cases(void)
{
	for (unsigned m = 0; m < MIDDLES; m++) {
		struct config c = { .middle = (enum middle)m };

		print_skip("behind", middle_names[m], config_missing(&c));
		for (unsigned r = 0; r < READERS; r++)
			for (unsigned p = POLICY_UNSTABLE; p < POLICIES; p++)
				print_case((enum policy)p, (enum middle)m, (enum reader)r);
	}
	for (unsigned p = 0; p < POLICIES; p++) {
		struct config c = { .policy = (enum policy)p };

		print_skip("from", policy_names[p], config_missing(&c));
	}
}

static struct tally sum_of(enum policy policy, bool judged)
{
	struct tally sum = { 0 };

	for (unsigned m = 0; m < MIDDLES; m++)
		for (unsigned r = 0; r < READERS; r++) {
			struct config c = {
				.policy = policy, .middle = (enum middle)m, .reader = (enum reader)r
			};
			const struct tally *t = tally_of(&c);

			if (config_is_judged(&c) != judged)
				continue;
			sum.runs += t->runs;
			sum.could_show += t->could_show;
			sum.shared += t->shared;
			sum.words += t->words;
			sum.bad += t->bad;
		}
	return sum;
}

static void print_sum(enum policy policy, const char *note, struct tally s)
{
	char shared[24] = "    ?"; /* the tools do not tell */

	if (s.runs == 0)
		return;
	if (!policy_is_tool(policy))
		snprintf(shared, sizeof(shared), "%5" PRIu64, s.shared);
	printf("  %-11s%5" PRIu64 " runs, %s shared pages, %5" PRIu64 " where corruption shows, %11" PRIu64
	       " words, %10" PRIu64 " bad%s\n",
		policy_names[policy], s.runs, shared, s.could_show, s.words, s.bad, note);
}

static void print_sums(void)
{
	for (unsigned i = 0; i < POLICIES; i++) {
		enum policy p = (enum policy)i;

		print_sum(p, "", sum_of(p, true));
		print_sum(
			p, policy_is_control(p) ? " (a control)" : " (not promised there)", sum_of(p, false));
	}
}

/* A plain reader, and what copies in the middle, cannot show it. */
static void print_blind_places(enum policy control)
{
	printf("  the %s control showed none at:", policy_names[control]);
	for (unsigned m = 0; m < MIDDLES; m++)
		for (unsigned r = 0; r < READERS; r++) {
			const struct tally *t = &tallies[control][m][r];

			if (t->runs > 0 && t->could_show == 0)
				printf(" %s_%s", middle_names[m], reader_names[r]);
		}
	printf("\n");
}

/* Without it nothing above means anything. */
static void check_control(enum policy control, const char *name)
{
	struct tally s = sum_of(control, false);

	if (only || (control != POLICY_NAIVE && s.runs == 0)) /* no gush here, or no time */
		return;
	if (s.could_show > 0) {
		passed++;
		printf("ok %s\n", name);
	} else if (control_failed) {
		skipped++;
		printf("skip %s: vmsplice does not work here\n", name);
	} else {
		failed++;
		printf("not ok %s: in none of %" PRIu64 " runs\n", name, s.runs);
	}
}

static int run_all(unsigned seconds, uint64_t seed)
{
	struct board *board = board_new();
	int64_t end_s = now_s() + (seconds > 0 ? seconds : SHORT_SECONDS);

	large = large || seconds > 0;
	all_policies = seconds > 0 || only;
	printf("  seed %" PRIu64 "\n", seed);
	do
		run_round(seed++, board, end_s);
	while (seconds > 0 && now_s() < end_s);
	print_cases();
	check_control(POLICY_NAIVE, "controls_show_corruption");
	check_control(POLICY_UNSTABLE, "changes_of_files_show");
	print_blind_places(POLICY_NAIVE);
	print_blind_places(POLICY_UNSTABLE);
	print_sums();
	if (failed > 0)
		return 1;
	return passed > 0 ? 0 : 77;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' }, { "soak", required_argument, NULL, 'k' },
		{ "only", required_argument, NULL, 'o' }, { "large", no_argument, NULL, 'l' },
		{ "verbose", no_argument, NULL, 'v' }, { NULL, 0, NULL, 0 } };
	unsigned seconds = 0, soak_seconds = 0;
	uint64_t seed = SEED;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			seconds = (unsigned)atoi(optarg);
			break;
		case 'r':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'k':
			soak_seconds = (unsigned)atoi(optarg);
			break;
		case 'o':
			only = optarg;
			break;
		case 'l':
			large = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return 2;
		}
	}
	return soak_seconds > 0 ? soak(soak_seconds, seed) : run_all(seconds, seed);
}
