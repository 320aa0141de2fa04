/* SPDX-License-Identifier: MIT */
/* Rounds for tests: plans of small steps, the ends found and signalled from outside, what must be left over.
 */
#ifndef ROUND_PLAN_H
#define ROUND_PLAN_H

#include "round.h"
#include "support.h"

#define MS 1000000ll

static struct placement on_one_cpu;

/* Plain write and read on the first CPU: runs anywhere. */
static inline struct round_plan plain_plan(const struct step *step, uint64_t bytes, int64_t time_ns)
{
	int cpu;

	if (placement_usable_cpus(&cpu, 1) != 1)
		abort();
	on_one_cpu = (struct placement){ PLACEMENT_SAME_CPU, cpu, cpu };
	return (struct round_plan){
		.step = step ? step : step_find("write-read"),
		.placement = &on_one_cpu,
		.bytes = bytes,
		.time_ns = time_ns,
		.signal_fd = -1,
	};
}

/* Whether it runs: a zombie does not. */
static inline bool is_alive(int pid, int *ret_parent)
{
	char path[64], text[512] = "";
	const char *at;
	char state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	at = strrchr(text, ')');
	return at && sscanf(at + 1, " %c %d", &state, ret_parent) == 2 && state != 'Z';
}

/* Living children, in the order of their numbers; how many, at most `room`. */
static inline size_t children_of(int parent, int *ret_pids, size_t room)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)) && count < room) {
		int pid = atoi(entry->d_name), parent_pid;

		if (pid > 0 && is_alive(pid, &parent_pid) && parent_pid == parent)
			ret_pids[count++] = pid;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* What is done to the ends in the middle of a round, by a thread beside it. */
struct attack {
	int which; /* 0: the first child, 1: the second, -1: both */
	int signal_number;
	size_t seen;
};

static inline void *attack_run(void *argument)
{
	struct attack *a = argument;
	int pids[4];

	for (int tries = 0; tries < 500 && a->seen < 2; tries++) {
		sleep_ms(10);
		a->seen = children_of(getpid(), pids, COUNT(pids));
	}
	sleep_ms(50); /* now they are at work */
	for (int i = 0; i < 2 && a->seen == 2; i++)
		if (a->which < 0 || a->which == i)
			kill(pids[i], a->signal_number);
	return NULL;
}

/* No zombie, no child, no descriptor more than before. */
static inline void check_nothing_left(const struct fds *before)
{
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	CHECK_INT(fds_opened_since(before), 0);
}

static inline void run_clean(const struct round_plan *plan, struct round_result *ret)
{
	struct fds before = fds_now();

	round_run(plan, ret);
	check_nothing_left(&before);
}

#endif
