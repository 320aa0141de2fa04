/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include "sys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/*
 * 128 KiB: twice what most programs take, and with what is read still in a level-2 cache when it is written.
 * It was no faster than 64 KiB but between a socket and another end, 1.2 to 1.6 times there (docs/results/).
 */
#define BUFFER_BYTES ((size_t)128 << 10)

/*
 * The first bytes go through memory that is there already: most often they are all, or there are none and the
 * read was to see whether the source has really ended. Mapping the buffer costs as much as three such copies.
 */
static bool first_is_enough(const struct gush_transfer *t)
{
	return !t->buf_wanted && !t->source.messages;
}

/* Where to read to. Without the large buffer the small one does, but for a message, which must be whole. */
static ssize_t find_room(struct gush_transfer *t)
{
	int ret = 0;

	if (!t->buf.base && !first_is_enough(t))
		ret = gi_hugebuf_map(BUFFER_BYTES, 0, &t->buf);
	if (ret < 0 && t->source.messages)
		return ret == -EAGAIN ? -ENOMEM : ret; /* too much is locked; nothing to wait for */
	t->data = t->buf.base ? t->buf.base : t->first;
	return t->buf.base ? (ssize_t)BUFFER_BYTES : (ssize_t)sizeof(t->first);
}

void gi_buffer_close(struct gush_transfer *t)
{
	gi_hugebuf_unmap(&t->buf);
	gi_nowait_close(&t->source_io);
	gi_nowait_close(&t->sink_io);
}

size_t gi_buffer_pending(const struct gush_transfer *t)
{
	return t->buf_to - t->buf_from;
}

static void filled(struct gush_transfer *t, ssize_t n)
{
	t->buf_from = 0;
	t->buf_to = n > 0 ? (size_t)n : 0;
	t->buf_wanted = true;
}

ssize_t gi_buffer_fill(struct gush_transfer *t, int fd, size_t most)
{
	ssize_t n, room = find_room(t);

	if (room < 0)
		return gi_transfer_fail(t, GI_CALL_OWN, room);
	n = gi_sys_read(fd, t->data, most < (size_t)room ? most : (size_t)room);
	if (n == 0 || n == -EAGAIN) /* it holds bytes, we know: nothing is not an answer */
		n = -EIO;
	if (n < 0)
		return gi_transfer_fail(t, GI_CALL_OWN, n);
	filled(t, n);
	return n;
}

/* A message that the buffer cannot hold is an error, not a shorter one. What a limit cuts off is lost. */
static ssize_t read_message(struct gush_transfer *t, size_t most)
{
	int flags = gi_transfer_nonblocking(t) ? MSG_DONTWAIT : 0;
	ssize_t n = gi_sys_recv(t->source.fd, t->data, most, flags | MSG_TRUNC);

	if (n > (ssize_t)BUFFER_BYTES)
		return -EMSGSIZE;
	return n > (ssize_t)most ? (ssize_t)most : n;
}

static ssize_t read_once(struct gush_transfer *t, size_t most)
{
	if (t->source_at != GUSH_OWN_OFFSET)
		return gi_sys_pread(t->source.fd, t->data, most, t->source_at);
	if (t->source.messages)
		return read_message(t, most);
	if (gi_transfer_nonblocking(t))
		return gi_nowait_read(&t->source_io, t->data, most);
	return gi_sys_read(t->source.fd, t->data, most);
}

ssize_t gi_buffer_read(struct gush_transfer *t, size_t most)
{
	ssize_t n, room = find_room(t);

	if (room < 0)
		return gi_transfer_fail(t, GI_CALL_OWN, room);
	n = read_once(t, most < (size_t)room ? most : (size_t)room);
	if (n < 0)
		return gi_transfer_fail(t, GI_CALL_READ, n);
	filled(t, n);
	gi_transfer_took(t, (size_t)n);
	return n;
}

static ssize_t write_once(struct gush_transfer *t, const char *from, size_t bytes)
{
	if (t->sink_at != GUSH_OWN_OFFSET)
		return gi_sys_pwrite(t->sink.fd, from, bytes, t->sink_at);
	if (gi_transfer_nonblocking(t))
		return gi_nowait_write(&t->sink_io, from, bytes);
	return gi_sys_write(t->sink.fd, from, bytes);
}

ssize_t gi_buffer_write(struct gush_transfer *t)
{
	size_t pending = gi_buffer_pending(t);
	ssize_t n;

	if (pending == 0)
		return 0;
	n = write_once(t, t->data + t->buf_from, pending);
	if (n <= 0) /* write(2) of bytes that brings 0 is no end but a fault: do not spin on it */
		return gi_transfer_fail(t, GI_CALL_WRITE, n < 0 ? n : -EIO);
	t->buf_from += (size_t)n;
	gi_transfer_gave(t, (size_t)n);
	return n;
}
