/* SPDX-License-Identifier: MIT */
/*
 * GUSH_PROTECT beside what a caller does with signals, children and forks of its own: bytes that a reader
 * holds stay as they were, and the caller sees nothing of the library's clones. The holders' controls are in
 * protect_forbidden.c.
 */
#include "../unit/support.h"
#include "forbid.h"
#include "words.h"

#include <linux/sched.h>
#include <sys/prctl.h>

#define RING (4 * MIB)
#define BEFORE (20 * MIB)
#define AFTER (28 * MIB)

static const char *useless; /* why none of this can be tried */

/* What is left when clone3 and the clone that fails are forbidden. */
static const struct ban leave_child[BANS_MOST] = { { SYS_clone3, EPERM, BAN_ALWAYS, 0, 0 },
	{ SYS_clone, EPERM, BAN_FLAG, 0, CLONE_PIDFD } };
static bool by_child;

static void choose_child(void)
{
	const char *why = by_child ? forbid_all(leave_child) : NULL;

	if (why)
		SKIP(why);
}

static void send_and_check(struct holding *h)
{
	struct words w;

	words_open(&w, h->fd, GUSH_PROTECT, RING, 0);
	words_write(&w, AFTER);
	check_way(&w, by_child ? "barrier-child" : "barrier-clone3");
	words_close(&w);
	hold_end_good(h, AFTER);
}

static void both_ways(void (*body)(void))
{
	if (useless)
		SKIP(useless);
	by_child = false;
	in_child(body);
	by_child = true;
	in_child(body);
}

/* ---- signals to the whole process group ---- */

/* Shared: a handler that runs in a copy of the process must be seen here. */
static struct heard {
	atomic_int all, foreign;
	pid_t owner;
} * heard;

static void hear(int number)
{
	(void)number;
	atomic_fetch_add(&heard->all, 1);
	if (syscall(SYS_getpid) != heard->owner)
		atomic_fetch_add(&heard->foreign, 1);
}

/* Returns the process that makes it rain. */
static pid_t rain_on_group(void)
{
	struct sigaction act = { .sa_handler = hear, .sa_flags = SA_RESTART };
	pid_t pid;

	CHECK_INT(setpgid(0, 0), 0);
	heard->owner = getpid();
	atomic_store(&heard->all, 0);
	atomic_store(&heard->foreign, 0);
	fflush(stdout);
	sigaction(SIGUSR1, &act, NULL);
	pid = fork();
	if (pid == 0) {
		signal(SIGUSR1, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(HANG_SECONDS);
		for (int fd = 3; fd < 100; fd++)
			close(fd); /* the holder waits for its pipe's end */
		for (;;) {
			struct timespec rest = { 0, 50000 };

			kill(-heard->owner, SIGUSR1);
			nanosleep(&rest, NULL);
		}
	}
	while (atomic_load(&heard->all) <= 10) /* it rains */
		sleep_ms(1);
	return pid;
}

static void end_rain(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* The control: a clone that does not block them. */
static void careless_child_body(void)
{
	pid_t rain = rain_on_group();

	for (int i = 0; i < 2000 && atomic_load(&heard->foreign) == 0; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);

		if (pid == 0) {
			struct timespec rest = { 0, 1000000 };

			syscall(SYS_nanosleep, &rest, NULL);
			syscall(SYS_exit, 0);
		}
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	CHECK(atomic_load(&heard->foreign) > 0);
	end_rain(rain);
}

static void rain_control(void)
{
	if (useless)
		SKIP(useless);
	in_child(careless_child_body);
}

static void rain_body(void)
{
	struct holding h;
	pid_t rain;

	hold_start(&h, &(struct hold){ .kind = HOLD_PIPES });
	setpgid(h.pid, h.pid);
	rain = rain_on_group();
	choose_child();
	send_and_check(&h);
	CHECK(atomic_load(&heard->all) > 10);
	CHECK_INT(atomic_load(&heard->foreign), 0);
	end_rain(rain);
}

static void signals_to_the_group(void)
{
	both_ways(rain_body);
}

/* ---- children ---- */

static void ignoring_body(void)
{
	struct holding h;

	signal(SIGCHLD, SIG_IGN);
	hold_start(&h, &(struct hold){ .kind = HOLD_TEE });
	choose_child();
	send_and_check(&h);
}

static void children_ignored(void)
{
	both_ways(ignoring_body);
}

static atomic_bool waiting_ends;

static void *wait_for_everything(void *arg)
{
	while (!atomic_load(&waiting_ends))
		waitpid(-1, NULL, __WALL);
	return arg;
}

static void reaped_body(void)
{
	struct holding h;
	pthread_t thread;

	hold_start(&h, &(struct hold){ .kind = HOLD_PIPES });
	thread = start_thread(wait_for_everything, NULL);
	choose_child();
	send_and_check(&h);
	atomic_store(&waiting_ends, true);
	pthread_join(thread, NULL);
}

static void children_reaped_by_another(void)
{
	both_ways(reaped_body);
}

/* ---- fork ---- */

/* Both go on, each with its copy of the ring and of what was in flight. */
static void forked_body(void)
{
	struct holding h, of_child;
	struct words w;
	int status = -1;
	pid_t child;

	hold_start(&of_child, &(struct hold){ .kind = HOLD_PIPES });
	hold_start(&h, &(struct hold){ .kind = HOLD_TEE });
	words_open(&w, h.fd, GUSH_PROTECT, RING, 0);
	words_write(&w, BEFORE);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(HANG_SECONDS);
		dup2(of_child.fd, h.fd); /* the producer's sink is another pipe now */
		close(of_child.fd);
		w.at = 0;
		words_write(&w, AFTER);
		check_way(&w, "barrier-clone3");
		gush_producer_close(w.p);
		fflush(stdout);
		_exit(test_bad != 0);
	}
	words_write(&w, AFTER);
	check_way(&w, "barrier-clone3");
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	words_write(&w, AFTER);
	words_close(&w);
	hold_end_good(&h, BEFORE + 2 * AFTER);
	hold_end_good(&of_child, AFTER);
}

static void forked(void)
{
	if (useless)
		SKIP(useless);
	in_child(forked_body);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	useless = cannot_protect();
	heard = mmap(NULL, sizeof(*heard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TEST(rain_control);
	TEST(signals_to_the_group);
	TEST(children_ignored);
	TEST(children_reaped_by_another);
	TEST(forked);
	return test_end();
}
