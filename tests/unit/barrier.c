/* SPDX-License-Identifier: MIT */
/* src/barrier.c: bytes in flight keep their values, and nothing claims so where they do not. */
#include "barrier.h"

#include "hugebuf.h"
#include "pipe.h"
#include "support.h"
#include "sys.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#define SLOTS 16

static size_t page;
static struct gi_barrier barrier;
static bool usable; /* the probe found a way for huge pages */

/* Sends one page of each sixteenth of the buffer, which holds nothing but `value`. */
static void send_pages(const struct gi_hugebuf *buf, int fd, int value)
{
	memset(buf->base, value, buf->mapped_bytes);
	for (size_t i = 0; i < SLOTS; i++)
		CHECK_INT(gi_sys_vmsplice(fd, buf->base + i * (buf->mapped_bytes / SLOTS), page, 0), page);
}

static size_t count_changed(int fd, int value)
{
	char *seen = malloc(SLOTS * page);
	size_t got = 0, changed = 0;

	while (got < SLOTS * page) {
		ssize_t n = gi_sys_read(fd, seen + got, SLOTS * page - got);

		if (!CHECK(n > 0))
			break;
		got += (size_t)n;
	}
	for (size_t i = 0; i < got; i++)
		changed += seen[i] != value;
	free(seen);
	return changed;
}

/* One pass over the buffer: how many of the bytes in flight another pass changed. */
static size_t overwrite_in_flight(const struct gi_hugebuf *buf, const struct gi_barrier *with)
{
	struct gi_pipe pipe = GI_PIPE_NONE;
	size_t capacity, changed;

	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_grow(pipe.write_fd, SLOTS * page, &capacity), 0);
	send_pages(buf, pipe.write_fd, 1);
	if (with)
		CHECK_INT(gi_barrier_run(with), 0);
	memset(buf->base, 2, buf->mapped_bytes);
	changed = count_changed(pipe.read_fd, 1);
	gi_pipe_close(&pipe);
	return changed;
}

static void probe_succeeds(void)
{
	struct gi_barrier found = { 0 };
	int ret;

	if (gi_huge_page_bytes() == 0)
		SKIP("this kernel has no transparent huge pages");
	ret = gi_barrier_probe(GI_HUGEBUF_HUGE, &barrier);
	if (ret == -EOPNOTSUPP)
		SKIP("no barrier protects here: an old kernel, or a sandbox");
	CHECK_INT(ret, 0);
	usable = ret == 0;
	CHECK(barrier.copy_memory != NULL);
	CHECK(barrier.expected < 0);
	CHECK_INT(gi_barrier_probe(0, &found), 0);
	CHECK(found.copy_memory != NULL);
	CHECK_INT(gi_barrier_probe(GI_HUGEBUF_HUGE | GI_HUGEBUF_LOCK, &found), 0);
}

static void protects(unsigned flags, size_t bytes)
{
	const struct gi_barrier *way;
	struct gi_hugebuf buf;

	CHECK_INT(gi_hugebuf_map(bytes, flags, &buf), 0);
	CHECK_INT(overwrite_in_flight(&buf, NULL), SLOTS * page); /* the control: all of them change */
	for (size_t i = 0; (way = gi_barrier_at(i)); i++) {
		CHECK_INT(gi_barrier_try(way, flags), 0);
		for (int pass = 0; pass < 5; pass++)
			CHECK_INT(overwrite_in_flight(&buf, way), 0);
	}
	CHECK_INT(overwrite_in_flight(&buf, NULL), SLOTS * page); /* one barrier lasts for one pass */
	gi_hugebuf_unmap(&buf);
}

static void huge_pages(void)
{
	if (!usable)
		SKIP("no barrier protects here");
	protects(GI_HUGEBUF_HUGE, gi_huge_page_bytes());
	protects(GI_HUGEBUF_HUGE, 3 * gi_huge_page_bytes());
}

static void small_pages(void)
{
	if (!usable)
		SKIP("no barrier protects here");
	protects(0, SLOTS * page);
	protects(0, 4 * SLOTS * page);
}

static void locked_pages(void)
{
	if (!usable)
		SKIP("no barrier protects here");
	protects(GI_HUGEBUF_LOCK, SLOTS * page);
	protects(GI_HUGEBUF_HUGE | GI_HUGEBUF_LOCK, gi_huge_page_bytes());
}

/* The first pipe is empty again; a second one, filled by tee, still holds the pages. */
static void held_further_down(void)
{
	struct gi_pipe first = GI_PIPE_NONE, second = GI_PIPE_NONE;
	struct gi_hugebuf buf;
	size_t capacity;

	if (!usable)
		SKIP("no barrier protects here");
	CHECK_INT(gi_hugebuf_map(1, GI_HUGEBUF_HUGE, &buf), 0);
	for (int guarded = 0; guarded < 2; guarded++) {
		CHECK(gi_pipe_open(&first) == 0 && gi_pipe_open(&second) == 0);
		CHECK_INT(gi_pipe_grow(first.write_fd, SLOTS * page, &capacity), 0);
		CHECK_INT(gi_pipe_grow(second.write_fd, SLOTS * page, &capacity), 0);
		send_pages(&buf, first.write_fd, 1);
		CHECK_INT(gi_sys_tee(first.read_fd, second.write_fd, SLOTS * page, 0), SLOTS * page);
		CHECK_INT(count_changed(first.read_fd, 1), 0);
		if (guarded)
			CHECK_INT(gi_barrier_run(&barrier), 0);
		memset(buf.base, 2, buf.mapped_bytes);
		CHECK_INT(count_changed(second.read_fd, 1), guarded ? 0 : SLOTS * page);
		gi_pipe_close(&first);
		gi_pipe_close(&second);
	}
	gi_hugebuf_unmap(&buf);
}

/* The writer sees its own new bytes, whatever the reader holds. */
static void writer_keeps_its_memory(void)
{
	struct gi_pipe pipe = GI_PIPE_NONE;
	struct gi_hugebuf buf;
	size_t capacity, wrong = 0;

	if (!usable)
		SKIP("no barrier protects here");
	CHECK_INT(gi_hugebuf_map(1, GI_HUGEBUF_HUGE, &buf), 0);
	CHECK_INT(gi_pipe_open(&pipe), 0);
	CHECK_INT(gi_pipe_grow(pipe.write_fd, SLOTS * page, &capacity), 0);
	send_pages(&buf, pipe.write_fd, 1);
	CHECK_INT(gi_barrier_run(&barrier), 0);
	buf.base[5] = 2;
	for (size_t i = 0; i < buf.mapped_bytes; i++)
		wrong += buf.base[i] != (i == 5 ? 2 : 1);
	CHECK_INT(wrong, 0);
	CHECK_INT(count_changed(pipe.read_fd, 1), 0);
	gi_pipe_close(&pipe);
	gi_hugebuf_unmap(&buf);
}

static long returns_zero(void)
{
	return 0;
}
static long returns_a_pid(void)
{
	return 4711;
}
static long is_forbidden(void)
{
	return -EPERM;
}
static long fails_early(void)
{
	return -ENOMEM;
}
static long is_not_there(void)
{
	return -ENOSYS;
}

static void unusable_barriers(void)
{
	static const struct {
		const char *name;
		struct gi_barrier barrier;
		int ret;
	} cases[] = {
		{ "as expected", { NULL, is_forbidden, -EPERM }, 0 },
		{ "a child came to be after all", { NULL, returns_a_pid, -EINVAL }, 0 },
		{ "0: we would be the child", { NULL, returns_zero, -EINVAL }, -EINVAL },
		{ "0, where a child is wanted", { NULL, returns_zero, 0 }, -EINVAL },
		{ "the child that is wanted", { NULL, returns_a_pid, 0 }, 0 },
		{ "forbidden", { NULL, is_forbidden, -EINVAL }, -EPERM },
		{ "failed before it copied", { NULL, fails_early, -EINVAL }, -ENOMEM },
		{ "no such call", { NULL, is_not_there, -EFAULT }, -ENOSYS },
		{ "the other way's error", { NULL, fails_early, -EFAULT }, -ENOMEM },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_CASE(gi_barrier_run(&cases[i].barrier) == cases[i].ret, cases[i].name);
}

/* A way that does not copy memory, and says that all is well, is found out by what happens to the bytes. */
static void control_of_the_control(void)
{
	static const struct gi_barrier idle = { "forbidden", is_forbidden, -EPERM };
	struct gi_hugebuf buf;

	CHECK_INT(gi_hugebuf_map(SLOTS * page, 0, &buf), 0);
	CHECK_INT(overwrite_in_flight(&buf, &idle), SLOTS * page);
	gi_hugebuf_unmap(&buf);
}

static void check_probe_fails(void)
{
	struct gi_barrier untouched = { "zero", returns_zero, 77 };
	struct rlimit none = { 0, 0 };

	if (!mlock_works())
		SKIP("the sanitizer replaces mlock");
	CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	CHECK_INT(gi_barrier_probe(GI_HUGEBUF_LOCK, &untouched), -EPERM);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_INT(gi_barrier_probe(0, &untouched), -EMFILE);
	CHECK(untouched.copy_memory == returns_zero && untouched.expected == 77);
}

static void probe_that_cannot_run(void)
{
	as_ordinary_user(check_probe_fails);
}

static atomic_int foreign_signals;

static void handler_of_children(int number)
{
	(void)number;
	atomic_fetch_add(&foreign_signals, 1);
}

/* A caller that ignores its children, hears of each, or waits for them: the child of the barrier is not its.
 */
static void callers_children(void)
{
	struct sigaction before, ignore = { .sa_handler = SIG_IGN },
				 hear = { .sa_handler = handler_of_children };

	if (!usable)
		SKIP("no barrier protects here");
	atomic_store(&foreign_signals, 0);
	sigaction(SIGCHLD, &ignore, &before);
	CHECK_INT(gi_barrier_try(gi_barrier_at(2), 0), 0);
	sigaction(SIGCHLD, &hear, NULL);
	CHECK_INT(gi_barrier_try(gi_barrier_at(2), 0), 0);
	CHECK_INT(atomic_load(&foreign_signals), 0);
	sigaction(SIGCHLD, &before, NULL);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void renewed_pages_leave_those_in_flight(void)
{
	static const unsigned flags[] = { 0, GI_HUGEBUF_LOCK, GI_HUGEBUF_HUGE };

	for (size_t i = 0; i < COUNT(flags); i++) {
		struct gi_pipe pipe = GI_PIPE_NONE;
		struct gi_hugebuf buf;

		if (gi_hugebuf_map(SLOTS * page, flags[i], &buf) < 0)
			continue;
		CHECK_INT(gi_pipe_open(&pipe), 0);
		send_pages(&buf, pipe.write_fd, 1);
		CHECK_INT(gi_hugebuf_renew(buf.base, buf.mapped_bytes), 0);
		CHECK(buf.base[0] == 0 && buf.base[buf.mapped_bytes - 1] == 0);
		memset(buf.base, 2, buf.mapped_bytes);
		CHECK_INT(count_changed(pipe.read_fd, 1), 0);
		gi_pipe_close(&pipe);
		gi_hugebuf_unmap(&buf);
	}
}

static void leaves_nothing_open(void)
{
	struct fds before = fds_now();
	struct gi_barrier found;

	for (unsigned flags = 0; flags < 4; flags++)
		gi_barrier_probe(flags, &found);
	if (usable)
		CHECK_INT(gi_barrier_run(&barrier), 0);
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	page = gi_page_bytes();
	TEST(probe_succeeds);
	TEST(huge_pages);
	TEST(small_pages);
	TEST(locked_pages);
	TEST(held_further_down);
	TEST(writer_keeps_its_memory);
	TEST(unusable_barriers);
	TEST(control_of_the_control);
	TEST(probe_that_cannot_run);
	TEST(callers_children);
	TEST(renewed_pages_leave_those_in_flight);
	TEST(leaves_nothing_open);
	return test_end();
}
