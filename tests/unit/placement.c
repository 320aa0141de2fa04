/* SPDX-License-Identifier: MIT */
#include "placement.h"

#include "tree.h"

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void put_cpu(int cpu, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/%s", cpu, file);
	put(path, text);
}

static void put_topology(int cpu, const char *core, const char *package)
{
	put_cpu(cpu, "topology/core_cpus_list", core);
	put_cpu(cpu, "topology/physical_package_id", package);
}

static void put_cache(int cpu, int index, const char *level, const char *type, const char *shared)
{
	char path[64];

	snprintf(path, sizeof(path), "cache/index%d/level", index);
	put_cpu(cpu, path, level);
	snprintf(path, sizeof(path), "cache/index%d/type", index);
	put_cpu(cpu, path, type);
	snprintf(path, sizeof(path), "cache/index%d/shared_cpu_list", index);
	put_cpu(cpu, path, shared);
}

static int find(const int *cpus, size_t count, struct placement *ret)
{
	return placement_find(root, cpus, count, ret);
}

static void check_placement(const struct placement *p, enum placement_kind kind, int sender, int receiver)
{
	CHECK_TEXT(placement_name(p->kind), placement_name(kind));
	CHECK_INT(p->sender_cpu, sender);
	CHECK_INT(p->receiver_cpu, receiver);
}

/* 4 cores of 2 threads, n and n+4; L1 and L2 of the core, one L3. */
static void put_laptop(void)
{
	for (int cpu = 0; cpu < 8; cpu++) {
		char core[16];

		snprintf(core, sizeof(core), "%d,%d\n", cpu % 4, cpu % 4 + 4);
		put_topology(cpu, core, "0\n");
		put_cache(cpu, 0, "1\n", "Data\n", core);
		put_cache(cpu, 1, "1\n", "Instruction\n", core);
		put_cache(cpu, 2, "2\n", "Unified\n", core);
		put_cache(cpu, 3, "3\n", "Unified\n", "0-7\n");
	}
}

static void laptop_with_smt(void)
{
	const int cpus[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_laptop();
	CHECK_INT(find(cpus, COUNT(cpus), p), 3);
	check_placement(&p[0], PLACEMENT_SAME_CPU, 0, 0);
	check_placement(&p[1], PLACEMENT_SMT, 0, 4);
	check_placement(&p[2], PLACEMENT_SHARED_L3, 0, 1);
	tree_end();
}

static void mask_with_one_thread_of_each_core(void)
{
	const int cpus[] = { 1, 2, 7 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_laptop();
	CHECK_INT(find(cpus, COUNT(cpus), p), 2);
	check_placement(&p[0], PLACEMENT_SAME_CPU, 1, 1);
	check_placement(&p[1], PLACEMENT_SHARED_L3, 1, 2);
	tree_end();
}

static void mask_where_a_later_cpu_has_the_partner(void)
{
	const int cpus[] = { 0, 2, 6 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_laptop();
	CHECK_INT(find(cpus, COUNT(cpus), p), 3);
	check_placement(&p[1], PLACEMENT_SMT, 2, 6);
	check_placement(&p[2], PLACEMENT_SHARED_L3, 0, 2);
	tree_end();
}

static void single_cpu(void)
{
	const int cpus[] = { 3 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_laptop();
	CHECK_INT(find(cpus, 1, p), 1);
	check_placement(&p[0], PLACEMENT_SAME_CPU, 3, 3);
	CHECK_INT(find(cpus, 0, p), -EINVAL);
	tree_end();
}

/* As in the small cores of some CPUs: four cores without threads, pairs of them with one L2. */
static void two_cores_with_one_l2(void)
{
	const int cpus[] = { 0, 1, 2, 3 };
	const char *const core[] = { "0\n", "1\n", "2\n", "3\n" }, *const l2[] = { "0-1\n", "0-1\n", "2-3\n",
		"2-3\n" };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	for (int cpu = 0; cpu < 4; cpu++) {
		put_topology(cpu, core[cpu], "0\n");
		put_cache(cpu, 0, "2\n", "Unified\n", l2[cpu]);
		put_cache(cpu, 1, "3\n", "Unified\n", "0-3\n");
	}
	CHECK_INT(find(cpus, COUNT(cpus), p), 3);
	check_placement(&p[1], PLACEMENT_SHARED_L2, 0, 1);
	check_placement(&p[2], PLACEMENT_SHARED_L3, 0, 2);
	tree_end();
}

/* Package 0 has CPUs 0-3,8,10-11, package 1 the rest of 16; cores of one thread, a private L2, an L3 per
 * package. */
static void two_packages(void)
{
	const char *const lists[] = { "0-3,8,10-11\n", "4-7,9,12-15\n" };
	struct placement p[PLACEMENT_KINDS];
	int cpus[16];

	tree_begin();
	for (int cpu = 0; cpu < 16; cpu++) {
		int package = !(cpu < 4 || cpu == 8 || cpu == 10 || cpu == 11);
		char self[16];

		cpus[cpu] = cpu;
		snprintf(self, sizeof(self), "%d\n", cpu);
		put_topology(cpu, self, package ? "1\n" : "0\n");
		put_cache(cpu, 0, "2\n", "Unified\n", self);
		put_cache(cpu, 1, "3\n", "Unified\n", lists[package]);
	}
	CHECK_INT(find(cpus, 16, p), 3);
	check_placement(&p[1], PLACEMENT_SHARED_L3, 0, 1);
	check_placement(&p[2], PLACEMENT_OTHER_PACKAGE, 0, 4);
	CHECK_INT(find(cpus + 10, 2, p), 2); /* 10 and 11: the list's last range */
	check_placement(&p[1], PLACEMENT_SHARED_L3, 10, 11);
	CHECK_INT(find(cpus + 8, 2, p), 2); /* 8 and 9 */
	check_placement(&p[1], PLACEMENT_OTHER_PACKAGE, 8, 9);
	tree_end();
}

/* One package with two L3, as where cores come in complexes: both kinds exist. */
static void two_l3_in_one_package(void)
{
	const int cpus[] = { 0, 1, 2, 3 };
	const char *const core[] = { "0", "1", "2", "3" };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	for (int cpu = 0; cpu < 4; cpu++) {
		put_topology(cpu, core[cpu], "0");
		put_cache(cpu, 0, "3", "Unified", cpu < 2 ? "0-1" : "2-3"); /* no newline */
	}
	CHECK_INT(find(cpus, COUNT(cpus), p), 3);
	check_placement(&p[1], PLACEMENT_SHARED_L3, 0, 1);
	check_placement(&p[2], PLACEMENT_SAME_PACKAGE, 0, 2);
	tree_end();
}

/* Every kind at once, and in order. */
static void every_kind(void)
{
	const int cpus[] = { 0, 1, 2, 3, 4, 5 };
	const char *const core[] = { "0-1", "0-1", "2", "3", "4", "5" }, *const l2[] = { "0-2", "0-2", "0-2",
		"3", "4", "5" };
	const char *const l3[] = { "0-3", "0-3", "0-3", "0-3", "4", "5" };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	for (int cpu = 0; cpu < 6; cpu++) {
		put_topology(cpu, core[cpu], cpu < 5 ? "0" : "1");
		put_cache(cpu, 0, "2", "Unified", l2[cpu]);
		put_cache(cpu, 1, "3", "Unified", l3[cpu]);
	}
	CHECK_INT(find(cpus, COUNT(cpus), p), 6);
	check_placement(&p[0], PLACEMENT_SAME_CPU, 0, 0);
	check_placement(&p[1], PLACEMENT_SMT, 0, 1);
	check_placement(&p[2], PLACEMENT_SHARED_L2, 0, 2);
	check_placement(&p[3], PLACEMENT_SHARED_L3, 0, 3);
	check_placement(&p[4], PLACEMENT_SAME_PACKAGE, 0, 4);
	check_placement(&p[5], PLACEMENT_OTHER_PACKAGE, 0, 5);
	tree_end();
}

static void no_cache_directory(void)
{
	const int cpus[] = { 0, 1, 2 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_topology(0, "0-1\n", "0\n");
	put_topology(1, "0-1\n", "0\n");
	put_topology(2, "2\n", "0\n");
	CHECK_INT(find(cpus, COUNT(cpus), p), 3);
	check_placement(&p[1], PLACEMENT_SMT, 0, 1);
	check_placement(&p[2], PLACEMENT_SAME_PACKAGE, 0, 2);
	tree_end();
}

static void no_files_at_all(void)
{
	const int cpus[] = { 0, 5 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	CHECK_INT(find(cpus, COUNT(cpus), p), 2);
	check_placement(&p[0], PLACEMENT_SAME_CPU, 0, 0);
	check_placement(&p[1], PLACEMENT_SAME_PACKAGE, 0, 5);
	CHECK_INT(placement_find("/nowhere/at/all", cpus, COUNT(cpus), p), 2);
	tree_end();
}

static void files_of_some_cpus_only(void)
{
	const int cpus[] = { 0, 1 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_topology(0, "0", "0");
	put_cache(0, 0, "3", "Unified", "0-1");
	CHECK_INT(find(cpus, COUNT(cpus), p), 2);
	check_placement(&p[1], PLACEMENT_SAME_PACKAGE, 0, 1);
	tree_end();
}

static void older_names(void)
{
	const int cpus[] = { 0, 1 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_cpu(0, "topology/thread_siblings_list", "0-1\n");
	put_cpu(1, "topology/thread_siblings_list", "0-1\n");
	CHECK_INT(find(cpus, COUNT(cpus), p), 2);
	check_placement(&p[1], PLACEMENT_SMT, 0, 1);
	tree_end();
}

static void instruction_cache_does_not_count(void)
{
	const int cpus[] = { 0, 1 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	for (int cpu = 0; cpu < 2; cpu++) {
		put_topology(cpu, cpu ? "1" : "0", "-1\n"); /* -1: the firmware does not say */
		put_cache(cpu, 0, "2", "Instruction", "0-1");
	}
	CHECK_INT(find(cpus, COUNT(cpus), p), 2);
	check_placement(&p[1], PLACEMENT_SAME_PACKAGE, 0, 1);
	tree_end();
}

/* Lists that tell nothing: all of them leave the pair with nothing known. */
static void junk_lists(void)
{
	static const char *const junk[] = { "", "\n", " 0-1", "0-", "0-1,", "0-1,5-", "0-1,9x", ",0-1", "1-0",
		"0--1", "-1", "0-1x", "0-1:2/4", "0,1;", "x", "0-99999999999999999999",
		"99999999999999999999", "2-3", "0-1 \n", "\xff\xfe", "0x1" };
	const int cpus[] = { 0, 1 };

	for (size_t i = 0; i < COUNT(junk); i++) {
		struct placement p[PLACEMENT_KINDS];

		tree_begin();
		for (int cpu = 0; cpu < 2; cpu++) {
			put_topology(cpu, junk[i], junk[i]);
			put_cache(cpu, 0, "2", "Unified", junk[i]);
			put_cache(cpu, 1, junk[i], junk[i], junk[i]);
		}
		CHECK_INT(find(cpus, COUNT(cpus), p), 2);
		check_placement(&p[1], PLACEMENT_SAME_PACKAGE, 0, 1);
		tree_end();
	}
}

/* 0, 2, 4 ... of 8192: 20 KiB. And one of 200 KiB, which no kernel writes; wherever it is cut, it is not
 * believed. */
static void long_lists(void)
{
	static char list[256 * 1024];
	const int cpus[] = { 2, 8190 };
	struct placement p[PLACEMENT_KINDS];
	size_t at = 0;

	tree_begin();
	for (int cpu = 0; cpu < 8192; cpu += 2)
		at += (size_t)sprintf(list + at, "%s%d", cpu ? "," : "", cpu);
	put_cpu(2, "topology/core_cpus_list", list);
	put_cpu(8190, "topology/core_cpus_list", list);
	CHECK_INT(find(cpus, 2, p), 2);
	check_placement(&p[1], PLACEMENT_SMT, 2, 8190);
	for (int cpu = 10000; at < 200 * 1024; cpu += 2)
		at += (size_t)sprintf(list + at, ",%d", cpu);
	for (size_t cut = 0; cut < 6; cut++) {
		put_cpu(2, "topology/core_cpus_list", list);
		put_cpu(8190, "topology/core_cpus_list", list);
		CHECK_INT(find(cpus, 2, p), 2);
		check_placement(&p[1], PLACEMENT_SAME_PACKAGE, 2, 8190);
		memmove(list + 1, list, ++at); /* the first number is 0: one more digit of it */
	}
	tree_end();
}

static void folders_and_nuls_in_place_of_files(void)
{
	const int cpus[] = { 0, 1 };
	struct placement p[PLACEMENT_KINDS];

	tree_begin();
	put_cpu(0, "topology/core_cpus_list/file", "0-1");
	put_cpu(0, "cache/index0/level/file", "2");
	put_bytes("devices/system/cpu/cpu1/topology/core_cpus_list", "\0\0\0\0", 4);
	put_bytes("devices/system/cpu/cpu1/cache/index0/level", "\0\n", 2);
	CHECK_INT(find(cpus, COUNT(cpus), p), 2);
	check_placement(&p[1], PLACEMENT_SAME_PACKAGE, 0, 1);
	tree_end();
}

static void parse_pairs(void)
{
	const int cpus[] = { 0, 2, 4, 1023 };
	struct placement p;

	CHECK_INT(placement_parse("2,4", cpus, COUNT(cpus), &p), 0);
	check_placement(&p, PLACEMENT_BY_HAND, 2, 4);
	CHECK_INT(placement_parse("1023,0", cpus, COUNT(cpus), &p), 0);
	check_placement(&p, PLACEMENT_BY_HAND, 1023, 0);
	CHECK_INT(placement_parse("4", cpus, COUNT(cpus), &p), 0);
	check_placement(&p, PLACEMENT_BY_HAND, 4, 4);
	CHECK_INT(placement_parse("0,0", cpus, COUNT(cpus), &p), 0);
	check_placement(&p, PLACEMENT_BY_HAND, 0, 0);
}

static void parse_refuses(void)
{
	static const char *const bad[] = { "", ",", "0,", ",0", "0,2,4", "a", "0x2", "+0", "-1", " 0", "0 ",
		"0, 2", "0-2", "0,2\n", "2.0", "18446744073709551616", "4294967296",
		"99999999999999999999999999,0", "0;2", "\xff" };
	static const char *const unusable[] = { "1", "0,1", "1,0", "5,7", "1048575" };
	const int cpus[] = { 0, 2, 4 };
	struct placement p = { PLACEMENT_SMT, 8, 9 };

	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK_INT(placement_parse(bad[i], cpus, COUNT(cpus), &p), -EINVAL);
	for (size_t i = 0; i < COUNT(unusable); i++)
		CHECK_INT(placement_parse(unusable[i], cpus, COUNT(cpus), &p), -EPERM);
	CHECK_INT(placement_parse("0", cpus, 0, &p), -EPERM);
	check_placement(&p, PLACEMENT_SMT, 8, 9); /* untouched */
}

static void usable_cpus(void)
{
	int cpus[8192], count = placement_usable_cpus(cpus, COUNT(cpus)), two[2] = { -7, -7 };
	cpu_set_t before, one;

	CHECK(count >= 1);
	for (int i = 1; i < count; i++)
		CHECK(cpus[i - 1] < cpus[i]);
	CHECK_INT(placement_usable_cpus(two, 1), 1);
	CHECK(two[0] == cpus[0] && two[1] == -7);
	CHECK_INT(placement_usable_cpus(NULL, 0), 0);
	if (cpus[count - 1] >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before), &before) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpus[count - 1], &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	CHECK_INT(placement_usable_cpus(two, 2), 1);
	CHECK_INT(two[0], cpus[count - 1]);
	CHECK(sched_setaffinity(0, sizeof(before), &before) == 0);
}

/* The machine at hand, whatever it is. */
static void this_machine(void)
{
	int cpus[8192], count = placement_usable_cpus(cpus, COUNT(cpus));
	struct placement p[PLACEMENT_KINDS];
	int found = count > 0 ? placement_find("/sys", cpus, (size_t)count, p) : -1;

	CHECK(found >= (count > 1 ? 2 : 1) && found < PLACEMENT_KINDS);
	for (int i = 1; i < found; i++)
		CHECK(p[i].kind > p[i - 1].kind && p[i].sender_cpu < p[i].receiver_cpu);
}

static void names(void)
{
	static const char *const want[] = { "same-cpu", "smt", "shared-l2", "shared-l3", "same-package",
		"other-package", "by-hand" };

	CHECK_INT(COUNT(want), PLACEMENT_KINDS);
	for (int i = 0; i < PLACEMENT_KINDS; i++) {
		CHECK_TEXT(placement_name((enum placement_kind)i), want[i]);
		CHECK(placement_meaning((enum placement_kind)i)[0] != '\0');
		for (int k = 0; k < i; k++)
			CHECK(strcmp(placement_meaning((enum placement_kind)i),
				      placement_meaning((enum placement_kind)k)) != 0);
	}
}

int main(void)
{
	TEST(laptop_with_smt);
	TEST(mask_with_one_thread_of_each_core);
	TEST(mask_where_a_later_cpu_has_the_partner);
	TEST(single_cpu);
	TEST(two_cores_with_one_l2);
	TEST(two_packages);
	TEST(two_l3_in_one_package);
	TEST(every_kind);
	TEST(no_cache_directory);
	TEST(no_files_at_all);
	TEST(files_of_some_cpus_only);
	TEST(older_names);
	TEST(instruction_cache_does_not_count);
	TEST(junk_lists);
	TEST(long_lists);
	TEST(folders_and_nuls_in_place_of_files);
	TEST(parse_pairs);
	TEST(parse_refuses);
	TEST(usable_cpus);
	TEST(this_machine);
	TEST(names);
	return test_end();
}
