/* SPDX-License-Identifier: MIT */
#include "diag.h"

#include "support.h"

#include <sys/socket.h>

static struct captured got;

static int say_plain(const void *text)
{
	diag("%s", (const char *)text);
	return 0;
}

static void one_line(void)
{
	capture(say_plain, "what went wrong", &got);
	CHECK_TEXT(got.err, "gush: what went wrong\n");
	CHECK_TEXT(got.out, "");
	capture(say_plain, "", &got);
	CHECK_TEXT(got.err, "gush: \n");
	capture(say_plain, "100% %s %n", &got);
	CHECK_TEXT(got.err, "gush: 100% %s %n\n");
}

static int say_as_somebody(const void *name)
{
	diag_set_program(name);
	diag("%d of %s", 3, "them");
	return strcmp(diag_program(), name) != 0;
}

static void program_name(void)
{
	CHECK_TEXT(diag_program(), "gush");
	capture(say_as_somebody, "gush read", &got);
	CHECK_TEXT(got.err, "gush read: 3 of them\n");
	CHECK_INT(captured_exit(&got), 0);
}

static int say_error(const void *number)
{
	diag_errno(*(const int *)number, "/some/%s", "file");
	return 0;
}

static void errors_of_either_sign(void)
{
	static const int numbers[] = { ENOENT, -ENOENT, EPIPE, -EPIPE, 0, 9999, -9999 };
	char want[200];

	for (size_t i = 0; i < COUNT(numbers); i++) {
		snprintf(want, sizeof(want), "gush: /some/file: %s\n", strerror(abs(numbers[i])));
		capture(say_error, &numbers[i], &got);
		CHECK_TEXT(got.err, want);
	}
}

static int say_long(const void *length)
{
	char text[5001];

	memset(text, 'x', sizeof(text));
	text[*(const int *)length] = '\0';
	diag("%s", text);
	diag_errno(ENOENT, "%s", text);
	return 0;
}

/* Cut, but still two lines, whatever the length. */
static void long_lines_are_cut(void)
{
	int length;

	for (length = 1980; length <= 2060; length++) {
		char *second;

		capture(say_long, &length, &got);
		second = strchr(got.err, '\n');
		CHECK(second && is_one_line(second + 1));
		CHECK(strlen(got.err) <= 2 * 2048);
		CHECK(strspn(got.err + 6, "x") >= 1980);
	}
	length = 5000;
	capture(say_long, &length, &got);
	CHECK(strlen(got.err) == 2 * 2048);
}

static int say_in_pieces(const void *unused)
{
	int fds[2];
	char text[100];

	(void)unused;
	/* Datagrams keep the bounds of each write. */
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
		return 1;
	diag_errno(ENOENT, "%s and %s", "one", "two");
	return read(fds[0], text, sizeof(text)) !=
	       (ssize_t)strlen("gush: one and two: ") + (ssize_t)strlen(strerror(ENOENT)) + 1;
}

static void one_write_for_each_line(void)
{
	capture(say_in_pieces, NULL, &got);
	CHECK_INT(captured_exit(&got), 0);
}

static int say_to_nobody(const void *unused)
{
	(void)unused;
	close(STDERR_FILENO);
	diag("nobody hears this");
	diag_errno(1, "nor this");
	return 0;
}

static void closed_stderr(void)
{
	capture(say_to_nobody, NULL, &got);
	CHECK_INT(captured_exit(&got), 0);
	CHECK_TEXT(got.err, "");
}

/*
 * diag_close_stdout, in children.
 */
struct closing {
	const char *path; /* standard output is this; NULL: it is closed */
	size_t bytes;	  /* to write first */
	int ret;
	const char *err;
	bool unbuffered; /* then nothing is left that could fail at the end */
};

static int close_it(const void *argument)
{
	const struct closing *c = argument;
	int fd = c->path ? open(c->path, O_WRONLY | O_CLOEXEC) : -1;

	if (fd >= 0)
		dup2(fd, STDOUT_FILENO);
	else
		close(STDOUT_FILENO);
	if (c->unbuffered)
		setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < c->bytes; i++)
		putchar('x');
	return diag_close_stdout() == c->ret ? 0 : 1;
}

static void close_stdout(void)
{
	static const struct closing cases[] = {
		{ "/dev/null", 0, 0, "", false },
		{ "/dev/null", 100000, 0, "", false },
		{ "/dev/full", 0, 0, "", false },
		{ "/dev/full", 1, -1, "gush: standard output: No space left on device\n", false },
		{ NULL, 1, -1, "gush: standard output: Bad file descriptor\n", false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		capture(close_it, &cases[i], &got);
		CHECK_INT(captured_exit(&got), 0);
		CHECK_TEXT(got.err, cases[i].err);
	}
}

/* The write that failed lies far back: its reason may be lost, the failure may not. */
static void close_stdout_after_an_early_failure(void)
{
	static const struct closing cases[] = {
		{ "/dev/full", 1000000, -1, "", false },
		{ "/dev/full", 1, -1, "", true },
		{ NULL, 1000000, -1, "", false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		capture(close_it, &cases[i], &got);
		CHECK_INT(captured_exit(&got), 0);
		CHECK(is_one_line(got.err) && strncmp(got.err, "gush: standard output: ", 23) == 0);
	}
}

static int write_and_close(const void *text)
{
	fputs(text, stdout);
	return diag_close_stdout() < 0;
}

static void close_stdout_flushes(void)
{
	capture(write_and_close, "all of it", &got);
	CHECK_TEXT(got.out, "all of it");
	CHECK_TEXT(got.err, "");
	CHECK_INT(captured_exit(&got), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(one_line);
	TEST(program_name);
	TEST(errors_of_either_sign);
	TEST(long_lines_are_cut);
	TEST(one_write_for_each_line);
	TEST(closed_stderr);
	TEST(close_stdout);
	TEST(close_stdout_after_an_early_failure);
	TEST(close_stdout_flushes);
	return test_end();
}
