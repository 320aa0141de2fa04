/* SPDX-License-Identifier: MIT */
#include "fuse.h"

#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define STREAM_CHUNK 65536
#define SLOW_CHUNK 20480
#define FILE_ROOM ((1 << 20) + 4096) /* of a full file system */
#define SIZE_LIMIT 1234567

char *want;
size_t want_bytes;
enum pace end_pace;

/* ---- what is wanted ---- */

static void want_memory(void)
{
	if (!want)
		want = mmap(NULL, WANT_MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void want_stamp(size_t bytes)
{
	want_memory();
	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t word = (i + 1) * 0x9e3779b97f4a7c15u;

		memcpy(want + i, &word, sizeof(word));
	}
	want_bytes = bytes;
}

void want_zeros(size_t bytes)
{
	want_memory();
	memset(want, 0, bytes);
	want_bytes = bytes;
}

/* ---- the processes at the far ends ---- */

static size_t chunk(void)
{
	return end_pace == PACE_FAST || end_pace == PACE_STOP ? STREAM_CHUNK
	       : end_pace == PACE_SLOW			      ? SLOW_CHUNK
							      : 1;
}

static void rest(void)
{
	if (end_pace == PACE_SLOW)
		sleep_ms(1);
}

static void feed(int fd)
{
	uint64_t bytes = end_pace == PACE_STOP ? want_bytes / 2 : want_bytes, done = 0;

	while (done < bytes) {
		size_t most = bytes - done < chunk() ? bytes - done : chunk();
		ssize_t n = write(fd, want + done, most);

		if (n <= 0)
			break;
		done += (uint64_t)n;
		rest();
	}
}

static bool is_seqpacket(int fd)
{
	int type = 0;
	socklen_t length = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET;
}

static void drain(int fd, struct seen *seen)
{
	static char got[STREAM_CHUNK * 4];
	uint64_t bytes = end_pace == PACE_STOP ? want_bytes / 2 : UINT64_MAX;
	/* A message must be taken whole. */
	size_t most = chunk() == STREAM_CHUNK || is_seqpacket(fd) ? sizeof(got) : chunk();

	while (seen->bytes < bytes) {
		ssize_t n = read(fd, got, most);

		if (n <= 0)
			break;
		if (seen->bytes + (uint64_t)n > want_bytes || memcmp(got, want + seen->bytes, (size_t)n) != 0)
			seen->bad++;
		seen->bytes += (uint64_t)n;
		rest();
	}
}

static struct seen *shared_seen(void)
{
	return mmap(NULL, sizeof(struct seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* The child has the far end only. */
static void start_child(struct end *e, int far, bool feeds)
{
	if (!feeds)
		e->seen = shared_seen();
	fflush(stdout);
	e->child = fork();
	if (e->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int fd = 3; fd < 512; fd++)
			if (fd != far)
				close(fd);
		signal(SIGPIPE, SIG_IGN);
		alarm(HANG_SECONDS);
		if (feeds)
			feed(far);
		else
			drain(far, e->seen);
		/* A terminal throws away what its slave has not read when the master goes. */
		if (feeds && isatty(far))
			pause();
		_exit(0);
	}
	close(far);
}

void end_close(struct end *e)
{
	bool terminal = isatty(e->fd);

	close(e->fd);
	if (e->child > 0 && !e->seen && terminal)
		kill(e->child, SIGKILL);
	while (e->child > 0 && waitpid(e->child, NULL, 0) < 0 && errno == EINTR)
		;
	e->fd = -1;
	e->child = 0;
}

void end_check_sink(struct end *e, uint64_t bytes, const char *name)
{
	CHECK_CASE(!e->seen || (e->seen->bytes == bytes && e->seen->bad == 0), name);
	if (e->seen)
		munmap(e->seen, sizeof(*e->seen));
	e->seen = NULL;
}

/* ---- sources ---- */

int end_temp_file(int flags)
{
	char path[] = "/tmp/gush-kinds-XXXXXX";
	int fd = mkostemp(path, flags | O_CLOEXEC);

	unlink(path);
	return fd;
}

static const char *file_with_contents(struct end *e, int fd)
{
	e->fd = fd;
	e->regular = true;
	if (fd < 0 || pwrite(fd, want, want_bytes, 0) != (ssize_t)want_bytes)
		return strerror(errno);
	return NULL;
}

static const char *source_disk(struct end *e)
{
	return file_with_contents(e, end_temp_file(0));
}

static const char *source_shm(struct end *e)
{
	return file_with_contents(e, open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

static const char *source_memfd(struct end *e)
{
	return file_with_contents(e, memfd_create("kinds", MFD_CLOEXEC));
}

static const char *source_empty(struct end *e)
{
	want_bytes = 0;
	return source_memfd(e);
}

/* One that claims size 0. */
static const char *source_proc(struct end *e, const char *path)
{
	struct stat st;
	ssize_t n;

	e->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (e->fd < 0)
		return strerror(errno);
	e->regular = true;
	want_memory();
	for (want_bytes = 0; (n = read(e->fd, want + want_bytes, 4096)) > 0; want_bytes += (size_t)n)
		;
	lseek(e->fd, 0, SEEK_SET);
	return fstat(e->fd, &st) == 0 && st.st_size == 0 && want_bytes > 0 ? NULL : "it claims a size";
}

static const char *source_proc_cgroup(struct end *e) /* made like status, but does not change */
{
	return source_proc(e, "/proc/self/cgroup");
}

static const char *source_proc_cmdline(struct end *e)
{
	return source_proc(e, "/proc/self/cmdline");
}

static const char *source_proc_filesystems(struct end *e)
{
	return source_proc(e, "/proc/filesystems");
}

static const char *source_zero(struct end *e)
{
	want_zeros(want_bytes);
	e->fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	return e->fd < 0 ? strerror(errno) : NULL;
}

static const char *source_loop(struct end *e)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number, file;
	struct loop_config config = { .info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_READ_ONLY };
	char path[32];

	number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	if (control >= 0)
		close(control);
	if (number < 0)
		return "no loop devices";
	snprintf(path, sizeof(path), "/dev/loop%d", number);
	want_bytes &= ~(size_t)4095;
	file = end_temp_file(0);
	config.fd = (unsigned)file;
	e->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || e->fd < 0 || pwrite(file, want, want_bytes, 0) != (ssize_t)want_bytes ||
		ioctl(e->fd, LOOP_CONFIGURE, &config) < 0) {
		close(file);
		return "no loop device can be made";
	}
	close(file);
	e->regular = true;
	return NULL;
}

static const char *source_fuse(struct end *e)
{
	return fuse_open(e, FUSE_SIZED);
}

static const char *source_fuse_unsized(struct end *e)
{
	return fuse_open(e, FUSE_UNSIZED);
}

static const char *source_fed(struct end *e, const char *kind)
{
	int fds[2];
	const char *why = end_pair(kind, fds);

	e->fd = fds[0];
	if (!why)
		start_child(e, fds[1], true);
	return why;
}

#define FED(kind)                                                                                            \
	static const char *source_##kind(struct end *e)                                                      \
	{                                                                                                    \
		return source_fed(e, #kind);                                                                 \
	}
FED(pipe)
FED(fifo)
FED(tcp)
FED(unix)
FED(seqpacket)
FED(terminal)

const struct end_kind source_kinds[] = {
	{ "disk", source_disk, false },
	{ "shm", source_shm, false },
	{ "memfd", source_memfd, false },
	{ "empty", source_empty, false },
	{ "proc-cgroup", source_proc_cgroup, false },
	{ "proc-cmdline", source_proc_cmdline, false },
	{ "proc-filesystems", source_proc_filesystems, false },
	{ "zero", source_zero, true },
	{ "loop", source_loop, false },
	{ "fuse", source_fuse, false },
	{ "fuse-unsized", source_fuse_unsized, false },
	{ "pipe", source_pipe, false },
	{ "fifo", source_fifo, false },
	{ "tcp", source_tcp, false },
	{ "unix", source_unix, false },
	{ "seqpacket", source_seqpacket, false },
	{ "terminal", source_terminal, true },
};
const size_t source_kind_count = COUNT(source_kinds);

/* ---- sinks ---- */

static const char *regular_sink(struct end *e, int fd)
{
	e->fd = fd;
	e->regular = true;
	return fd < 0 ? strerror(errno) : NULL;
}

static const char *sink_disk(struct end *e)
{
	return regular_sink(e, end_temp_file(0));
}

static const char *sink_memfd(struct end *e)
{
	return regular_sink(e, memfd_create("kinds", MFD_CLOEXEC));
}

static const char *sink_append(struct end *e)
{
	int fd = end_temp_file(O_APPEND);

	e->start = sizeof(APPEND_BEFORE) - 1;
	return write(fd, APPEND_BEFORE, e->start) == (ssize_t)e->start ? regular_sink(e, fd)
								       : strerror(errno);
}

static const char *sink_null(struct end *e)
{
	e->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return e->fd < 0 ? strerror(errno) : NULL;
}

static const char *sink_full(struct end *e)
{
	e->fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	e->room_bytes = 0;
	e->error = -ENOSPC;
	return e->fd < 0 ? strerror(errno) : NULL;
}

/* Past the limit of this process, whose signal is ignored. */
static const char *sink_size_limit(struct end *e)
{
	struct rlimit limit = { SIZE_LIMIT, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	e->room_bytes = SIZE_LIMIT;
	e->error = -EFBIG;
	return setrlimit(RLIMIT_FSIZE, &limit) < 0 ? strerror(errno) : sink_disk(e);
}

/* A file system of its own, that nobody else sees, with room for little. */
static const char *sink_full_disk(struct end *e)
{
	char dir[] = "/tmp/gush-kinds-XXXXXX", data[32];
	int fd = -1;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "mounting is not allowed";
	snprintf(data, sizeof(data), "size=%d", FILE_ROOM);
	if (mkdtemp(dir) && mount("none", dir, "tmpfs", 0, data) == 0) {
		fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		umount2(dir, MNT_DETACH);
	}
	rmdir(dir);
	e->room_bytes = FILE_ROOM;
	e->error = -ENOSPC;
	return regular_sink(e, fd);
}

static const char *sink_drained(struct end *e, const char *kind)
{
	int fds[2];
	const char *why = end_pair(kind, fds);
	bool terminal = strcmp(kind, "terminal") == 0;

	e->fd = fds[!terminal];
	if (!why)
		start_child(e, fds[terminal], false);
	return why;
}

#define DRAINED(kind)                                                                                        \
	static const char *sink_##kind(struct end *e)                                                        \
	{                                                                                                    \
		return sink_drained(e, #kind);                                                               \
	}
DRAINED(pipe)
DRAINED(fifo)
DRAINED(tcp)
DRAINED(unix)
DRAINED(seqpacket)
DRAINED(terminal)

const struct end_kind sink_kinds[] = {
	{ "disk", sink_disk, false },
	{ "memfd", sink_memfd, false },
	{ "append", sink_append, false },
	{ "pipe", sink_pipe, false },
	{ "fifo", sink_fifo, false },
	{ "tcp", sink_tcp, false },
	{ "unix", sink_unix, false },
	{ "seqpacket", sink_seqpacket, false },
	{ "terminal", sink_terminal, false },
	{ "null", sink_null, false },
	{ "full", sink_full, false },
	{ "full-disk", sink_full_disk, false },
	{ "size-limit", sink_size_limit, false },
};
const size_t sink_kind_count = COUNT(sink_kinds);

const struct end_kind *end_kind(const struct end_kind *kinds, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	abort();
}
