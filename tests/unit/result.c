/* SPDX-License-Identifier: MIT */
/* What follows from rounds: medians, ratios pair by pair, and which rows may be shown as measured. */
#include "made.h"

/* Rates of rounds 0, 1, 2, ...; a negative one is that of a rejected round. */
static void add_rounds(struct row *row, const double *rates, size_t count)
{
	for (size_t i = 0; i < count; i++)
		made_round(row, i, fabs(rates[i]), rates[i] < 0 ? "noise" : NULL);
}

#define ADD(row, ...) add_rounds((row), (const double[]){ __VA_ARGS__ }, COUNT(((double[]){ __VA_ARGS__ })))

/* A first row, and a second, of so many rounds. */
static struct ladder two_rows(size_t rounds)
{
	struct ladder l = { .rounds_wanted = rounds, .rounds_run = rounds, .seed = 7 };

	made_row(&l, "write-read", PLACEMENT_SHARED_L3);
	made_row(&l, "one-cpu", PLACEMENT_SAME_CPU);
	return l;
}

static void medians(void)
{
	struct ladder l = two_rows(5);

	ADD(&l.rows[0], 2, 1, 3, 5, 4);
	ADD(&l.rows[1], 8, 8, 8, 8, 8);
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_OK);
	CHECK_NEAR(l.rows[0].gib_per_s.median, 3, 1e-6);
	CHECK(l.rows[0].gib_per_s.low >= 1 - 1e-6 && l.rows[0].gib_per_s.low <= 3);
	CHECK(l.rows[0].gib_per_s.high <= 5 + 1e-6 && l.rows[0].gib_per_s.high >= 3);
	CHECK_NEAR(l.rows[0].cpu_s_per_gib, 0.25, 1e-6);
	CHECK_NEAR(l.rows[0].switches_per_gib, 1000, 1);
	CHECK_NEAR(l.rows[0].faults_per_gib, 8, 0.01);
	CHECK_NEAR(l.rows[1].gib_per_s.low, 8, 1e-6);
	CHECK_NEAR(l.rows[1].gib_per_s.high, 8, 1e-6);
	ladder_release(&l);
}

static void rejected_rounds_do_not_count(void)
{
	struct ladder l = two_rows(4);

	ADD(&l.rows[0], 1, -100, 1, 1);
	ADD(&l.rows[1], 4, 4, -0.001, -0.001);
	ladder_summarise(&l);
	CHECK_INT(row_rejected(&l.rows[0]), 1);
	CHECK_NEAR(l.rows[0].gib_per_s.median, 1, 1e-6);
	CHECK_NEAR(l.rows[0].gib_per_s.high, 1, 1e-6);
	CHECK_INT(l.rows[1].status, ROW_OK); /* half of them is enough */
	CHECK_NEAR(l.rows[1].gib_per_s.median, 4, 1e-6);
	CHECK_NEAR(l.rows[1].gib_per_s.low, 4, 1e-6);
	ladder_release(&l);
}

/* A disturbed round that was run again: the last of its number counts. */
static void retried_rounds(void)
{
	struct ladder l = two_rows(2);

	ADD(&l.rows[0], 2, 2);
	made_round(&l.rows[1], 0, 50, "noise");
	made_round(&l.rows[1], 0, 6, NULL);
	made_round(&l.rows[1], 1, 50, "noise");
	made_round(&l.rows[1], 1, 50, "noise");
	made_round(&l.rows[1], 1, 8, NULL);
	ladder_summarise(&l);
	CHECK_INT(l.rows[1].status, ROW_OK);
	CHECK_INT(row_rejected(&l.rows[1]), 3);
	CHECK_NEAR(l.rows[1].gib_per_s.median, 7, 1e-6);
	CHECK_NEAR(l.rows[1].ratio_to_first.median, 3.5, 1e-6);
	CHECK_NEAR(l.rows[1].ratio_to_first.low, 3, 1e-6);
	CHECK_NEAR(l.rows[1].ratio_to_first.high, 4, 1e-6);
	ladder_release(&l);
}

/* Both doubled in each round: the ratio is 2 however much the machine's speed changed between rounds. */
static void ratios_pair_rounds_of_one_number(void)
{
	struct ladder l = two_rows(4);

	ADD(&l.rows[0], 1, 10, 100, 5);
	made_round(&l.rows[1], 3, 10, NULL); /* not in order */
	made_round(&l.rows[1], 0, 2, NULL);
	made_round(&l.rows[1], 2, 200, NULL);
	made_round(&l.rows[1], 1, 20, NULL);
	ladder_summarise(&l);
	CHECK_NEAR(l.rows[1].ratio_to_first.median, 2, 1e-6);
	CHECK_NEAR(l.rows[1].ratio_to_first.low, 2, 1e-6);
	CHECK_NEAR(l.rows[1].ratio_to_first.high, 2, 1e-6);
	CHECK_NEAR(l.rows[0].ratio_to_first.median, 1, 1e-9);
	ladder_release(&l);
}

static void ratios_without_pairs(void)
{
	struct ladder l = two_rows(4);

	ADD(&l.rows[0], 1, 1, -9, -9);
	ADD(&l.rows[1], -9, -9, 7, 7);
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_OK);
	CHECK_INT(l.rows[1].status, ROW_OK);
	CHECK_NEAR(l.rows[1].gib_per_s.median, 7, 1e-6);
	CHECK(isnan(l.rows[1].ratio_to_first.median));
	ladder_release(&l);
}

static void ratio_is_to_the_first_that_is_ok(void)
{
	struct ladder l = two_rows(3);

	l.rows[0].status = ROW_FAILED;
	ADD(&l.rows[0], 1, 1, 1);
	ADD(&l.rows[1], 4, 4, 4);
	made_row(&l, "limit", PLACEMENT_SAME_CPU);
	ADD(&l.rows[2], 6, 6, 6);
	ladder_summarise(&l);
	CHECK_NEAR(l.rows[1].ratio_to_first.median, 1, 1e-6);
	CHECK_NEAR(l.rows[2].ratio_to_first.median, 1.5, 1e-6);
	CHECK_INT(l.rows[0].status, ROW_FAILED);
	ladder_release(&l);
}

static void nothing_is_ok(void)
{
	struct ladder l = two_rows(3);

	l.rows[0].status = ROW_SKIPPED;
	l.rows[1].status = ROW_PARTIAL;
	ADD(&l.rows[1], 4, 6);
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_SKIPPED);
	CHECK_INT(l.rows[1].status, ROW_PARTIAL);
	CHECK(isnan(l.rows[1].ratio_to_first.median));
	CHECK_NEAR(row_reached_gib_per_s(&l.rows[1]), 5, 1e-6);
	CHECK(isnan(row_reached_gib_per_s(&l.rows[0])));
	CHECK(!ladder_find(&l, "one-cpu", -1));
	ladder_release(&l);
}

static void settle(size_t wanted, int signal_number, size_t good, size_t rejected, enum row_status status,
	const char *reason)
{
	struct ladder l = {
		.rounds_wanted = wanted, .rounds_run = wanted, .seed = 1, .signal_number = signal_number
	};
	struct row *row = made_row(&l, "write-read", PLACEMENT_SHARED_L3);

	for (size_t i = 0; i < good + rejected; i++)
		made_round(row, i, 1, i < good ? NULL : "noise");
	ladder_summarise(&l);
	CHECK_TEXT(row_status_name(l.rows[0].status), row_status_name(status));
	CHECK_TEXT(l.rows[0].reason, reason);
	CHECK(ladder_is_partial(&l) == (signal_number != 0));
	ladder_release(&l);
}

static void statuses_settle(void)
{
	settle(9, 0, 9, 0, ROW_OK, "");
	settle(9, 0, 5, 4, ROW_OK, "");
	settle(9, 0, 4, 5, ROW_PARTIAL, "other load disturbed 5 of 9 rounds");
	settle(1, 0, 1, 0, ROW_OK, "");
	settle(1, 0, 0, 3, ROW_PARTIAL, "other load disturbed 3 of 3 rounds");
	settle(9, SIGINT, 9, 0, ROW_OK, "");
	settle(9, SIGINT, 5, 0, ROW_OK, "");
	settle(9, SIGINT, 4, 1, ROW_PARTIAL, "interrupted after 4 of 9 rounds");
	settle(9, SIGTERM, 0, 0, ROW_PARTIAL, "interrupted after 0 of 9 rounds");
}

/* A round in which nothing came through has no rate: it cannot make a row OK. */
static void rounds_without_bytes(void)
{
	struct ladder l = two_rows(2);

	ADD(&l.rows[0], 0, 0);
	ADD(&l.rows[1], 0, 3);
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_PARTIAL);
	CHECK_INT(l.rows[1].status, ROW_OK);
	CHECK_NEAR(l.rows[1].gib_per_s.median, 3, 1e-6);
	ladder_release(&l);
}

static void figures(void)
{
	struct round_figures f = { .seconds = 2, .bytes = GIB };

	CHECK_NEAR(figures_gib(&f), 1, 1e-12);
	CHECK_NEAR(figures_gib_per_s(&f), 0.5, 1e-12);
	f.bytes = 0;
	CHECK(isnan(figures_gib_per_s(&f)));
	f = (struct round_figures){ .seconds = 0, .bytes = 1 };
	CHECK(isnan(figures_gib_per_s(&f)));
	f.seconds = -1;
	CHECK(isnan(figures_gib_per_s(&f)));
}

static void where_and_status_names(void)
{
	static const char *const names[] = { "ok", "skipped", "failed", "partial" };
	struct ladder l = { 0 };

	CHECK_TEXT(row_where(made_row(&l, "one-cpu", PLACEMENT_SAME_CPU)), "same-cpu");
	CHECK_TEXT(row_where(made_row(&l, "busy-loop", PLACEMENT_OTHER_PACKAGE)), "other-package");
	CHECK_TEXT(row_where(made_row(&l, "limit", PLACEMENT_SAME_CPU)), "alone");
	CHECK(!row_where(made_unplaced(&l, "write-read", "no second CPU")));
	for (int i = 0; i < 4; i++)
		CHECK_TEXT(row_status_name((enum row_status)i), names[i]);
	ladder_release(&l);
}

static void find(void)
{
	struct ladder l = { 0 };

	made_not_ok(&l, "busy-loop", PLACEMENT_SAME_CPU, ROW_PARTIAL, "cut");
	made_ok(&l, "busy-loop", PLACEMENT_SMT, 1, 1, 1);
	made_ok(&l, "busy-loop", PLACEMENT_SHARED_L3, 1, 1, 1);
	CHECK(ladder_find(&l, "busy-loop", -1) == &l.rows[1]);
	CHECK(ladder_find(&l, "busy-loop", PLACEMENT_SHARED_L3) == &l.rows[2]);
	CHECK(!ladder_find(&l, "busy-loop", PLACEMENT_SAME_CPU));
	CHECK(!ladder_find(&l, "busy", -1));
	ladder_release(&l);
	CHECK(!ladder_find(&l, "busy-loop", -1));
	ladder_release(&l);
}

static void many_rounds(void)
{
	struct ladder l = two_rows(1000);

	for (size_t i = 0; i < 1000; i++)
		made_round(&l.rows[0], i, 2, i % 3 == 0 ? "noise" : NULL);
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].round_count, 1000);
	CHECK_INT(row_rejected(&l.rows[0]), 334);
	CHECK_INT(l.rows[0].rounds[999].number, 999);
	CHECK_NEAR(l.rows[0].gib_per_s.median, 2, 1e-9);
	ladder_release(&l);
}

int main(void)
{
	TEST(medians);
	TEST(rejected_rounds_do_not_count);
	TEST(retried_rounds);
	TEST(ratios_pair_rounds_of_one_number);
	TEST(ratios_without_pairs);
	TEST(ratio_is_to_the_first_that_is_ok);
	TEST(nothing_is_ok);
	TEST(statuses_settle);
	TEST(rounds_without_bytes);
	TEST(figures);
	TEST(where_and_status_names);
	TEST(find);
	TEST(many_rounds);
	return test_end();
}
