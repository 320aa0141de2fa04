/* SPDX-License-Identifier: MIT */
#include "receiver.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

static int fail_at(struct receiver *r, const char *what, int error)
{
	r->failed_at = what;
	return error;
}

static int map_buffer(struct receiver *r)
{
	const struct receiver_config *c = &r->config;
	unsigned flags = (c->huge ? GI_HUGEBUF_HUGE : 0) | (c->lock ? GI_HUGEBUF_LOCK : 0);
	int ret = gi_hugebuf_map(c->chunk_bytes, flags, &r->buf);

	if (ret < 0)
		return fail_at(r, "buffer", ret);
	if (!c->untouched)
		memset(r->buf.base, 'X', c->chunk_bytes);
	if (c->check_huge) {
		ret = gi_hugebuf_is_huge(&r->buf);
		if (ret <= 0)
			return fail_at(r, "huge page check", ret == 0 ? -ENODATA : ret);
	}
	return 0;
}

static int open_held(struct receiver *r)
{
	int ret = 0;

	for (int i = 0; ret == 0 && i < 2; i++) {
		size_t capacity;

		ret = gi_pipe_open(&r->held[i]);
		if (ret == 0)
			ret = gi_pipe_grow(r->held[i].write_fd, r->config.chunk_bytes, &capacity);
	}
	return ret < 0 ? fail_at(r, "pipe to hold bytes in", ret) : 0;
}

int receiver_prepare(struct receiver *r, int fd, const struct receiver_config *config)
{
	int ret;

	*r = (struct receiver){
		.config = *config,
		.held = { GI_PIPE_NONE, GI_PIPE_NONE },
		.io = { .fd = -1, .private_fd = -1 },
		.null_fd = -1,
		.seen = { .expected = config->contents },
	};
	ret = gi_endpoint_classify(fd, &r->endpoint);
	if (ret < 0)
		return fail_at(r, "input", ret);
	gi_nowait_init(&r->io, &r->endpoint);
	gi_wait_init(&r->wait, config->wait);
	if (config->call == RECEIVER_SPLICE) {
		r->null_fd = gi_sys_open("/dev/null", O_WRONLY, 0);
		return r->null_fd < 0 ? fail_at(r, "/dev/null", r->null_fd) : 0;
	}
	ret = map_buffer(r);
	if (ret == 0 && config->call == RECEIVER_HOLD)
		ret = open_held(r);
	return ret;
}

void receiver_release(struct receiver *r)
{
	gi_nowait_close(&r->io);
	gi_hugebuf_unmap(&r->buf);
	gi_pipe_close(&r->held[0]);
	gi_pipe_close(&r->held[1]);
	if (r->null_fd >= 0)
		gi_sys_close(r->null_fd);
	r->null_fd = -1;
}

/* Takes what is held in one of the two pipes, and looks at it. */
static int let_go(struct receiver *r, unsigned which)
{
	while (r->held_bytes[which] > 0) {
		ssize_t n = gi_sys_read(r->held[which].read_fd, r->buf.base, r->held_bytes[which]);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		contents_check(&r->seen, r->buf.base, (size_t)n);
		r->held_bytes[which] -= (size_t)n;
	}
	return 0;
}

/* The older bytes are looked at only when newer ones have come in. */
static ssize_t hold(struct receiver *r, unsigned nonblock)
{
	unsigned other = !r->newest;
	ssize_t n;
	int ret = let_go(r, other);

	if (ret < 0)
		return ret;
	n = gi_sys_splice(r->endpoint.fd, r->held[other].write_fd, r->config.chunk_bytes, nonblock);
	if (n > 0) {
		r->held_bytes[other] = (size_t)n;
		r->newest = other;
	}
	return n;
}

static ssize_t call_once(struct receiver *r)
{
	unsigned nonblock = gi_wait_nonblocking(&r->wait) ? SPLICE_F_NONBLOCK : 0;
	ssize_t n;

	if (r->config.call == RECEIVER_SPLICE)
		return gi_sys_splice(r->endpoint.fd, r->null_fd, r->config.chunk_bytes,
			nonblock | (r->config.move ? SPLICE_F_MOVE : 0));
	if (r->config.call == RECEIVER_HOLD)
		return hold(r, nonblock);
	n = nonblock ? gi_nowait_read(&r->io, r->buf.base, r->config.chunk_bytes)
		     : gi_sys_read(r->endpoint.fd, r->buf.base, r->config.chunk_bytes);
	if (n > 0 && r->config.check)
		contents_check(&r->seen, r->buf.base, (size_t)n);
	return n;
}

static int finish_held(struct receiver *r)
{
	int ret = let_go(r, !r->newest);

	if (ret == 0)
		ret = let_go(r, r->newest);
	return ret < 0 ? fail_at(r, "read", ret) : 0;
}

static bool stopped(const struct receiver *r)
{
	return r->stop && atomic_load_explicit(r->stop, memory_order_relaxed);
}

static int receive_once(struct receiver *r)
{
	static const char *const names[] = { "read", "splice", "splice" };
	int fd = r->endpoint.fd, ret = gi_wait_ready(&r->wait, fd, POLLIN);
	ssize_t n;

	if (ret < 0)
		return fail_at(r, "poll", ret);
	n = call_once(r);
	if (n == -EAGAIN) {
		ret = gi_wait_again(&r->wait, fd, POLLIN);
		return ret < 0 ? fail_at(r, "poll", ret) : 0;
	}
	if (n <= 0)
		return fail_at(r, names[r->config.call], n < 0 ? (int)n : -ENODATA);
	gi_wait_moved(&r->wait);
	r->received_bytes += (uint64_t)n;
	return 0;
}

int receiver_run(struct receiver *r, uint64_t limit_bytes)
{
	int ret = 0, end;

	while (ret == 0 && r->received_bytes < limit_bytes && !stopped(r))
		ret = receive_once(r);
	end = finish_held(r);
	return ret < 0 ? ret : end;
}
