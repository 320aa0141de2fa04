/* SPDX-License-Identifier: MIT */
/* Running the rows. Nothing here may rest on a round being left alone: other load rejects it, and that is
 * right. */
#include "climb.h"

#include "made.h"
#include "round_plan.h"

static struct placement here(void)
{
	int cpu;

	if (placement_usable_cpus(&cpu, 1) != 1)
		abort();
	return (struct placement){ PLACEMENT_SAME_CPU, cpu, cpu };
}

static struct row *add(struct ladder *l, const struct step *step)
{
	struct placement p = here();

	return ladder_add_row(l, step, &p);
}

static int run(struct ladder *l, double budget_s, bool verify, int signal_fd)
{
	struct climb_options options = { .budget_s = budget_s, .verify = verify, .signal_fd = signal_fd };
	struct fds before = fds_now();
	int ret;

	l->seed = 12345;
	ret = climb(l, &options);
	check_nothing_left(&before);
	return ret;
}

/* Each number has one round that counts, or else only rejected ones. */
static void check_rounds(const struct row *row, size_t wanted)
{
	for (size_t number = 0; number < wanted; number++) {
		size_t good = 0, all = 0;

		for (size_t i = 0; i < row->round_count; i++)
			if (row->rounds[i].number == number) {
				all++;
				good += !row->rounds[i].rejected;
			}
		CHECK_CASE(good <= 1 && all >= 1 && all <= 3, row->step->name);
	}
	for (size_t i = 0; i < row->round_count; i++) {
		CHECK(row->rounds[i].number < wanted);
		/* One that other load kept from running at all has nothing to show, and does not count. */
		CHECK(row->rounds[i].rejected ||
			(row->rounds[i].figures.bytes > 0 && row->rounds[i].figures.seconds > 0));
	}
}

/* It ran through, or other load slowed it so much that it was cut, or could not even begin. */
static void check_ran(const struct row *row, size_t wanted)
{
	CHECK_CASE(row->status == ROW_OK || strncmp(row->reason, "cut after ", 10) == 0 ||
			   strstr(row->reason, "was not ready after"),
		row->reason);
	if (row->status == ROW_OK)
		check_rounds(row, wanted);
}

static void each_row_gets_its_rounds(void)
{
	struct ladder l = { .rounds_wanted = 3 };

	add(&l, step_find("write-read"));
	add(&l, step_find("memcpy"));
	CHECK_INT(run(&l, 0.1, false, -1), 0);
	CHECK(l.time_per_round_s >= 0.01 && l.time_per_round_s <= 0.25);
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(l.rows[i].check, CHECK_NONE);
		check_ran(&l.rows[i], 3);
	}
	ladder_release(&l);
}

static void bytes_as_asked(void)
{
	struct ladder l = { .rounds_wanted = 2, .bytes_wanted = 5 << 20 };

	add(&l, step_find("write-read"));
	CHECK_INT(run(&l, 0.1, false, -1), 0);
	check_ran(&l.rows[0], 2);
	for (size_t i = 0; i < l.rows[0].round_count && l.rows[0].status == ROW_OK; i++)
		CHECK(l.rows[0].rounds[i].figures.bytes >= 5 << 20 &&
			l.rows[0].rounds[i].figures.bytes < 6 << 20);
	ladder_release(&l);
}

static void one_byte(void)
{
	struct ladder l = { .rounds_wanted = 1, .bytes_wanted = 1 };

	add(&l, step_find("write-read"));
	CHECK_INT(run(&l, 0.1, false, -1), 0);
	check_ran(&l.rows[0], 1);
	ladder_release(&l);
}

static void no_rows(void)
{
	struct ladder l = { .rounds_wanted = 3 };

	CHECK_INT(run(&l, 1, true, -1), 0);
	ladder_summarise(&l);
	CHECK_INT(l.row_count, 0);
	ladder_release(&l);
}

/* What cannot run is named and left; the rest runs. Rows that are not OK to begin with are not touched. */
static void failing_rows(void)
{
	struct step failing = *step_find("write-read"), missing = failing;
	struct ladder l = { .rounds_wanted = 2 };

	failing.sender.pipe_bytes = (size_t)1 << 33;
	missing.receiver.chunk_bytes = SIZE_MAX / 4;
	add(&l, &failing);
	add(&l, &missing);
	made_unplaced(&l, "busy-loop", "no second CPU");
	add(&l, step_find("write-read"));
	CHECK_INT(run(&l, 0.1, true, -1), 0);
	CHECK_INT(l.rows[0].status, ROW_FAILED);
	CHECK_CASE(strstr(l.rows[0].reason, "pipe size"), l.rows[0].reason);
	CHECK_INT(l.rows[1].status, ROW_SKIPPED);
	CHECK_CASE(strstr(l.rows[1].reason, "not enough memory"), l.rows[1].reason);
	CHECK_INT(l.rows[2].status, ROW_SKIPPED);
	CHECK_TEXT(l.rows[2].reason, "no second CPU");
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(l.rows[i].round_count, 0);
		CHECK_INT(l.rows[i].check, CHECK_NONE);
	}
	check_ran(&l.rows[3], 2);
	ladder_release(&l);
}

/* Slower than what --bytes can wait for: cut, and what it reached is told. */
static void crawling_row(void)
{
	struct step crawl = *step_find("write-read");
	struct ladder l = { .rounds_wanted = 2 };

	crawl.sender.chunk_bytes = 1; /* a call for each byte */
	crawl.receiver.chunk_bytes = 1;
	add(&l, &crawl);
	CHECK_INT(run(&l, 0.1, false, -1), 0);
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_PARTIAL);
	if (row_rejected(&l.rows[0]) < l.rows[0].round_count) { /* else nobody can tell */
		CHECK_CASE(strncmp(l.rows[0].reason, "cut after ", 10) == 0, l.rows[0].reason);
		CHECK_CASE(strstr(l.rows[0].reason, "had come through"), l.rows[0].reason);
	}
	CHECK(l.rows[0].round_count >= 1);
	CHECK(row_reached_gib_per_s(&l.rows[0]) > 0);
	ladder_release(&l);
}

static void verified(void)
{
	struct step wrong = *step_find("write-read");
	struct ladder l = { .rounds_wanted = 1 };

	wrong.receiver.contents = CONTENTS_ZERO;
	add(&l, step_find("write-read"));
	add(&l, &wrong);
	add(&l, step_find("memcpy"));
	CHECK_INT(run(&l, 0.1, true, -1), 0);
	CHECK_INT(l.rows[0].check, CHECK_RIGHT);
	CHECK(l.rows[0].checked_bytes > 0);
	CHECK_INT(l.rows[0].bad_bytes, 0);
	CHECK_INT(l.rows[1].check, CHECK_WRONG);
	CHECK_INT(l.rows[1].bad_bytes, l.rows[1].checked_bytes);
	CHECK_INT(l.rows[2].check, CHECK_NONE); /* it has no bytes to look at */
	ladder_release(&l);
}

static void interrupted_at_once(void)
{
	struct ladder l = { .rounds_wanted = 3 };
	int fds[2];

	CHECK(pipe2(fds, O_CLOEXEC) == 0 && write(fds[1], "x", 1) == 1);
	add(&l, step_find("write-read"));
	CHECK_INT(run(&l, 0.1, true, fds[0]), -EINTR);
	CHECK_INT(l.rows[0].round_count, 0);
	l.signal_number = SIGINT;
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_PARTIAL);
	CHECK_TEXT(l.rows[0].reason, "interrupted after 0 of 3 rounds");
	close(fds[0]);
	close(fds[1]);
	ladder_release(&l);
}

static void *write_later(void *fd)
{
	sleep_ms(1000);
	if (write(*(int *)fd, "x", 1) != 1)
		abort();
	return NULL;
}

static void interrupted_in_the_middle(void)
{
	struct ladder l = { .rounds_wanted = 1000000 };
	pthread_t thread;
	int fds[2];

	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	add(&l, step_find("write-read"));
	thread = start_thread(write_later, &fds[1]);
	CHECK_INT(run(&l, 1, false, fds[0]), -EINTR);
	pthread_join(thread, NULL);
	CHECK(l.rows[0].round_count > 0); /* what there is stays */
	l.signal_number = SIGTERM;
	ladder_summarise(&l);
	CHECK_INT(l.rows[0].status, ROW_PARTIAL);
	CHECK_CASE(strncmp(l.rows[0].reason, "interrupted after ", 18) == 0, l.rows[0].reason);
	close(fds[0]);
	close(fds[1]);
	ladder_release(&l);
}

/* Past the limit no further round starts; one is always run. */
static void limit_of_time(void)
{
	struct climb_options options = { .budget_s = 0.1, .limit_s = 1e-6, .signal_fd = -1 };
	struct ladder l = { .rounds_wanted = 50, .seed = 1 };

	add(&l, step_find("write-read"));
	CHECK_INT(climb(&l, &options), 0);
	CHECK_INT(l.rounds_run, 1);
	check_ran(&l.rows[0], 1);
	ladder_release(&l);
}

static void *burn(void *stop)
{
	volatile unsigned long n = 0;

	while (!atomic_load((atomic_bool *)stop))
		n++;
	return NULL;
}

/* Other threads on the same CPU: rounds are rejected, run again at most twice each, and all are kept. */
static void disturbed_rounds_are_run_again(void)
{
	struct climb_options options = { .budget_s = 2, .limit_s = 1.5, .signal_fd = -1 };
	struct ladder l = { .rounds_wanted = 12, .seed = 1 };
	struct placement p = here();
	atomic_bool stop = false;
	cpu_set_t old, one;
	pthread_t threads[3];

	CHECK(sched_getaffinity(0, sizeof(old), &old) == 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)p.sender_cpu, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0); /* the threads inherit it */
	for (int i = 0; i < 3; i++)
		threads[i] = start_thread(burn, &stop);
	CHECK(sched_setaffinity(0, sizeof(old), &old) == 0);
	add(&l, step_find("write-read"));
	CHECK_INT(climb(&l, &options), 0);
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check_ran(&l.rows[0], l.rounds_run);
	CHECK(row_rejected(&l.rows[0]) > 0);
	CHECK(l.rows[0].round_count > l.rounds_run);
	for (size_t i = 0; i < l.rows[0].round_count; i++)
		if (l.rows[0].rounds[i].rejected)
			CHECK(*l.rows[0].rounds[i].rejected);
	ladder_release(&l);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(each_row_gets_its_rounds);
	TEST(bytes_as_asked);
	TEST(one_byte);
	TEST(no_rows);
	TEST(failing_rows);
	TEST(crawling_row);
	TEST(verified);
	TEST(interrupted_at_once);
	TEST(interrupted_in_the_middle);
	TEST(limit_of_time);
	TEST(disturbed_rounds_are_run_again);
	return test_end();
}
