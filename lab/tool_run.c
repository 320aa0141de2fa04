/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include "crew.h"
#include "pipe.h"
#include "sys.h"
#include "tcp_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES ((size_t)1 << 20)
#define FILE_BYTES ((size_t)64 << 20)
#define FILE_TIMES 512 /* as operands: more than can be sent in the time there is */
#define SINK_FILE_BYTES ((uint64_t)512 << 20)
#define NULL_BYTES ((uint64_t)2 << 30) /* 0.1 s at 20 GiB/s: a start is a hundredth of it */
#define WARM_UP_BYTES ((uint64_t)32 << 20)

/* In memory that the processes share. */
struct shared {
	int error;
	uint64_t bytes;
	double seconds;
};

struct ends {
	int in, out;	 /* of the tool */
	int feed, empty; /* what is behind them; -1: nothing */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		gi_sys_close(*fd);
	*fd = -1;
}

static int open_pipe(int *ret_read, int *ret_write)
{
	struct gi_pipe pipe;
	size_t capacity;
	int ret = gi_pipe_open(&pipe);

	if (ret < 0)
		return ret;
	*ret_read = pipe.read_fd;
	*ret_write = pipe.write_fd;
	return gi_pipe_grow(pipe.write_fd, PIPE_BYTES, &capacity);
}

static int open_source(enum tool_source source, struct ends *ends)
{
	if (source == FROM_PIPE)
		return open_pipe(&ends->in, &ends->feed);
	if (source == FROM_NOTHING)
		ends->in = gi_sys_open("/dev/null", O_RDONLY, 0);
	else
		ends->in = memfd_create("gush-bench", MFD_CLOEXEC);
	if (ends->in < 0)
		return -errno;
	return source == FROM_FILE ? gi_sys_fallocate(ends->in, 0, 0, FILE_BYTES) : 0;
}

static int open_sink(enum tool_sink sink, struct ends *ends)
{
	int fds[2], ret;

	switch (sink) {
	case TO_SPLICE:
	case TO_READ:
		return open_pipe(&ends->empty, &ends->out);
	case TO_TCP:
		ret = tcp_pair_open(fds);
		if (ret == 0) {
			ends->out = fds[0];
			ends->empty = fds[1];
		}
		return ret;
	case TO_FILE:
		ends->out = memfd_create("gush-bench", MFD_CLOEXEC);
		break;
	case TO_HERE: /* without a name, so that nothing is left behind */
		ends->out = gi_sys_open(".", O_TMPFILE | O_WRONLY, 0600);
		break;
	case TO_NULL:
		ends->out = gi_sys_open("/dev/null", O_WRONLY, 0);
		break;
	}
	return ends->out < 0 ? -errno : 0;
}

static ssize_t take(enum tool_sink sink, int fd, int null)
{
	static char data[256 << 10];

	if (sink == TO_SPLICE)
		return gi_sys_splice(fd, null, PIPE_BYTES, 0);
	return gi_sys_read(fd, data, sizeof(data));
}

/* Counts what comes, for that long after the warm-up, and then goes: the tool hears of it by SIGPIPE. */
static void empty(enum tool_sink sink, int fd, int64_t time_ns, struct shared *shared)
{
	int null = gi_sys_open("/dev/null", O_WRONLY, 0);
	uint64_t warm = 0, bytes = 0;
	int64_t began = 0, now = 0;

	while (!began || now - began < time_ns) {
		ssize_t n = take(sink, fd, null);

		if (n <= 0) {
			shared->error = n < 0 ? (int)n : -ENODATA; /* the tool has ended before the time */
			return;
		}
		now = gi_sys_now_ns();
		if (began)
			bytes += (uint64_t)n;
		else if ((warm += (uint64_t)n) >= WARM_UP_BYTES)
			began = now;
	}
	shared->bytes = bytes;
	shared->seconds = (double)(now - began) * 1e-9;
	shared->error = 0;
}

static bool is_file(enum tool_sink sink)
{
	return sink == TO_FILE || sink == TO_HERE;
}

/* What a tool that ends of itself has moved; 0: another end is made for it, or there is nothing. */
static uint64_t whole_bytes(const struct tool_run *run)
{
	if (is_file(run->sink))
		return SINK_FILE_BYTES;
	return run->sink == TO_NULL && run->source == FROM_FILE ? NULL_BYTES : 0;
}

static char **make_arguments(const struct tool_run *run, char *path)
{
	static char *argv[FILE_TIMES + 3];
	uint64_t whole = whole_bytes(run);
	size_t n = 0, times = 0;

	if (run->source == FROM_FILE)
		times = whole ? whole / FILE_BYTES : FILE_TIMES;
	if (run->source == FROM_EMPTY)
		times = 1;
	argv[n++] = (char *)(uintptr_t)run->tool;
	for (size_t i = 0; i < times; i++)
		argv[n++] = path;
	if (run->argument)
		argv[n++] = (char *)(uintptr_t)run->argument;
	argv[n] = NULL;
	return argv;
}

__attribute__((noreturn)) static void become_tool(const struct tool_run *run, const struct ends *ends)
{
	struct rlimit limit = { SINK_FILE_BYTES, SINK_FILE_BYTES };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char path[32];

	signal(SIGPIPE, SIG_DFL);
	dup2(ends->in, STDIN_FILENO);
	dup2(ends->out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	snprintf(path, sizeof(path), "/dev/fd/%d", STDIN_FILENO);
	if (is_file(run->sink))
		setrlimit(RLIMIT_FSIZE, &limit);
	execv(run->path, make_arguments(run, path));
	_exit(127);
}

static pid_t start(const struct tool_run *run, struct ends *ends, int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	if (crew_settle_in(parent, cpu) < 0)
		_exit(127);
	become_tool(run, ends);
}

static pid_t start_feeder(struct ends *ends, int cpu)
{
	pid_t parent = getpid(), pid = ends->feed < 0 ? 0 : fork();
	int fd = ends->feed;

	if (pid != 0 || fd < 0)
		return pid;
	close_fd(&ends->in);
	close_fd(&ends->out);
	close_fd(&ends->empty);
	if (crew_settle_in(parent, cpu) == 0)
		crew_feed_by_vmsplice(fd);
	_exit(0);
}

static pid_t start_reader(
	const struct tool_run *run, struct ends *ends, int cpu, int64_t time_ns, struct shared *shared)
{
	pid_t parent = getpid(), pid = ends->empty < 0 ? 0 : fork();

	if (pid != 0 || ends->empty < 0)
		return pid;
	close_fd(&ends->in);
	close_fd(&ends->out);
	close_fd(&ends->feed);
	if (crew_settle_in(parent, cpu) == 0)
		empty(run->sink, ends->empty, time_ns, shared);
	_exit(0);
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

/* 0: it ended as it should (by the signal that its sink's end sends, too); or its status, or -errno. */
static int wait_for_tool(pid_t pid, double *ret_cpu_s)
{
	struct rusage usage;
	int status;

	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return -errno;
	*ret_cpu_s = cpu_seconds(&usage);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGPIPE || WTERMSIG(status) == SIGXFSZ ? 0 : -ECHILD;
	return WEXITSTATUS(status) == 127 ? -ENOEXEC : WEXITSTATUS(status);
}

/* A sink without a reader: what is timed is the whole of the tool's life. */
static void note_whole_life(const struct tool_run *run, int out, int64_t began_ns, struct shared *shared)
{
	struct stat st;

	shared->seconds = (double)(gi_sys_now_ns() - began_ns) * 1e-9;
	shared->bytes = whole_bytes(run);
	shared->error = 0;
	if (is_file(run->sink) && (fstat(out, &st) < 0 || (uint64_t)st.st_size < shared->bytes))
		shared->error = -EIO;
}

static void run_once(const struct tool_run *run, struct ends *ends, const struct placement *placement,
	int64_t time_ns, struct shared *shared, double *ret_cpu_s)
{
	pid_t feeder = start_feeder(ends, placement->receiver_cpu);
	pid_t reader = start_reader(run, ends, placement->receiver_cpu, time_ns, shared);
	int64_t began_ns = gi_sys_now_ns();
	pid_t tool = start(run, ends, placement->sender_cpu);
	bool lasting = ends->empty < 0;
	int ret;

	close_fd(&ends->in);
	close_fd(&ends->feed);
	close_fd(&ends->empty);
	if (!lasting)
		close_fd(&ends->out);
	ret = tool < 0 ? -EAGAIN : wait_for_tool(tool, ret_cpu_s);
	if (lasting)
		note_whole_life(run, ends->out, began_ns, shared);
	close_fd(&ends->out);
	crew_reap(reader);
	crew_reap(feeder);
	/* Elsewhere the bytes that came are counted, and a limit or a reader that goes is an error to it. */
	if (ret > 0 && run->sink == TO_NULL)
		ret = -EIO;
	if (ret < 0)
		shared->error = ret;
}

struct flow_figures tool_run(const struct tool_run *run, const struct placement *placement, int64_t time_ns)
{
	struct flow_figures f = { 0 };
	struct ends ends = { -1, -1, -1, -1 };
	struct shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return (struct flow_figures){ .error = -errno };
	shared->error = open_source(run->source, &ends);
	if (shared->error == 0)
		shared->error = open_sink(run->sink, &ends);
	if (shared->error == 0) {
		shared->error = -ECHILD; /* until somebody says otherwise */
		run_once(run, &ends, placement, time_ns, shared, &f.mover_cpu_s);
	}
	close_fd(&ends.in);
	close_fd(&ends.out);
	close_fd(&ends.feed);
	close_fd(&ends.empty);
	f.error = shared->error;
	f.bytes = shared->bytes;
	f.seconds = shared->seconds;
	munmap(shared, sizeof(*shared));
	return f;
}
