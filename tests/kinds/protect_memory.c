/* SPDX-License-Identifier: MIT */
/*
 * GUSH_PROTECT where memory is scarce, locked, much, or in small pages: bytes that a reader holds stay as
 * they were. The holders' controls are in protect_forbidden.c.
 */
#include "../unit/support.h"
#include "words.h"

#include <sys/prctl.h>

#define RING (4 * MIB)
#define BEFORE (20 * MIB)
#define AFTER (28 * MIB)

#define NO_HUGE "the kernel gives no huge pages"
#define NO_HUGE_NOW "the kernel gives no huge pages any more"

static const char *useless; /* why none of this can be tried */

static void check_entry(const struct words *w, const char *name, int outcome, const char *reason)
{
	struct gush_report_entry e = { .reason = "none" };

	if (CHECK(words_way(w, name, &e))) {
		CHECK_INT(e.outcome, outcome);
		CHECK_TEXT(e.reason ? e.reason : "", reason);
	}
}

/* Something happens in the middle of a stream that is held. */
static void with_change(uint32_t policy, void (*change)(void), void (*look)(const struct words *w))
{
	struct holding h;
	struct words w;

	hold_start(&h, &(struct hold){ .kind = HOLD_TEE });
	words_open(&w, h.fd, policy, RING, 0);
	words_write(&w, BEFORE);
	change();
	words_write(&w, AFTER);
	look(&w);
	words_close(&w);
	hold_end_good(&h, BEFORE + AFTER);
}

/* In small pages. */
static void use_memory(size_t bytes)
{
	char *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(memory != MAP_FAILED))
		return;
	madvise(memory, bytes + 1, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += 4096)
		memory[at] = 1;
}

/* ---- no huge pages ---- */

static void refuse_huge_pages(void)
{
	CHECK_INT(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
}

static void never_huge_body(void)
{
	struct holding h;
	struct words w;

	hold_start(&h, &(struct hold){ .kind = HOLD_PIPES });
	refuse_huge_pages();
	words_open(&w, h.fd, GUSH_PROTECT, RING, 0);
	words_write(&w, AFTER);
	check_way(&w, "write");
	check_entry(&w, "barrier-clone3", GUSH_TRIED_UNFIT, NO_HUGE);
	words_close(&w);
	hold_end_good(&h, AFTER);
}

static void look_not_huge_now(const struct words *w)
{
	check_way(w, "write");
	if (!words_dear(w))
		check_entry(w, "barrier-clone3", GUSH_TRIED_FAILED, NO_HUGE_NOW);
}

static void look_not_huge_given(const struct words *w)
{
	check_way(w, "write");
	check_entry(w, "fresh-pages", GUSH_TRIED_FAILED, NO_HUGE_NOW);
}

static void not_huge_later_body(void)
{
	with_change(GUSH_PROTECT, refuse_huge_pages, look_not_huge_now);
}

static void not_huge_given_body(void)
{
	with_change(GUSH_GIVE, refuse_huge_pages, look_not_huge_given);
}

static void no_huge_pages(void)
{
	if (useless)
		SKIP(useless);
	in_child(never_huge_body);
	in_child(not_huge_later_body);
	in_child(not_huge_given_body);
}

/* ---- locked memory ---- */

static int lock_flags;

static void lock_all(void)
{
	CHECK_INT(mlockall(lock_flags), 0);
}

static void nothing_more(void)
{
}

static void locked_later_body(void)
{
	with_change(GUSH_PROTECT, lock_all, check_shared);
}
static void locked_given_body(void)
{
	with_change(GUSH_GIVE, lock_all, check_shared);
}
static void locked_before_body(void)
{
	lock_all();
	with_change(GUSH_PROTECT, nothing_more, check_shared);
}
static void locked_before_given_body(void)
{
	lock_all();
	with_change(GUSH_GIVE, nothing_more, check_shared);
}

static void locked_memory(void)
{
	static const int flags[] = { MCL_CURRENT, MCL_CURRENT | MCL_FUTURE,
		MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT };

	if (useless)
		SKIP(useless);
	if (!mlock_works())
		SKIP("the sanitizer replaces mlock");
	if (geteuid() != 0)
		SKIP("only root may lock so much");
	for (size_t i = 0; i < COUNT(flags); i++) {
		lock_flags = flags[i];
		in_child(locked_later_body);
		in_child(locked_given_body);
		in_child(locked_before_body);
		in_child(locked_before_given_body);
	}
}

/* ---- a large process ---- */

static void fill_heap(void)
{
	uint64_t free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	use_memory(free_bytes > 4096 * MIB ? 1024 * MIB : 512 * MIB);
}

static void look_dear(const struct words *w)
{
	CHECK(words_dear(w));
	check_entry(w, "fresh-pages", GUSH_TRIED_USED, "");
	check_entry(w, "barrier-clone3", GUSH_TRIED_USED,
		"copying this process's page tables took too much of each pass");
}

static void large_process_body(void)
{
	with_change(GUSH_PROTECT, fill_heap, look_dear);
}

static void large_process(void)
{
	if (useless)
		SKIP(useless);
	in_child(large_process_body);
}

/* ---- a memory cgroup ---- */

/*
 * Not with a reader that keeps one page of each huge one: all of those stay, charged to the sender, so that
 * 24 MiB are soon full. Then the library copies, but the process may be killed before.
 */

#define GROUP_LIMIT "25165824"

static char group[300];
static const char *group_name; /* of the file that has the limit */
static uint32_t group_policy;
static enum hold_kind group_kind;
static uint64_t group_ring;
static size_t group_used; /* by us, before */

static bool put(const char *name, const char *text)
{
	char path[400];
	int fd;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Below the root of a hierarchy, of version 1 or 2. */
static bool make_group(const char *root, const char *limit_name)
{
	snprintf(group, sizeof(group), "%s/gush-test-%d", root, (int)getpid());
	if (mkdir(group, 0755) < 0)
		return false;
	group_name = limit_name;
	if (put(limit_name, GROUP_LIMIT))
		return true;
	rmdir(group);
	return false;
}

static void remove_group(void)
{
	for (int i = 0; i < 2000 && rmdir(group) < 0 && errno == EBUSY; i++)
		sleep_ms(1);
}

static void in_group_body(void)
{
	struct holding h;
	struct words w;
	char pid[20];

	alarm(30); /* the group is removed by those who wait for us */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hold_start(&h, &(struct hold){ .kind = group_kind, .lag_mib = 4 });
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	CHECK(put("cgroup.procs", pid));
	use_memory(group_used);
	words_open(&w, h.fd, group_policy, group_ring, 256 * MIB);
	words_write(&w, 60 * MIB);
	words_close(&w);
	hold_end_good(&h, 60 * MIB);
}

static void memory_cgroup(void)
{
	static const uint64_t rings[] = { 0, RING, 64 * MIB };

	if (useless)
		SKIP(useless);
	if (!make_group("/sys/fs/cgroup/memory", "memory.limit_in_bytes") &&
		!make_group("/sys/fs/cgroup", "memory.max"))
		SKIP("no memory cgroup can be made");
	for (size_t i = 0; i < 4 * COUNT(rings) && !test_bad; i++) {
		group_ring = rings[i / 4];
		group_policy = i % 2 ? GUSH_GIVE : GUSH_PROTECT;
		group_kind = i / 2 % 2 ? HOLD_TEE : HOLD_PIPES;
		in_child(in_group_body);
		if (test_bad)
			printf("  policy %u, %s, ring %llu\n", group_policy, hold_names[group_kind],
				(unsigned long long)group_ring);
	}
	group_used = 17 * MIB; /* less is left than four huge pages */
	in_child(in_group_body);
	group_policy = GUSH_PROTECT;
	in_child(in_group_body);
	group_used = 0;
	remove_group();
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	useless = cannot_protect();
	TEST(no_huge_pages);
	TEST(locked_memory);
	TEST(large_process);
	TEST(memory_cgroup);
	return test_end();
}
