/* SPDX-License-Identifier: MIT */
/*
 * The gauntlet must see bugs of the barrier. Each is planted and must give bad words, but where the library
 * notices by itself and writes instead: that is counted apart, and the bug planted again with the library's
 * own guards blinded, where it must be seen. So must bugs of our tools be, which are planted behind them.
 */
#include "lie.h"

#include "harness.h"

#include <errno.h>
#include <sys/mman.h>

#define TRIES 6
#define SEED 20261130

enum expected {
	SEEN,	 /* bad words */
	GUARDED, /* bad words, or held off by the library */
	RIGHT,	 /* no bug, but something that the library must cope with */
};

static const struct plant {
	const char *name;
	enum lie_kind kind;
	enum policy policy;
	enum expected expected;
	bool blind;
	const char *way; /* that must be used; NULL: any */
} plants[] = {
	{ "none_barrier", LIE_NONE, POLICY_BARRIER, RIGHT, false, NULL },
	{ "none_protect", LIE_NONE, POLICY_PROTECT, RIGHT, false, "barrier-clone3" },
	{ "none_protect_blind", LIE_NONE, POLICY_PROTECT, RIGHT, true, NULL },
	{ "skip_barrier", LIE_SKIP, POLICY_BARRIER, SEEN, false, NULL },
	{ "skip_protect", LIE_SKIP, POLICY_PROTECT, GUARDED, false, NULL },
	{ "skip_protect_blind", LIE_SKIP, POLICY_PROTECT, SEEN, true, NULL },
	{ "early_barrier", LIE_EARLY, POLICY_BARRIER, SEEN, false, NULL },
	{ "early_protect", LIE_EARLY, POLICY_PROTECT, GUARDED, false, NULL },
	{ "early_protect_blind", LIE_EARLY, POLICY_PROTECT, SEEN, true, NULL },
	{ "memfd_barrier", LIE_MEMFD, POLICY_BARRIER, SEEN, false, NULL },
	{ "memfd_protect", LIE_MEMFD, POLICY_PROTECT, GUARDED, false, NULL },
	{ "memfd_protect_blind", LIE_MEMFD, POLICY_PROTECT, SEEN, true, NULL },
	{ "hugetlb_barrier", LIE_HUGETLB, POLICY_BARRIER, SEEN, false, NULL },
	{ "hugetlb_protect", LIE_HUGETLB, POLICY_PROTECT, GUARDED, false, NULL },
	{ "hugetlb_protect_blind", LIE_HUGETLB, POLICY_PROTECT, SEEN, true, NULL },
	{ "dontneed_protect", LIE_DONTNEED, POLICY_PROTECT, GUARDED, false, NULL },
	{ "dontneed_protect_blind", LIE_DONTNEED, POLICY_PROTECT, SEEN, true, NULL },
	{ "dontneed_give", LIE_DONTNEED, POLICY_GIVE, GUARDED, false, NULL },
	{ "dontneed_fails_protect", LIE_DONTNEED_FAILS, POLICY_PROTECT, RIGHT, false, NULL },
	{ "dontneed_fails_give", LIE_DONTNEED_FAILS, POLICY_GIVE, RIGHT, false, NULL },
	{ "forbidden_later_protect", LIE_CLONE_FORBIDDEN, POLICY_PROTECT, RIGHT, false, "fresh-pages" },
	{ "no_clone3_protect", LIE_NO_CLONE3, POLICY_PROTECT, RIGHT, false, "barrier-clone" },
	{ "no_failing_clone_protect", LIE_NO_FAILING_CLONE, POLICY_PROTECT, RIGHT, false, "barrier-child" },
	{ "no_clone_protect", LIE_NO_CLONE, POLICY_PROTECT, RIGHT, false, "fresh-pages" },
};

static const struct plant *plant;
static struct board *board;
static unsigned seen, held_off;

/* A holder behind the producer, and a reader who looks late: it shows if anything does. */
static struct config config_for(enum policy policy, unsigned attempt)
{
	struct config c = { .policy = policy, .middle = MIDDLE_HOLDER, .reader = READER_SPLICING };

	config_draw(&c, SEED + attempt, false);
	c.pipe_bytes = MIB;
	c.ring_bytes = 4 * MIB; /* more than a trial maps */
	c.total_bytes = 48 * MIB;
	c.troubles = 0;
	c.threads = attempt % 2 == 0 ? 0 : 2;
	return c;
}

static enum outcome attempt(enum policy policy, unsigned number)
{
	struct config c = config_for(policy, number);

	return run_guarded(&c, board);
}

static bool hugetlb_is_here(void)
{
	void *base =
		mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (base == MAP_FAILED)
		return false;
	munmap(base, 8 * MIB);
	return true;
}

static void check_right(void)
{
	for (unsigned i = 0; i < TRIES / 2; i++) {
		struct config c = config_for(plant->policy, i);
		const char *wrong =
			run_guarded(&c, board) != RUN_ENDED ? "it hung or crashed" : judge(&c, board);

		if (!wrong && plant->way && !strstr(board->used, plant->way))
			wrong = "another way than wanted";
		if (!CHECK(wrong == NULL))
			printf("  attempt %u: %s (used %s)\n", i, wrong, board->used);
	}
}

static void check_planted(void)
{
	unsigned lies = 0;
	uint64_t bad = 0;

	for (unsigned i = 0; bad == 0 && i < TRIES; i++) {
		if (!CHECK(attempt(plant->policy, i) == RUN_ENDED))
			return;
		bad = board_bad(board);
		lies += board->lies;
	}
	printf("  %s: %llu bad words after %u lies (used %s)\n", plant->name, (unsigned long long)bad, lies,
		board->used);
	seen += bad > 0;
	held_off += bad == 0 && lies > 0;
	if (lies == 0)
		SKIP("nothing here makes the call");
	CHECK(bad > 0 || plant->expected == GUARDED);
}

static void run_plant(void)
{
	if (plant->kind == LIE_HUGETLB && !hugetlb_is_here())
		SKIP("no hugetlb pages");
	lie = (struct lie){ .kind = plant->kind, .blind = plant->blind, .board = board };
	if (plant->expected == RIGHT)
		check_right();
	else
		check_planted();
}

/* ---- behind the tools ---- */

static const char *const mangle_names[] = { [MANGLE_WRONG] = "wrong_byte",
	[MANGLE_LOST] = "lost_byte",
	[MANGLE_DOUBLED] = "doubled_byte",
	[MANGLE_STATUS] = "failure",
	[MANGLE_FILE] = "wrong_byte_in_file" };
static enum policy mangled_policy;
static enum mangle mangle;

/* Bytes are to be told from those that must be there, not by their number alone. */
static void run_mangled(void)
{
	struct config c = config_for(mangled_policy, mangle); /* of each, another line, and so on */

	c.threads = 0;
	c.mangle = mangle;
	if (config_missing(&c))
		SKIP(config_missing(&c));
	CHECK(run_guarded(&c, board) == RUN_ENDED);
	CHECK(judge(&c, board) != NULL);
	if (!CHECK((board_bad(board) > 0) == (mangle != MANGLE_STATUS)))
		printf("  %llu bad words of %llu (%s)\n", (unsigned long long)board_bad(board),
			(unsigned long long)board_words(board), board->used);
}

static void run_all_mangled(void)
{
	char name[60];

	for (unsigned p = POLICY_OUR_YES; p < POLICIES; p++)
		for (unsigned m = MANGLE_WRONG; m <= MANGLE_FILE; m++) {
			if (m == MANGLE_FILE && p != POLICY_OUR_TEE)
				continue;
			mangled_policy = (enum policy)p;
			mangle = (enum mangle)m;
			snprintf(name, sizeof(name), "plant_%s_%s", mangle_names[m], policy_names[p]);
			test_run(name, run_mangled);
		}
}

/* Without it nothing could be seen. */
static bool control_shows(void)
{
	uint64_t bad = 0;

	for (unsigned i = 0; bad == 0 && i < TRIES; i++)
		if (attempt(POLICY_NAIVE, i) == RUN_ENDED)
			bad = board_bad(board);
	return bad > 0;
}

int main(void)
{
	char name[60];

	board = board_new();
	run_all_mangled();
	produce_hook = lie_hook;
	if (!control_shows()) {
		test_skipped++;
		printf("skip plants: here nothing shows corruption\n");
		return test_end();
	}
	for (size_t i = 0; i < COUNT(plants); i++) {
		plant = &plants[i];
		snprintf(name, sizeof(name), "plant_%s", plant->name);
		test_run(name, run_plant);
	}
	printf("  %u planted bugs seen, %u held off by the library itself\n", seen, held_off);
	return test_end();
}
