/* SPDX-License-Identifier: MIT */
#include "hugebuf.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

size_t gi_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* A power of two, larger than a page: all else would be read as nonsense, or in part. */
static size_t sane_unit(size_t bytes)
{
	return bytes > gi_page_bytes() && (bytes & (bytes - 1)) == 0 ? bytes : 0;
}

size_t gi_huge_page_bytes(void)
{
	char text[32];
	int fd = gi_sys_open("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", O_RDONLY, 0);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = gi_sys_read(fd, text, sizeof(text) - 1);
	gi_sys_close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sane_unit(strtoul(text, NULL, 10));
}

/* Maps one unit more than wanted and gives back what lies outside the aligned part. */
static int map_aligned(size_t bytes, size_t unit, void **ret_base)
{
	void *base;
	char *aligned, *end;
	int ret = gi_sys_mmap_private(bytes + unit, &base);

	if (ret < 0)
		return ret;
	end = (char *)base + bytes + unit;
	aligned = (char *)base + (unit - (uintptr_t)base % unit) % unit;
	if (aligned > (char *)base)
		gi_sys_munmap(base, (size_t)(aligned - (char *)base));
	if (end > aligned + bytes)
		gi_sys_munmap(aligned + bytes, (size_t)(end - (aligned + bytes)));
	*ret_base = aligned;
	return 0;
}

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* linux/mman.h of 5.18 */
#endif

int gi_hugebuf_renew(void *base, size_t bytes)
{
	int ret = gi_sys_madvise(base, bytes, MADV_DONTNEED);

	if (ret == -EINVAL) /* it is locked, and stays so */
		ret = gi_sys_madvise(base, bytes, MADV_DONTNEED_LOCKED);
	return ret;
}

int gi_hugebuf_map(size_t bytes, unsigned flags, struct gi_hugebuf *ret_buf)
{
	struct gi_hugebuf buf = { .bytes = bytes };
	size_t unit = flags & GI_HUGEBUF_HUGE ? gi_huge_page_bytes() : gi_page_bytes();
	void *base;
	int ret;

	if (unit == 0)
		return -EOPNOTSUPP;
	if (bytes == 0)
		return -EINVAL;
	if (bytes > SIZE_MAX / 2 - unit)
		return -EOVERFLOW;
	buf.mapped_bytes = (bytes + unit - 1) / unit * unit;
	ret = map_aligned(buf.mapped_bytes, unit, &base);
	if (ret < 0)
		return ret;
	buf.base = base;

	ret = gi_sys_madvise(
		base, buf.mapped_bytes, flags & GI_HUGEBUF_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (ret == -EINVAL && !(flags & GI_HUGEBUF_HUGE))
		ret = 0; /* a kernel without huge pages knows no advice against them */
	if (flags & GI_HUGEBUF_ANY)
		ret = 0; /* a sandbox may forbid it */
	/* After mlockall(MCL_FUTURE) mmap gives pages at once, small ones: they came before the advice. */
	if (ret == 0 && flags & GI_HUGEBUF_HUGE)
		ret = gi_hugebuf_renew(base, buf.mapped_bytes);
	if (ret == 0 && flags & GI_HUGEBUF_LOCK)
		ret = gi_sys_mlock(base, buf.mapped_bytes);
	if (ret < 0) {
		gi_hugebuf_unmap(&buf);
		return ret;
	}
	*ret_buf = buf;
	return 0;
}

void gi_hugebuf_unmap(struct gi_hugebuf *buf)
{
	if (buf->base)
		gi_sys_munmap(buf->base, buf->mapped_bytes);
	*buf = (struct gi_hugebuf){ 0 };
}

/* linux/fs.h of 6.7: written out, since the headers of Debian 12 (6.1) are older than the kernels it runs on.
 */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_REQUEST _IOWR('f', 16, struct scan_arg)
#define SCAN_IS_HUGE (1u << 6)

int gi_hugebuf_scan_huge(int pagemap, const void *base, size_t bytes)
{
	struct scan_region region = { 0 };
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = (uintptr_t)base,
		.end = (uintptr_t)base + bytes,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_mask = SCAN_IS_HUGE,
		.return_mask = SCAN_IS_HUGE,
	};
	int ret = gi_sys_ioctl(pagemap, SCAN_REQUEST, &arg);

	if (ret < 0)
		return ret;
	return ret == 1 && region.start == arg.start && region.end == arg.end;
}

/* Before 6.7: the mapping's line in smaps, which counts 2 MiB pages for the mapping as a whole. */
static int smaps_is_huge(const struct gi_hugebuf *buf)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	uintptr_t at = (uintptr_t)buf->base;
	char line[512];
	int inside = 0, ret = -ENODATA;

	if (!smaps)
		return -errno;
	while (ret == -ENODATA && fgets(line, sizeof(line), smaps)) {
		unsigned long start, end, kib;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = at >= start && at < end;
		else if (inside && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			ret = kib >= buf->mapped_bytes >> 10;
	}
	fclose(smaps);
	return ret;
}

int gi_hugebuf_is_huge(const struct gi_hugebuf *buf)
{
	int pagemap = gi_sys_open("/proc/self/pagemap", O_RDONLY, 0);
	int ret = pagemap;

	if (pagemap >= 0) {
		ret = gi_hugebuf_scan_huge(pagemap, buf->base, buf->mapped_bytes);
		gi_sys_close(pagemap);
	}
	return ret >= 0 ? ret : smaps_is_huge(buf);
}
