/* SPDX-License-Identifier: MIT */
/* tools/pair/receiver.c where the preparation fails: the error and the place are right, and nothing stays
 * open. */
#include "receiver.h"

#include "stream.h"

#include <sys/resource.h>

static int two[2];

static void open_two(void)
{
	CHECK_INT(pipe2(two, O_CLOEXEC), 0);
}

static void close_two(void)
{
	close(two[0]);
	close(two[1]);
}

static void expect_unprepared(const struct receiver_config *c, int fd, int error, const char *failed_at)
{
	struct fds before = fds_now();
	struct receiver r;

	CHECK_INT(receiver_prepare(&r, fd, c), error);
	CHECK_TEXT(r.failed_at ? r.failed_at : "nowhere", failed_at);
	CHECK_INT(r.received_bytes, 0);
	receiver_release(&r);
	CHECK_INT(fds_opened_since(&before), 0);
}

static void no_input(void)
{
	struct receiver_config c = { .chunk_bytes = 4096 };

	for (int call = RECEIVER_READ; call <= RECEIVER_HOLD; call++) {
		c.call = call;
		expect_unprepared(&c, -1, -EBADF, "input");
		expect_unprepared(&c, 1000, -EBADF, "input");
	}
}

static void buffers(void)
{
	static const struct {
		size_t chunk_bytes;
		int error;
	} cases[] = {
		{ 0, -EINVAL },
		{ SIZE_MAX, -EOVERFLOW },
		{ SIZE_MAX / 4, -ENOMEM },
	};

	open_two();
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct receiver_config c = { .chunk_bytes = cases[i].chunk_bytes };

		expect_unprepared(&c, two[0], cases[i].error, "buffer");
		c.call = RECEIVER_HOLD;
		expect_unprepared(&c, two[0], cases[i].error, "buffer");
	}
	close_two();
}

static void check_lock_limit(void)
{
	struct receiver_config c = { .chunk_bytes = 4096, .lock = true };
	struct rlimit none = { 0, 0 };

	if (!mlock_works())
		SKIP("the sanitizer replaces mlock");
	CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	open_two();
	expect_unprepared(&c, two[0], -EPERM, "buffer");
	close_two();
}

static void lock_limit(void)
{
	as_ordinary_user(check_lock_limit);
}

static void huge_page_check(void)
{
	struct receiver_config c = { .chunk_bytes = 4096, .check_huge = true };

	open_two();
	expect_unprepared(&c, two[0], -ENODATA, "huge page check"); /* not asked for */
	close_two();
}

static void check_no_descriptors_left(void)
{
	static const struct {
		enum receiver_call call;
		const char *failed_at;
	} cases[] = { { RECEIVER_SPLICE, "/dev/null" }, { RECEIVER_HOLD, "pipe to hold bytes in" } };
	struct receiver r;
	struct rlimit none = { 0, 0 };

	open_two();
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct receiver_config c = { .call = cases[i].call, .chunk_bytes = 4096 };

		CHECK_INT(receiver_prepare(&r, two[0], &c), -EMFILE);
		CHECK_TEXT(r.failed_at, cases[i].failed_at);
		receiver_release(&r);
	}
}

static void no_descriptors_left(void)
{
	in_child(check_no_descriptors_left);
}

static void too_large_to_hold(void)
{
	long max = number_in("/proc/sys/fs/pipe-max-size");
	struct receiver_config c = { .call = RECEIVER_HOLD, .untouched = true };

	if (max <= 0 || max > 1 << 28)
		SKIP("no usable /proc/sys/fs/pipe-max-size");
	c.chunk_bytes = 2 * (size_t)max;
	open_two();
	expect_unprepared(&c, two[0], -EPERM, "pipe to hold bytes in");
	close_two();
}

static void opens_what_it_needs_only(void)
{
	static const int opened[] = { 0, 1, 4 };
	struct fds before;
	struct receiver r;

	open_two();
	before = fds_now();
	for (int call = RECEIVER_READ; call <= RECEIVER_HOLD; call++) {
		struct receiver_config c = { .call = call, .chunk_bytes = 4096 };

		CHECK_INT(receiver_prepare(&r, two[0], &c), 0);
		CHECK_INT(fds_opened_since(&before), opened[call]);
		receiver_release(&r);
		CHECK_INT(fds_opened_since(&before), 0);
	}
	close_two();
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(no_input);
	TEST(buffers);
	TEST(lock_limit);
	TEST(huge_page_check);
	TEST(no_descriptors_left);
	TEST(too_large_to_hold);
	TEST(opens_what_it_needs_only);
	return test_end();
}
