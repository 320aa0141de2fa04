/* SPDX-License-Identifier: MIT */
#include "sender.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static int fail_at(struct sender *s, const char *what, int error)
{
	s->failed_at = what;
	return error;
}

static int map(struct sender *s, size_t bytes, char **ret_base)
{
	const struct sender_config *c = &s->config;
	unsigned flags = (c->huge ? GI_HUGEBUF_HUGE : 0) | (c->lock ? GI_HUGEBUF_LOCK : 0);
	struct gi_hugebuf *buf = &s->mappings[s->mapping_count];
	int ret = gi_hugebuf_map(bytes, flags, buf);

	if (ret < 0)
		return fail_at(s, "buffer", ret);
	s->mapping_count++;
	if (!c->untouched)
		memset(buf->base, 'X', bytes);
	if (c->check_huge) {
		ret = gi_hugebuf_is_huge(buf);
		if (ret <= 0)
			return fail_at(s, "huge page check", ret == 0 ? -ENODATA : ret);
	}
	*ret_base = buf->base;
	return 0;
}

static int map_chunks(struct sender *s)
{
	const struct sender_config *c = &s->config;
	size_t bytes;
	char *base;
	int ret;

	s->mappings = calloc(c->chunks, sizeof(*s->mappings));
	s->chunk = calloc(c->chunks, sizeof(*s->chunk));
	if (!s->mappings || !s->chunk)
		return fail_at(s, "buffer", -ENOMEM);
	if (c->one_mapping) {
		if (__builtin_mul_overflow(c->chunk_bytes, c->chunks, &bytes))
			return fail_at(s, "buffer", -EOVERFLOW);
		ret = map(s, bytes, &base);
		for (unsigned i = 0; ret == 0 && i < c->chunks; i++)
			s->chunk[i] = base + i * c->chunk_bytes;
		return ret;
	}
	for (unsigned i = 0; i < c->chunks; i++) {
		ret = map(s, c->chunk_bytes, &s->chunk[i]);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int size_pipe(struct sender *s)
{
	size_t capacity;
	int ret;

	if (s->config.pipe_bytes == 0)
		return 0;
	ret = gi_pipe_resize(s->endpoint.fd, s->config.pipe_bytes, &capacity);
	return ret < 0 ? fail_at(s, "pipe size", ret) : 0;
}

/* A pipe that holds one chunk, to be sent again and again: tee takes nothing out of it. */
static int fill_master(struct sender *s)
{
	size_t capacity, filled = 0;
	int ret = gi_pipe_open(&s->master);

	if (ret == 0)
		ret = gi_pipe_grow(s->master.write_fd, s->config.chunk_bytes, &capacity);
	while (ret == 0 && filled < s->config.chunk_bytes) {
		ssize_t n = gi_sys_vmsplice(s->master.write_fd, s->chunk[0] + filled,
			s->config.chunk_bytes - filled, SPLICE_F_NONBLOCK);

		if (n < 0)
			ret = (int)n;
		else
			filled += (size_t)n;
	}
	return ret < 0 ? fail_at(s, "master pipe", ret) : 0;
}

static int prepare_protection(struct sender *s)
{
	int ret = gi_barrier_probe(s->config.huge ? GI_HUGEBUF_HUGE : 0, &s->barrier);

	return ret < 0 ? fail_at(s, "copy-on-write barrier", ret) : 0;
}

int sender_prepare(struct sender *s, int fd, const struct sender_config *config)
{
	int ret;

	*s = (struct sender){
		.config = *config, .master = GI_PIPE_NONE, .io = { .fd = -1, .private_fd = -1 }
	};
	ret = gi_endpoint_classify(fd, &s->endpoint);
	if (ret < 0)
		return fail_at(s, "output", ret);
	gi_nowait_init(&s->io, &s->endpoint);
	gi_wait_init(&s->wait, config->wait);
	ret = size_pipe(s);
	if (ret == 0)
		ret = map_chunks(s);
	if (ret == 0 && config->call == SENDER_TEE)
		ret = fill_master(s);
	if (ret == 0 && config->protect)
		ret = prepare_protection(s);
	return ret;
}

void sender_release(struct sender *s)
{
	gi_pipe_close(&s->master);
	gi_nowait_close(&s->io);
	for (unsigned i = 0; i < s->mapping_count; i++)
		gi_hugebuf_unmap(&s->mappings[i]);
	free(s->mappings);
	free(s->chunk);
	s->mappings = NULL;
	s->chunk = NULL;
	s->mapping_count = 0;
}

static ssize_t call_once(struct sender *s, const char *at, size_t bytes)
{
	unsigned nonblock = gi_wait_nonblocking(&s->wait) ? SPLICE_F_NONBLOCK : 0;

	switch (s->config.call) {
	case SENDER_VMSPLICE:
		return gi_sys_vmsplice(
			s->endpoint.fd, at, bytes, nonblock | (s->config.gift ? SPLICE_F_GIFT : 0));
	case SENDER_TEE:
		return gi_sys_tee(s->master.read_fd, s->endpoint.fd, bytes, nonblock);
	case SENDER_WRITE:
		break;
	}
	return nonblock ? gi_nowait_write(&s->io, at, bytes) : gi_sys_write(s->endpoint.fd, at, bytes);
}

static bool stopped(const struct sender *s)
{
	return s->stop && atomic_load_explicit(s->stop, memory_order_relaxed);
}

static int send_chunk(struct sender *s, const char *at, size_t left)
{
	static const char *const names[] = { "write", "vmsplice", "tee" };
	int fd = s->endpoint.fd, ret = 0;

	while (left > 0 && ret == 0 && !stopped(s)) {
		ssize_t n;

		ret = gi_wait_ready(&s->wait, fd, POLLOUT);
		if (ret < 0)
			break;
		n = call_once(s, at, left);
		if (n == -EAGAIN) {
			ret = gi_wait_again(&s->wait, fd, POLLOUT);
		} else if (n <=
			   0) { /* 0 for bytes that were to go is no answer, and asking again would spin */
			return fail_at(s, names[s->config.call], n < 0 ? (int)n : -EIO);
		} else {
			gi_wait_moved(&s->wait);
			at += n;
			left -= (size_t)n;
			s->sent_bytes += (uint64_t)n;
		}
	}
	return ret < 0 ? fail_at(s, "poll", ret) : 0;
}

/* Once round the ring: from here on the pages that readers still hold are no longer ours to change. */
static int protect_ring(struct sender *s)
{
	int ret;

	if (!s->config.protect || s->next != 0 || s->sent_bytes == 0)
		return 0;
	ret = gi_barrier_run(&s->barrier);
	return ret < 0 ? fail_at(s, "copy-on-write barrier", ret) : 0;
}

int sender_run(struct sender *s, uint64_t limit_bytes)
{
	int ret = 0;

	while (ret == 0 && !stopped(s) && (limit_bytes == 0 || s->sent_bytes < limit_bytes)) {
		char *chunk = s->chunk[s->next];
		size_t bytes = s->config.chunk_bytes;

		ret = protect_ring(s);
		if (ret < 0)
			break;
		if (limit_bytes && limit_bytes - s->sent_bytes < bytes)
			bytes = (size_t)(limit_bytes - s->sent_bytes);
		if (s->config.contents == CONTENTS_COUNTER)
			contents_count(chunk, s->config.chunk_bytes, s->sent_bytes / 8);
		ret = send_chunk(s, chunk, bytes);
		s->next = (s->next + 1) % s->config.chunks;
	}
	return ret;
}
