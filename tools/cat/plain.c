/* SPDX-License-Identifier: MIT */
/* Bytes as they are: the library moves them. */
#include "cat.h"

#include "diag.h"
#include "gush.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static void explain(const struct cat_input *input, const struct gush_transfer *t)
{
	struct gush_report_entry e = { .size = sizeof(e) };

	for (size_t i = 0; gush_report_entry(t, i, &e) == 0; i++) {
		const char *reason = e.reason ? e.reason : "";
		const char *colon = e.reason ? ": " : "";

		if (e.outcome == GUSH_TRIED_USED)
			diag("%s: %s, %llu bytes%s%s", input->shown, e.method, (unsigned long long)e.bytes,
				colon, reason);
		else if (e.outcome == GUSH_TRIED_FAILED)
			diag("%s: not %s any more, after %llu bytes%s%s (%s)", input->shown, e.method,
				(unsigned long long)e.bytes, colon, reason, diag_errno_name(e.error));
		else
			diag("%s: not %s%s%s", input->shown, e.method, colon, reason);
	}
}

static enum cat_result read_failed(const struct cat_input *input, int error)
{
	diag_errno(error, "%s", input->shown);
	return CAT_READ_FAILED;
}

static enum cat_result write_failed(int error)
{
	diag_errno(error, "write error");
	return CAT_WRITE_FAILED;
}

/*
 * One of the two cannot be used. It is the input if that cannot be read; if there is nothing in it, nothing
 * is written, and no harm done.
 */
static enum cat_result blame(const struct cat_input *input, int error)
{
	char byte;
	ssize_t n;

	do
		n = read(input->fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return read_failed(input, errno);
	return n == 0 ? CAT_DONE : write_failed(error);
}

/* The two ends of one pipe, say: the library refuses what would never end. */
static bool is_same(int a, int b)
{
	struct stat s, t;

	return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static enum cat_result not_opened(const struct cat_input *input, int error)
{
	if (error == -EINVAL && is_same(input->fd, STDOUT_FILENO)) {
		diag("%s: input file is output file", input->shown);
		return CAT_READ_FAILED;
	}
	switch (error) {
	case -EBADF:
		return blame(input, error);
	case -ENOMEM:
		diag("memory exhausted");
		return CAT_WRITE_FAILED;
	case -ENOTSUP:
		diag("%s: the way that GUSH_METHOD names does not suit it, or not standard output",
			input->shown);
		return CAT_READ_FAILED;
	default:
		return read_failed(input, error);
	}
}

enum cat_result cat_plain(const struct cat_input *input, const struct cat_options *options)
{
	struct gush_transfer_options how = GUSH_TRANSFER_OPTIONS_INIT;
	enum cat_result result = CAT_DONE;
	struct gush_transfer *t;
	int64_t n;

	if (options->stable)
		how.flags |= GUSH_STABLE;
	n = gush_transfer_open(input->fd, STDOUT_FILENO, &how, &t);
	if (n < 0)
		return not_opened(input, (int)n);
	do
		n = gush_transfer_step(t);
	while (n > 0);
	if (n < 0)
		result = gush_transfer_side(t) == GUSH_SIDE_SOURCE ? read_failed(input, (int)n)
								   : write_failed((int)n);
	if (options->explain)
		explain(input, t);
	gush_transfer_close(t);
	return result;
}
