/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include "barrier.h"
#include "hugebuf.h"
#include "nowait.h"
#include "pipe.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FULL_SIZE ((size_t)1 << 20)

/* ---- vmsplice ---- */

static int send_and_change(char *page, const struct gi_pipe *pipe, char *ret_seen)
{
	ssize_t n;

	*page = 1;
	n = gi_sys_vmsplice(pipe->write_fd, page, 1, SPLICE_F_NONBLOCK);
	if (n < 0)
		return (int)n;
	*page = 2;
	n = gi_sys_read(pipe->read_fd, ret_seen, 1);
	return n == 1 ? 0 : n < 0 ? (int)n : -EIO;
}

enum gi_vmsplice gi_probe_vmsplice(int *ret_error)
{
	struct gi_pipe pipe = GI_PIPE_NONE;
	struct gi_hugebuf buf = { 0 };
	char seen = 0;
	int ret = gi_hugebuf_map(gi_page_bytes(), 0, &buf);

	if (ret == 0)
		ret = gi_pipe_open(&pipe);
	if (ret == 0)
		ret = send_and_change(buf.base, &pipe, &seen);
	gi_pipe_close(&pipe);
	gi_hugebuf_unmap(&buf);
	*ret_error = ret;
	return ret < 0 ? GI_VMSPLICE_FAILS : seen == 2 ? GI_VMSPLICE_ALIASES : GI_VMSPLICE_COPIES;
}

int gi_probe_barrier(bool huge)
{
	struct gi_barrier barrier;

	return gi_barrier_probe(huge ? GI_HUGEBUF_HUGE : 0, &barrier);
}

/* ---- single calls ---- */

/* Two pipes, one byte in the first. */
struct bench {
	struct gi_pipe a, b;
};

static int bench_open(struct bench *bench)
{
	int ret;

	*bench = (struct bench){ GI_PIPE_NONE, GI_PIPE_NONE };
	ret = gi_pipe_open(&bench->a);
	if (ret == 0)
		ret = gi_pipe_open(&bench->b);
	if (ret == 0) {
		ssize_t n = gi_sys_write(bench->a.write_fd, "b", 1);

		ret = n < 0 ? (int)n : 0;
	}
	return ret;
}

static int bench_close(struct bench *bench, ssize_t ret)
{
	gi_pipe_close(&bench->a);
	gi_pipe_close(&bench->b);
	return ret == 1 ? 0 : ret < 0 ? (int)ret : -EIO;
}

static int try_splice(void)
{
	struct bench bench;
	ssize_t ret = bench_open(&bench);

	if (ret == 0)
		ret = gi_sys_splice_at(bench.a.read_fd, NULL, bench.b.write_fd, NULL, 1, SPLICE_F_NONBLOCK);
	return bench_close(&bench, ret);
}

static int try_tee(void)
{
	struct bench bench;
	ssize_t ret = bench_open(&bench);

	if (ret == 0)
		ret = gi_sys_tee(bench.a.read_fd, bench.b.write_fd, 1, SPLICE_F_NONBLOCK);
	return bench_close(&bench, ret);
}

static int try_vmsplice(void)
{
	struct bench bench;
	ssize_t ret = bench_open(&bench);

	if (ret == 0)
		ret = gi_sys_vmsplice(bench.b.write_fd, "v", 1, SPLICE_F_NONBLOCK);
	return bench_close(&bench, ret);
}

int gi_probe_vmsplice_to_memory(void)
{
	struct bench bench;
	ssize_t ret = bench_open(&bench);
	char byte = 0;

	if (ret == 0)
		ret = gi_sys_vmsplice(bench.a.read_fd, &byte, 1, SPLICE_F_NONBLOCK);
	return bench_close(&bench, ret);
}

static int try_nowait_read(void)
{
	struct bench bench;
	ssize_t ret = bench_open(&bench);
	char byte = 0;

	if (ret == 0)
		ret = gi_sys_read_flags(bench.a.read_fd, &byte, 1, GI_RWF_NOWAIT);
	return bench_close(&bench, ret);
}

static int try_nowait_write(void)
{
	struct bench bench;
	ssize_t ret = bench_open(&bench);

	if (ret == 0)
		ret = gi_sys_write_flags(bench.b.write_fd, "w", 1, GI_RWF_NOWAIT);
	return bench_close(&bench, ret);
}

/* A nameless file of one byte, in memory. */
static int byte_file(void)
{
	int fd = memfd_create("gush-probe", MFD_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = gi_sys_pwrite(fd, "f", 1, 0);
	if (n == 1)
		return fd;
	gi_sys_close(fd);
	return n < 0 ? (int)n : -EIO;
}

static int between_files(ssize_t (*move)(int from, int to))
{
	int from = byte_file(), to = byte_file();
	ssize_t ret = from < 0 ? from : to < 0 ? to : move(from, to);

	if (from >= 0)
		gi_sys_close(from);
	if (to >= 0)
		gi_sys_close(to);
	return ret == 1 ? 0 : ret < 0 ? (int)ret : -EIO;
}

static ssize_t move_sendfile(int from, int to)
{
	return gi_sys_sendfile(to, from, NULL, 1);
}

static ssize_t move_copy_file_range(int from, int to)
{
	return gi_sys_copy_file_range(from, NULL, to, NULL, 1);
}

static int try_sendfile(void)
{
	return between_files(move_sendfile);
}

static int try_copy_file_range(void)
{
	return between_files(move_copy_file_range);
}

const struct gi_probe_call gi_probe_calls[] = {
	{ "splice", try_splice },
	{ "tee", try_tee },
	{ "vmsplice", try_vmsplice },
	{ "sendfile", try_sendfile },
	{ "copy_file_range", try_copy_file_range },
	{ "preadv2-nowait", try_nowait_read },
	{ "pwritev2-nowait", try_nowait_write },
	{ NULL, NULL },
};

/* ---- pipes ---- */

static size_t count_full_size_pipes(void)
{
	struct gi_pipe pipes[GI_PROBE_PIPES_MOST];
	size_t count = 0, capacity;

	while (count < GI_PROBE_PIPES_MOST && gi_pipe_open(&pipes[count]) == 0) {
		bool grown = gi_pipe_grow(pipes[count].write_fd, FULL_SIZE, &capacity) == 0;

		if (!grown) {
			gi_pipe_close(&pipes[count]);
			break;
		}
		count++;
	}
	for (size_t i = 0; i < count; i++)
		gi_pipe_close(&pipes[i]);
	return count;
}

int gi_probe_pipes(struct gi_probe_pipes *ret)
{
	struct gi_probe_pipes found = { 0 };
	struct gi_pipe pipe;
	int error = gi_pipe_open(&pipe);

	if (error < 0)
		return error;
	error = gi_pipe_capacity(pipe.write_fd, &found.default_bytes);
	found.largest_bytes = found.default_bytes;
	for (size_t bytes = FULL_SIZE; error == 0 && bytes > found.largest_bytes; bytes /= 2)
		if (gi_pipe_grow(pipe.write_fd, bytes, &found.largest_bytes) == 0)
			break;
	gi_pipe_close(&pipe);
	if (error == 0) {
		found.full_size_left = count_full_size_pipes();
		*ret = found;
	}
	return error;
}
