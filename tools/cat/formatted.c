/* SPDX-License-Identifier: MIT */
/* Input that is changed on its way: reading, the changes of format.c, writing. */
#include "cat.h"

#include "diag.h"
#include "gush.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_BYTES (128 << 10)
#define PIECE_BYTES (8 << 10)	/* formatted without looking whether there is room */
#define WRITE_BYTES (128 << 10) /* written when so much has gathered */
#define OUT_BYTES (WRITE_BYTES + PIECE_BYTES * TEXT_GROWTH + TEXT_OVERSHOOT)

struct formatter {
	struct text_state text;
	struct text_change changes[256];
	struct gush_producer *producer; /* NULL: nothing was written yet */
	bool explain, failed;
	size_t used; /* of out */
	char in[READ_BYTES + TEXT_OVERSHOOT];
	char out[OUT_BYTES];
};

struct formatter *formatter_open(const struct cat_options *o)
{
	struct formatter *f = malloc(sizeof(*f));

	if (!f)
		return NULL;
	f->text = (struct text_state){
		.number = o->number,
		.number_nonblank = o->number_nonblank,
		.squeeze = o->squeeze,
		.ends = o->ends,
		.tabs = o->tabs,
		.nonprinting = o->nonprinting,
	};
	text_begin(&f->text, f->changes);
	f->producer = NULL;
	f->explain = o->explain;
	f->failed = false;
	f->used = 0;
	return f;
}

/* The library waits for a descriptor that is O_NONBLOCK. */
static enum cat_result flush(struct formatter *f)
{
	struct iovec piece = { f->out, f->used };
	int64_t n = 0;

	if (f->used == 0)
		return CAT_DONE;
	if (!f->producer)
		n = gush_producer_open(STDOUT_FILENO, NULL, &f->producer);
	if (n == 0)
		n = gush_producer_send(f->producer, &piece, 1);
	f->used = 0;
	if (n >= 0)
		return CAT_DONE;
	diag_errno((int)n, "write error");
	f->failed = true;
	return CAT_WRITE_FAILED;
}

static enum cat_result format(struct formatter *f, size_t bytes)
{
	enum cat_result result = CAT_DONE;

	for (size_t at = 0; at < bytes && result == CAT_DONE; at += PIECE_BYTES) {
		size_t n = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;

		f->used = (size_t)(text_format(&f->text, f->in + at, n, f->out + f->used) - f->out);
		if (f->used >= WRITE_BYTES)
			result = flush(f);
	}
	return result;
}

static bool must_wait(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* A reader of ours sees all there is before we wait for more. */
static enum cat_result fill(struct formatter *f, int fd, ssize_t *ret_bytes)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (f->used > 0 && must_wait(fd) && flush(f) != CAT_DONE)
		return CAT_WRITE_FAILED;
	do {
		n = read(fd, f->in, READ_BYTES);
		if (n < 0 && errno == EAGAIN) {
			if (flush(f) != CAT_DONE)
				return CAT_WRITE_FAILED;
			poll(&p, 1, -1);
		}
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	*ret_bytes = n < 0 ? -errno : n;
	return CAT_DONE;
}

enum cat_result formatter_take(struct formatter *f, const struct cat_input *input)
{
	uint64_t bytes = 0;
	enum cat_result result;
	ssize_t n;

	do {
		result = fill(f, input->fd, &n);
		if (result == CAT_DONE && n > 0) {
			bytes += (uint64_t)n;
			result = format(f, (size_t)n);
		}
	} while (result == CAT_DONE && n > 0);
	/* Opening the next input may wait, too, and it may be the file that we write. */
	if (result == CAT_DONE)
		result = flush(f);
	if (result == CAT_DONE && n < 0) {
		diag_errno((int)n, "%s", input->shown);
		result = CAT_READ_FAILED;
	}
	if (f->explain)
		diag("%s: read and written, %llu bytes: they are changed on the way", input->shown,
			(unsigned long long)bytes);
	return result;
}

enum cat_result formatter_close(struct formatter *f)
{
	enum cat_result result = CAT_DONE;

	f->used = (size_t)(text_end(&f->text, f->out + f->used) - f->out);
	if (!f->failed)
		result = flush(f);
	if (f->producer)
		gush_producer_close(f->producer);
	free(f);
	return result;
}
