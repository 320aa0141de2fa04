/* SPDX-License-Identifier: MIT */
#include "lie.h"

#include "hugebuf.h"
#include "sys.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

#define HONEST_BYTES (3 * MIB)
#define CANARY_BYTES 8
#define CANARIES 16
/* What is tried out maps a huge page and one to align it; a ring is larger. */
#define TRIAL_BYTES (4 * MIB)

struct lie lie;

/* The last bytes sent by each canary: of a pipe both ends have one inode. */
struct canary {
	ino_t inode;
	char bytes[CANARY_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct canary canaries[CANARIES];
static size_t canary_count;
static unsigned barriers, sent, early_after;
static long (*early)(void);

static void note_lie(void)
{
	if (lie.board)
		lie.board->lies++;
}

void lie_hook(uint64_t bytes_so_far)
{
	lie.told = bytes_so_far >= HONEST_BYTES;
}

/* ---- the barrier ---- */

/*
 * At a random place in the next pass, rather than at the end of this one. Always at the same place would be
 * no bug: each part of the ring would have one barrier between two writes, whichever it is.
 */
static bool postpone(long (*real)(void))
{
	static struct rng r = { 1 };

	pthread_mutex_lock(&lock);
	if (lie.told) {
		early = real;
		early_after = 1 + (unsigned)rng_below(&r, sent > 0 ? sent : 1);
	}
	sent = 0;
	pthread_mutex_unlock(&lock);
	return lie.told;
}

static void run_postponed(void)
{
	long (*real)(void) = NULL;

	pthread_mutex_lock(&lock);
	sent++;
	if (early && --early_after == 0) {
		real = early;
		early = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (real)
		real();
}

/* How many of the ways are refused from the start. */
static int ways_refused(void)
{
	switch (lie.kind) {
	case LIE_NO_CLONE3:
		return 1;
	case LIE_NO_FAILING_CLONE:
		return 2;
	case LIE_NO_CLONE:
	case LIE_DONTNEED:
	case LIE_DONTNEED_FAILS:
		return 3;
	default:
		return 0;
	}
}

static long lie_about_clone(int way, long (*real)(void), long all_well)
{
	if (way < ways_refused())
		return -EPERM;
	switch (lie.kind) {
	case LIE_CLONE_FORBIDDEN:
		if (!lie.told)
			break;
		note_lie();
		return -EPERM;
	case LIE_SKIP:
		if (!lie.told || ++barriers % 2 != 0)
			break;
		note_lie();
		return all_well;
	case LIE_EARLY:
		if (!postpone(real))
			break;
		note_lie();
		return all_well;
	default:
		break;
	}
	return real();
}

#define WRAP_CLONE(way, name, all_well)                                                                      \
	long __real_gi_sys_##name(void);                                                                     \
	long __wrap_gi_sys_##name(void);                                                                     \
	long __wrap_gi_sys_##name(void)                                                                      \
	{                                                                                                    \
		return lie_about_clone(way, __real_gi_sys_##name, all_well);                                 \
	}

WRAP_CLONE(0, clone3_no_pid, -EINVAL)
WRAP_CLONE(1, clone_bad_pidfd, -EFAULT)
WRAP_CLONE(2, clone_child, 1)

/* ---- the canary ---- */

static struct canary *canary_of(int fd, bool add)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	for (size_t i = 0; i < canary_count; i++)
		if (canaries[i].inode == st.st_ino)
			return &canaries[i];
	if (!add || canary_count == CANARIES)
		return NULL;
	canaries[canary_count].inode = st.st_ino;
	return &canaries[canary_count++];
}

ssize_t __real_gi_sys_vmsplice(int fd, const void *buf, size_t bytes, unsigned flags);
ssize_t __wrap_gi_sys_vmsplice(int fd, const void *buf, size_t bytes, unsigned flags);
ssize_t __wrap_gi_sys_vmsplice(int fd, const void *buf, size_t bytes, unsigned flags)
{
	ssize_t n = __real_gi_sys_vmsplice(fd, buf, bytes, flags);

	if (bytes == CANARY_BYTES) {
		struct canary *c;

		pthread_mutex_lock(&lock);
		c = canary_of(fd, true);
		if (c)
			memcpy(c->bytes, buf, CANARY_BYTES);
		pthread_mutex_unlock(&lock);
	} else if (n > 0) {
		run_postponed();
	}
	return n;
}

ssize_t __real_gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags);
ssize_t __wrap_gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags);
ssize_t __wrap_gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags)
{
	ssize_t n = __real_gi_sys_vmsplice_pieces(fd, pieces, count, flags);

	if (n > 0)
		run_postponed();
	return n;
}

ssize_t __real_gi_sys_read(int fd, void *buf, size_t bytes);
ssize_t __wrap_gi_sys_read(int fd, void *buf, size_t bytes);
ssize_t __wrap_gi_sys_read(int fd, void *buf, size_t bytes)
{
	ssize_t n = __real_gi_sys_read(fd, buf, bytes);

	if (lie.blind && n == CANARY_BYTES && bytes == CANARY_BYTES) {
		const struct canary *c;

		pthread_mutex_lock(&lock);
		c = canary_of(fd, false);
		if (c)
			memcpy(buf, c->bytes, CANARY_BYTES);
		pthread_mutex_unlock(&lock);
	}
	return n;
}

/* ---- memory ---- */

static bool is_about_kind(void)
{
	return lie.kind == LIE_MEMFD || lie.kind == LIE_HUGETLB;
}

static void *map_other(size_t bytes)
{
	void *base;
	int fd;

	if (lie.kind == LIE_HUGETLB)
		return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
			-1, 0);
	fd = memfd_create("ring", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return MAP_FAILED;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return base;
}

int __real_gi_sys_mmap_private(size_t bytes, void **ret_base);
int __wrap_gi_sys_mmap_private(size_t bytes, void **ret_base);
int __wrap_gi_sys_mmap_private(size_t bytes, void **ret_base)
{
	void *base;

	if (!is_about_kind() || bytes <= TRIAL_BYTES)
		return __real_gi_sys_mmap_private(bytes, ret_base);
	base = map_other(bytes);
	if (base == MAP_FAILED)
		return -ENOMEM;
	note_lie();
	*ret_base = base;
	return 0;
}

int __real_gi_sys_madvise(void *base, size_t bytes, int advice);
int __wrap_gi_sys_madvise(void *base, size_t bytes, int advice);
int __wrap_gi_sys_madvise(void *base, size_t bytes, int advice)
{
	bool renews = advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED;
	int ret;

	if (renews && lie.told && (lie.kind == LIE_DONTNEED || lie.kind == LIE_DONTNEED_FAILS)) {
		note_lie();
		return lie.kind == LIE_DONTNEED ? 0 : -EINVAL;
	}
	ret = __real_gi_sys_madvise(base, bytes, advice);
	return lie.blind && is_about_kind() ? 0 : ret;
}

int __real_gi_hugebuf_is_huge(const struct gi_hugebuf *buf);
int __wrap_gi_hugebuf_is_huge(const struct gi_hugebuf *buf);
int __wrap_gi_hugebuf_is_huge(const struct gi_hugebuf *buf)
{
	return lie.blind && is_about_kind() ? 1 : __real_gi_hugebuf_is_huge(buf);
}

int __real_gi_hugebuf_scan_huge(int pagemap, const void *base, size_t bytes);
int __wrap_gi_hugebuf_scan_huge(int pagemap, const void *base, size_t bytes);
int __wrap_gi_hugebuf_scan_huge(int pagemap, const void *base, size_t bytes)
{
	return lie.blind && is_about_kind() ? 1 : __real_gi_hugebuf_scan_huge(pagemap, base, bytes);
}
