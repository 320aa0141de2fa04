/* SPDX-License-Identifier: MIT */
/* A round from start to end: done, cut, told to stop. What goes wrong in one: round_errors.c. */
#include "round_plan.h"

#include <sys/resource.h>

static double wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void done(void)
{
	struct round_plan plan = plain_plan(NULL, 16 << 20, 60000 * MS);
	struct round_result r;

	run_clean(&plan, &r);
	CHECK_INT(r.end, ROUND_DONE);
	CHECK_TEXT(r.reason, "");
	CHECK(r.figures.bytes >= 16 << 20 && r.figures.bytes < (16 << 20) + (256 << 10));
	CHECK_INT(r.figures.checked_bytes, 0);
}

/* Two ends on one CPU cannot use more than that CPU; nor can they copy 16 MiB twice for nothing. */
static void figures_are_plausible(void)
{
	struct round_plan plan = plain_plan(NULL, 32 << 20, 60000 * MS);
	double start = wall_s();
	struct round_result r;

	run_clean(&plan, &r);
	CHECK_INT(r.end, ROUND_DONE);
	CHECK(r.figures.seconds > 0 && r.figures.seconds <= wall_s() - start);
	CHECK(r.figures.cpu_s > 0 && r.figures.cpu_s <= 1.1 * r.figures.seconds + 0.05);
	CHECK(r.figures.switches > 0); /* 64 KiB of pipe: they must take turns */
	CHECK(r.figures.preemptions <= r.figures.switches);
	CHECK(r.figures.faults < 10000); /* the buffers were touched before */
}

/* The barrier's price is faults: they are counted. */
static void faults_are_counted(void)
{
	const struct step *protect = step_find("protect");
	struct round_plan plan = plain_plan(protect, 128 << 20, 60000 * MS);
	struct round_result r;

	plan.warm_up_bytes = step_warm_up_bytes(protect);
	run_clean(&plan, &r);
	if (r.end == ROUND_NOT_HERE)
		SKIP("protect does not run here");
	CHECK_INT(r.end, ROUND_DONE);
	CHECK(r.figures.faults > 0);
}

/* The clock starts behind the warm-up, whatever the last call of it brought: even one byte more is a call. */
static void warm_up_is_not_counted(void)
{
	static const char *const names[] = { "write-read", "full-capacity", "limit" };

	for (size_t i = 0; i < COUNT(names); i++) {
		struct round_plan plan = plain_plan(step_find(names[i]), 1, 60000 * MS);
		struct round_result r;

		plan.warm_up_bytes = (16 << 20) - 8; /* whole calls bring more */
		run_clean(&plan, &r);
		if (r.end == ROUND_NOT_HERE)
			continue;
		CHECK_INT(r.end, ROUND_DONE);
		CHECK_CASE(r.figures.bytes >= 1 && r.figures.bytes <= 1 << 20, names[i]);
		CHECK_CASE(r.figures.seconds > 0, names[i]);
	}
}

/* The warm-up's last call may bring what was to be measured, too: that is not the measurement. */
static void warm_up_that_brings_more(void)
{
	struct step small = *step_find("write-read");
	struct round_plan plan = plain_plan(&small, 1, 60000 * MS);

	small.sender.chunk_bytes = 512;
	plan.warm_up_bytes = 512;
	for (int i = 0; i < 60; i++) {
		struct round_result r;

		round_run(&plan, &r);
		CHECK_INT(r.end, ROUND_DONE);
		CHECK(r.figures.bytes >= 1 && r.figures.seconds > 0);
	}
}

static void cut_by_time(void)
{
	struct round_plan plan = plain_plan(NULL, 0, 100 * MS);
	struct round_result r;

	run_clean(&plan, &r);
	CHECK_INT(r.end, ROUND_CUT);
	CHECK(r.figures.seconds > 0.05 && r.figures.seconds < 10);
	CHECK(r.figures.bytes > 0);
	plan.bytes = (uint64_t)1 << 50; /* a goal out of reach */
	run_clean(&plan, &r);
	CHECK_INT(r.end, ROUND_CUT);
	CHECK(r.figures.bytes > 0);
}

static void cut_inside_the_warm_up(void)
{
	static const char *const names[] = { "write-read", "limit" };

	for (size_t i = 0; i < COUNT(names); i++) {
		struct round_plan plan = plain_plan(step_find(names[i]), 1 << 20, 100 * MS);
		struct round_result r;

		plan.warm_up_bytes = (uint64_t)1 << 50;
		run_clean(&plan, &r);
		if (i > 0 && r.end == ROUND_NOT_HERE)
			continue;
		CHECK_INT(r.end, ROUND_CUT);
		CHECK_CASE(r.figures.bytes > 0 && r.figures.seconds > 0.05, names[i]);
	}
}

/* Every way to wait, and every call, notices that the time is over. */
static void each_step_can_be_cut(void)
{
	for (size_t i = 0; i < step_count; i++) {
		struct round_plan plan = plain_plan(&steps[i], 0, 20 * MS);
		struct round_result r;

		run_clean(&plan, &r);
		if (r.end != ROUND_CUT)
			printf("  %s: ended %d: %s\n", steps[i].name, r.end, r.reason);
		/* Touching so much memory can take long on a busy machine. */
		CHECK_CASE(r.end == ROUND_CUT || r.end == ROUND_NOT_HERE ||
				   strstr(r.reason, "was not ready after"),
			steps[i].name);
	}
}

static void reference_alone(void)
{
	struct round_plan plan = plain_plan(step_find("limit"), 64 << 20, 60000 * MS);
	struct round_result r;

	run_clean(&plan, &r);
	if (r.end == ROUND_NOT_HERE)
		SKIP("limit does not run here");
	CHECK_INT(r.end, ROUND_DONE);
	CHECK(r.figures.bytes >= 64 << 20 && r.figures.seconds > 0);
	CHECK(r.figures.cpu_s > 0 && r.figures.cpu_s <= 1.1 * r.figures.seconds + 0.05);
}

static void contents_are_checked(void)
{
	struct round_plan plan = plain_plan(NULL, 1 << 20, 60000 * MS);
	struct round_result r;

	plan.check = true;
	run_clean(&plan, &r);
	CHECK_INT(r.end, ROUND_DONE);
	CHECK_INT(r.figures.checked_bytes, r.figures.bytes);
	CHECK_INT(r.figures.bad_bytes, 0);
}

static void interrupted_before(void)
{
	struct round_plan plan = plain_plan(NULL, 0, 60000 * MS);
	struct round_result r;
	int fds[2];

	CHECK(pipe2(fds, O_CLOEXEC) == 0 && write(fds[1], "x", 1) == 1);
	plan.signal_fd = fds[0];
	run_clean(&plan, &r);
	CHECK_INT(r.end, ROUND_INTERRUPTED);
	close(fds[0]);
	close(fds[1]);
}

static void *write_later(void *fd)
{
	sleep_ms(150);
	if (write(*(int *)fd, "x", 1) != 1)
		abort();
	return NULL;
}

static void interrupted_in_the_middle(void)
{
	static const char *const names[] = { "write-read", "full-capacity", "limit" };

	for (size_t i = 0; i < COUNT(names); i++) {
		struct round_plan plan = plain_plan(step_find(names[i]), 0, 50000 * MS);
		double start = wall_s();
		struct round_result r;
		pthread_t thread;
		int fds[2];

		CHECK(pipe2(fds, O_CLOEXEC) == 0);
		plan.signal_fd = fds[0];
		thread = start_thread(write_later, &fds[1]);
		run_clean(&plan, &r);
		pthread_join(thread, NULL);
		CHECK_CASE(r.end == ROUND_INTERRUPTED || r.end == ROUND_NOT_HERE, names[i]);
		CHECK(wall_s() - start < 30);
		close(fds[0]);
		close(fds[1]);
	}
}

static void many_rounds_leave_nothing(void)
{
	struct round_plan plan = plain_plan(NULL, 4096, 60000 * MS);
	struct fds before = fds_now();
	struct round_result r;

	for (int i = 0; i < 50; i++) {
		round_run(&plan, &r);
		CHECK_INT(r.end, ROUND_DONE);
	}
	check_nothing_left(&before);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(done);
	TEST(figures_are_plausible);
	TEST(faults_are_counted);
	TEST(warm_up_is_not_counted);
	TEST(warm_up_that_brings_more);
	TEST(cut_by_time);
	TEST(cut_inside_the_warm_up);
	TEST(each_step_can_be_cut);
	TEST(reference_alone);
	TEST(contents_are_checked);
	TEST(interrupted_before);
	TEST(interrupted_in_the_middle);
	TEST(many_rounds_leave_nothing);
	return test_end();
}
