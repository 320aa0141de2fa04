/* SPDX-License-Identifier: MIT */
/* Rounds that fail: the reason is the one that helps, and nothing is left behind. */
#include "round_plan.h"

#include <sys/resource.h>

static void check_fails(const struct round_plan *plan, enum round_end end, const char *fragment)
{
	struct round_result r;

	run_clean(plan, &r);
	CHECK_INT(r.end, end);
	CHECK_CASE(*r.reason && strstr(r.reason, fragment), r.reason);
}

static void impossible_pipe_size(void)
{
	struct step step = *step_find("write-read");
	struct round_plan plan = plain_plan(&step, 1 << 20, 60000 * MS);

	step.sender.pipe_bytes = 3 * 65536; /* the kernel makes it 4 times 64 KiB */
	check_fails(&plan, ROUND_NOT_HERE, "pages are too large here");
	step.sender.pipe_bytes = (size_t)1 << 33;
	check_fails(&plan, ROUND_FAILED, "pipe size: ");
}

static void impossible_buffers(void)
{
	struct step step = *step_find("write-read");
	struct round_plan plan = plain_plan(&step, 1 << 20, 60000 * MS);

	step.sender.chunk_bytes = SIZE_MAX / 4;
	check_fails(&plan, ROUND_NOT_HERE, "not enough memory");
	step = *step_find("write-read");
	step.receiver.chunk_bytes = SIZE_MAX / 4; /* the other end, alone */
	check_fails(&plan, ROUND_NOT_HERE, "not enough memory");
}

static void no_such_cpu(void)
{
	struct round_plan plan = plain_plan(NULL, 1 << 20, 60000 * MS);

	on_one_cpu.receiver_cpu = 1000000;
	check_fails(&plan, ROUND_FAILED, "pinning to a CPU: Invalid argument");
	on_one_cpu.sender_cpu = 1000000;
	check_fails(&plan, ROUND_FAILED, "pinning to a CPU: Invalid argument");
}

static void check_attack(int which, int signal_number, const char *fragment)
{
	struct attack a = { .which = which, .signal_number = signal_number };
	struct round_plan plan = plain_plan(NULL, 0, 40000 * MS);
	struct fds before = fds_now();
	pthread_t thread = start_thread(attack_run, &a);
	struct round_result r;

	round_run(&plan, &r);
	pthread_join(thread, NULL);
	check_nothing_left(&before);
	CHECK_INT(a.seen, 2);
	CHECK_INT(r.end, ROUND_FAILED);
	CHECK_CASE(strstr(r.reason, fragment), r.reason);
}

static void sender_killed(void)
{
	check_attack(0, SIGKILL, "killed by signal 9 (Killed): out of memory?");
}

static void receiver_killed(void)
{
	check_attack(1, SIGKILL, "killed by signal 9 (Killed): out of memory?");
}

static void both_killed(void)
{
	check_attack(-1, SIGKILL, "killed by signal 9");
}

static void receiver_ended_by_another_signal(void)
{
	check_attack(1, SIGALRM, "killed by signal 14 (Alarm clock)");
}

static enum round_end run_and_stop_sender(struct round_result *ret)
{
	struct attack a = { .which = 0, .signal_number = SIGSTOP };
	struct round_plan plan = plain_plan(NULL, 0, 500 * MS);
	pthread_t thread = start_thread(attack_run, &a);
	struct fds before = fds_now();

	round_run(&plan, ret);
	pthread_join(thread, NULL);
	check_nothing_left(&before);
	return ret->end;
}

/* One that does not stop when told to is not waited for. */
static void end_that_hangs(void)
{
	struct round_result r;

	/* On a busy machine the round may be over before it was stopped. */
	for (int tries = 0; tries < 10 && run_and_stop_sender(&r) == ROUND_CUT; tries++)
		;
	CHECK_INT(r.end, ROUND_FAILED);
	CHECK_CASE(strstr(r.reason, "had to be killed"), r.reason);
}

static void few_descriptors(void)
{
	struct rlimit limit = { 8, 8 };
	struct round_plan plan = plain_plan(NULL, 1 << 20, 60000 * MS);

	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	check_fails(&plan, ROUND_NOT_HERE, "too few descriptors: raise 'ulimit -n'");
}

static void no_descriptors(void)
{
	in_child(few_descriptors);
}

static void one_process_allowed(void)
{
	struct rlimit limit = { 0, 0 };
	struct round_plan plan = plain_plan(NULL, 1 << 20, 60000 * MS);

	if (geteuid() == 0)
		SKIP("root may start processes past every limit");
	CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0);
	check_fails(&plan, ROUND_NOT_HERE, "no more processes allowed: raise 'ulimit -u'");
}

static void no_processes(void)
{
	as_ordinary_user(one_process_allowed);
}

static size_t wait_for_two_children(int parent)
{
	int pids[4];
	size_t count = 0;

	for (int tries = 0; tries < 500; tries++) {
		count = children_of(parent, pids, COUNT(pids));
		if (count == 2)
			break;
		sleep_ms(10);
	}
	return count;
}

/* Even SIGKILL of the one that measures takes the ends along. */
static void ends_go_with_the_parent(void)
{
	struct round_plan plan = plain_plan(step_find("write-read"), 0, 50000 * MS);
	int pids[2] = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		struct round_result r;

		round_run(&plan, &r);
		_exit(0);
	}
	CHECK_INT(wait_for_two_children(pid), 2);
	CHECK_INT(children_of(pid, pids, 2), 2);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	for (int i = 0; i < 2; i++) {
		int parent, tries = 0;

		while (is_alive(pids[i], &parent) && tries++ < 500)
			sleep_ms(10);
		CHECK(tries < 500);
	}
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(impossible_pipe_size);
	TEST(impossible_buffers);
	TEST(no_such_cpu);
	TEST(sender_killed);
	TEST(receiver_killed);
	TEST(both_killed);
	TEST(receiver_ended_by_another_signal);
	TEST(end_that_hangs);
	TEST(no_descriptors);
	TEST(no_processes);
	TEST(ends_go_with_the_parent);
	return test_end();
}
