/* SPDX-License-Identifier: MIT */
/* tools/pair/pair_options.c: what is said about the options, and about what failed. */
#include "diag.h"
#include "pair_options.h"
#include "support.h"
#include "usage.h"

static struct captured got;

struct note {
	struct pair_options options;
	struct pair_unused unused[16];
	size_t count;
	const char *want;
};

static int say_unused(const void *argument)
{
	const struct note *n = argument;

	pair_note_unused(&n->options, n->unused, n->count);
	return 0;
}

static void unused_options(void)
{
	static const struct note cases[] = {
		{ { 0 }, { { 0 } }, 0, "" },
		{ { 0 }, { { false, "a" }, { false, "b" } }, 2, "" },
		{ { 0 }, { { true, "a" }, { false, "b" } }, 2, "gush: note: --a does nothing at this end\n" },
		{ { 0 }, { { false, "a" }, { true, "b" } }, 2, "gush: note: --b does nothing at this end\n" },
		{ { 0 }, { { true, "a" }, { false, "b" }, { true, "c" } }, 3,
			"gush: note: --a, --c do nothing at this end\n" },
		{ { .csv = true }, { { true, "a" } }, 1, "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		capture(say_unused, &cases[i], &got);
		CHECK_TEXT(got.err, cases[i].want);
		CHECK_TEXT(got.out, "");
	}
}

/* All options there are, and then some. */
static void very_many_unused(void)
{
	static struct note n = { .count = 16 };

	for (size_t i = 0; i < n.count; i++)
		n.unused[i] = (struct pair_unused){ true, "an-option-with-a-rather-long-name" };
	capture(say_unused, &n, &got);
	CHECK_INT(captured_exit(&got), 0);
	CHECK(is_one_line(got.err));
}

struct failure {
	const char *failed_at;
	int error;
	struct pair_options options;
	const char *says; /* in the line */
};

static int explain(const void *argument)
{
	const struct failure *f = argument;

	pair_explain_failure(f->failed_at, f->error, &f->options);
	return 0;
}

static void failures(void)
{
	static const struct failure cases[] = {
		{ "pipe size", -EBADF, { .pipe_bytes = 4096 }, "standard output is not a pipe" },
		{ "pipe size", -EPERM, { .pipe_bytes = 2 << 20 }, "a pipe of 2MiB is refused" },
		{ "pipe size", -EPERM, { .buf_bytes = 4 << 20 }, "a pipe of 2MiB is refused" },
		{ "pipe size", -EPERM, { .pipe_bytes = 2 << 20 }, "/proc/sys/fs/pipe-max-size" },
		{ "pipe size", -ERANGE, { .pipe_bytes = 12345 }, "rounds a pipe of 12345B to another size" },
		{ "pipe size", -ERANGE, { .buf_bytes = 3 << 20 }, "in --buf-size for twice that" },
		{ "pipe size", -EBUSY, { .pipe_bytes = 4096 }, "the pipe holds more than 4KiB already" },
		{ "pipe size", -ENOMEM, { .pipe_bytes = 4096 }, "setting the pipe to 4KiB: " },
		{ "huge page check", -ENODATA, { .huge_page = true }, "did not become huge pages" },
		{ "huge page check", -EACCES, { .huge_page = true }, "cannot tell whether" },
		{ "buffer", -ENOMEM, { .buf_bytes = 1 << 20, .lock_memory = true },
			"locking a buffer of 1MiB" },
		{ "buffer", -ENOMEM, { .buf_bytes = 1 << 20, .huge_page = true },
			"a buffer of 1MiB in huge pages" },
		{ "buffer", -ENOMEM, { .buf_bytes = 1 << 20 }, "a buffer of 1MiB: Cannot allocate memory" },
		{ "master pipe", -EMFILE, { 0 }, "master pipe: " },
		{ "output", -EBADF, { 0 }, "output: " },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		capture(explain, &cases[i], &got);
		CHECK_CASE(is_one_line(got.err) && strncmp(got.err, "gush: ", 6) == 0, cases[i].says);
		if (!CHECK(strstr(got.err, cases[i].says)))
			printf("  %s  lacks: %s\n", got.err, cases[i].says);
	}
}

static int print_options(const void *options)
{
	pair_print_options(options);
	return 0;
}

static void settings(void)
{
	static const struct pair_options none = { .buf_bytes = 256 << 10 };
	static const struct pair_options some = { .busy_loop = true,
		.gift = true,
		.buf_bytes = 4097,
		.bytes_to_pipe = 10ull << 30,
		.pipe_bytes = 65536 };

	capture(print_options, &none, &got);
	CHECK(strstr(got.err, "busy_loop            false\n"));
	CHECK(strstr(got.err, "buf_size             256KiB\n"));
	CHECK(strstr(got.err, "bytes_to_pipe        not given\n"));
	CHECK(strstr(got.err, "pipe_size            not given\n"));
	CHECK(!strstr(got.err, "true"));
	CHECK_TEXT(got.out, "");
	capture(print_options, &some, &got);
	CHECK(strstr(got.err, "busy_loop            true\n"));
	CHECK(strstr(got.err, "gift                 true\n"));
	CHECK(strstr(got.err, "poll                 false\n"));
	CHECK(strstr(got.err, "buf_size             4097B\n"));
	CHECK(strstr(got.err, "bytes_to_pipe        10GiB\n"));
	CHECK(strstr(got.err, "pipe_size            64KiB\n"));
}

static int print_usage(const void *usage)
{
	pair_print_usage(usage);
	return 0;
}

static void used(void)
{
	static const struct usage u = { 1.25, 17, 3, 4 };

	capture(print_usage, &u, &got);
	CHECK_TEXT(got.err,
		"page faults: 17\nCPU seconds: 1.250\ncontext switches: 3 voluntary, 4 involuntary\n");
	CHECK_TEXT(got.out, "");
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(unused_options);
	TEST(very_many_unused);
	TEST(failures);
	TEST(settings);
	TEST(used);
	return test_end();
}
