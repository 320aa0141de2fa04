/* SPDX-License-Identifier: MIT */
#include "sys.h"

#include "support.h"

#define UNTOUCHED ((void *)0x1234)

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
	while (gi_sys_write_flags(fd, page_of_bytes, sizeof(page_of_bytes), GI_RWF_NOWAIT) > 0)
		;
}

static void bad_descriptor(void)
{
	struct stat st;
	char c = 0;

	CHECK_INT(gi_sys_close(-1), -EBADF);
	CHECK_INT(gi_sys_fstat(-1, &st), -EBADF);
	CHECK_INT(gi_sys_read(-1, &c, 1), -EBADF);
	CHECK_INT(gi_sys_write(-1, &c, 1), -EBADF);
	CHECK_INT(gi_sys_pread(-1, &c, 1, 0), -EBADF);
	CHECK_INT(gi_sys_read_flags(-1, &c, 1, 0), -EBADF);
	CHECK_INT(gi_sys_write_flags(-1, &c, 1, 0), -EBADF);
	CHECK_INT(gi_sys_splice(-1, -1, 1, 0), -EBADF);
	CHECK_INT(gi_sys_vmsplice(-1, &c, 1, 0), -EBADF);
	CHECK_INT(gi_sys_tee(-1, -1, 1, 0), -EBADF);
	CHECK_INT(gi_sys_get_flags(-1), -EBADF);
	CHECK_INT(gi_sys_get_pipe_size(-1), -EBADF);
	CHECK_INT(gi_sys_set_pipe_size(-1, 4096), -EBADF);
	CHECK_INT(gi_sys_ioctl(-1, 0, NULL), -EBADF);
}

static void errors_are_negative(void)
{
	int file = open_nameless(S_IFREG, O_RDWR), null = open("/dev/null", O_RDWR | O_CLOEXEC);
	void *base = UNTOUCHED;
	char c = 0;

	CHECK_INT(gi_sys_open("/nonexistent/file", O_RDONLY, 0), -ENOENT);
	CHECK_INT(gi_sys_open("/", O_WRONLY, 0), -EISDIR);
	CHECK_INT(gi_sys_mmap_private(0, &base), -EINVAL);
	CHECK_INT(gi_sys_mmap_private(SIZE_MAX / 2, &base), -ENOMEM);
	CHECK(base == UNTOUCHED);
	CHECK_INT(gi_sys_munmap((void *)1, 4096), -EINVAL);
	CHECK_INT(gi_sys_madvise(NULL, 4096, -1), -EINVAL);
	CHECK_INT(gi_sys_ioctl(null, 0x5401 /* TCGETS */, page_of_bytes), -ENOTTY);
	CHECK_INT(gi_sys_splice(file, null, 1, 0), -EINVAL);
	CHECK_INT(gi_sys_tee(file, null, 1, 0), -EINVAL);
	CHECK_INT(gi_sys_get_pipe_size(file), -EBADF);
	CHECK_INT(gi_sys_write_flags(file, &c, 1, 0x40000000), -EOPNOTSUPP);
	close(file);
	close(null);
}

static void pipe_size_is_never_cut_to_32_bits(void)
{
	static const size_t sizes[] = { (size_t)INT32_MAX + 1, UINT32_MAX, (size_t)1 << 32,
		((size_t)1 << 32) + 4096, SIZE_MAX };
	int before;

	open_two();
	before = gi_sys_get_pipe_size(two[0]);
	for (size_t i = 0; i < COUNT(sizes); i++)
		CHECK_INT(gi_sys_set_pipe_size(two[0], sizes[i]), -EINVAL);
	CHECK_INT(gi_sys_get_pipe_size(two[0]), before);
	close_two();
}

static void descriptors_close_on_exec(void)
{
	struct fds before = fds_now();
	int null;

	open_two();
	null = gi_sys_open("/dev/null", O_RDWR, 0);
	CHECK(null >= 0);
	CHECK_INT(fds_opened_since(&before), 3);
	CHECK_INT(gi_sys_get_flags(two[0]) & (O_ACCMODE | O_NONBLOCK), O_RDONLY);
	CHECK_INT(gi_sys_get_flags(two[1]) & (O_ACCMODE | O_NONBLOCK), O_WRONLY);
	CHECK_INT(gi_sys_get_flags(null) & O_ACCMODE, O_RDWR);
	CHECK_INT(gi_sys_close(null), 0);
	CHECK_INT(gi_sys_close(null), -EBADF);
	close_two();
	CHECK_INT(fds_opened_since(&before), 0);
}

static void own_offset(void)
{
	int file = open_nameless(S_IFREG, O_RDWR);
	char text[8] = "";

	CHECK_INT(gi_sys_write_flags(file, "abc", 3, 0), 3);
	CHECK_INT(gi_sys_write_flags(file, "def", 3, 0), 3);
	CHECK_INT(gi_sys_pread(file, text, 2, 4), 2);
	CHECK_TEXT(text, "ef");
	CHECK_INT(lseek(file, 1, SEEK_SET), 1);
	CHECK_INT(gi_sys_read_flags(file, text, 3, 0), 3);
	CHECK_TEXT(text, "bcd");
	CHECK_INT(gi_sys_read_flags(file, text, 7, 0), 2);
	CHECK_INT(gi_sys_read_flags(file, text, 7, 0), 0);
	close(file);
}

static void nowait_flag(void)
{
	char c;

	open_two();
	if (gi_sys_read_flags(two[0], &c, 1, GI_RWF_NOWAIT) == -EOPNOTSUPP) {
		close_two();
		SKIP("GI_RWF_NOWAIT on pipes came with Linux 6.5");
	}
	CHECK_INT(gi_sys_read_flags(two[0], &c, 1, GI_RWF_NOWAIT), -EAGAIN);
	fill(two[1]);
	CHECK_INT(gi_sys_write_flags(two[1], &c, 1, GI_RWF_NOWAIT), -EAGAIN);
	CHECK_INT(gi_sys_vmsplice(two[1], &c, 1, SPLICE_F_NONBLOCK), -EAGAIN);
	CHECK_INT(gi_sys_get_flags(two[0]) & O_NONBLOCK, 0);
	CHECK_INT(gi_sys_get_flags(two[1]) & O_NONBLOCK, 0);
	close_two();
}

static void moving_without_copying(void)
{
	char text[16] = "";
	int other[2];

	open_two();
	CHECK_INT(gi_sys_pipe(other), 0);
	CHECK_INT(gi_sys_vmsplice(two[1], "splendid", 8, 0), 8);
	CHECK_INT(gi_sys_tee(two[0], other[1], 3, 0), 3);
	CHECK_INT(gi_sys_splice(two[0], other[1], 100, 0), 8);
	CHECK_INT(gi_sys_read(other[0], text, 15), 11);
	CHECK_TEXT(text, "splsplendid");
	CHECK_INT(gi_sys_tee(two[0], other[1], 1, SPLICE_F_NONBLOCK), -EAGAIN);
	CHECK_INT(gi_sys_splice(two[0], other[1], 1, SPLICE_F_NONBLOCK), -EAGAIN);
	close(other[0]);
	CHECK_INT(gi_sys_write(two[1], "kept", 4), 4);
	CHECK_INT(gi_sys_splice(two[0], other[1], 4, 0), -EPIPE);
	CHECK_INT(gi_sys_read(two[0], text, 15), 4);
	close(other[1]);
	close_two();
}

static void poll_timeouts(void)
{
	struct pollfd p = { .events = POLLIN };
	int64_t start = gi_sys_now_ns();

	open_two();
	p.fd = two[0];
	CHECK_INT(gi_sys_poll(&p, 1, 0), 0);
	CHECK_INT(gi_sys_poll(&p, 1, 1), 0);
	CHECK_INT(gi_sys_poll(&p, 1, 20000000), 0);
	CHECK(gi_sys_now_ns() - start >= 20000000);
	CHECK_INT(write(two[1], "b", 1), 1);
	CHECK_INT(gi_sys_poll(&p, 1, 0), 1);
	CHECK_INT(gi_sys_poll(&p, 1, -1), 1);
	CHECK_INT(gi_sys_poll(&p, 1, INT64_MAX / 2), 1);
	CHECK_INT(p.revents, POLLIN);
	close_two();
}

static void failing_clones_leave_no_child(void)
{
	static long (*const ways[])(void) = { gi_sys_clone3_no_pid, gi_sys_clone_bad_pidfd };
	struct fds before = fds_now();

	for (int i = 0; i < 20; i++) {
		CHECK(ways[i % 2]() < 0);
		errno = 0;
		CHECK(waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD);
	}
	CHECK_INT(fds_opened_since(&before), 0);
}

static void memory(void)
{
	char *base = NULL;
	void *mapped = NULL;

	CHECK_INT(gi_sys_mmap_private(8192, &mapped), 0);
	base = mapped;
	CHECK(base && base[0] == 0 && base[8191] == 0);
	base[8191] = 1;
	CHECK_INT(gi_sys_madvise(base, 8192, MADV_DONTNEED), 0);
	CHECK_INT(base[8191], 0);
	CHECK_INT(gi_sys_mlock(base, 4096), 0);
	CHECK_INT(gi_sys_munmap(base, 8192), 0);
}

static void lock_of_nothing(void)
{
	if (!mlock_works())
		SKIP("the sanitizer replaces mlock");
	CHECK_INT(gi_sys_mlock(NULL, 4096), -ENOMEM);
}

static void clock_goes_forward(void)
{
	int64_t last = gi_sys_now_ns();

	for (int i = 0; i < 1000; i++) {
		int64_t now = gi_sys_now_ns();

		CHECK(now >= last);
		last = now;
	}
	sleep_ms(2);
	CHECK(gi_sys_now_ns() - last >= 2000000);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(bad_descriptor);
	TEST(errors_are_negative);
	TEST(pipe_size_is_never_cut_to_32_bits);
	TEST(descriptors_close_on_exec);
	TEST(own_offset);
	TEST(nowait_flag);
	TEST(moving_without_copying);
	TEST(poll_timeouts);
	TEST(failing_clones_leave_no_child);
	TEST(memory);
	TEST(lock_of_nothing);
	TEST(clock_goes_forward);
	return test_end();
}
