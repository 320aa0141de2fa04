/* SPDX-License-Identifier: MIT */
/*
 * One process produces under random configurations for a long time. In the end it must have no more
 * descriptors, children and memory than after its first few.
 */
#include "gauntlet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_RUNS 40			/* of all policies: pools have filled by then */
#define GROWTH_BYTES ((int64_t)8 << 20) /* what an allocator may keep; a ring is more */

struct report {
	uint64_t runs, words, trust_bad;
	unsigned failures;
	unsigned policies[POLICIES];
	int fds_before, fds_after, zombies;
	int64_t rss_before, rss_after;
	struct config now; /* what runs */
	uint64_t now_seed;
};

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

#ifdef __SANITIZE_ADDRESS__
/* AddressSanitizer keeps 256 MiB of what was freed, which would look like growth. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64";
}
#endif

static int64_t rss_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long size = 0, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static int count_children(void)
{
	siginfo_t info;
	int n = 0;

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0)
		n++;
	return n;
}

static struct config draw(struct rng *r, uint64_t *ret_seed)
{
	struct config c;

	do
		c = (struct config){ .policy = (enum policy)(
					     POLICY_BARRIER + rng_below(r, POLICIES - POLICY_BARRIER)),
			.middle = (enum middle)rng_below(r, MIDDLES),
			.reader = (enum reader)rng_below(r, READERS) };
	while (!config_makes_sense(&c) || config_missing(&c));
	*ret_seed = rng_next(r) >> 16;
	config_draw(&c, *ret_seed, true);
	return c;
}

static void print_failure(const struct report *p, const struct board *board, const char *why)
{
	char name[60];

	config_name(&p->now, name, sizeof(name));
	printf("  soak: %s: %s (used %s; gauntlet --seed %" PRIu64 " --large --only %s)\n", name, why,
		board->used, p->now_seed, name);
	fflush(stdout);
}

static void run_next(struct report *p, struct rng *r, struct board *board)
{
	const char *why;

	p->now = draw(r, &p->now_seed);
	run_here(&p->now, board);
	why = judge(&p->now, board);
	p->runs++;
	p->policies[p->now.policy]++;
	p->words += board_words(board);
	if (!config_is_judged(&p->now))
		p->trust_bad += board_bad(board);
	if (why) {
		p->failures++;
		print_failure(p, board, why);
	}
}

/* A byte for each configuration tells the parent that it goes on. */
static void soak_main(unsigned seconds, uint64_t seed, int alive, struct report *p)
{
	struct board *board = board_new();
	struct rng r = { seed };
	time_t end = time(NULL) + (time_t)seconds;

	signal(SIGPIPE, SIG_IGN);
	while (p->runs < SETTLE_RUNS || time(NULL) < end) {
		run_next(p, &r, board);
		if (p->runs == SETTLE_RUNS) {
			p->fds_before = count_fds();
			p->rss_before = rss_bytes();
		}
		if (write(alive, "", 1) != 1)
			break;
	}
	p->fds_after = count_fds();
	p->rss_after = rss_bytes();
	p->zombies = count_children();
	_exit(0);
}

/* false: nothing came for too long. */
static bool watch(int alive)
{
	struct pollfd f = { .fd = alive, .events = POLLIN };
	char bytes[64];

	for (;;) {
		int ret = poll(&f, 1, (int)deadline_ms());

		if (ret == 0 || (ret < 0 && errno != EINTR))
			return false;
		if (ret > 0 && read(alive, bytes, sizeof(bytes)) <= 0)
			return true;
	}
}

static int verdict(const char *name, bool good, int64_t before, int64_t after)
{
	printf("%s %s: %" PRId64 " then, %" PRId64 " now\n", good ? "ok" : "not ok", name, before, after);
	return !good;
}

static int print_report(const struct report *p, bool ended)
{
	int bad = 0;

	printf("  soak: %" PRIu64 " configurations, %" PRIu64 " words;", p->runs, p->words);
	for (unsigned i = POLICY_BARRIER; i < POLICIES; i++)
		printf(" %s %u", policy_names[i], p->policies[i]);
	printf("; %" PRIu64 " bad where nothing is promised\n", p->trust_bad);
	bad += verdict("soak_bytes", p->failures == 0, 0, p->failures);
	if (!ended) {
		char name[60];

		config_name(&p->now, name, sizeof(name));
		printf("not ok soak_ends: gauntlet --seed %" PRIu64 " --large --only %s\n", p->now_seed,
			name);
		return 1;
	}
	printf("ok soak_ends\n");
	bad += verdict("soak_descriptors", p->fds_after == p->fds_before, p->fds_before, p->fds_after);
	bad += verdict("soak_children", p->zombies == 0, 0, p->zombies);
	bad += verdict(
		"soak_memory", p->rss_after - p->rss_before < GROWTH_BYTES, p->rss_before, p->rss_after);
	return bad > 0;
}

int soak(unsigned seconds, uint64_t seed)
{
	struct report *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), pid;
	int fds[2], status = -1;
	bool ended;

	if (p == MAP_FAILED || pipe2(fds, O_CLOEXEC) < 0)
		return 1;
	printf("  seed %" PRIu64 "\n", seed);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(fds[0]);
		soak_main(seconds, seed, fds[1], p);
	}
	close(fds[1]);
	ended = pid > 0 && watch(fds[0]);
	if (pid > 0 && !ended)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return print_report(p, ended && status == 0);
}
