/* SPDX-License-Identifier: MIT */
#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "gush";

void diag_set_program(const char *name)
{
	program = name;
}

const char *diag_program(void)
{
	return program;
}

static bool came_closed[STDERR_FILENO + 1];

void diag_hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		came_closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
		if (came_closed[fd])
			open("/dev/null",
				fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* not O_CLOEXEC: gush-lab too */
	}
}

bool diag_came_closed(int fd)
{
	return came_closed[fd];
}

/* A user's text may hold line breaks, or commands for the terminal. */
static void make_plain(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
}

/* One write for the whole line, so that lines of several processes do not mix. */
static void say(const char *reason, const char *format, va_list args)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "%s: ", program);
	size_t at = (size_t)n;

	n = vsnprintf(line + at, sizeof(line) - at, format, args);
	if (n > 0)
		at += (size_t)n;
	if (reason && at < sizeof(line)) {
		n = snprintf(line + at, sizeof(line) - at, ": %s", reason);
		at += (size_t)n;
	}
	if (at > sizeof(line) - 1)
		at = sizeof(line) - 1; /* cut */
	make_plain(line, at);
	line[at] = '\n';
	/* Nobody is left to tell when standard error itself fails. */
	while (write(STDERR_FILENO, line, at + 1) < 0 && errno == EINTR)
		;
}

void diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(NULL, format, args);
	va_end(args);
}

void diag_errno(int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(strerror(abs(error)), format, args);
	va_end(args);
}

int diag_close_stdout(void)
{
	return diag_close_stdout_as("standard output");
}

int diag_close_stdout_as(const char *what)
{
	int failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return 0;
	diag_errno(errno ? errno : EIO, "%s", what);
	return -1;
}
