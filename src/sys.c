/* SPDX-License-Identifier: MIT */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RESTART(ret, call)                                                                                   \
	do {                                                                                                 \
		(ret) = (call);                                                                              \
	} while ((ret) < 0 && errno == EINTR)

static long outcome(long ret)
{
	return ret < 0 ? -errno : ret;
}

int gi_sys_open(const char *path, int flags, mode_t mode)
{
	int ret;

	RESTART(ret, open(path, flags | O_CLOEXEC, mode));
	return (int)outcome(ret);
}

int gi_sys_close(int fd)
{
	return (int)outcome(close(fd));
}

int gi_sys_fstat(int fd, struct stat *ret_st)
{
	return (int)outcome(fstat(fd, ret_st));
}

ssize_t gi_sys_read(int fd, void *buf, size_t bytes)
{
	ssize_t ret;

	RESTART(ret, read(fd, buf, bytes));
	return outcome(ret);
}

ssize_t gi_sys_write(int fd, const void *buf, size_t bytes)
{
	ssize_t ret;

	RESTART(ret, write(fd, buf, bytes));
	return outcome(ret);
}

ssize_t gi_sys_writev(int fd, const struct iovec *pieces, size_t count)
{
	ssize_t ret;

	RESTART(ret, writev(fd, pieces, (int)count));
	return outcome(ret);
}

ssize_t gi_sys_pread(int fd, void *buf, size_t bytes, off_t at)
{
	ssize_t ret;

	RESTART(ret, pread(fd, buf, bytes, at));
	return outcome(ret);
}

ssize_t gi_sys_pwrite(int fd, const void *buf, size_t bytes, off_t at)
{
	ssize_t ret;

	RESTART(ret, pwrite(fd, buf, bytes, at));
	return outcome(ret);
}

/*
 * preadv2 and pwritev2 by number: musl 1.2.3 has no wrapper for them. Offset -1 in both halves means the
 * descriptor's own, on 32-bit machines too.
 */
ssize_t gi_sys_read_flags(int fd, void *buf, size_t bytes, int rwf)
{
	struct iovec iov = { buf, bytes };
	ssize_t ret;

	RESTART(ret, syscall(SYS_preadv2, fd, &iov, 1UL, -1L, -1L, rwf));
	return outcome(ret);
}

ssize_t gi_sys_write_flags(int fd, const void *buf, size_t bytes, int rwf)
{
	struct iovec iov = { (void *)(uintptr_t)buf, bytes };
	ssize_t ret;

	RESTART(ret, syscall(SYS_pwritev2, fd, &iov, 1UL, -1L, -1L, rwf));
	return outcome(ret);
}

ssize_t gi_sys_recv(int fd, void *buf, size_t bytes, int flags)
{
	ssize_t ret;

	RESTART(ret, recv(fd, buf, bytes, flags));
	return outcome(ret);
}

ssize_t gi_sys_send(int fd, const void *buf, size_t bytes, int flags)
{
	ssize_t ret;

	RESTART(ret, send(fd, buf, bytes, flags));
	return outcome(ret);
}

int gi_sys_socket_type(int fd)
{
	int type = 0;
	socklen_t length = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 ? -errno : type;
}

ssize_t gi_sys_splice(int in, int out, size_t bytes, unsigned flags)
{
	ssize_t ret;

	RESTART(ret, splice(in, NULL, out, NULL, bytes, flags));
	return outcome(ret);
}

/* The offsets are 64 bits wide on every architecture: off_t is not, on 32-bit ones. */
ssize_t gi_sys_splice_at(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes, unsigned flags)
{
	ssize_t ret;

	RESTART(ret, syscall(SYS_splice, in, in_at, out, out_at, bytes, flags));
	return outcome(ret);
}

ssize_t gi_sys_sendfile(int out, int in, int64_t *in_at, size_t bytes)
{
	ssize_t ret;

	RESTART(ret, sendfile(out, in, in_at, bytes));
	return outcome(ret);
}

ssize_t gi_sys_copy_file_range(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes)
{
	ssize_t ret;

	RESTART(ret, syscall(SYS_copy_file_range, in, in_at, out, out_at, bytes, 0U));
	return outcome(ret);
}

int64_t gi_sys_lseek(int fd, int64_t offset, int whence)
{
	return outcome(lseek(fd, offset, whence));
}

int gi_sys_ftruncate(int fd, int64_t bytes)
{
	int ret;

	RESTART(ret, ftruncate(fd, bytes));
	return (int)outcome(ret);
}

int gi_sys_fallocate(int fd, int mode, int64_t at, int64_t bytes)
{
	int ret;

	RESTART(ret, fallocate(fd, mode, at, bytes));
	return (int)outcome(ret);
}

ssize_t gi_sys_vmsplice(int fd, const void *buf, size_t bytes, unsigned flags)
{
	struct iovec iov = { (void *)(uintptr_t)buf, bytes };

	return gi_sys_vmsplice_pieces(fd, &iov, 1, flags);
}

ssize_t gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags)
{
	ssize_t ret;

	RESTART(ret, vmsplice(fd, pieces, count, flags));
	return outcome(ret);
}

ssize_t gi_sys_tee(int in, int out, size_t bytes, unsigned flags)
{
	ssize_t ret;

	RESTART(ret, tee(in, out, bytes, flags));
	return outcome(ret);
}

int gi_sys_pipe(int ret_fds[2])
{
	return (int)outcome(pipe2(ret_fds, O_CLOEXEC));
}

int gi_sys_get_flags(int fd)
{
	return (int)outcome(fcntl(fd, F_GETFL));
}

int gi_sys_get_pipe_size(int fd)
{
	return (int)outcome(fcntl(fd, F_GETPIPE_SZ));
}

int gi_sys_set_pipe_size(int fd, size_t bytes)
{
	/* The kernel reads the argument as an unsigned int: do not let 4 GiB + 4 KiB pass for 4 KiB. */
	if (bytes > INT32_MAX)
		return -EINVAL;
	return (int)outcome(fcntl(fd, F_SETPIPE_SZ, (int)bytes));
}

int gi_sys_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
	int64_t end;

	if (timeout_ns > INT64_MAX / 2)
		timeout_ns = INT64_MAX / 2; /* 146 years: the sum below must not overflow */
	end = timeout_ns < 0 ? 0 : gi_sys_now_ns() + timeout_ns;
	for (;;) {
		struct timespec left = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
		int ret = ppoll(fds, count, timeout_ns < 0 ? NULL : &left, NULL);

		if (ret >= 0 || errno != EINTR)
			return (int)outcome(ret);
		if (timeout_ns >= 0) {
			timeout_ns = end - gi_sys_now_ns();
			if (timeout_ns < 0)
				timeout_ns = 0;
		}
	}
}

int gi_sys_mmap_private(size_t bytes, void **ret_base)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return -errno;
	*ret_base = base;
	return 0;
}

int gi_sys_munmap(void *base, size_t bytes)
{
	return (int)outcome(munmap(base, bytes));
}

int gi_sys_madvise(void *base, size_t bytes, int advice)
{
	return (int)outcome(madvise(base, bytes, advice));
}

int gi_sys_mlock(const void *base, size_t bytes)
{
	return (int)outcome(mlock(base, bytes));
}

int gi_sys_ioctl(int fd, unsigned long request, void *arg)
{
	/* musl declares the request as int; the bits are the same. */
	return (int)outcome(ioctl(fd, request, arg));
}

/* A kernel that makes a child after all must not be left with one running our code, nor with a zombie. */
static long end_unwanted_child(long pid)
{
	if (pid == 0)
		syscall(SYS_exit, 0);
	while (pid > 0 && waitpid((pid_t)pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return pid;
}

/* No exit signal, and nothing copied but the address space: what else is shared costs nothing to fail with.
 */
#define CLONE_ONLY_MEMORY (CLONE_FILES | CLONE_FS | CLONE_IO | CLONE_SYSVSEM)

long gi_sys_clone3_no_pid(void)
{
#ifdef SYS_clone3
	pid_t impossible = 0;
	struct clone_args args = {
		.flags = CLONE_ONLY_MEMORY,
		.set_tid = (uintptr_t)&impossible,
		.set_tid_size = 1,
	};

	return outcome(end_unwanted_child(syscall(SYS_clone3, &args, sizeof(args))));
#else
	return -ENOSYS;
#endif
}

long gi_sys_clone_bad_pidfd(void)
{
	/* The third argument (parent_tid, where CLONE_PIDFD stores) is the same on every architecture we
	 * build for. */
	void *nowhere = (void *)1;

	return outcome(end_unwanted_child(syscall(
		SYS_clone, (unsigned long)(CLONE_ONLY_MEMORY | CLONE_PIDFD), NULL, nowhere, NULL, NULL)));
}

/*
 * With all signals blocked, libc's own too: else the child would run the caller's handlers (seen on 6.18). It
 * has no exit signal, so that no handler of the caller's hears of its end, and only __WALL finds it; ECHILD:
 * somebody waited for everything, and found it first.
 */
long gi_sys_clone_child(void)
{
	uint64_t all = UINT64_MAX, before;
	long masked = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	long pid = outcome(syscall(SYS_clone, (unsigned long)CLONE_ONLY_MEMORY, NULL, NULL, NULL, NULL));

	end_unwanted_child(pid);
	if (masked == 0)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return pid;
}

int64_t gi_sys_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
