/* SPDX-License-Identifier: MIT */
/* How a consumer reads, and waits for what it reads. */
#include "consumer.h"
#include "sys.h"

#include <errno.h>
#include <sys/socket.h>

void gi_consumer_choose_waiting(struct gush_consumer *c, unsigned wait)
{
	static const enum gi_wait_kind kinds[] = { [GUSH_WAIT_DEFAULT] = GI_WAIT_BLOCK,
		[GUSH_WAIT_ADAPTIVE] = GI_WAIT_ADAPTIVE,
		[GUSH_WAIT_SPIN] = GI_WAIT_SPIN,
		[GUSH_WAIT_BLOCK] = GI_WAIT_BLOCK };
	bool device = c->source.kind == GI_KIND_CHAR || c->source.kind == GI_KIND_OTHER;

	if (c->nonblock) /* the caller waits */
		gi_wait_init(&c->wait, GI_WAIT_BLOCK);
	else if (wait == GUSH_WAIT_DEFAULT && c->source.kind == GI_KIND_PIPE)
		gi_wait_init_cheaply(&c->wait); /* as transfers do: src/transfer_wait.c says why */
	else
		gi_wait_init(&c->wait, kinds[wait]);
	c->nowait = c->nonblock || gi_wait_nonblocking(&c->wait);
	c->polls_first = c->nonblock && !c->source.nonblock && device; /* gi_nowait simply reads these */
}

/* The master of a pseudo-terminal: what waits by itself will do, or poll says when it would not. */
static void do_without_nowait(struct gush_consumer *c)
{
	c->io.plain = true;
	if (c->nonblock) {
		c->polls_first = true;
		return;
	}
	gi_wait_init(&c->wait, GI_WAIT_BLOCK);
	c->nowait = false;
}

static ssize_t read_without_waiting(struct gush_consumer *c, char *to, size_t most)
{
	struct pollfd p = { .fd = c->source.fd, .events = POLLIN };
	int ret = c->polls_first ? gi_sys_poll(&p, 1, 0) : 1;

	if (ret <= 0)
		return ret < 0 ? ret : -EAGAIN;
	return gi_nowait_read(&c->io, to, most);
}

static ssize_t read_bytes(struct gush_consumer *c, char *to, size_t most)
{
	ssize_t n;

	if (c->nowait) {
		n = read_without_waiting(c, to, most);
		if (n != -EOPNOTSUPP || c->io.plain)
			return n;
		do_without_nowait(c);
		if (c->nonblock)
			return read_without_waiting(c, to, most);
	}
	return gi_sys_read(c->source.fd, to, most);
}

/* What the buffer cannot hold is an error, not a shorter message. */
static ssize_t receive(struct gush_consumer *c, char *to, size_t most)
{
	ssize_t n = gi_sys_recv(c->source.fd, to, most, MSG_TRUNC | (c->nowait ? MSG_DONTWAIT : 0));

	return n > (ssize_t)most ? -EMSGSIZE : n;
}

/* How long the next message is; a stream has at least one byte, or this is found out by reading. */
static ssize_t bytes_to_come(struct gush_consumer *c)
{
	char none;

	if (!c->source.messages)
		return 1;
	return gi_sys_recv(c->source.fd, &none, 0, MSG_PEEK | MSG_TRUNC | (c->nowait ? MSG_DONTWAIT : 0));
}

/* One read, of no more than the buffer had to begin with, though it may have grown: that is what fits the
 * caches. */
static ssize_t read_once(struct gush_consumer *c, size_t more)
{
	size_t room = c->room - c->to, most = c->begin_bytes;

	if (c->source.messages)
		return receive(c, c->data + c->to, room);
	if (most < sizeof(c->first))
		most = sizeof(c->first);
	if (most < more)
		most = more;
	return read_bytes(c, c->data + c->to, most < room ? most : room);
}

static int end_with(struct gush_consumer *c, int error)
{
	c->ended = true;
	c->error = error;
	return error;
}

/* 0: read again; or -errno. */
static int wait_or_tell(struct gush_consumer *c)
{
	int ret;

	if (c->nonblock)
		return -EAGAIN;
	ret = gi_wait_again(&c->wait, c->source.fd, POLLIN);
	if (ret == 0)
		return 0;
	if (c->wait.kind != GI_WAIT_ADAPTIVE || c->source.nonblock)
		return end_with(c, ret);
	gi_wait_init(&c->wait, GI_WAIT_BLOCK); /* no poll in this sandbox: a read can wait itself */
	c->nowait = false;
	return 0;
}

static int took(struct gush_consumer *c, size_t bytes)
{
	c->to += bytes;
	c->filled |= c->to == c->room;
	gi_wait_moved(&c->wait);
	return 1;
}

int gi_consumer_fill(struct gush_consumer *c, size_t more)
{
	int ret = 0;

	while (ret == 0) {
		ssize_t n;

		if (c->ended)
			return c->error;
		n = bytes_to_come(c);
		if (n > 0) {
			size_t wanted = c->source.messages ? (size_t)n : more;

			ret = gi_consumer_make_room(c, wanted);
			if (ret == -EMSGSIZE && wanted > c->limit_bytes) /* will never be handed out */
				return gi_consumer_held(c) > 0 ? ret : end_with(c, ret);
			if (ret < 0)
				return ret;
			n = read_once(c, more);
		}
		if (n > 0)
			return took(c, (size_t)n);
		if (n != -EAGAIN)
			return end_with(c, (int)n);
		ret = wait_or_tell(c);
	}
	return ret;
}
