/* SPDX-License-Identifier: MIT */
/* src/sys.c while signals rain: no call returns -EINTR, and no wait is cut short or made longer. */
#include "sys.h"

#include "support.h"

static char page_of_bytes[4096];
static int two[2]; /* the pipe of the case that runs */

static void open_two(void)
{
	CHECK_INT(gi_sys_pipe(two), 0);
}

static void close_two(void)
{
	close(two[0]);
	close(two[1]);
}

/* Fills the pipe so that one more byte would wait. */
static void fill(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (gi_sys_poll(&p, 1, 0) == 1)
		CHECK_INT(gi_sys_write(fd, page_of_bytes, sizeof(page_of_bytes)), sizeof(page_of_bytes));
}

/* Each waits until the other thread, after ten signals, lets it go on. */
static char fifo_path[220];

static ssize_t wait_read(void)
{
	return gi_sys_read(two[0], page_of_bytes, 1);
}
static ssize_t wait_read_flags(void)
{
	return gi_sys_read_flags(two[0], page_of_bytes, 1, 0);
}
static ssize_t wait_write(void)
{
	return gi_sys_write(two[1], page_of_bytes, 1);
}
static ssize_t wait_write_flags(void)
{
	return gi_sys_write_flags(two[1], page_of_bytes, 1, 0);
}
static ssize_t wait_vmsplice(void)
{
	return gi_sys_vmsplice(two[1], page_of_bytes, 1, 0);
}
static ssize_t wait_splice(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ssize_t n = gi_sys_splice(two[0], null, 1, 0);

	close(null);
	return n;
}
static ssize_t wait_tee(void)
{
	int other[2] = { -1, -1 };
	ssize_t n = gi_sys_pipe(other);

	if (n == 0)
		n = gi_sys_tee(two[0], other[1], 1, 0);
	close(other[0]);
	close(other[1]);
	return n;
}
static ssize_t wait_poll(void)
{
	struct pollfd p = { .fd = two[0], .events = POLLIN };

	return gi_sys_poll(&p, 1, -1);
}
static ssize_t wait_open(void)
{
	int fd = gi_sys_open(fifo_path, O_RDONLY, 0);

	return fd < 0 ? fd : gi_sys_close(fd) + 1;
}

static void wait_for_signals(void)
{
	while (atomic_load(&storm_signals) < 10)
		sleep_ms(1);
}

static void *give_a_byte(void *unused)
{
	(void)unused;
	wait_for_signals();
	CHECK_INT(write(two[1], "b", 1), 1);
	return NULL;
}

static void *make_room(void *unused)
{
	ssize_t n;

	(void)unused;
	wait_for_signals();
	n = read(two[0], page_of_bytes, sizeof(page_of_bytes));
	CHECK_INT(n, sizeof(page_of_bytes));
	return NULL;
}

static void *open_other_end(void *unused)
{
	(void)unused;
	wait_for_signals();
	close(open(fifo_path, O_WRONLY | O_CLOEXEC));
	return NULL;
}

static void restart_one(const char *name, ssize_t (*call)(void), void *(*release)(void *))
{
	pthread_t thread;
	ssize_t ret;

	open_two();
	if (release == make_room)
		fill(two[1]);
	storm_start(500000);
	thread = start_thread(release, NULL);
	ret = call();
	storm_stop();
	pthread_join(thread, NULL);
	CHECK_CASE(ret == 1, name);
	CHECK_CASE(atomic_load(&storm_signals) >= 10, name);
	close_two();
}

static void interrupted_calls_restart(void)
{
	restart_one("read", wait_read, give_a_byte);
	restart_one("read_flags", wait_read_flags, give_a_byte);
	restart_one("splice", wait_splice, give_a_byte);
	restart_one("tee", wait_tee, give_a_byte);
	restart_one("poll", wait_poll, give_a_byte);
	restart_one("write", wait_write, make_room);
	restart_one("write_flags", wait_write_flags, make_room);
	restart_one("vmsplice", wait_vmsplice, make_room);
}

static void interrupted_open_restarts(void)
{
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	snprintf(fifo_path, sizeof(fifo_path), "%s/gush-unit-fifo-%d", folder, (int)getpid());
	CHECK_INT(mkfifo(fifo_path, 0600), 0);
	restart_one("open", wait_open, open_other_end);
	unlink(fifo_path);
}

/* A timeout that began anew after each signal would never end here. */
static void interrupted_poll_goes_on(void)
{
	struct pollfd p = { .events = POLLIN };
	int64_t start;

	open_two();
	p.fd = two[0];
	storm_start(5000000);
	start = gi_sys_now_ns();
	CHECK_INT(gi_sys_poll(&p, 1, 150000000), 0);
	CHECK(gi_sys_now_ns() - start >= 150000000);
	storm_stop();
	CHECK(atomic_load(&storm_signals) > 0);
	close_two();
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(interrupted_calls_restart);
	TEST(interrupted_open_restarts);
	TEST(interrupted_poll_goes_on);
	return test_end();
}
