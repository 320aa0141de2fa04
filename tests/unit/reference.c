/* SPDX-License-Identifier: MIT */
/* The references: each does the work it says, moves what it says, and cleans up. */
#include "reference.h"

#include "support.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static size_t pipe_holds(const struct gi_pipe *pipe)
{
	int bytes = -1;

	CHECK(ioctl(pipe->read_fd, FIONREAD, &bytes) == 0);
	return (size_t)bytes;
}

/* Prepares, or skips the case where that is not possible. */
static bool prepare(const struct reference *ref, struct reference_state *state)
{
	int ret;

	reference_init(state);
	ret = ref->prepare(state);
	if (ret == 0)
		return true;
	CHECK(state->failed_at && *state->failed_at);
	printf("  not here: %s: %s\n", state->failed_at, strerror(-ret));
	reference_release(state);
	return false;
}

static void limit_empties_its_pipe(void)
{
	struct reference_state state;

	if (!prepare(&reference_limit, &state))
		SKIP("no huge pages or no vmsplice");
	CHECK_INT(reference_limit.pass_bytes, 1 << 20);
	for (int i = 0; i < 5; i++) {
		CHECK_INT(reference_limit.pass(&state), 0);
		CHECK_INT(pipe_holds(&state.pipe), 0);
	}
	CHECK_INT(gi_hugebuf_is_huge(&state.buf), 1);
	CHECK(state.buf.base[0] == 'X' && state.buf.base[(1 << 20) - 1] == 'X');
	reference_release(&state);
}

/* A pass that finds the pipe full, or closed, says so rather than wait or count. */
static void limit_fails_where_it_says(void)
{
	struct reference_state state;

	if (!prepare(&reference_limit, &state))
		SKIP("no huge pages or no vmsplice");
	gi_pipe_close_read(&state.pipe);
	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(reference_limit.pass(&state), -EPIPE);
	CHECK_TEXT(state.failed_at, "vmsplice");
	reference_release(&state);
	if (!prepare(&reference_limit, &state))
		SKIP("no huge pages or no vmsplice");
	close(state.null_fd);
	state.null_fd = -1;
	CHECK_INT(reference_limit.pass(&state), -EBADF);
	CHECK_TEXT(state.failed_at, "splice");
	reference_release(&state);
}

/* Passes go through all of the buffer, slice by slice, and begin again. */
static void passes_go_round(void)
{
	struct reference_state state;
	size_t slices;

	if (!prepare(&reference_mem_read, &state))
		SKIP("memory is short");
	CHECK(state.buf.bytes >= 64 << 20 && state.buf.bytes <= 512 << 20);
	CHECK_INT(state.buf.bytes % (2 * reference_mem_read.pass_bytes), 0);
	slices = state.buf.bytes / reference_mem_read.pass_bytes;
	for (size_t i = 0; i < 2 * slices; i++) {
		CHECK_INT(state.at, i % slices * reference_mem_read.pass_bytes);
		CHECK_INT(reference_mem_read.pass(&state), 0);
	}
	CHECK_INT(state.at, 0);
	reference_release(&state);
}

static void memcpy_copies_all_of_one_half(void)
{
	struct reference_state state;
	size_t half, slice = reference_memcpy.pass_bytes;

	if (!prepare(&reference_memcpy, &state))
		SKIP("memory is short");
	half = state.buf.bytes / 2;
	for (size_t i = 0; i < half; i += 4096)
		memset(state.buf.base + i, (int)(i / 4096 % 251), 4096);
	for (size_t i = 0; i < half; i += slice) {
		CHECK(memcmp(state.buf.base + i, state.buf.base + half + i, slice) != 0);
		CHECK_INT(reference_memcpy.pass(&state), 0);
		CHECK(memcmp(state.buf.base + i, state.buf.base + half + i, slice) == 0);
	}
	CHECK_INT(state.at, 0);
	reference_release(&state);
}

static void nothing_is_left(void)
{
	struct fds before = fds_now();
	struct reference_state state;

	reference_init(&state);
	reference_release(&state); /* of one never prepared */
	if (!prepare(&reference_limit, &state))
		SKIP("no huge pages or no vmsplice");
	CHECK(state.buf.base);
	CHECK_INT(fds_opened_since(&before), 3);
	reference_release(&state);
	CHECK(!state.buf.base);
	CHECK_INT(fds_opened_since(&before), 0);
}

static void without_huge_pages(void)
{
	struct reference_state state;

	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
		SKIP("PR_SET_THP_DISABLE is not in this kernel");
	reference_init(&state);
	CHECK(reference_limit.prepare(&state) < 0);
	CHECK(state.failed_at);
	reference_release(&state);
	reference_init(&state); /* memory itself needs none */
	CHECK_INT(reference_memcpy.prepare(&state), 0);
	CHECK_INT(reference_memcpy.pass(&state), 0);
	reference_release(&state);
}

static void no_huge_pages(void)
{
	in_child(without_huge_pages);
}

static void without_descriptors(void)
{
	struct rlimit limit = { 3, 3 };
	struct reference_state state;
	int ret;

	reference_init(&state);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	ret = reference_limit.prepare(&state);
	CHECK(ret < 0);
	reference_release(&state);
}

static void no_descriptors(void)
{
	in_child(without_descriptors);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(limit_empties_its_pipe);
	TEST(limit_fails_where_it_says);
	TEST(passes_go_round);
	TEST(memcpy_copies_all_of_one_half);
	TEST(nothing_is_left);
	TEST(no_huge_pages);
	TEST(no_descriptors);
	return test_end();
}
