/* SPDX-License-Identifier: MIT */
/* Consumers: what has been read is handed out where it lies. */
#include "consumer.h"

#include "sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * 64, 128, 256, 512, 1024 KiB cost a reader that looks at each byte 0.71, 0.68, 0.66, 0.68, 0.68 s of CPU
 * time a GiB: `taskset -c 0 cat FILE | taskset -c 1 READER`, median of 5, a pipe of 64 KiB, Linux 6.18, 2 MiB
 * of level-2 cache a CPU. So: what fits such a cache twice over, and a small one (512 KiB) once.
 */
#define BEGIN_BYTES ((size_t)256 << 10)
#define LIMIT_BYTES ((size_t)64 << 20)

/* ---- opening and closing ---- */

static size_t size_or(uint64_t given, size_t by_default)
{
	if (given == 0)
		return by_default;
	return given < SIZE_MAX ? (size_t)given : SIZE_MAX;
}

static int prepare(struct gush_consumer *c, int source, const struct gush_consumer_options *given)
{
	const struct gush_consumer_options defaults = GUSH_CONSUMER_OPTIONS_INIT;
	const struct gush_consumer_options *o = given ? given : &defaults;
	int ret;

	if (o->size < sizeof(*o) || o->flags & ~(uint32_t)GUSH_NONBLOCK || o->wait > GUSH_WAIT_BLOCK)
		return -EINVAL;
	ret = gi_endpoint_classify(source, &c->source);
	if (ret < 0)
		return ret;
	if (!c->source.readable)
		return -EBADF;
	gi_nowait_init(&c->io, &c->source);
	c->nonblock = o->flags & GUSH_NONBLOCK;
	gi_consumer_choose_waiting(c, o->wait);
	c->limit_bytes = size_or(o->buffer_limit_bytes, LIMIT_BYTES);
	c->begin_bytes = size_or(o->buffer_bytes, BEGIN_BYTES);
	if (c->begin_bytes > c->limit_bytes)
		c->begin_bytes = c->limit_bytes;
	c->data = c->first;
	c->room = c->begin_bytes < sizeof(c->first) ? c->begin_bytes : sizeof(c->first);
	return 0;
}

int gush_consumer_open(
	int source, const struct gush_consumer_options *options, struct gush_consumer **ret_consumer)
{
	struct gush_consumer *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return -ENOMEM;
	c->io.private_fd = -1;
	ret = prepare(c, source, options);
	if (ret < 0) {
		gush_consumer_close(c);
		return ret;
	}
	*ret_consumer = c;
	return 0;
}

/* Bytes read and not consumed go back, where the source can take them. */
static void put_back(struct gush_consumer *c)
{
	bool seekable = c->source.kind == GI_KIND_REGULAR || c->source.kind == GI_KIND_BLOCK;
	size_t held = gi_consumer_held(c);

	if (held > 0 && seekable)
		gi_sys_lseek(c->source.fd, -(int64_t)held, SEEK_CUR);
}

struct gush_consumer *gush_consumer_close(struct gush_consumer *c)
{
	if (!c)
		return NULL;
	put_back(c);
	gi_nowait_close(&c->io);
	gi_hugebuf_unmap(&c->buf);
	free(c);
	return NULL;
}

/* ---- handing out ---- */

static void consume(struct gush_consumer *c, size_t bytes)
{
	c->from += bytes;
	c->scanned = c->scanned > bytes ? c->scanned - bytes : 0;
}

static int give(struct gush_consumer *c, size_t bytes, const void **ret_data, size_t *ret_bytes)
{
	*ret_data = c->data + c->from;
	*ret_bytes = bytes;
	consume(c, bytes);
	c->shown = 0;
	return 1;
}

int gush_consumer_next(struct gush_consumer *c, const void **ret_data, size_t *ret_bytes)
{
	if (gi_consumer_held(c) == 0) {
		int ret = gi_consumer_fill(c, 1);

		if (ret <= 0)
			return ret;
	}
	return give(c, gi_consumer_held(c), ret_data, ret_bytes);
}

int gush_consumer_peek(struct gush_consumer *c, size_t least_bytes, const void **ret_data, size_t *ret_bytes)
{
	if (least_bytes > c->limit_bytes)
		return -EMSGSIZE;
	while (gi_consumer_held(c) < least_bytes && !c->ended) {
		int ret = gi_consumer_fill(c, least_bytes - gi_consumer_held(c));

		if (ret < 0 && !c->ended)
			return ret;
	}
	if (gi_consumer_held(c) == 0 && c->ended)
		return c->error;
	c->shown = gi_consumer_held(c);
	*ret_data = c->data + c->from;
	*ret_bytes = c->shown;
	return 1;
}

int gush_consumer_consume(struct gush_consumer *c, size_t bytes)
{
	if (bytes > c->shown)
		return -EINVAL;
	consume(c, bytes);
	c->shown -= bytes;
	return 0;
}

/* The length of the first record with its delimiter, or 0. No byte is looked at twice for the same one. */
static size_t find(struct gush_consumer *c, unsigned char delimiter)
{
	const char *start = c->data + c->from, *at;
	size_t held = gi_consumer_held(c);

	if (c->scanned_for != delimiter)
		c->scanned = 0;
	c->scanned_for = delimiter;
	at = memchr(start + c->scanned, delimiter, held - c->scanned);
	if (at)
		return (size_t)(at - start) + 1;
	c->scanned = held;
	return 0;
}

int gush_consumer_split(
	struct gush_consumer *c, unsigned char delimiter, const void **ret_data, size_t *ret_bytes)
{
	size_t bytes;

	while ((bytes = find(c, delimiter)) == 0 && !c->ended) {
		int ret = gi_consumer_fill(c, 1);

		if (ret < 0 && !c->ended)
			return ret;
	}
	if (bytes == 0)
		bytes = gi_consumer_held(c);
	return bytes > 0 ? give(c, bytes, ret_data, ret_bytes) : c->error;
}
