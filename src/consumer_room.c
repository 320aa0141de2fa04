/* SPDX-License-Identifier: MIT */
/*
 * The buffer of a consumer: one piece of memory that is read into behind what is held.
 *
 * What it costs: held bytes are moved to the front only when at least as many were consumed before them, or
 * where there is no other way: at the limit, or without memory to grow. They are copied into a larger buffer
 * only when it doubles. So moves never sum up to more than the bytes that were consumed, and the copies of
 * doublings to the size of the last buffer. A record that straddles the end is moved once: nothing is left in
 * front of it then, and from there on only a doubling copies it.
 */
#include "consumer.h"

#include <errno.h>
#include <string.h>

static void move_to_front(struct gush_consumer *c)
{
	size_t held = gi_consumer_held(c);

	memmove(c->data, c->data + c->from, held);
	c->from = 0;
	c->to = held;
}

/* Makes the buffer larger. 0 or -errno. What is held may have moved to the front. */
static int set_room(struct gush_consumer *c, size_t bytes)
{
	struct gi_hugebuf larger;
	int ret;

	if (bytes <= sizeof(c->first)) {
		c->room = bytes;
		return 0;
	}
	ret = gi_hugebuf_map(bytes, 0, &larger);
	if (ret < 0) /* too much is locked, too much was asked for: nothing to wait for, nothing to mend */
		return ret == -EAGAIN || ret == -EOVERFLOW ? -ENOMEM : ret;
	memcpy(larger.base, c->data + c->from, gi_consumer_held(c));
	c->to = gi_consumer_held(c);
	c->from = 0;
	gi_hugebuf_unmap(&c->buf);
	c->buf = larger;
	c->data = larger.base;
	c->room = bytes;
	return 0;
}

static int grow(struct gush_consumer *c, size_t least)
{
	size_t bytes = c->room;

	do {
		bytes = bytes > c->limit_bytes / 2 ? c->limit_bytes : bytes * 2;
	} while (bytes < least);
	return set_room(c, bytes);
}

/* Where moving is paid for. Not before half of the buffer is used, so that it is rare. */
static void tidy(struct gush_consumer *c)
{
	size_t held = gi_consumer_held(c), usual = c->begin_bytes < c->room ? c->begin_bytes : c->room;

	if (held == 0)
		c->from = c->to = 0;
	else if (held <= c->from && c->to >= usual / 2)
		move_to_front(c);
}

int gi_consumer_make_room(struct gush_consumer *c, size_t more)
{
	size_t held = gi_consumer_held(c);
	int ret;

	tidy(c);
	if (c->filled && c->room < c->begin_bytes)
		set_room(c, c->begin_bytes); /* without it the small one does */
	if (c->room - c->to >= more)
		return 0;
	if (more > c->limit_bytes - held)
		return -EMSGSIZE;
	/* Held bytes of which less than as many were consumed would be moved again and again, by a peek that
	 * wants a few more each time. */
	if (c->room < c->limit_bytes && (more > c->room - held || held > c->from)) {
		ret = grow(c, held + more);
		if (ret < 0 && more > c->room - held)
			return ret;
	}
	if (c->room - c->to < more)
		move_to_front(c);
	return 0;
}
