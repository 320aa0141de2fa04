/* SPDX-License-Identifier: MIT */
#include "placement.h"

#include "kernel_file.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHES_MAX 16	/* of one CPU; 4 are usual */
#define MASK_BITS 65536 /* the kernel refuses a mask shorter than its own */
#define WORD_BITS (8 * sizeof(unsigned long))

static const struct {
	const char *name, *meaning;
} kinds[PLACEMENT_KINDS] = {
	[PLACEMENT_SAME_CPU] = { "same-cpu", "one CPU" },
	[PLACEMENT_SMT] = { "smt", "one core, as two of its threads" },
	[PLACEMENT_SHARED_L2] = { "shared-l2", "the level-2 cache" },
	[PLACEMENT_SHARED_L3] = { "shared-l3", "the level-3 cache" },
	[PLACEMENT_SAME_PACKAGE] = { "same-package", "the package, and no cache that is known" },
	[PLACEMENT_OTHER_PACKAGE] = { "other-package", "memory only" },
	[PLACEMENT_BY_HAND] = { "by-hand", "whatever the CPUs given share" },
};

const char *placement_name(enum placement_kind kind)
{
	return (size_t)kind < PLACEMENT_KINDS ? kinds[kind].name : "unknown";
}

const char *placement_meaning(enum placement_kind kind)
{
	return (size_t)kind < PLACEMENT_KINDS ? kinds[kind].meaning : "nothing that is known";
}

/* What a CPU is part of. A group of CPUs goes by the lowest number in it; -1: not known. */
struct groups {
	int core, l2, l3;
	int64_t package;
};

/* A list that is no list, or leaves out the CPU it belongs to, tells nothing. */
static int read_group(const char *sysfs, int cpu, const char *file)
{
	char text[KERNEL_FILE_TEXT];
	const char *at = text;
	int n = kernel_file_text(text, sizeof(text), "%s/devices/system/cpu/cpu%d/%s", sysfs, cpu, file);
	int first, last, ret, lowest = -1;
	bool inside = false;

	if (n < 0 || (size_t)n == sizeof(text) - 1)
		return -1; /* one that does not fit may be cut inside a number */
	while ((ret = kernel_file_cpu_range(&at, &first, &last)) > 0) {
		if (lowest < 0 || first < lowest)
			lowest = first;
		inside = inside || (cpu >= first && cpu <= last);
	}
	return ret == 0 && inside ? lowest : -1;
}

/* The second name is the older one, deprecated; kernels that lack the first are still about. */
static int read_core(const char *sysfs, int cpu)
{
	int core = read_group(sysfs, cpu, "topology/core_cpus_list");

	return core >= 0 ? core : read_group(sysfs, cpu, "topology/thread_siblings_list");
}

static void read_cache(const char *sysfs, int cpu, int index, int64_t level, struct groups *groups)
{
	char type[16], file[64];

	if (level != 2 && level != 3)
		return;
	if (kernel_file_line(type, sizeof(type), "%s/devices/system/cpu/cpu%d/cache/index%d/type", sysfs, cpu,
		    index) < 0 ||
		strcmp(type, "Instruction") == 0)
		return; /* the bytes of a pipe do not go through it */
	snprintf(file, sizeof(file), "cache/index%d/shared_cpu_list", index);
	*(level == 2 ? &groups->l2 : &groups->l3) = read_group(sysfs, cpu, file);
}

static void read_groups(const char *sysfs, int cpu, struct groups *ret)
{
	int64_t level, package;

	*ret = (struct groups){ read_core(sysfs, cpu), -1, -1, -1 };
	if (kernel_file_number(
		    &package, "%s/devices/system/cpu/cpu%d/topology/physical_package_id", sysfs, cpu) == 0 &&
		package >= 0)
		ret->package = package;
	for (int i = 0; i < CACHES_MAX; i++)
		if (kernel_file_number(
			    &level, "%s/devices/system/cpu/cpu%d/cache/index%d/level", sysfs, cpu, i) == 0)
			read_cache(sysfs, cpu, i, level, ret);
}

static enum placement_kind nearest_kind(const struct groups *a, const struct groups *b)
{
	if (a->core >= 0 && a->core == b->core)
		return PLACEMENT_SMT;
	if (a->l2 >= 0 && a->l2 == b->l2)
		return PLACEMENT_SHARED_L2;
	if (a->l3 >= 0 && a->l3 == b->l3)
		return PLACEMENT_SHARED_L3;
	if (a->package >= 0 && b->package >= 0 && a->package != b->package)
		return PLACEMENT_OTHER_PACKAGE;
	return PLACEMENT_SAME_PACKAGE;
}

/* Being near is mutual, so a first CPU's partners all come after it. */
static bool find_pair(const struct groups *groups, const int *cpus, size_t cpu_count,
	enum placement_kind kind, struct placement *ret)
{
	for (size_t i = 0; i < cpu_count; i++)
		for (size_t k = i + 1; k < cpu_count; k++)
			if (nearest_kind(&groups[i], &groups[k]) == kind) {
				*ret = (struct placement){ kind, cpus[i], cpus[k] };
				return true;
			}
	return false;
}

int placement_find(const char *sysfs, const int *cpus, size_t cpu_count, struct placement *ret)
{
	struct groups *groups;
	int found = 0;

	if (cpu_count == 0)
		return -EINVAL;
	groups = calloc(cpu_count, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < cpu_count; i++)
		read_groups(sysfs, cpus[i], &groups[i]);
	ret[found++] = (struct placement){ PLACEMENT_SAME_CPU, cpus[0], cpus[0] };
	for (int kind = PLACEMENT_SMT; kind <= PLACEMENT_OTHER_PACKAGE; kind++)
		found += find_pair(groups, cpus, cpu_count, (enum placement_kind)kind, &ret[found]);
	free(groups);
	return found;
}

/* A mask of our own: cpu_set_t ends at 1024 CPUs. */
int placement_usable_cpus(int *ret_cpus, size_t room)
{
	unsigned long mask[MASK_BITS / WORD_BITS] = { 0 };
	size_t count = 0;

	if (sched_getaffinity(0, sizeof(mask), (cpu_set_t *)(void *)mask) < 0)
		return -errno;
	for (size_t cpu = 0; cpu < MASK_BITS && count < room; cpu++)
		if (mask[cpu / WORD_BITS] >> cpu % WORD_BITS & 1)
			ret_cpus[count++] = (int)cpu;
	return (int)count;
}

static bool is_usable(int cpu, const int *cpus, size_t cpu_count)
{
	for (size_t i = 0; i < cpu_count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

int placement_parse(const char *text, const int *cpus, size_t cpu_count, struct placement *ret)
{
	int sender = kernel_file_cpu(&text);
	int receiver = sender;

	if (sender >= 0 && *text == ',') {
		text++;
		receiver = kernel_file_cpu(&text);
	}
	if (sender < 0 || receiver < 0 || *text)
		return -EINVAL;
	if (!is_usable(sender, cpus, cpu_count) || !is_usable(receiver, cpus, cpu_count))
		return -EPERM;
	*ret = (struct placement){ PLACEMENT_BY_HAND, sender, receiver };
	return 0;
}
