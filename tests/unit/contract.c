/* SPDX-License-Identifier: MIT */
/* What include/gush.h promises of every transfer, statement by statement. */
#include "gush.h"
#include "support.h"

#include <poll.h>
#include <sys/socket.h>

static char bytes[1 << 16];

static int file_of(size_t size)
{
	int fd = memfd_create("contract", MFD_CLOEXEC);

	if (size > 0 && write(fd, bytes, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
}

/* Full to the last byte, without touching its flags: all writes are of one page. */
static void make_full_pipe(int fds[2])
{
	char page[4096] = "";

	make_pipe(fds);
	for (int left = fcntl(fds[1], F_GETPIPE_SZ); left > 0; left -= (int)sizeof(page))
		if (write(fds[1], page, sizeof(page)) < 0)
			abort();
}

static void close_both(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static int try_options(int source, int sink, struct gush_transfer_options o)
{
	struct gush_transfer *t = (struct gush_transfer *)bytes;
	int ret = gush_transfer_open(source, sink, &o, &t);

	if (ret == 0)
		CHECK(gush_transfer_close(t) == NULL);
	else
		CHECK(t == (struct gush_transfer *)bytes); /* untouched */
	return ret;
}

static void bad_options(void)
{
	const struct gush_transfer_options good = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer_options o[9];
	int from = file_of(10), to = file_of(0);

	for (size_t i = 0; i < COUNT(o); i++)
		o[i] = good;
	o[1].size--;
	o[2].size = 0;
	o[3].flags = 1u << 3;
	o[4].flags = 1u << 31;
	o[5].wait = GUSH_WAIT_BLOCK + 1;
	o[6].source_offset = -2;
	o[7].sink_offset = INT64_MIN;
	o[8].method = "nosuch";
	CHECK_INT(try_options(from, to, o[0]), 0);
	for (size_t i = 1; i < COUNT(o); i++)
		CHECK_INT(try_options(from, to, o[i]), -EINVAL);
	o[0].size += 100; /* of a later version */
	CHECK_INT(try_options(from, to, o[0]), 0);
	o[0].method = "splice";
	CHECK_INT(try_options(from, to, o[0]), -ENOTSUP);
	close(from);
	close(to);
}

static void bad_descriptors(void)
{
	const struct gush_transfer_options good = GUSH_TRANSFER_OPTIONS_INIT;
	int file = file_of(10), p[2];
	uint64_t count = 77;

	make_pipe(p);
	CHECK_INT(try_options(-1, file, good), -EBADF);
	CHECK_INT(try_options(file, -1, good), -EBADF);
	CHECK_INT(try_options(p[1], file, good), -EBADF);
	CHECK_INT(try_options(file, p[0], good), -EBADF);
	CHECK_INT(gush_copy(-1, file, NULL, &count), -EBADF);
	CHECK_INT(count, 0);
	close_both(p);
	close(file);
}

static void no_handle(void)
{
	CHECK(gush_transfer_close(NULL) == NULL);
	CHECK(gush_fanout_close(NULL) == NULL);
	CHECK(gush_method_name(0) != NULL);
	CHECK(gush_method_name(1000) == NULL);
}

static void limits(void)
{
	static const uint64_t limit[] = { 0, 1, 4095, 4096, 30000, GUSH_NO_LIMIT };

	for (size_t i = 0; i < COUNT(limit); i++) {
		struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
		int from = file_of(30000), p[2];
		uint64_t want = limit[i] < 30000 ? limit[i] : 30000, count = 77;

		make_pipe(p);
		o.limit_bytes = limit[i];
		CHECK_INT(gush_copy(from, p[1], &o, &count), 0);
		CHECK_INT(count, want);
		CHECK_INT(lseek(from, 0, SEEK_CUR), want);
		close(from);
		close_both(p);
	}
}

/* With an offset given, the descriptor's own stays where it is, whatever the way and with holes too. */
static void own_offset_stays(void)
{
	static const uint32_t flags[] = { 0, GUSH_SPARSE, GUSH_STABLE };
	const char *method;

	for (size_t i = 0; i < COUNT(flags); i++)
		for (size_t m = 0; (method = gush_method_name(m)); m++) {
			struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
			int from = file_of(30000), to = file_of(100), ret;
			uint64_t count;

			lseek(from, 5, SEEK_SET);
			lseek(to, 7, SEEK_SET);
			o.flags = flags[i];
			o.method = method;
			o.source_offset = 10000;
			o.sink_offset = 50;
			if (ftruncate(from, 40000) < 0)
				abort();
			ret = gush_copy(from, to, &o, &count);
			if (ret != -ENOTSUP) {
				CHECK_INT(ret, 0);
				CHECK_INT(count, 30000);
				CHECK_INT(lseek(to, 0, SEEK_END), 30050);
				lseek(to, 7, SEEK_SET);
			}
			CHECK_INT(lseek(from, 0, SEEK_CUR), 5);
			CHECK_INT(lseek(to, 0, SEEK_CUR), 7);
			close(from);
			close(to);
		}
}

static void offset_of_a_pipe(void)
{
	struct gush_transfer_options from = GUSH_TRANSFER_OPTIONS_INIT, to = from;
	int p[2], file = file_of(10);
	uint64_t count = 77;

	make_pipe(p);
	CHECK_INT(write(p[1], "abc", 3), 3);
	from.source_offset = to.sink_offset = 1;
	CHECK_INT(gush_copy(p[0], file, &from, &count), -ESPIPE);
	CHECK_INT(count, 0);
	CHECK_INT(gush_copy(file, p[1], &to, &count), -ESPIPE);
	CHECK_INT(count, 0);
	CHECK_INT(lseek(file, 0, SEEK_CUR), 0); /* put back, if it was read */
	close_both(p);
	close(file);
}

static void *drain_later(void *arg)
{
	char byte[512];

	sleep_ms(100);
	while (read(*(int *)arg, byte, sizeof(byte)) > 0)
		;
	return NULL;
}

/* O_NONBLOCK of the caller's is waited for, and kept; -EAGAIN is for GUSH_NONBLOCK alone. */
static void nonblocking_descriptor_is_waited_for(void)
{
	int p[2], file = file_of(30000);
	uint64_t count = 0;
	pthread_t thread;

	make_full_pipe(p);
	fcntl(p[1], F_SETFL, O_NONBLOCK);
	thread = start_thread(drain_later, &p[0]);
	CHECK_INT(gush_copy(file, p[1], NULL, &count), 0);
	CHECK_INT(count, 30000);
	CHECK(fcntl(p[1], F_GETFL) & O_NONBLOCK);
	close(p[1]);
	pthread_join(thread, NULL);
	close(p[0]);
	close(file);
}

static void wait_for(void)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int empty[2], full[2], file = file_of(30000), fd = 77;
	struct gush_transfer *t = NULL;
	short events = 77;

	make_pipe(empty);
	make_full_pipe(full);
	o.flags = GUSH_NONBLOCK;
	CHECK_INT(gush_transfer_open(empty[0], file, &o, &t), 0);
	CHECK_INT(gush_transfer_wait_for(t, &fd, &events), -EINVAL);
	CHECK(fd == 77 && events == 77);
	CHECK_INT(gush_transfer_step(t), -EAGAIN);
	CHECK_INT(gush_transfer_wait_for(t, &fd, &events), 0);
	CHECK(fd == empty[0] && events == POLLIN);
	CHECK_INT(gush_transfer_side(t), GUSH_SIDE_NONE);
	CHECK_INT(write(empty[1], "x", 1), 1);
	CHECK_INT(gush_transfer_step(t), 1);
	CHECK_INT(gush_transfer_wait_for(t, &fd, &events), -EINVAL);
	close(empty[1]);
	CHECK_INT(gush_transfer_step(t), 0);
	CHECK_INT(gush_transfer_step(t), 0); /* over is over */
	gush_transfer_close(t);

	CHECK_INT(gush_transfer_open(file, full[1], &o, &t), 0);
	CHECK_INT(gush_transfer_step(t), -EAGAIN);
	CHECK_INT(gush_transfer_wait_for(t, &fd, &events), 0);
	CHECK(fd == full[1] && events == POLLOUT);
	gush_transfer_close(t);
	close(empty[0]);
	close_both(full);
	close(file);
}

/* What was read and not written goes back into a file when the handle is closed; the error stays. */
static void pending_of_a_file(void)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int file = file_of(3000), full[2];
	struct gush_transfer *t = NULL;

	make_full_pipe(full);
	o.flags = GUSH_NONBLOCK;
	o.method = "read-write";
	CHECK_INT(gush_transfer_open(file, full[1], &o, &t), 0);
	CHECK_INT(gush_transfer_step(t), -EAGAIN);
	CHECK_INT(gush_transfer_pending(t), 3000);
	CHECK_INT(gush_transfer_delivered(t), 0);
	signal(SIGPIPE, SIG_IGN);
	close(full[0]);
	CHECK_INT(gush_transfer_step(t), -EPIPE);
	CHECK_INT(gush_transfer_step(t), -EPIPE);
	CHECK_INT(gush_transfer_side(t), GUSH_SIDE_SINK);
	CHECK_INT(gush_transfer_pending(t), 3000);
	gush_transfer_close(t);
	CHECK_INT(lseek(file, 0, SEEK_CUR), 0);
	close(full[1]);
	close(file);
}

static void sides(void)
{
	int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), full = open("/dev/full", O_WRONLY);
	int file = file_of(30000);
	struct gush_transfer *t = NULL;

	CHECK_INT(gush_transfer_open(folder, file, NULL, &t), 0);
	CHECK_INT(gush_transfer_step(t), -EISDIR);
	CHECK_INT(gush_transfer_side(t), GUSH_SIDE_SOURCE);
	gush_transfer_close(t);
	CHECK_INT(gush_transfer_open(file, full, NULL, &t), 0);
	CHECK_INT(gush_transfer_step(t), -ENOSPC);
	CHECK_INT(gush_transfer_side(t), GUSH_SIDE_SINK);
	gush_transfer_close(t);
	CHECK_INT(lseek(file, 0, SEEK_CUR), 0);
	close(folder);
	close(full);
	close(file);
}

static int die_of_pipe(const void *argument)
{
	const char *method = argument;
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int file = file_of(30000), p[2];

	make_pipe(p);
	close(p[0]);
	o.method = method;
	return -gush_copy(file, p[1], &o, NULL);
}

static void sigpipe(void)
{
	static const char *const methods[] = { "splice", "read-write" };
	struct captured c;

	for (size_t i = 0; i < COUNT(methods); i++) {
		signal(SIGPIPE, SIG_DFL);
		capture(die_of_pipe, methods[i], &c);
		CHECK(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGPIPE);
		signal(SIGPIPE, SIG_IGN);
		capture(die_of_pipe, methods[i], &c);
		CHECK_INT(captured_exit(&c), EPIPE);
	}
}

static const char *way_used(int source, int sink, const struct gush_transfer_options *o, int *ret_error)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	struct gush_transfer *t = NULL;
	const char *way = NULL;

	*ret_error = gush_transfer_open(source, sink, o, &t);
	if (*ret_error < 0)
		return NULL;
	CHECK(gush_transfer_step(t) > 0);
	for (size_t i = 0; gush_report_entry(t, i, &e) == 0; i++)
		way = e.outcome == GUSH_TRIED_USED ? e.method : way;
	gush_transfer_close(t);
	return way;
}

static void way_is(const char *environment, const char *given, const char *want, int want_error)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int file = file_of(1000), p[2], error;
	const char *way;

	make_pipe(p);
	if (environment)
		setenv("GUSH_METHOD", environment, 1);
	o.method = given;
	way = way_used(file, p[1], &o, &error);
	unsetenv("GUSH_METHOD");
	CHECK_INT(error, want_error);
	CHECK(way == want || (way && want && strcmp(way, want) == 0));
	close(file);
	close_both(p);
}

static void method_of_the_environment(void)
{
	way_is(NULL, NULL, "splice", 0);
	way_is("read-write", NULL, "read-write", 0);
	way_is("read-write", "splice", "splice", 0);
	way_is("nosuch", NULL, "splice", 0);
	way_is("", NULL, "splice", 0);
	way_is("sendfile", NULL, NULL, -ENOTSUP);
	way_is("sendfile", "splice", "splice", 0);
}

static void stable_of_the_environment(void)
{
	setenv("GUSH_STABLE", "1", 1);
	way_is(NULL, NULL, "read-write", 0);
	way_is(NULL, "splice", NULL, -ENOTSUP);
	setenv("GUSH_STABLE", "0", 1);
	way_is(NULL, NULL, "splice", 0);
	unsetenv("GUSH_STABLE");
}

/* Bytes in a pipe: those of a shared page show a later change of the file, those of a stable copy do not. */
static char seen_after_change(uint32_t flags)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int file = file_of(4096), p[2];
	char seen = 0;

	make_pipe(p);
	o.flags = flags;
	CHECK_INT(gush_copy(file, p[1], &o, NULL), 0);
	CHECK_INT(pwrite(file, "N", 1, 0), 1);
	CHECK_INT(read(p[0], &seen, 1), 1);
	close(file);
	close_both(p);
	return seen;
}

static void stable(void)
{
	bytes[0] = 'O';
	CHECK_INT(seen_after_change(GUSH_STABLE), 'O');
	CHECK_INT(seen_after_change(0), 'N'); /* the control: else the line above shows nothing */
}

/* What the steps return adds up to what was taken, with waiting in between or not. */
static void fanout_returns_add_up(void)
{
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	static char got[sizeof(bytes)];
	int source = file_of(sizeof(bytes)), slow[2], sinks[2];
	struct gush_fanout *f = NULL;
	int64_t n, sum = 0;

	make_pipe(slow);
	CHECK(fcntl(slow[1], F_SETPIPE_SZ, 4096) == 4096);
	sinks[0] = slow[1];
	sinks[1] = file_of(0);
	o.flags = GUSH_NONBLOCK;
	CHECK_INT(gush_fanout_open(source, sinks, 2, &o, &f), 0);
	while ((n = gush_fanout_step(f)) > 0 || n == -EAGAIN) {
		if (n > 0)
			sum += n;
		else
			CHECK(read(slow[0], got, sizeof(got)) > 0);
	}
	CHECK_INT(n, 0);
	CHECK_INT(sum, sizeof(bytes));
	CHECK_INT(gush_fanout_delivered(f, 0), sizeof(bytes));
	CHECK_INT(gush_fanout_delivered(f, 1), sizeof(bytes));
	CHECK_INT(gush_fanout_delivered(f, 2), 0);
	CHECK_INT(gush_fanout_error(f, 2), -ENOENT);
	CHECK_INT(gush_fanout_drop(f, 2, -EIO), -ENOENT);
	CHECK_INT(gush_fanout_drop(f, 0, 0), -EINVAL);
	CHECK_INT(gush_fanout_drop(f, 0, -EIO), 0);
	CHECK_INT(gush_fanout_drop(f, 0, -ENOSPC), 0);
	CHECK_INT(gush_fanout_error(f, 0), -EIO); /* the first one */
	CHECK_INT(gush_fanout_delivered(f, 0), sizeof(bytes));
	gush_fanout_close(f);
	close(source);
	close(sinks[1]);
	close_both(slow);
}

static void fanout_without_sinks(void)
{
	int source = file_of(10), none = -1;
	struct gush_fanout_options o = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_fanout *f = NULL;

	CHECK_INT(gush_fanout_open(source, &none, 1, NULL, &f), 0);
	CHECK_INT(gush_fanout_error(f, 0), -EBADF);
	CHECK_INT(gush_fanout_step(f), -EPIPE);
	gush_fanout_close(f);
	CHECK_INT(gush_fanout_open(source, NULL, 0, NULL, &f), 0);
	CHECK_INT(gush_fanout_step(f), -EPIPE);
	gush_fanout_close(f);
	CHECK_INT(gush_fanout_open(none, &source, 1, NULL, &f), -EBADF);
	o.size--;
	CHECK_INT(gush_fanout_open(source, &none, 1, &o, &f), -EINVAL);
	o.size++;
	o.flags = GUSH_SPARSE;
	CHECK_INT(gush_fanout_open(source, &none, 1, &o, &f), -EINVAL);
	o.flags = 0;
	o.drop_after_ns = -1;
	CHECK_INT(gush_fanout_open(source, &none, 1, &o, &f), -EINVAL);
	CHECK_INT(lseek(source, 0, SEEK_CUR), 0);
	close(source);
}

int main(void)
{
	alarm(HANG_SECONDS);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i % 251 + 1);
	TEST(bad_options);
	TEST(bad_descriptors);
	TEST(no_handle);
	TEST(limits);
	TEST(own_offset_stays);
	TEST(offset_of_a_pipe);
	TEST(nonblocking_descriptor_is_waited_for);
	TEST(wait_for);
	TEST(pending_of_a_file);
	TEST(sides);
	TEST(sigpipe);
	TEST(method_of_the_environment);
	TEST(stable_of_the_environment);
	TEST(stable);
	TEST(fanout_returns_add_up);
	TEST(fanout_without_sinks);
	return test_end();
}
