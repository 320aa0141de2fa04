/* SPDX-License-Identifier: MIT */
/* src/pipe.c, and what it takes for granted about the kernel's pipes. */
#include "pipe.h"

#include "hugebuf.h"
#include "support.h"
#include "sys.h"

static size_t page;

static void life(void)
{
	struct fds before = fds_now();
	struct gi_pipe pipe = GI_PIPE_NONE;

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(fds_opened_since(&before), 2);
	gi_pipe_close_read(&pipe);
	CHECK_INT(pipe.read_fd, -1);
	CHECK(pipe.write_fd >= 0);
	gi_pipe_close_read(&pipe);
	gi_pipe_close(&pipe);
	CHECK(pipe.read_fd == -1 && pipe.write_fd == -1);
	gi_pipe_close(&pipe);
	gi_pipe_close_write(&pipe);
	CHECK_INT(fds_opened_since(&before), 0);
}

static void too_many_open(void)
{
	struct gi_pipe pipe = { 77, 78 };
	struct gi_pipe kept[FDS_MAX];
	int count = 0, ret;

	while ((ret = gi_pipe_open(&kept[count])) == 0 && count < FDS_MAX - 1)
		count++;
	if (ret == 0) /* the limit is far away: no need to go there */
		ret = -EMFILE;
	else
		ret = gi_pipe_open(&pipe);
	while (count > 0)
		gi_pipe_close(&kept[--count]);
	CHECK(ret == -EMFILE || ret == -ENFILE);
	CHECK(pipe.read_fd == 77 && pipe.write_fd == 78);
}

static void resize(void)
{
	const struct {
		size_t pages;
		int extra;
		int ret;
		size_t capacity_pages;
	} cases[] = {
		{ 1, 0, 0, 1 },
		{ 2, 0, 0, 2 },
		{ 16, 0, 0, 16 },
		{ 256, 0, 0, 256 },
		{ 3, 0, -ERANGE, 4 },
		{ 5, 0, -ERANGE, 8 },
		{ 1, 1, -ERANGE, 2 },
		{ 1, -1, -ERANGE, 1 },
		{ 16, -1, -ERANGE, 16 },
		{ 0, 0, -ERANGE, 1 },
		{ 0, 1, -ERANGE, 1 },
	};
	struct gi_pipe pipe;
	size_t capacity;

	CHECK_INT(gi_pipe_open(&pipe), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		CHECK_INT(gi_pipe_resize(
				  pipe.write_fd, cases[i].pages * page + (size_t)cases[i].extra, &capacity),
			cases[i].ret);
		CHECK_INT(capacity, cases[i].capacity_pages * page);
		CHECK_INT(gi_pipe_capacity(pipe.read_fd, &capacity), 0);
		CHECK_INT(capacity, cases[i].capacity_pages * page);
	}
	gi_pipe_close(&pipe);
}

static void grow(void)
{
	const struct {
		size_t bytes, capacity_pages;
	} cases[] = {
		{ 0, 2 }, { 1, 2 }, { 2 * page, 2 }, { 2 * page + 1, 4 },
		{ 3 * page, 4 },				  /* no error: it holds at least that */
		{ page, 4 }, { 16 * page, 16 }, { 2 * page, 16 }, /* never shrinks */
	};
	struct gi_pipe pipe;
	size_t capacity;

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_resize(pipe.read_fd, 2 * page, &capacity), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		CHECK_INT(gi_pipe_grow(pipe.write_fd, cases[i].bytes, &capacity), 0);
		CHECK_INT(capacity, cases[i].capacity_pages * page);
	}
	gi_pipe_close(&pipe);
}

static void no_pipe(void)
{
	int fds[] = { -1, open_nameless(S_IFREG, O_RDWR), open("/dev/null", O_WRONLY | O_CLOEXEC) };
	size_t capacity = 77;

	for (size_t i = 0; i < COUNT(fds); i++) {
		CHECK_INT(gi_pipe_capacity(fds[i], &capacity), -EBADF);
		CHECK_INT(gi_pipe_grow(fds[i], page, &capacity), -EBADF);
		CHECK_INT(gi_pipe_resize(fds[i], page, &capacity), -EBADF);
		close(fds[i]);
	}
	CHECK_INT(capacity, 77);
}

static void grow_with_contents(void)
{
	struct gi_pipe pipe;
	char text[8] = "";
	size_t capacity;

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_sys_write(pipe.write_fd, "kept", 4), 4);
	CHECK_INT(gi_pipe_grow(pipe.write_fd, 64 * page, &capacity), 0);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, page, &capacity), 0);
	CHECK_INT(gi_sys_read(pipe.read_fd, text, 7), 4);
	CHECK_TEXT(text, "kept");
	gi_pipe_close(&pipe);
}

static void shrink_below_contents(void)
{
	struct gi_pipe pipe;
	size_t capacity = 77;
	char byte = 'b';

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 8 * page, &capacity), 0);
	for (int i = 0; i < 3; i++) /* three slots, three bytes */
		CHECK_INT(gi_sys_vmsplice(pipe.write_fd, &byte, 1, 0), 1);
	capacity = 77;
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 2 * page, &capacity), -EBUSY);
	CHECK_INT(capacity, 77);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 4 * page, &capacity), 0);
	gi_pipe_close(&pipe);
}

/* A slot is a slot, however few bytes it holds; writes of single bytes share one. */
static void capacity_is_slots(void)
{
	struct gi_pipe pipe;
	size_t capacity, sent = 0;
	char byte = 'b', *buf = aligned_alloc(page, 4 * page);

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 16 * page, &capacity), 0);
	while (gi_sys_vmsplice(pipe.write_fd, &byte, 1, SPLICE_F_NONBLOCK) == 1)
		sent++;
	CHECK_INT(sent, 16);
	gi_pipe_close(&pipe);

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 2 * page, &capacity), 0);
	for (sent = 0; sent < 2 * page; sent++)
		CHECK(gi_sys_write(pipe.write_fd, &byte, 1) == 1);
	gi_pipe_close(&pipe);

	memset(buf, 'x', 4 * page);
	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 2 * page, &capacity), 0);
	CHECK_INT(gi_sys_vmsplice(pipe.write_fd, buf, 2 * page, SPLICE_F_NONBLOCK), 2 * page);
	gi_pipe_close(&pipe);
	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, 2 * page, &capacity), 0);
	/* Unaligned: two pages' worth of bytes would take three slots. */
	CHECK_INT(gi_sys_vmsplice(pipe.write_fd, buf + 16, 2 * page, SPLICE_F_NONBLOCK), 2 * page - 16);
	gi_pipe_close(&pipe);
	free(buf);
}

static void past_pipe_max_size(void)
{
	long max = number_in("/proc/sys/fs/pipe-max-size");
	struct gi_pipe pipe;
	size_t before, capacity = 77;

	if (max <= 0 || max > 1 << 29)
		SKIP("no usable /proc/sys/fs/pipe-max-size");
	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_capacity(pipe.read_fd, &before), 0);
	CHECK_INT(gi_pipe_grow(pipe.write_fd, (size_t)max + 1, &capacity), -EPERM);
	CHECK_INT(gi_pipe_resize(pipe.write_fd, (size_t)max * 2, &capacity), -EPERM);
	CHECK_INT(capacity, 77);
	CHECK_INT(gi_pipe_capacity(pipe.read_fd, &capacity), 0);
	CHECK_INT(capacity, before);
	CHECK_INT(gi_pipe_grow(pipe.write_fd, (size_t)max, &capacity), 0);
	CHECK_INT(capacity, max);
	gi_pipe_close(&pipe);
}

static void past_pipe_max_size_as_ordinary_user(void)
{
	as_ordinary_user(past_pipe_max_size);
}

/* Others of this user may hold pipes too: whatever they leave is used up. */
static void fill_share(size_t max, int limit)
{
	struct gi_pipe pipes[300];
	size_t capacity = 0;
	int count = 0, ret = 0;

	while (capacity != 2 * page && count < limit) {
		CHECK_INT(gi_pipe_open(&pipes[count]), 0);
		ret = gi_pipe_grow(pipes[count].write_fd, max, &capacity);
		CHECK_INT(gi_pipe_capacity(pipes[count].read_fd, &capacity), 0);
		count++;
	}
	CHECK_INT(ret, -EPERM);
	CHECK_INT(capacity, 2 * page);
	CHECK_INT(gi_pipe_grow(pipes[count - 1].write_fd, 4 * page, &capacity), -EPERM);
	CHECK_INT(gi_pipe_resize(pipes[count - 1].write_fd, page, &capacity), 0); /* less is no matter */
	while (count > 0)
		gi_pipe_close(&pipes[--count]);
}

static void past_the_users_share(void)
{
	long max = number_in("/proc/sys/fs/pipe-max-size");
	long soft = number_in("/proc/sys/fs/pipe-user-pages-soft");
	long pipes = max > 0 ? soft * (long)page / max + 20 : 0; /* the last ones are of default size */

	if (soft <= 0 || pipes <= 0 || pipes > 200)
		SKIP("pipe-user-pages-soft is off or far away");
	fill_share((size_t)max, (int)pipes);
}

static void past_the_users_share_as_ordinary_user(void)
{
	as_ordinary_user(past_the_users_share);
}

int main(void)
{
	alarm(HANG_SECONDS);
	page = gi_page_bytes();
	TEST(life);
	TEST(too_many_open);
	TEST(resize);
	TEST(grow);
	TEST(no_pipe);
	TEST(grow_with_contents);
	TEST(shrink_below_contents);
	TEST(capacity_is_slots);
	TEST(past_pipe_max_size);
	TEST(past_pipe_max_size_as_ordinary_user);
	TEST(past_the_users_share_as_ordinary_user);
	return test_end();
}
