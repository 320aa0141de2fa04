/* SPDX-License-Identifier: MIT */
#include "kernel_file.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads on until the end: files of /proc may come in pieces. */
static int read_all(int fd, char *ret, size_t room)
{
	size_t at = 0;
	ssize_t n;

	do {
		n = gi_sys_read(fd, ret + at, room - at);
		at += n > 0 ? (size_t)n : 0;
	} while (n > 0 && at < room);
	return n < 0 ? (int)n : (int)at;
}

__attribute__((format(printf, 3, 0))) static int read_text(
	char *ret, size_t room, const char *path, va_list args)
{
	char name[PATH_MAX];
	int n = vsnprintf(name, sizeof(name), path, args);
	int fd;

	ret[0] = '\0';
	if (n < 0 || (size_t)n >= sizeof(name))
		return -ENAMETOOLONG;
	fd = gi_sys_open(name, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	n = read_all(fd, ret, room - 1);
	gi_sys_close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n;
}

int kernel_file_text(char *ret, size_t room, const char *path, ...)
{
	va_list args;
	int n;

	va_start(args, path);
	n = read_text(ret, room, path, args);
	va_end(args);
	return n;
}

__attribute__((format(printf, 3, 0))) static int read_line(
	char *ret, size_t room, const char *path, va_list args)
{
	int n = read_text(ret, room, path, args);
	size_t length;

	if (n < 0)
		return n;
	length = strcspn(ret, "\n");
	while (length > 0 && strchr(" \t\r", ret[length - 1]))
		length--;
	ret[length] = '\0';
	return length > 0 ? 0 : -ENODATA;
}

int kernel_file_line(char *ret, size_t room, const char *path, ...)
{
	va_list args;
	int n;

	va_start(args, path);
	n = read_line(ret, room, path, args);
	va_end(args);
	return n;
}

int kernel_file_number(int64_t *ret, const char *path, ...)
{
	char text[32], *end;
	const char *digits;
	long long number;
	va_list args;
	int n;

	va_start(args, path);
	n = read_line(text, sizeof(text), path, args);
	va_end(args);
	if (n < 0)
		return n;
	digits = text + (text[0] == '-');
	if (*digits < '0' || *digits > '9')
		return -EINVAL; /* strtoll would take blanks and a plus */
	errno = 0;
	number = strtoll(text, &end, 10);
	if (*end || errno)
		return -EINVAL;
	*ret = number;
	return 0;
}

static struct kernel_file_span trimmed(const char *at, const char *end)
{
	while (at < end && strchr(" \t", *at))
		at++;
	while (at < end && strchr(" \t\r", end[-1]))
		end--;
	return (struct kernel_file_span){ at, (size_t)(end - at) };
}

struct kernel_file_span kernel_file_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	while (*text) {
		const char *end = text + strcspn(text, "\n");

		if (strncmp(text, name, n) == 0) {
			const char *colon = text + n + strspn(text + n, " \t");

			if (*colon == ':')
				return trimmed(colon + 1, end);
		}
		text = end + (*end == '\n');
	}
	return (struct kernel_file_span){ text, 0 };
}

int kernel_file_cpu(const char **text)
{
	int cpu = 0;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	for (; **text >= '0' && **text <= '9'; (*text)++) {
		cpu = cpu * 10 + (**text - '0');
		if (cpu >= KERNEL_FILE_CPUS)
			return -EINVAL;
	}
	return cpu;
}

int kernel_file_cpu_range(const char **text, int *ret_first, int *ret_last)
{
	int first, last;

	if (**text == '\0' || **text == '\n')
		return 0;
	first = last = kernel_file_cpu(text);
	if (first >= 0 && **text == '-') {
		(*text)++;
		last = kernel_file_cpu(text);
	}
	if (first < 0 || last < first)
		return -EINVAL;
	if (**text == ',') {
		(*text)++;
		if (**text < '0' || **text > '9')
			return -EINVAL;
	} else if (**text != '\0' && **text != '\n') {
		return -EINVAL;
	}
	*ret_first = first;
	*ret_last = last;
	return 1;
}
