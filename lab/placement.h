/* SPDX-License-Identifier: MIT */
/*
 * Where the two ends of a pipe can run: pairs of CPUs by what they share, out of those this process may use
 * (affinity mask), as sysfs tells.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stddef.h>

enum placement_kind {
	PLACEMENT_SAME_CPU,
	PLACEMENT_SMT,	     /* two threads of one core */
	PLACEMENT_SHARED_L2, /* two cores, one L2 */
	PLACEMENT_SHARED_L3,
	PLACEMENT_SAME_PACKAGE, /* and nothing closer known */
	PLACEMENT_OTHER_PACKAGE,
	PLACEMENT_BY_HAND, /* --cpus */
};
#define PLACEMENT_KINDS 7

struct placement {
	enum placement_kind kind;
	int sender_cpu, receiver_cpu;
};

const char *placement_name(enum placement_kind kind); /* "same-cpu", "smt", ..., "by-hand" */

/*
 * Fills ret with one pair for each kind that exists here, nearest first, same-cpu always the first; returns
 * how many (1 to PLACEMENT_KINDS - 1), or -errno (-EINVAL: no CPU). `sysfs` is "/sys" but for tests; `cpus`
 * and `cpu_count` are the usable CPUs in ascending order (placement_usable_cpus). A CPU whose files are
 * absent shares nothing that is known: then two such CPUs are same-package. The first CPU that has a partner
 * of a kind is the sender's.
 */
int placement_find(const char *sysfs, const int *cpus, size_t cpu_count, struct placement *ret);

/* The affinity mask as a list, ascending. Returns how many were stored, at most `room`, or -errno. */
int placement_usable_cpus(int *ret_cpus, size_t room);

/* "A,B" (sender, receiver) or "A" (both). 0; -EINVAL: not CPU numbers; -EPERM: one is not usable here. */
int placement_parse(const char *text, const int *cpus, size_t cpu_count, struct placement *ret);

/* What two ends at this placement share, for people: "one CPU", "the level-3 cache", ... */
const char *placement_meaning(enum placement_kind kind);

#endif
