/* SPDX-License-Identifier: MIT */
/* Files: holes, sizes past 4 GiB, pages shared with readers, files that grow, files that are their own sink,
 * and those of FUSE. */
#include "drive.h"

#include <sys/socket.h>
#include <termios.h>

#define KIB 1024
#define MIB (1 << 20)
#define GIB ((int64_t)1 << 30)

static int memfd(void)
{
	return memfd_create("kinds", MFD_CLOEXEC);
}

static void put(int fd, const char *text, int64_t at)
{
	CHECK(pwrite(fd, text, strlen(text), at) == (ssize_t)strlen(text));
}

static void check_text(int fd, const char *text, int64_t at)
{
	char got[64] = "";

	CHECK(pread(fd, got, strlen(text), at) == (ssize_t)strlen(text));
	CHECK_TEXT(got, text);
}

static int64_t blocks(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? -1 : (int64_t)st.st_blocks * 512;
}

static int64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? -1 : st.st_size;
}

static int copy(int source, int sink, uint32_t flags, uint64_t *ret_bytes)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;

	o.flags = flags;
	return gush_copy(source, sink, &o, ret_bytes);
}

/* Data, hole, data, hole; on the file system given. */
static void check_holes(int source, int sink, uint32_t flags, const char *stale)
{
	uint64_t bytes;

	put(source, "first", 0);
	put(source, "middle", 8 * MIB);
	CHECK(ftruncate(source, 16 * MIB + 5) == 0);
	if (stale)
		for (int64_t at = 0; at < 12 * MIB; at += 64 * KIB)
			put(sink, stale, at);
	CHECK_INT(copy(source, sink, flags, &bytes), 0);
	CHECK_INT(bytes, 16 * MIB + 5);
	CHECK_INT(size_of(sink), 16 * MIB + 5);
	CHECK_INT(lseek(source, 0, SEEK_CUR), 16 * MIB + 5);
	CHECK_INT(lseek(sink, 0, SEEK_CUR), 16 * MIB + 5);
	check_text(sink, "first", 0);
	check_text(sink, "middle", 8 * MIB);
	for (int64_t at = 64 * KIB; at < 16 * MIB; at += 64 * KIB) {
		char c = 1;

		CHECK(at == 8 * MIB || (pread(sink, &c, 1, at) == 1 && c == 0));
	}
	CHECK(blocks(sink) >= 0 && (!(flags & GUSH_SPARSE) || blocks(sink) < MIB));
}

static void holes(void)
{
	check_holes(memfd(), memfd(), GUSH_SPARSE, NULL);
	check_holes(end_temp_file(0), end_temp_file(0), GUSH_SPARSE, NULL);
	check_holes(end_temp_file(0), memfd(), GUSH_SPARSE, NULL);
	check_holes(end_temp_file(0), memfd(), 0, NULL);
}

static void holes_over_old_contents(void)
{
	check_holes(memfd(), memfd(), GUSH_SPARSE, "stale");
	check_holes(end_temp_file(0), end_temp_file(0), GUSH_SPARSE, "stale");
}

static void holes_to_append(void)
{
	int source = memfd(), sink = end_temp_file(O_APPEND);
	uint64_t bytes;

	put(source, "end", MIB);
	put(sink, "before", 0);
	CHECK_INT(copy(source, sink, GUSH_SPARSE, &bytes), 0);
	CHECK_INT(bytes, MIB + 3);
	check_text(sink, "before", 0);
	check_text(sink, "end", MIB + 6);
}

/* 6 GiB of hole with a word here and there: a size or an offset of 32 bits shows. */
static void past_4_gib(void)
{
	int source = memfd(), sink = memfd();
	uint64_t bytes;

	put(source, "past", 4 * GIB + 3);
	put(source, "end", 6 * GIB);
	CHECK_INT(copy(source, sink, GUSH_SPARSE, &bytes), 0);
	CHECK_INT(bytes, 6 * GIB + 3);
	check_text(sink, "past", 4 * GIB + 3);
	check_text(sink, "end", 6 * GIB);
	CHECK(blocks(sink) < MIB);
}

static void offset_case(const char *method, int64_t source_offset, int64_t sink_offset)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int source = memfd(), sink = memfd();
	uint64_t bytes = 0;

	put(source, "0123456789", 5 * GIB);
	CHECK(lseek(source, 3, SEEK_SET) == 3 && lseek(sink, 4, SEEK_SET) == 4);
	o.method = method;
	o.source_offset = source_offset;
	o.sink_offset = sink_offset;
	o.limit_bytes = 6;
	if (source_offset == GUSH_OWN_OFFSET)
		lseek(source, 5 * GIB + 2, SEEK_SET);
	if (sink_offset == GUSH_OWN_OFFSET)
		lseek(sink, 5 * GIB, SEEK_SET);
	CHECK_CASE(gush_copy(source, sink, &o, &bytes) == 0 && bytes == 6, method);
	check_text(sink, "234567", 5 * GIB);
	CHECK_INT(lseek(source, 0, SEEK_CUR), source_offset == GUSH_OWN_OFFSET ? 5 * GIB + 8 : 3);
	CHECK_INT(lseek(sink, 0, SEEK_CUR), sink_offset == GUSH_OWN_OFFSET ? 5 * GIB + 6 : 4);
	close(source);
	close(sink);
}

static void offsets_past_4_gib(void)
{
	static const char *const methods[] = { "copy_file_range", "sendfile", "relay", "read-write" };

	for (size_t i = 0; i < COUNT(methods); i++) {
		offset_case(methods[i], 5 * GIB + 2, GUSH_OWN_OFFSET);
		offset_case(methods[i], GUSH_OWN_OFFSET, GUSH_OWN_OFFSET);
		if (strcmp(methods[i], "sendfile") == 0)
			continue; /* writes at the descriptor's own offset only */
		offset_case(methods[i], 5 * GIB + 2, 5 * GIB);
		offset_case(methods[i], GUSH_OWN_OFFSET, 5 * GIB);
	}
}

/* Delivered to a pipe; then the file changes; then the pipe is read. */
static char byte_after_change(uint32_t flags)
{
	int source = end_temp_file(0), fds[2];
	uint64_t bytes;
	char c = 0;

	put(source, "old contents", 0);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	CHECK_INT(copy(source, fds[1], flags, &bytes), 0);
	put(source, "new contents", 0);
	CHECK(read(fds[0], &c, 1) == 1);
	close(fds[0]);
	close(fds[1]);
	close(source);
	return c;
}

static void stable_keeps_old_bytes(void)
{
	CHECK_INT(byte_after_change(GUSH_STABLE), 'o');
}

/* What gush.h warns of. It fails when the kernel begins to copy: good news, and a reason to look again. */
static void without_stable_pages_are_shared(void)
{
	CHECK_INT(byte_after_change(0), 'n');
}

/* Bytes appended between steps belong to the copy, and are no hole. */
static void check_growing(uint32_t flags)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int source = memfd(), sink = memfd(), grown = 0;
	struct gush_transfer *t = NULL;
	int64_t n;

	o.flags = flags;
	put(source, "0123", 0);
	CHECK_INT(gush_transfer_open(source, sink, &o, &t), 0);
	while ((n = gush_transfer_step(t)) > 0)
		if (grown++ < 3)
			put(source, "4567", 4 * grown);
	CHECK_INT(n, 0);
	CHECK_INT(gush_transfer_delivered(t), 16);
	check_text(sink, "0123456745674567", 0);
	gush_transfer_close(t);
	close(source);
	close(sink);
}

static void growing(void)
{
	check_growing(0);
	check_growing(GUSH_SPARSE);
}

/* Another process appends all the time. The sink is a prefix of what the source is in the end. */
static void growing_meanwhile(void)
{
	int source = memfd(), sink = memfd();
	pid_t pid = fork();
	uint64_t bytes;

	want_stamp(4 * MIB);
	if (pid == 0) {
		for (size_t at = 0; at < want_bytes; at += 4096)
			if (pwrite(source, want + at, 4096, (off_t)at) != 4096)
				_exit(1);
		_exit(0);
	}
	for (uint64_t total = 0; total < want_bytes; total += bytes)
		if (!CHECK(copy(source, sink, GUSH_SPARSE, &bytes) == 0))
			break;
	waitpid(pid, NULL, 0);
	for (size_t at = 0; at < want_bytes; at += 4096) {
		char got[4096];

		CHECK(pread(sink, got, sizeof(got), (off_t)at) == 4096 && memcmp(got, want + at, 4096) == 0);
	}
}

static void same_pipe(void)
{
	int fds[2];
	uint64_t bytes = 1;

	CHECK(pipe2(fds, O_CLOEXEC) == 0 && write(fds[1], "x", 1) == 1);
	CHECK_INT(copy(fds[0], fds[1], 0, &bytes), -EINVAL);
	CHECK_INT(bytes, 0);
}

static int reopened(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

static void same_file_append(void)
{
	int source = end_temp_file(0), sink = reopened(source, O_WRONLY | O_APPEND);
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	uint64_t bytes;

	put(source, "abc", 0);
	CHECK_INT(copy(source, sink, 0, &bytes), -EINVAL);
	CHECK_INT(size_of(source), 3);
	o.limit_bytes = 3; /* what is there, once: that has an end */
	CHECK_INT(gush_copy(source, sink, &o, &bytes), 0);
	check_text(source, "abcabc", 0);
	CHECK_INT(lseek(source, 0, SEEK_END), 6);
	CHECK_INT(copy(source, sink, 0, &bytes), 0); /* nothing to read */
	CHECK_INT(bytes, 0);
}

static void same_file_ahead_and_behind(void)
{
	int source = end_temp_file(0), sink = reopened(source, O_RDWR);
	uint64_t bytes;

	put(source, "abcdef", 0);
	CHECK(lseek(sink, 2, SEEK_SET) == 2);
	CHECK_INT(copy(source, sink, 0, &bytes), -EINVAL);
	CHECK(lseek(source, 2, SEEK_SET) == 2 && lseek(sink, 0, SEEK_SET) == 0);
	CHECK_INT(copy(source, sink, 0, &bytes), 0); /* towards its head: ends */
	CHECK_INT(bytes, 4);
	check_text(source, "cdefef", 0);
}

static void same_place_of_same_file(void)
{
	int source = end_temp_file(0), sink = reopened(source, O_RDWR);
	uint64_t bytes;

	put(source, "abcdef", 0);
	CHECK_INT(copy(source, sink, 0, &bytes), 0);
	CHECK_INT(bytes, 6);
	check_text(source, "abcdef", 0);
	CHECK_INT(size_of(source), 6);
}

/* What comes of a page copied within itself is up to the CPU: it is right here and wrong elsewhere. */
static void same_file_shares_no_pages(void)
{
	static const char *const methods[] = { "sendfile", "relay" };
	int source = end_temp_file(0), sink = reopened(source, O_RDWR), other = memfd();
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;

	put(source, "abcdef", 0);
	CHECK(lseek(source, 2, SEEK_SET) == 2);
	for (size_t i = 0; i < COUNT(methods); i++) {
		o.method = methods[i];
		CHECK_INT(gush_copy(source, sink, &o, NULL), -ENOTSUP);
		o.limit_bytes = 1;
		CHECK_INT(gush_copy(source, other, &o, NULL), 0);
	}
	check_text(source, "abcdef", 0);
}

static void same_file_fanned_out(void)
{
	int source = end_temp_file(0), sinks[] = { memfd(), reopened(source, O_RDWR) };
	struct gush_fanout *f = NULL;
	int64_t n;

	put(source, "abcdef", 0);
	CHECK(lseek(source, 2, SEEK_SET) == 2);
	CHECK_INT(gush_fanout_open(source, sinks, COUNT(sinks), NULL, &f), 0);
	while ((n = gush_fanout_step(f)) > 0)
		;
	CHECK_INT(n, 0);
	CHECK_INT(gush_fanout_error(f, 1), 0);
	check_text(source, "cdefef", 0);
	check_text(sinks[0], "cdef", 0);
	gush_fanout_close(f);
}

/* The file changes at every reading, so only its shape can be looked at. */
static void proc_status(void)
{
	int source = open("/proc/self/status", O_RDONLY | O_CLOEXEC), sink = memfd();
	char got[8192] = "";
	uint64_t bytes;

	CHECK_INT(copy(source, sink, 0, &bytes), 0);
	CHECK(pread(sink, got, sizeof(got) - 1, 0) == (ssize_t)bytes && bytes > 500);
	CHECK(strncmp(got, "Name:\t", 6) == 0 && strstr(got, "\nnonvoluntary_ctxt_switches:"));
	CHECK(bytes > 0 && got[bytes - 1] == '\n');
}

/* ---- a file system whose server is this program ---- */

static struct end fuse_source(const char *kind)
{
	struct end source = { .fd = -1 };
	const char *why;

	alarm(20);
	want_stamp(MIB + 4321);
	why = SOURCE(kind)->open(&source);
	if (why)
		test_skip_reason = why;
	return source;
}

static void check_wanted(int fd, size_t from, size_t bytes)
{
	char *got = malloc(bytes + 1);

	CHECK(got && pread(fd, got, bytes + 1, 0) == (ssize_t)bytes && memcmp(got, want + from, bytes) == 0);
	free(got);
}

static void check_fuse_copy(const char *kind, uint32_t flags)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct end source = fuse_source(kind);
	int whole = end_temp_file(0), part = end_temp_file(0);
	uint64_t bytes = 0;

	if (test_skip_reason)
		return;
	CHECK_INT(copy(source.fd, whole, flags, &bytes), 0);
	CHECK_INT(bytes, want_bytes);
	CHECK_INT(lseek(source.fd, 0, SEEK_CUR), want_bytes);
	check_wanted(whole, 0, want_bytes);
	o.flags = flags;
	o.source_offset = 5001;
	o.limit_bytes = 300000;
	CHECK_INT(gush_copy(source.fd, part, &o, &bytes), 0);
	CHECK_INT(bytes, 300000);
	CHECK_INT(lseek(source.fd, 0, SEEK_CUR), want_bytes);
	check_wanted(part, 5001, 300000);
	close(whole);
	close(part);
	end_close(&source);
}

static void fuse_to_a_file(void)
{
	static const uint32_t flags[] = { 0, GUSH_STABLE, GUSH_SPARSE, GUSH_STABLE | GUSH_SPARSE };

	for (size_t i = 0; i < COUNT(flags) * 2 && !test_skip_reason; i++)
		check_fuse_copy(i % 2 ? "fuse-unsized" : "fuse", flags[i / 2]);
}

static void check_fuse_change(const char *kind, uint32_t flags, char wanted)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct end source = fuse_source(kind);
	int fds[2];
	char old = want[0], c = 0;
	uint64_t bytes;

	if (test_skip_reason)
		return;
	o.flags = flags;
	o.limit_bytes = 12;
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	CHECK_INT(gush_copy(source.fd, fds[1], &o, &bytes), 0);
	put(source.fd, "new contents", 0);
	CHECK(want[0] == 'n' && old != 'n');
	CHECK(read(fds[0], &c, 1) == 1);
	CHECK_CASE(c == (wanted == 'o' ? old : wanted), kind);
	close(fds[0]);
	close(fds[1]);
	end_close(&source);
}

static void fuse_stable_keeps_old_bytes(void)
{
	check_fuse_change("fuse", GUSH_STABLE, 'o');
	if (!test_skip_reason)
		check_fuse_change("fuse-unsized", GUSH_STABLE, 'o');
}

/* As without_stable_pages_are_shared; a file without pages in the cache has none to share. */
static void fuse_without_stable_pages_are_shared(void)
{
	check_fuse_change("fuse", 0, 'n');
	if (!test_skip_reason)
		check_fuse_change("fuse-unsized", 0, 'o');
}

/* A line, and ^D, which is given once: a second read would wait for another. */
static void terminal_line(void)
{
	int fds[2], sink = memfd();
	struct termios cooked;
	struct outcome out;

	alarm(10);
	CHECK(end_pair("terminal", fds) == NULL);
	CHECK(tcgetattr(fds[0], &cooked) == 0);
	cooked.c_lflag |= ICANON;
	cooked.c_cc[VEOF] = 4;
	CHECK(tcsetattr(fds[0], TCSANOW, &cooked) == 0);
	CHECK(write(fds[1], "line\n\004", 6) == 6);
	out = drive(fds[0], sink, MANNER_BLOCK, NULL);
	CHECK_INT(out.error, 0);
	CHECK_INT(out.bytes, 5);
	check_text(sink, "line\n", 0);
}

/* A message of 100,000 bytes is larger than a pipe, and one of 200,000 than the buffer. */
static void large_messages(void)
{
	int fds[2], sink[2], size = 1 << 20;
	uint64_t bytes;

	want_stamp(200000);
	CHECK(end_pair("seqpacket", fds) == NULL && pipe2(sink, O_CLOEXEC) == 0);
	CHECK(fcntl(sink[1], F_SETPIPE_SZ, 1 << 20) > 0);
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	CHECK(write(sink[1], want, 70000) == 70000); /* little room */
	CHECK(write(fds[1], want, 100000) == 100000 && write(fds[1], want, 200000) == 200000);
	CHECK_INT(copy(fds[0], sink[1], 0, &bytes), -EMSGSIZE);
	CHECK_INT(bytes, 100000);
}

#define IN_CHILD(name)                                                                                       \
	static void name##_c(void)                                                                           \
	{                                                                                                    \
		in_child(name);                                                                              \
	}
#define CASE(name) test_run(#name, name##_c)

IN_CHILD(holes)
IN_CHILD(holes_over_old_contents)
IN_CHILD(holes_to_append)
IN_CHILD(past_4_gib)
IN_CHILD(offsets_past_4_gib)
IN_CHILD(stable_keeps_old_bytes)
IN_CHILD(without_stable_pages_are_shared)
IN_CHILD(growing)
IN_CHILD(growing_meanwhile)
IN_CHILD(same_pipe)
IN_CHILD(same_file_append)
IN_CHILD(same_file_ahead_and_behind)
IN_CHILD(same_place_of_same_file)
IN_CHILD(same_file_shares_no_pages)
IN_CHILD(same_file_fanned_out)
IN_CHILD(proc_status)
IN_CHILD(fuse_to_a_file)
IN_CHILD(fuse_stable_keeps_old_bytes)
IN_CHILD(fuse_without_stable_pages_are_shared)
IN_CHILD(terminal_line)
IN_CHILD(large_messages)

int main(void)
{
	CASE(holes);
	CASE(holes_over_old_contents);
	CASE(holes_to_append);
	CASE(past_4_gib);
	CASE(offsets_past_4_gib);
	CASE(stable_keeps_old_bytes);
	CASE(without_stable_pages_are_shared);
	CASE(growing);
	CASE(growing_meanwhile);
	CASE(same_pipe);
	CASE(same_file_append);
	CASE(same_file_ahead_and_behind);
	CASE(same_place_of_same_file);
	CASE(same_file_shares_no_pages);
	CASE(same_file_fanned_out);
	CASE(proc_status);
	CASE(fuse_to_a_file);
	CASE(fuse_stable_keeps_old_bytes);
	CASE(fuse_without_stable_pages_are_shared);
	CASE(terminal_line);
	CASE(large_messages);
	return test_end();
}
