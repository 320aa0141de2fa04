/* SPDX-License-Identifier: MIT */
/*
 * Every system call of the library, one thin wrapper each. A wrapper returns what the call returns, or
 * -errno, and restarts a call that a signal interrupted (EINTR): no caller sees either convention of libc.
 *
 * This is the seam of the fault tests: tests/fault links its own versions over these by name.
 */
#ifndef GI_SYS_H
#define GI_SYS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

int gi_sys_open(const char *path, int flags, mode_t mode); /* adds O_CLOEXEC */
int gi_sys_close(int fd); /* never restarted: Linux frees the number even on EINTR */
int gi_sys_fstat(int fd, struct stat *ret_st);

ssize_t gi_sys_read(int fd, void *buf, size_t bytes);
ssize_t gi_sys_write(int fd, const void *buf, size_t bytes);
ssize_t gi_sys_writev(int fd, const struct iovec *pieces, size_t count);
ssize_t gi_sys_pread(int fd, void *buf, size_t bytes, off_t at);
ssize_t gi_sys_pwrite(int fd, const void *buf, size_t bytes, off_t at);
/* The next two use the descriptor's own offset, and take RWF_ flags. */
#define GI_RWF_NOWAIT 0x8 /* linux/fs.h; musl 1.2.3 does not have it */
ssize_t gi_sys_read_flags(int fd, void *buf, size_t bytes, int rwf);
ssize_t gi_sys_write_flags(int fd, const void *buf, size_t bytes, int rwf);

/* flags: MSG_DONTWAIT; MSG_TRUNC returns the length that a message had, which may be more than `bytes`. */
ssize_t gi_sys_recv(int fd, void *buf, size_t bytes, int flags);
ssize_t gi_sys_send(int fd, const void *buf, size_t bytes, int flags);
int gi_sys_socket_type(int fd); /* SOCK_STREAM, ... */

ssize_t gi_sys_splice(int in, int out, size_t bytes, unsigned flags);
/* With offsets: NULL is the descriptor's own. */
ssize_t gi_sys_splice_at(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes, unsigned flags);
ssize_t gi_sys_sendfile(int out, int in, int64_t *in_at, size_t bytes);
ssize_t gi_sys_copy_file_range(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes);
int64_t gi_sys_lseek(int fd, int64_t offset, int whence);
int gi_sys_ftruncate(int fd, int64_t bytes);
int gi_sys_fallocate(int fd, int mode, int64_t at, int64_t bytes);
ssize_t gi_sys_vmsplice(int fd, const void *buf, size_t bytes, unsigned flags);
ssize_t gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags);
ssize_t gi_sys_tee(int in, int out, size_t bytes, unsigned flags);

int gi_sys_pipe(int ret_fds[2]);		/* O_CLOEXEC */
int gi_sys_get_flags(int fd);			/* F_GETFL */
int gi_sys_get_pipe_size(int fd);		/* F_GETPIPE_SZ */
int gi_sys_set_pipe_size(int fd, size_t bytes); /* F_SETPIPE_SZ: returns the capacity given */

/* timeout_ns < 0 waits for ever; an interrupted wait goes on for what is left of it. */
int gi_sys_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns);

int gi_sys_mmap_private(size_t bytes, void **ret_base); /* private, anonymous, zero */
int gi_sys_munmap(void *base, size_t bytes);
int gi_sys_madvise(void *base, size_t bytes, int advice);
int gi_sys_mlock(const void *base, size_t bytes);
int gi_sys_ioctl(int fd, unsigned long request, void *arg);

/*
 * Ways to copy the address space (src/barrier.c). The first two fail behind the copy, and return -errno when
 * all is well; the third makes a child that ends at once, waits for it, and returns its pid.
 */
long gi_sys_clone3_no_pid(void);
long gi_sys_clone_bad_pidfd(void);
long gi_sys_clone_child(void);

int64_t gi_sys_now_ns(void); /* CLOCK_MONOTONIC */

#endif
