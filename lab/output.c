/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "diag.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not of devices: /dev/null may be written by as many as like. */
static bool same(int a, int b)
{
	struct stat x, y;

	if (gi_sys_fstat(a, &x) < 0 || gi_sys_fstat(b, &y) < 0 || S_ISCHR(x.st_mode))
		return false;
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* /dev/stdout, or the file that the table goes to: two writers would overwrite each other. */
static int adopt(int fd, struct output *ret)
{
	if (same(fd, STDOUT_FILENO)) {
		gi_sys_close(fd);
		ret->stream = stdout;
		return 0;
	}
	ret->stream = fdopen(fd, "w");
	if (ret->stream)
		return 0;
	diag_errno(errno, "%s", ret->path);
	gi_sys_close(fd);
	return -1;
}

int output_open(const char *path, struct output *ret)
{
	int fd;

	*ret = (struct output){ .path = path };
	if (!path)
		return 0;
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error to tell, not a reason to die of */
	if (strcmp(path, "-") == 0) {
		ret->stream = stdout;
		return 0;
	}
	fd = gi_sys_open(path, O_WRONLY | O_CREAT | O_NOCTTY, 0666);
	if (fd < 0) {
		diag_errno(fd, "%s", path);
		return -1;
	}
	return adopt(fd, ret);
}

bool output_same(const struct output *a, const struct output *b)
{
	return a->stream && b->stream && same(fileno(a->stream), fileno(b->stream));
}

/* All of it, whether or not the descriptor is non-blocking. */
static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = gi_sys_write(fd, text, bytes);

		if (n == -EAGAIN)
			n = gi_sys_poll(&p, 1, -1) < 0 ? -EIO : 0;
		if (n < 0)
			return (int)n;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int write_text(FILE *stream, const char *text, size_t bytes)
{
	int fd = fileno(stream);
	struct stat st = { 0 };
	int ret = fflush(stream) != 0 ? -errno : gi_sys_fstat(fd, &st);

	if (ret == 0 && stream != stdout && S_ISREG(st.st_mode))
		ret = gi_sys_ftruncate(fd, 0);
	return ret < 0 ? ret : write_all(fd, text, bytes);
}

int output_write(struct output *out, int (*report)(const void *results, FILE *stream), const void *results)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory;
	int ret;

	if (!out->stream)
		return 0;
	memory = open_memstream(&text, &bytes);
	ret = memory ? report(results, memory) : -ENOMEM;
	if (memory && fclose(memory) != 0 && ret == 0)
		ret = -errno;
	if (ret == 0)
		ret = write_text(out->stream, text, bytes);
	free(text);
	if (out->stream != stdout && fclose(out->stream) != 0 && ret == 0)
		ret = -errno;
	if (ret < 0)
		diag_errno(ret, "%s", out->stream == stdout ? "standard output" : out->path);
	out->stream = NULL;
	return ret;
}
