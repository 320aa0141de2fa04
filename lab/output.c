/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "diag.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int output_open(const char *path, struct output *ret)
{
	int fd;

	*ret = (struct output){ .path = path };
	if (!path)
		return 0;
	if (strcmp(path, "-") == 0) {
		ret->stream = stdout;
		return 0;
	}
	fd = gi_sys_open(path, O_WRONLY | O_CREAT | O_NOCTTY, 0666);
	if (fd < 0) {
		diag_errno(fd, "%s", path);
		return -1;
	}
	ret->stream = fdopen(fd, "w");
	return ret->stream ? 0 : -1;
}

bool output_same_file(const struct output *a, const struct output *b)
{
	struct stat x, y;

	return a->stream && b->stream && fstat(fileno(a->stream), &x) == 0 &&
	       fstat(fileno(b->stream), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
	       S_ISREG(x.st_mode);
}

int output_write(struct output *out, int (*report)(const void *results, FILE *stream), const void *results)
{
	struct stat st;
	int ret;

	if (!out->stream)
		return 0;
	if (out->stream != stdout && fstat(fileno(out->stream), &st) == 0 && S_ISREG(st.st_mode) &&
		ftruncate(fileno(out->stream), 0) < 0)
		ret = -errno;
	else
		ret = report(results, out->stream);
	if (out->stream != stdout && fclose(out->stream) != 0 && ret == 0)
		ret = -errno;
	if (ret < 0)
		diag_errno(ret, "%s", out->stream == stdout ? "standard output" : out->path);
	out->stream = NULL;
	return ret;
}
