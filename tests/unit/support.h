/* SPDX-License-Identifier: MIT */
/* What several of these programs need: children, captured output, signals, descriptors, temporary files. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define HANG_SECONDS 100 /* a program that takes longer is stuck; tests/run waits for 120 */

/* The case that a table's line belongs to, so that a failure says which. */
#define CHECK_CASE(good, name)                                                                               \
	do {                                                                                                 \
		if (!CHECK(good))                                                                            \
			printf("  in the case: %s\n", (name));                                               \
	} while (0)

/*
 * Children. Their failed checks fail the case here, and their skip skips it.
 */
struct child_report {
	char skip_reason[200];
};

static inline void child_main(void (*checks)(void), bool ordinary, struct child_report *report)
{
	uid_t user = 60000 + (uid_t)getpid() % 5000;

	alarm(HANG_SECONDS);
	test_checks = test_bad = 0;
	if (ordinary && geteuid() == 0)
		CHECK(setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
			setresuid(user, user, user) == 0);
	checks();
	if (test_skip_reason)
		snprintf(report->skip_reason, sizeof(report->skip_reason), "%s", test_skip_reason);
	fflush(stdout);
	_exit(test_bad || (!test_checks && !test_skip_reason));
}

static inline void run_child(void (*checks)(void), bool ordinary)
{
	static struct child_report *report;
	int status = -1;
	pid_t pid;

	if (!report)
		report = mmap(
			NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	report->skip_reason[0] = '\0';
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child_main(checks, ordinary, report);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	if (report->skip_reason[0])
		SKIP(report->skip_reason);
}

static inline void in_child(void (*checks)(void))
{
	run_child(checks, false);
}

/* Where we are root, as a user that nobody else is: shares of pipes and memory are counted for each user. */
static inline void as_ordinary_user(void (*checks)(void))
{
	run_child(checks, true);
}

/* What a function wrote to the two standard descriptors, and what it returned (as exit status). */
struct captured {
	int status; /* as from waitpid */
	char out[8192], err[8192];
};

static inline void read_all(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* The function runs in a child; it flushes or closes stdout itself. */
static inline void capture(int (*function)(const void *), const void *argument, struct captured *ret)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	fflush(stdout);
	ret->status = -1;
	pid = fork();
	if (pid == 0) {
		alarm(HANG_SECONDS);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		_exit(function(argument));
	}
	waitpid(pid, &ret->status, 0);
	read_all(out, ret->out, sizeof(ret->out));
	read_all(err, ret->err, sizeof(ret->err));
}

static inline int captured_exit(const struct captured *c)
{
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -1;
}

static inline bool is_one_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end && end > text && end[1] == '\0';
}

/*
 * Signals. A storm interrupts system calls of the thread that does not block SIGUSR1, over and over.
 */
static atomic_int storm_signals;
static timer_t storm_timer;

static inline void storm_handler(int number)
{
	(void)number;
	atomic_fetch_add(&storm_signals, 1);
}

static inline void storm_start(long interval_ns)
{
	struct sigaction act = { .sa_handler = storm_handler }; /* no SA_RESTART */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, interval_ns }, { 0, interval_ns } };

	atomic_store(&storm_signals, 0);
	sigaction(SIGUSR1, &act, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &storm_timer);
	timer_settime(storm_timer, 0, &every, NULL);
}

static inline void storm_stop(void)
{
	timer_delete(storm_timer);
	signal(SIGUSR1, SIG_IGN);
}

/* A thread that takes no signals. */
static inline pthread_t start_thread(void *(*function)(void *), void *argument)
{
	sigset_t all, old;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, function, argument) != 0)
		abort();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return thread;
}

static inline void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static inline int64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Descriptors.
 */
#define FDS_MAX 1024

struct fds {
	bool open[FDS_MAX];
	int count;
};

static inline struct fds fds_now(void)
{
	struct fds fds = { .count = 0 };
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || fd == dirfd(dir) || fd >= FDS_MAX)
			continue;
		fds.open[fd] = true;
		fds.count++;
	}
	if (dir)
		closedir(dir);
	return fds;
}

/* How many descriptors were opened since; those without O_CLOEXEC count 1000. */
static inline int fds_opened_since(const struct fds *before)
{
	struct fds now = fds_now();
	int opened = 0;

	for (int fd = 0; fd < FDS_MAX; fd++)
		if (now.open[fd] && !before->open[fd])
			opened += fcntl(fd, F_GETFD) & FD_CLOEXEC ? 1 : 1000;
	return opened;
}

/* A FIFO or file without a name any more: the descriptor is all that is left. */
static inline int open_nameless(mode_t type, int flags)
{
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char dir[200], path[220];
	int fd = -1;

	snprintf(dir, sizeof(dir), "%s/gush-unit-XXXXXX", folder);
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/it", dir);
	if (mknod(path, type | 0600, 0) == 0)
		fd = open(path, flags | O_CLOEXEC);
	unlink(path);
	rmdir(dir);
	return fd;
}

/* AddressSanitizer turns mlock into nothing. */
static inline bool mlock_works(void)
{
	return mlock(NULL, 4096) < 0;
}

/* The number in a file of /proc or /sys; -1 when it cannot be read. */
static inline long number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	long number = -1;

	if (f && fscanf(f, "%ld", &number) != 1)
		number = -1;
	if (f)
		fclose(f);
	return number;
}

#endif
