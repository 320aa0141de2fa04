/* SPDX-License-Identifier: MIT */
/* tools/pair/sender.c where the preparation fails: the error and the place are right, and nothing stays open.
 */
#include "sender.h"

#include "stream.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#define CHUNK 65536

static const struct sender_config plain = { .chunk_bytes = CHUNK, .chunks = 2 };
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

/* The preparation must fail so, leave no descriptor, and be releasable. */
static void expect_unprepared(const struct sender_config *c, int fd, int error, const char *failed_at)
{
	struct fds before = fds_now();
	struct sender s;

	CHECK_INT(sender_prepare(&s, fd, c), error);
	CHECK_TEXT(s.failed_at ? s.failed_at : "nowhere", failed_at);
	CHECK_INT(s.sent_bytes, 0);
	sender_release(&s);
	CHECK_INT(fds_opened_since(&before), 0);
}

static void no_output(void)
{
	expect_unprepared(&plain, -1, -EBADF, "output");
	expect_unprepared(&plain, 1000, -EBADF, "output");
}

static void pipe_sizes(void)
{
	static const struct {
		size_t pipe_bytes;
		int error;
	} cases[] = {
		{ 12345, -ERANGE },
		{ 3 * CHUNK, -ERANGE },
		{ 1, -ERANGE },
		{ 1 << 30, -EPERM },
		{ (size_t)1 << 32, -EINVAL },
	};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sender_config c = plain;

	open_two();
	for (size_t i = 0; i < COUNT(cases); i++) {
		c.pipe_bytes = cases[i].pipe_bytes;
		expect_unprepared(&c, two[1], cases[i].error, "pipe size");
	}
	c.pipe_bytes = CHUNK;
	expect_unprepared(&c, null, -EBADF, "pipe size");
	CHECK_INT(fcntl(two[1], F_SETPIPE_SZ, CHUNK), CHUNK);
	for (int i = 0; i < 3; i++) {
		static char page[4096];

		CHECK_INT(write(two[1], page, sizeof(page)), sizeof(page));
	}
	c.pipe_bytes = 8192;
	expect_unprepared(&c, two[1], -EBUSY, "pipe size");
	close(null);
	close_two();
}

static void buffers(void)
{
	static const struct {
		size_t chunk_bytes;
		unsigned chunks;
		bool one_mapping;
		int error;
	} cases[] = {
		{ SIZE_MAX, 1, false, -EOVERFLOW }, { SIZE_MAX / 2, 2, false, -EOVERFLOW },
		{ SIZE_MAX / 4, 1, false, -ENOMEM }, { 0, 1, false, -EINVAL },
		{ SIZE_MAX / 4, 2, true, -EOVERFLOW },
		{ SIZE_MAX / 2 + 1, 2, true, -EOVERFLOW },    /* 2 of them: 0 bytes */
		{ SIZE_MAX / 2 + 2049, 2, true, -EOVERFLOW }, /* 2 of them: 4096 bytes */
	};

	open_two();
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sender_config c = { .chunk_bytes = cases[i].chunk_bytes,
			.chunks = cases[i].chunks,
			.one_mapping = cases[i].one_mapping };

		expect_unprepared(&c, two[1], cases[i].error, "buffer");
	}
	close_two();
}

static void check_lock_limit(void)
{
	struct sender_config c = plain;
	struct rlimit none = { 0, 0 };

	if (!mlock_works())
		SKIP("the sanitizer replaces mlock");
	CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	c.lock = true;
	open_two();
	expect_unprepared(&c, two[1], -EPERM, "buffer");
	close_two();
}

static void lock_limit(void)
{
	as_ordinary_user(check_lock_limit);
}

static void check_huge_disabled(void)
{
	struct sender_config c = plain;

	if (gi_huge_page_bytes() == 0)
		SKIP("this kernel has no transparent huge pages");
	CHECK_INT(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	c.huge = c.check_huge = true;
	expect_unprepared(&c, two[1], -ENODATA, "huge page check");
}

static void huge_page_check(void)
{
	struct sender_config c = plain;

	open_two();
	c.check_huge = true;
	expect_unprepared(&c, two[1], -ENODATA, "huge page check"); /* not asked for */
	in_child(check_huge_disabled);
	close_two();
}

static void master_pipe(void)
{
	long max = number_in("/proc/sys/fs/pipe-max-size");
	struct sender_config c = { .call = SENDER_TEE, .chunks = 1, .untouched = true };

	if (max <= 0 || max > 1 << 28)
		SKIP("no usable /proc/sys/fs/pipe-max-size");
	c.chunk_bytes = 2 * (size_t)max;
	open_two();
	expect_unprepared(&c, two[1], -EPERM, "master pipe");
	close_two();
}

static void check_no_descriptors_left(void)
{
	struct sender_config c = plain;
	struct rlimit none = { 0, 0 };
	struct sender s;

	open_two();
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	c.call = SENDER_TEE;

	CHECK_INT(sender_prepare(&s, two[1], &c), -EMFILE);
	CHECK_TEXT(s.failed_at, "master pipe");
	sender_release(&s);
	c.call = SENDER_VMSPLICE;
	c.protect = true;
	CHECK_INT(sender_prepare(&s, two[1], &c), -EMFILE);
	CHECK_TEXT(s.failed_at, "copy-on-write barrier");
	sender_release(&s);
}

static void no_descriptors_left(void)
{
	in_child(check_no_descriptors_left);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	TEST(no_output);
	TEST(pipe_sizes);
	TEST(buffers);
	TEST(lock_limit);
	TEST(huge_page_check);
	TEST(master_pipe);
	TEST(no_descriptors_left);
	return test_end();
}
