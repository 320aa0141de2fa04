/* SPDX-License-Identifier: MIT */
#include "hugebuf.h"

#include "support.h"
#include "sys.h"

#include <sys/prctl.h>
#include <sys/resource.h>

static const struct gi_hugebuf untouched = { (char *)0x1234, 77, 78 };

static bool is_mapped(const void *at)
{
	unsigned char resident;
	uintptr_t start = (uintptr_t)at & ~(gi_page_bytes() - 1);

	return mincore((void *)start, 1, &resident) == 0;
}

static bool no_huge_pages(void)
{
	char text[64] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		read_all(fd, text, sizeof(text));
	return gi_huge_page_bytes() == 0 || strstr(text, "[never]");
}

static void page_sizes(void)
{
	size_t page = gi_page_bytes(), huge = gi_huge_page_bytes();

	CHECK_INT(page, getpagesize());
	CHECK(page >= 4096 && (page & (page - 1)) == 0);
	CHECK(huge == 0 || (huge > page && (huge & (huge - 1)) == 0));
	CHECK_INT(huge == 0, access("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", R_OK) != 0);
}

/* The last byte can be written; the mapping is whole, aligned units, zero, and gone afterwards. */
static void map_one(size_t bytes, unsigned flags, size_t unit)
{
	struct gi_hugebuf buf = { 0 };
	char *base;

	CHECK_INT(gi_hugebuf_map(bytes, flags, &buf), 0);
	CHECK_INT(buf.bytes, bytes);
	CHECK_INT(buf.mapped_bytes, (bytes + unit - 1) / unit * unit);
	CHECK_INT((uintptr_t)buf.base % unit, 0);
	CHECK_INT(buf.base[0], 0);
	CHECK_INT(buf.base[buf.mapped_bytes - 1], 0);
	memset(buf.base, 1, bytes);
	base = buf.base;
	gi_hugebuf_unmap(&buf);
	CHECK(!buf.base && buf.bytes == 0 && buf.mapped_bytes == 0);
	CHECK(!is_mapped(base));
	gi_hugebuf_unmap(&buf);
}

static void small_pages(void)
{
	size_t page = gi_page_bytes();
	const size_t sizes[] = { 1, 8, page - 1, page, page + 1, 5 * page, (1 << 20) + 3 };

	for (size_t i = 0; i < COUNT(sizes); i++)
		map_one(sizes[i], 0, page);
}

static void any_pages(void)
{
	size_t page = gi_page_bytes();

	map_one(1, GI_HUGEBUF_ANY, page);
	map_one((1 << 20) + 3, GI_HUGEBUF_ANY, page);
}

static void huge_pages(void)
{
	size_t huge = gi_huge_page_bytes();
	const size_t sizes[] = { 1, 4096, huge - 1, huge, huge + 1, 3 * huge };

	if (huge == 0)
		SKIP("this kernel has no transparent huge pages");
	for (size_t i = 0; i < COUNT(sizes); i++)
		map_one(sizes[i], GI_HUGEBUF_HUGE, huge);
}

/* What lies around the aligned part was given back. */
static void no_surplus_stays_mapped(void)
{
	size_t huge = gi_huge_page_bytes();
	struct gi_hugebuf buf;
	long before;

	if (huge == 0)
		SKIP("this kernel has no transparent huge pages");
	before = number_in("/proc/self/statm"); /* pages of address space */
	CHECK_INT(gi_hugebuf_map(huge, GI_HUGEBUF_HUGE, &buf), 0);
	CHECK((size_t)(number_in("/proc/self/statm") - before) * gi_page_bytes() < huge + huge / 2);
	gi_hugebuf_unmap(&buf);
}

static void refused_sizes(void)
{
	static const struct {
		size_t bytes;
		int ret;
	} cases[] = {
		{ 0, -EINVAL },
		{ SIZE_MAX, -EOVERFLOW },
		{ SIZE_MAX - 4095, -EOVERFLOW },
		{ SIZE_MAX / 2 + 1, -EOVERFLOW },
		{ SIZE_MAX / 2, -EOVERFLOW },
		{ SIZE_MAX / 4, -ENOMEM },
	};
	struct gi_hugebuf buf = untouched;

	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned flags = 0; flags < 4; flags++) {
			int ret = gi_hugebuf_map(cases[i].bytes, flags, &buf);

			if (flags & GI_HUGEBUF_HUGE && gi_huge_page_bytes() == 0)
				CHECK_INT(ret, -EOPNOTSUPP);
			else
				CHECK_INT(ret, cases[i].ret);
		}
	CHECK_INT(memcmp(&buf, &untouched, sizeof(buf)), 0);
}

static int huge_after_touch(unsigned flags, size_t bytes)
{
	struct gi_hugebuf buf;
	int ret = gi_hugebuf_map(bytes, flags, &buf);

	if (ret < 0)
		return ret;
	memset(buf.base, 1, buf.mapped_bytes);
	ret = gi_hugebuf_is_huge(&buf);
	gi_hugebuf_unmap(&buf);
	return ret;
}

static void is_huge(void)
{
	size_t huge = gi_huge_page_bytes();

	if (no_huge_pages())
		SKIP("transparent huge pages are off");
	CHECK_INT(huge_after_touch(GI_HUGEBUF_HUGE, huge), 1);
	CHECK_INT(huge_after_touch(GI_HUGEBUF_HUGE, 1), 1);
	CHECK_INT(huge_after_touch(GI_HUGEBUF_HUGE, 4 * huge), 1);
	CHECK_INT(huge_after_touch(GI_HUGEBUF_HUGE | GI_HUGEBUF_LOCK, huge), 1);
}

static void is_not_huge(void)
{
	CHECK_INT(huge_after_touch(0, 1), 0);
	CHECK_INT(huge_after_touch(0, 8 << 20), 0);
	CHECK_INT(huge_after_touch(GI_HUGEBUF_LOCK, 65536), 0);
}

/* No part of it is: the kernel may not make huge pages of what fits one, not even where THP is "always". */
static void no_part_is_huge(void)
{
	size_t huge = gi_huge_page_bytes();
	struct gi_hugebuf buf, part;

	if (huge == 0)
		SKIP("this kernel has no transparent huge pages");
	CHECK_INT(gi_hugebuf_map(4 * huge, 0, &buf), 0);
	memset(buf.base, 1, 4 * huge);
	part = (struct gi_hugebuf){ buf.base + (huge - (uintptr_t)buf.base % huge) % huge, huge, huge };
	for (int i = 0; i < 3; i++, part.base += huge)
		CHECK_INT(gi_hugebuf_is_huge(&part), 0);
	gi_hugebuf_unmap(&buf);
}

/* One page that is not huge among others that are. */
static void is_partly_huge(void)
{
	size_t huge = gi_huge_page_bytes();
	struct gi_hugebuf buf;

	if (no_huge_pages())
		SKIP("transparent huge pages are off");
	CHECK_INT(gi_hugebuf_map(3 * huge, GI_HUGEBUF_HUGE, &buf), 0);
	CHECK_INT(gi_hugebuf_is_huge(&buf), 0);
	memset(buf.base, 1, 2 * huge);
	CHECK_INT(gi_hugebuf_is_huge(&buf), 0);
	memset(buf.base + 2 * huge, 1, huge);
	CHECK_INT(gi_hugebuf_is_huge(&buf), 1);
	CHECK_INT(madvise(buf.base + huge, gi_page_bytes(), MADV_DONTNEED), 0); /* splits the second */
	CHECK_INT(gi_hugebuf_is_huge(&buf), 0);
	gi_hugebuf_unmap(&buf);
}

static void check_disabled(void)
{
	size_t huge = gi_huge_page_bytes();

	if (huge == 0)
		SKIP("this kernel has no transparent huge pages");
	CHECK_INT(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	CHECK_INT(huge_after_touch(GI_HUGEBUF_HUGE, huge), 0);
}

static void disabled_for_the_process(void)
{
	in_child(check_disabled);
}

static void check_lock_limit(void)
{
	struct rlimit limit = { 65536, 65536 };
	struct gi_hugebuf buf = untouched;

	if (!mlock_works())
		SKIP("the sanitizer replaces mlock");
	CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_INT(gi_hugebuf_map(65536 + 1, GI_HUGEBUF_LOCK, &buf), -ENOMEM);
	CHECK_INT(memcmp(&buf, &untouched, sizeof(buf)), 0);
	CHECK_INT(gi_hugebuf_map(16384, GI_HUGEBUF_LOCK, &buf), 0);
	gi_hugebuf_unmap(&buf);
	limit = (struct rlimit){ 0, 0 };
	CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_INT(gi_hugebuf_map(1, GI_HUGEBUF_LOCK, &buf), -EPERM);
	CHECK_INT(gi_hugebuf_map(1, 0, &buf), 0);
	gi_hugebuf_unmap(&buf);
}

static void lock_limit_of_an_ordinary_user(void)
{
	as_ordinary_user(check_lock_limit);
}

/* A process that changed its user may not read its own pagemap; smaps answers then, as before Linux 6.7. */
static void check_without_pagemap(void)
{
	size_t huge = gi_huge_page_bytes();

	if (access("/proc/self/pagemap", R_OK) == 0)
		SKIP("only a process that was root is refused its pagemap");
	CHECK_INT(huge_after_touch(0, 1), 0);
	CHECK_INT(huge_after_touch(0, 8 << 20), 0);
	if (!no_huge_pages())
		CHECK_INT(huge_after_touch(GI_HUGEBUF_HUGE, 2 * huge), 1);
}

static void without_pagemap(void)
{
	as_ordinary_user(check_without_pagemap);
}

static void check_without_proc(void)
{
	char dir[] = "/tmp/gush-unit-XXXXXX";
	struct gi_hugebuf buf = untouched;

	if (geteuid() != 0)
		SKIP("chroot needs root");
	CHECK(mkdtemp(dir) && chdir(dir) == 0 && rmdir(dir) == 0);
	if (chroot(".") < 0)
		SKIP("chroot is forbidden here");
	CHECK_INT(huge_after_touch(0, 1), -ENOENT);
	CHECK_INT(gi_huge_page_bytes(), 0);
	CHECK_INT(gi_hugebuf_map(1, GI_HUGEBUF_HUGE, &buf), -EOPNOTSUPP);
	CHECK_INT(memcmp(&buf, &untouched, sizeof(buf)), 0);
}

static void without_proc_and_sys(void)
{
	in_child(check_without_proc);
}

static void opens_nothing_for_good(void)
{
	struct fds before = fds_now();
	struct gi_hugebuf buf = { 0 };

	gi_huge_page_bytes();
	huge_after_touch(0, 1);
	huge_after_touch(GI_HUGEBUF_HUGE, 1);
	gi_hugebuf_map(SIZE_MAX, GI_HUGEBUF_LOCK, &buf);
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(page_sizes);
	TEST(small_pages);
	TEST(any_pages);
	TEST(huge_pages);
	TEST(no_surplus_stays_mapped);
	TEST(refused_sizes);
	TEST(is_huge);
	TEST(is_not_huge);
	TEST(no_part_is_huge);
	TEST(is_partly_huge);
	TEST(disabled_for_the_process);
	TEST(lock_limit_of_an_ordinary_user);
	TEST(without_pagemap);
	TEST(without_proc_and_sys);
	TEST(opens_nothing_for_good);
	return test_end();
}
