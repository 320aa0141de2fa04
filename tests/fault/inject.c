/* SPDX-License-Identifier: MIT */
#include "inject.h"

#include "canary.h"
#include "errclass.h"
#include "gush.h"
#include "sys.h"
#include "transit.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct inject inject;

static bool is_lie(void)
{
	return inject.kind > INJECT_SHORT;
}

static void note_hit_at(int in, int out)
{
	if (inject.hits++ > 0)
		return;
	inject.hit_running = inject.running;
	inject.hit_in = in;
	inject.hit_out = out;
}

static void note_hit(void)
{
	note_hit_at(-1, -1);
}

/* The call has been counted. */
static bool is_missing(enum inject_call call)
{
	return inject.missing_errno && inject.missing == call && inject.seen[call] >= inject.missing_from &&
	       (!inject.missing_times || inject.seen[call] < inject.missing_from + inject.missing_times);
}

/* Counts the call; whether it is one to fail, shorten or lie about. */
static bool chosen(enum inject_call call)
{
	unsigned n = ++inject.seen[call];

	if (inject.kind == INJECT_NOTHING || inject.call != call || n < inject.at)
		return false;
	return is_lie() ? inject.hits == 0 : n < inject.at + inject.times;
}

/* 0, or the -errno to fail with. */
static long refuse_at(enum inject_call call, int fd)
{
	bool hit = chosen(call);

	if (hit && inject.kind == INJECT_ERRNO) {
		note_hit_at(fd, -1);
		return -inject.value;
	}
	return is_missing(call) ? -inject.missing_errno : 0;
}

/* A lie: done, it says. */
static bool pretends(enum inject_call call)
{
	if (inject.kind != INJECT_PRETEND || !chosen(call))
		return false;
	note_hit();
	return true;
}

static long refuse(enum inject_call call)
{
	return refuse_at(call, -1);
}

#define WRAP(type, name, call, parameters, arguments)                                                        \
	type __real_gi_sys_##name parameters;                                                                \
	type __wrap_gi_sys_##name parameters;                                                                \
	type __wrap_gi_sys_##name parameters                                                                 \
	{                                                                                                    \
		long error = refuse(call);                                                                   \
                                                                                                             \
		return error ? (type)error : __real_gi_sys_##name arguments;                                 \
	}

WRAP(int, open, INJECT_OPEN, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(int, fstat, INJECT_FSTAT, (int fd, struct stat *ret_st), (fd, ret_st))
WRAP(int, pipe, INJECT_PIPE, (int ret_fds[2]), (ret_fds))
WRAP(int, get_flags, INJECT_GET_FLAGS, (int fd), (fd))
WRAP(int, get_pipe_size, INJECT_GET_PIPE_SIZE, (int fd), (fd))
WRAP(int, set_pipe_size, INJECT_SET_PIPE_SIZE, (int fd, size_t bytes), (fd, bytes))
WRAP(int, mlock, INJECT_MLOCK, (const void *base, size_t bytes), (base, bytes))

#define WRAP_FD(type, name, call, fd, parameters, arguments)                                                 \
	type __real_gi_sys_##name parameters;                                                                \
	type __wrap_gi_sys_##name parameters;                                                                \
	type __wrap_gi_sys_##name parameters                                                                 \
	{                                                                                                    \
		long error = inject.kind == INJECT_PRETEND ? 0 : refuse_at(call, fd);                        \
                                                                                                             \
		if (pretends(call))                                                                          \
			return 0;                                                                            \
		return error ? (type)error : __real_gi_sys_##name arguments;                                 \
	}

WRAP_FD(ssize_t, recv, INJECT_RECV, fd, (int fd, void *buf, size_t bytes, int flags), (fd, buf, bytes, flags))
WRAP_FD(int64_t, lseek, INJECT_LSEEK, fd, (int fd, int64_t offset, int whence), (fd, offset, whence))
WRAP_FD(int, ftruncate, INJECT_FTRUNCATE, fd, (int fd, int64_t bytes), (fd, bytes))
WRAP_FD(int, fallocate, INJECT_FALLOCATE, fd, (int fd, int mode, int64_t at, int64_t bytes),
	(fd, mode, at, bytes))
WRAP_FD(int, madvise, INJECT_MADVISE, -1, (void *base, size_t bytes, int advice), (base, bytes, advice))

int __real_gi_sys_ioctl(int fd, unsigned long request, void *arg);
int __wrap_gi_sys_ioctl(int fd, unsigned long request, void *arg);
int __wrap_gi_sys_ioctl(int fd, unsigned long request, void *arg)
{
	long error = refuse(INJECT_IOCTL);
	int ret = error ? (int)error : __real_gi_sys_ioctl(fd, request, arg);

	if (ret == 0 && inject.blind && request == FIONREAD)
		*(int *)arg = 0;
	return ret;
}

void __real_gi_transit_put(struct gi_transit *transit, size_t bytes_in_it);
void __wrap_gi_transit_put(struct gi_transit *transit, size_t bytes_in_it);
void __wrap_gi_transit_put(struct gi_transit *transit, size_t bytes_in_it)
{
	if (inject.kind == INJECT_PRETEND && inject.call == INJECT_TRANSIT_PUT && bytes_in_it > 0) {
		note_hit();
		inject.blind = true;
		bytes_in_it = 0;
	}
	__real_gi_transit_put(transit, bytes_in_it);
}

int __real_gi_canary_check(struct gi_canary *canary);
int __wrap_gi_canary_check(struct gi_canary *canary);
int __wrap_gi_canary_check(struct gi_canary *canary)
{
	int ret = __real_gi_canary_check(canary);

	return pretends(INJECT_CANARY) ? 0 : ret;
}

struct gi_verdict __real_gi_errclass(enum gi_call call, int error);
struct gi_verdict __wrap_gi_errclass(enum gi_call call, int error);
struct gi_verdict __wrap_gi_errclass(enum gi_call call, int error)
{
	struct gi_verdict v = __real_gi_errclass(call, error);

	if (inject.kind != INJECT_PRETEND || inject.call != INJECT_ERRCLASS)
		return v;
	if (inject.value) {
		note_hit();
		v.class = (enum gi_class)(inject.value - 1);
	} else if (v.side != GUSH_SIDE_NONE) {
		note_hit();
		v.side = v.side == GUSH_SIDE_SOURCE ? GUSH_SIDE_SINK : GUSH_SIDE_SOURCE;
	}
	return v;
}

int __real_gi_sys_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns);
int __wrap_gi_sys_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns);
int __wrap_gi_sys_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
	long error = refuse(INJECT_POLL);

	if (count != 1 || fds->fd != inject.poll_fd || fds->events != inject.poll_events)
		inject.poll_strayed = true;
	return error ? (int)error : __real_gi_sys_poll(fds, count, timeout_ns);
}

int __real_gi_sys_close(int fd);
int __wrap_gi_sys_close(int fd);
int __wrap_gi_sys_close(int fd)
{
	long error = refuse(INJECT_CLOSE);
	int ret = __real_gi_sys_close(fd);

	return error ? (int)error : ret;
}

int __real_gi_sys_mmap_private(size_t bytes, void **ret_base);
int __wrap_gi_sys_mmap_private(size_t bytes, void **ret_base);
int __wrap_gi_sys_mmap_private(size_t bytes, void **ret_base)
{
	long error = refuse(INJECT_MMAP);
	int ret = error ? (int)error : __real_gi_sys_mmap_private(bytes, ret_base);

	if (ret == 0)
		inject.mapped_bytes += (long)bytes;
	return ret;
}

int __real_gi_sys_munmap(void *base, size_t bytes);
int __wrap_gi_sys_munmap(void *base, size_t bytes);
int __wrap_gi_sys_munmap(void *base, size_t bytes)
{
	long error = refuse(INJECT_MUNMAP);
	int ret = error ? (int)error : __real_gi_sys_munmap(base, bytes);

	inject.mapped_bytes -= ret == 0 ? (long)bytes : 0;
	if (error) {
		inject.left_base = base;
		inject.left_bytes = bytes;
	}
	return ret;
}

static long clone_or(enum inject_call call, long (*real)(void), long all_well)
{
	bool hit = chosen(call);

	if (hit && inject.kind == INJECT_ERRNO) {
		note_hit();
		return -inject.value;
	}
	if (hit && inject.kind == INJECT_PRETEND && inject.running) {
		note_hit();
		return all_well;
	}
	return is_missing(call) ? -inject.missing_errno : real();
}

long __real_gi_sys_clone3_no_pid(void);
long __wrap_gi_sys_clone3_no_pid(void);
long __wrap_gi_sys_clone3_no_pid(void)
{
	return clone_or(INJECT_CLONE3, __real_gi_sys_clone3_no_pid, -EINVAL);
}

long __real_gi_sys_clone_bad_pidfd(void);
long __wrap_gi_sys_clone_bad_pidfd(void);
long __wrap_gi_sys_clone_bad_pidfd(void)
{
	return clone_or(INJECT_CLONE_PIDFD, __real_gi_sys_clone_bad_pidfd, -EFAULT);
}

long __real_gi_sys_clone_child(void);
long __wrap_gi_sys_clone_child(void);
long __wrap_gi_sys_clone_child(void)
{
	return clone_or(INJECT_CLONE_CHILD, __real_gi_sys_clone_child, 1);
}

/* One call that moves bytes, whichever it is. buf is NULL where they go from pipe to pipe. */
struct move {
	enum inject_call call;
	int fd, out;
	char *buf;
	size_t bytes;
	unsigned flags;
	int64_t *in_at, *out_at;
	const struct iovec *pieces; /* buf is where the first begins, bytes are all of theirs */
	size_t count;
};

ssize_t __real_gi_sys_read(int fd, void *buf, size_t bytes);
ssize_t __real_gi_sys_write(int fd, const void *buf, size_t bytes);
ssize_t __real_gi_sys_read_flags(int fd, void *buf, size_t bytes, int rwf);
ssize_t __real_gi_sys_write_flags(int fd, const void *buf, size_t bytes, int rwf);
ssize_t __real_gi_sys_pread(int fd, void *buf, size_t bytes, off_t at);
ssize_t __real_gi_sys_pwrite(int fd, const void *buf, size_t bytes, off_t at);
ssize_t __real_gi_sys_splice(int in, int out, size_t bytes, unsigned flags);
ssize_t __real_gi_sys_splice_at(
	int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes, unsigned flags);
ssize_t __real_gi_sys_sendfile(int out, int in, int64_t *in_at, size_t bytes);
ssize_t __real_gi_sys_copy_file_range(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes);
ssize_t __real_gi_sys_vmsplice(int fd, const void *buf, size_t bytes, unsigned flags);
ssize_t __real_gi_sys_tee(int in, int out, size_t bytes, unsigned flags);

ssize_t __real_gi_sys_writev(int fd, const struct iovec *pieces, size_t count);
ssize_t __real_gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags);

#define PIECES_MOST 64

/* The first `bytes` of the pieces; or of another buffer. */
static ssize_t really_pieces(const struct move *m, char *buf, size_t bytes)
{
	struct iovec some[PIECES_MOST] = { { buf, bytes } };
	size_t n = buf != m->buf;

	for (size_t i = 0; buf == m->buf && i < m->count && n < PIECES_MOST && bytes > 0; i++) {
		some[n] = m->pieces[i];
		if (some[n].iov_len > bytes)
			some[n].iov_len = bytes;
		bytes -= some[n++].iov_len;
	}
	if (m->call == INJECT_WRITEV)
		return __real_gi_sys_writev(m->fd, some, n);
	return __real_gi_sys_vmsplice_pieces(m->fd, some, n, m->flags);
}

static ssize_t really(const struct move *m, char *buf, size_t bytes)
{
	switch (m->call) {
	case INJECT_READ:
		return __real_gi_sys_read(m->fd, buf, bytes);
	case INJECT_WRITE:
		return __real_gi_sys_write(m->fd, buf, bytes);
	case INJECT_READ_FLAGS:
		return __real_gi_sys_read_flags(m->fd, buf, bytes, (int)m->flags);
	case INJECT_WRITE_FLAGS:
		return __real_gi_sys_write_flags(m->fd, buf, bytes, (int)m->flags);
	case INJECT_PREAD:
		return __real_gi_sys_pread(m->fd, buf, bytes, (off_t)*m->in_at);
	case INJECT_PWRITE:
		return __real_gi_sys_pwrite(m->fd, buf, bytes, (off_t)*m->out_at);
	case INJECT_SPLICE_AT:
		return __real_gi_sys_splice_at(m->fd, m->in_at, m->out, m->out_at, bytes, m->flags);
	case INJECT_SENDFILE:
		return __real_gi_sys_sendfile(m->out, m->fd, m->in_at, bytes);
	case INJECT_COPY_FILE_RANGE:
		return __real_gi_sys_copy_file_range(m->fd, m->in_at, m->out, m->out_at, bytes);
	case INJECT_SPLICE:
		return __real_gi_sys_splice(m->fd, m->out, bytes, m->flags);
	case INJECT_VMSPLICE:
		return __real_gi_sys_vmsplice(m->fd, buf, bytes, m->flags);
	case INJECT_TEE:
		return __real_gi_sys_tee(m->fd, m->out, bytes, m->flags);
	case INJECT_WRITEV:
	case INJECT_VMSPLICE_PIECES:
		return really_pieces(m, buf, bytes);
	default:
		return -ENOSYS;
	}
}

static char scratch[1 << 20]; /* not on the stack: a vmspliced copy must outlive the call */

/* One wrong byte ahead of the right ones, where there is no buffer to spoil. */
static ssize_t corrupt_between(const struct move *m)
{
	char byte;

	if (m->call != INJECT_TEE && read(m->fd, &byte, 1) != 1)
		return -EIO;
	return write(m->out, "#", 1);
}

static void gather(const struct move *m)
{
	size_t at = 0;

	if (!m->pieces)
		memcpy(scratch, m->buf, m->bytes);
	for (size_t i = 0; i < m->count && at < m->bytes; i++) {
		size_t n = m->pieces[i].iov_len < m->bytes - at ? m->pieces[i].iov_len : m->bytes - at;

		memcpy(scratch + at, m->pieces[i].iov_base, n);
		at += n;
	}
}

static ssize_t corrupt(const struct move *m, bool sends)
{
	ssize_t n;

	if (!m->buf)
		return corrupt_between(m);
	if (!sends) {
		n = really(m, m->buf, m->bytes);
		if (n > 0)
			m->buf[n / 2] ^= 1;
		return n;
	}
	gather(m);
	scratch[0] ^= 1;
	return really(m, scratch, m->bytes);
}

/* A few of the bytes go nowhere, and are claimed all the same. */
static ssize_t drop_between(const struct move *m)
{
	ssize_t gone = read(m->fd, scratch, 8), n = really(m, NULL, m->bytes - 8);

	return n > 0 ? n + gone : n;
}

static ssize_t drop(const struct move *m, bool sends)
{
	ssize_t n;

	if (m->call >= INJECT_SPLICE_AT && m->call <= INJECT_COPY_FILE_RANGE)
		return drop_between(m);
	if (sends) {
		n = really(m, m->buf, m->bytes / 2);
		return n > 0 ? (ssize_t)m->bytes : n;
	}
	n = really(m, m->buf, m->bytes / 2);
	if (n > 0)
		(void)!really(m, scratch, 8); /* and gone they are */
	return n;
}

static ssize_t twice(const struct move *m, bool sends)
{
	ssize_t n;

	if (!sends)
		return (ssize_t)inject.last_bytes;
	n = really(m, m->buf, m->bytes);
	if (n > 0)
		(void)!really(m, m->buf, (size_t)n);
	return n;
}

static ssize_t lie(const struct move *m)
{
	bool sends = m->call != INJECT_READ && m->call != INJECT_READ_FLAGS && m->call != INJECT_PREAD &&
		     m->call != INJECT_SPLICE;
	ssize_t n = 0;

	if (inject.kind == INJECT_DROP)
		n = drop(m, sends);
	else if (inject.kind == INJECT_TWICE)
		n = twice(m, sends);
	else if (inject.kind == INJECT_CORRUPT)
		n = corrupt(m, sends);
	else if (inject.kind == INJECT_OVERCLAIM && (n = really(m, m->buf, m->bytes - 1)) > 0)
		n++;
	else if (inject.kind == INJECT_UNDERCLAIM && (n = really(m, m->buf, m->bytes)) > 1)
		n /= 2;
	if (n > 0 || inject.kind == INJECT_END)
		note_hit_at(m->fd, m->out);
	return n;
}

static size_t cut(void)
{
	if (!inject.values)
		return (size_t)inject.value;
	return (size_t)inject.values[(inject.seen[inject.call] - inject.at) % inject.value_count];
}

static ssize_t shorten(const struct move *m)
{
	size_t bytes = cut() < m->bytes ? cut() : m->bytes;

	if (bytes < m->bytes)
		note_hit_at(m->fd, m->out);
	return really(m, m->buf, bytes);
}

static ssize_t miss(const struct move *m)
{
	if (inject.seen[m->call] == inject.missing_from)
		inject.missing_in = m->fd;
	return -inject.missing_errno;
}

static ssize_t move(struct move *m)
{
	ssize_t n;

	if (inject.cap_bytes && m->bytes > inject.cap_bytes)
		m->bytes = inject.cap_bytes;
	if (!chosen(m->call)) {
		n = is_missing(m->call) ? miss(m) : really(m, m->buf, m->bytes);
	} else if (inject.kind == INJECT_ERRNO) {
		note_hit_at(m->fd, m->out);
		return -inject.value;
	} else {
		n = inject.kind == INJECT_SHORT ? shorten(m) : lie(m);
	}
	if (n > 0)
		inject.last_bytes = (size_t)n;
	return n;
}

#define WRAP_MOVE(name, call, parameters, fd, out, buf, flags)                                               \
	ssize_t __wrap_gi_sys_##name parameters;                                                             \
	ssize_t __wrap_gi_sys_##name parameters                                                              \
	{                                                                                                    \
		return move(&(struct move){                                                                  \
			call, fd, out, (char *)(uintptr_t)(buf), bytes, (unsigned)(flags), .in_at = NULL }); \
	}

WRAP_MOVE(read, INJECT_READ, (int fd, void *buf, size_t bytes), fd, -1, buf, 0)
WRAP_MOVE(write, INJECT_WRITE, (int fd, const void *buf, size_t bytes), fd, -1, buf, 0)
WRAP_MOVE(read_flags, INJECT_READ_FLAGS, (int fd, void *buf, size_t bytes, int rwf), fd, -1, buf, rwf)
WRAP_MOVE(write_flags, INJECT_WRITE_FLAGS, (int fd, const void *buf, size_t bytes, int rwf), fd, -1, buf, rwf)
WRAP_MOVE(vmsplice, INJECT_VMSPLICE, (int fd, const void *buf, size_t bytes, unsigned flags), fd, -1, buf,
	flags)
WRAP_MOVE(splice, INJECT_SPLICE, (int in, int out, size_t bytes, unsigned flags), in, out, NULL, flags)
WRAP_MOVE(tee, INJECT_TEE, (int in, int out, size_t bytes, unsigned flags), in, out, NULL, flags)

ssize_t __wrap_gi_sys_pread(int fd, void *buf, size_t bytes, off_t at);
ssize_t __wrap_gi_sys_pread(int fd, void *buf, size_t bytes, off_t at)
{
	int64_t from = at;

	return move(&(struct move){ INJECT_PREAD, fd, -1, buf, bytes, .in_at = &from });
}

ssize_t __wrap_gi_sys_pwrite(int fd, const void *buf, size_t bytes, off_t at);
ssize_t __wrap_gi_sys_pwrite(int fd, const void *buf, size_t bytes, off_t at)
{
	int64_t to = at;

	return move(&(struct move){ INJECT_PWRITE, fd, -1, (char *)(uintptr_t)buf, bytes, .out_at = &to });
}

ssize_t __wrap_gi_sys_splice_at(
	int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes, unsigned flags);
ssize_t __wrap_gi_sys_splice_at(
	int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes, unsigned flags)
{
	return move(&(struct move){ INJECT_SPLICE_AT, in, out, NULL, bytes, flags, in_at, .out_at = out_at });
}

ssize_t __wrap_gi_sys_sendfile(int out, int in, int64_t *in_at, size_t bytes);
ssize_t __wrap_gi_sys_sendfile(int out, int in, int64_t *in_at, size_t bytes)
{
	return move(&(struct move){ INJECT_SENDFILE, in, out, NULL, bytes, .in_at = in_at });
}

ssize_t __wrap_gi_sys_copy_file_range(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes);
ssize_t __wrap_gi_sys_copy_file_range(int in, int64_t *in_at, int out, int64_t *out_at, size_t bytes)
{
	return move(
		&(struct move){ INJECT_COPY_FILE_RANGE, in, out, NULL, bytes, 0, in_at, .out_at = out_at });
}

static ssize_t move_pieces(
	enum inject_call call, int fd, const struct iovec *pieces, size_t count, unsigned flags)
{
	struct move m = { call, fd, -1, NULL, .flags = flags, .pieces = pieces, .count = count };

	for (size_t i = 0; i < count; i++)
		m.bytes += pieces[i].iov_len;
	m.buf = count ? pieces->iov_base : NULL;
	return move(&m);
}

ssize_t __wrap_gi_sys_writev(int fd, const struct iovec *pieces, size_t count);
ssize_t __wrap_gi_sys_writev(int fd, const struct iovec *pieces, size_t count)
{
	return move_pieces(INJECT_WRITEV, fd, pieces, count, 0);
}

ssize_t __wrap_gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags);
ssize_t __wrap_gi_sys_vmsplice_pieces(int fd, const struct iovec *pieces, size_t count, unsigned flags)
{
	return move_pieces(INJECT_VMSPLICE_PIECES, fd, pieces, count, flags);
}
