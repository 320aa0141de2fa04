/* SPDX-License-Identifier: MIT */
/* What /proc/stat says about the CPUs of a round, and when that makes a round not count. */
#include "disturbance.h"

#include "support.h"

#include <math.h>

/* user nice system idle iowait irq softirq steal guest guest_nice */
static const char proc_stat[] = "cpu  1 7 7 7 7 7 7 7 7 7\n"
				"cpu0 100 20 30 4000 5 6 7 8 0 0\n"
				"cpu1 200 0 100 1000 0 0 0 50 0 0\n"
				"cpu10 9000 0 0 0 0 0 0 900 0 0\n"
				"intr 12345 0 9 0 0\nctxt 777\nbtime 1700000000\nprocesses 4242\n"
				"procs_running 3\nprocs_blocked 9\nsoftirq 1 2 3\n";

static struct cpu_times read_text(const char *text, int a, int b)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct cpu_times t;

	if (!f)
		abort();
	t = disturbance_read(f, a, b);
	fclose(f);
	return t;
}

static double tick(void)
{
	return 1.0 / (double)sysconf(_SC_CLK_TCK);
}

static void one_cpu(void)
{
	struct cpu_times t = read_text(proc_stat, 0, 0);

	CHECK(t.known);
	CHECK_NEAR(t.busy_s, (100 + 20 + 30 + 6 + 7) * tick(), 1e-9);
	CHECK_NEAR(t.steal_s, 8 * tick(), 1e-9);
	CHECK_INT(t.running, 3);
}

static void two_cpus_are_added(void)
{
	struct cpu_times t = read_text(proc_stat, 0, 1), swapped = read_text(proc_stat, 1, 0);

	CHECK_NEAR(t.busy_s, (163 + 300) * tick(), 1e-9);
	CHECK_NEAR(t.steal_s, 58 * tick(), 1e-9);
	CHECK_NEAR(swapped.busy_s, t.busy_s, 1e-9);
}

/* "cpu  1 ..." is the sum of all, "cpu10" is not CPU 1. */
static void neither_the_sum_nor_a_longer_number(void)
{
	struct cpu_times t = read_text(proc_stat, 1, 1);

	CHECK_NEAR(t.busy_s, 300 * tick(), 1e-9);
	CHECK_NEAR(t.steal_s, 50 * tick(), 1e-9);
}

static void unknown_cpu(void)
{
	struct cpu_times t = read_text(proc_stat, 7, 7);

	CHECK(!t.known);
	CHECK_NEAR(t.busy_s, 0, 1e-9);
	CHECK_INT(t.running, 3);
}

static void junk(void)
{
	static const char *const texts[] = { "\n", "cpu", "cpu0", "cpu0 1 2 3\n", "cpu0 a b c d e f g h\n",
		"cpux 1 2 3 4 5 6 7 8 9\n", "procs_running x\n", "procs_running" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct cpu_times t = read_text(texts[i], 0, 0);

		CHECK_CASE(!t.known, texts[i]);
		CHECK_CASE(t.running == 0, texts[i]);
	}
}

static void long_lines(void)
{
	static char text[70000];
	size_t n = (size_t)snprintf(text, sizeof(text), "cpu0 1 0 0 0 0 0 0 0 0 0\nintr");
	struct cpu_times t;

	while (n < 60000) /* one number for each interrupt: longer than any buffer */
		n += (size_t)snprintf(text + n, sizeof(text) - n, " 0");
	snprintf(text + n, sizeof(text) - n, "\nprocs_running 5\n");
	t = read_text(text, 0, 0);
	CHECK(t.known);
	CHECK_NEAR(t.busy_s, tick(), 1e-9);
	CHECK_INT(t.running, 5);
}

static void this_machine(void)
{
	struct cpu_times t = disturbance_now(0, 0);

	if (!t.known)
		SKIP("/proc/stat tells nothing of CPU 0");
	CHECK(t.busy_s >= 0 && t.steal_s >= 0 && t.running >= 1);
}

/* A round of one second that nothing disturbed: its own second of CPU, one thread running. */
static struct disturbance_round quiet(void)
{
	return (struct disturbance_round){
		.before = { true, 100, 10, 1 },
		.after = { true, 101, 10, 1 },
		.wall_s = 1,
		.own_cpu_s = 1,
		.measured_s = 0.9,
	};
}

static void check_rejected(const struct disturbance_round *r, const char *fragment)
{
	const char *got = disturbance_judge(r);

	if (!CHECK(got && strstr(got, fragment)))
		printf("  got \"%s\", want \"%s\" in it\n", got ? got : "(left alone)", fragment);
}

static void left_alone(void)
{
	struct disturbance_round r = quiet();

	CHECK(!disturbance_judge(&r));
	r.own_cpu_s = 3; /* counted more finely than the kernel's ticks */
	CHECK(!disturbance_judge(&r));
}

static void steal(void)
{
	struct disturbance_round r = quiet();

	r.after.steal_s += 2 * tick(); /* what cannot be told from none */
	CHECK(!disturbance_judge(&r));
	r.after.steal_s = r.before.steal_s + 0.05 + 2 * tick();
	CHECK(!disturbance_judge(&r));
	r.after.steal_s = r.before.steal_s + 0.05 + 4 * tick();
	check_rejected(&r, "steal");
}

static void others(void)
{
	struct disturbance_round r = quiet();

	r.after.busy_s += 0.15 + 2 * tick();
	CHECK(!disturbance_judge(&r));
	r.after.busy_s += 2 * tick();
	check_rejected(&r, "other processes used these CPUs");
	r = quiet();
	r.own_cpu_s = 0.5; /* the CPUs were busy for twice as long as we were */
	check_rejected(&r, "other processes used these CPUs");
}

static void preemptions(void)
{
	struct disturbance_round r = quiet();

	r.preemptions = 60; /* what kernel threads alone do in a second */
	CHECK(!disturbance_judge(&r));
	r.preemptions = 600;
	check_rejected(&r, "preempted");
	r.measured_s = 10; /* the same number in a longer time */
	CHECK(!disturbance_judge(&r));
	r.preemptions = 15;
	r.measured_s = 0;
	CHECK(!disturbance_judge(&r));
	r.preemptions = 16;
	check_rejected(&r, "preempted");
}

/* Ends that never sleep, and yet used little of their time. */
static void taken_away(void)
{
	struct disturbance_round r = quiet();

	r.least_cpu_s = 1;
	r.measured_cpu_s = 0.95;
	CHECK(!disturbance_judge(&r));
	r.measured_cpu_s = 0.2;
	check_rejected(&r, "taken away");
	r.least_cpu_s = 0; /* they may sleep */
	CHECK(!disturbance_judge(&r));
}

static void run_queue(void)
{
	struct disturbance_round r = quiet();

	r.before.running = r.after.running = 4;
	check_rejected(&r, "waiting to run");
	r.before.running = 3; /* a moment's work of the kernel's, at one end only */
	CHECK(!disturbance_judge(&r));
	r.before.running = 9;
	r.after.running = 3;
	CHECK(!disturbance_judge(&r));
}

/* Without /proc/stat only what the ends themselves report can tell. */
static void unknown_times(void)
{
	struct disturbance_round r = quiet();

	r.before = (struct cpu_times){ 0 };
	CHECK(!disturbance_judge(&r));
	r = quiet();
	r.after = (struct cpu_times){ 0 };
	CHECK(!disturbance_judge(&r));
	r.preemptions = 10000;
	check_rejected(&r, "preempted");
}

int main(void)
{
	TEST(one_cpu);
	TEST(two_cpus_are_added);
	TEST(neither_the_sum_nor_a_longer_number);
	TEST(unknown_cpu);
	TEST(junk);
	TEST(long_lines);
	TEST(this_machine);
	TEST(left_alone);
	TEST(steal);
	TEST(others);
	TEST(preemptions);
	TEST(taken_away);
	TEST(run_queue);
	TEST(unknown_times);
	return test_end();
}
