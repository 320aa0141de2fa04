/* SPDX-License-Identifier: MIT */
#include "stream.h"
#include "text.h"

#include <string.h>
#include <unistd.h>

/* ---- the counter: these two must agree, and share nothing but the word's value ---- */

static void fill_plain(unsigned char *to, size_t bytes, uint64_t at, uint64_t tag)
{
	while (bytes > 0) {
		uint64_t word = tag | at / 8;
		size_t skip = at % 8, n = 8 - skip < bytes ? 8 - skip : bytes;

		memcpy(to, (unsigned char *)&word + skip, n);
		for (to += n, at += n, bytes -= n; bytes >= 8; to += 8, at += 8, bytes -= 8) {
			word = tag | at / 8;
			memcpy(to, &word, 8);
		}
	}
}

static uint64_t count_plain(const unsigned char *from, size_t bytes, uint64_t at, uint64_t tag)
{
	uint64_t bad = 0;

	while (bytes > 0) {
		uint64_t word = tag | at / 8, got;
		size_t skip = at % 8, n = 8 - skip < bytes ? 8 - skip : bytes;

		bad += memcmp(from, (unsigned char *)&word + skip, n) != 0;
		for (from += n, at += n, bytes -= n; bytes >= 8; from += 8, at += 8, bytes -= 8) {
			memcpy(&got, from, 8);
			bad += got != (tag | at / 8);
		}
	}
	return bad;
}

/* How many bytes come before the counter begins again. */
static size_t before_wrap(size_t bytes, uint64_t *at, uint64_t wrap)
{
	*at %= wrap;
	return bytes < wrap - *at ? bytes : (size_t)(wrap - *at);
}

void stream_fill(void *memory, size_t bytes, uint64_t at, uint64_t wrap, uint64_t tag)
{
	unsigned char *to = memory;

	while (bytes > 0) {
		size_t n = before_wrap(bytes, &at, wrap);

		fill_plain(to, n, at, tag);
		to += n;
		at += n;
		bytes -= n;
	}
}

uint64_t stream_count_bad(const void *memory, size_t bytes, uint64_t at, uint64_t wrap, uint64_t tag)
{
	const unsigned char *from = memory;
	uint64_t bad = 0;

	while (bytes > 0) {
		size_t n = before_wrap(bytes, &at, wrap);

		bad += count_plain(from, n, at, tag);
		from += n;
		at += n;
		bytes -= n;
	}
	return bad;
}

uint64_t place_count_bad(const struct config *c, const void *memory, size_t bytes, uint64_t at)
{
	return c->text ? text_count_bad(c->text, memory, bytes, at)
		       : stream_count_bad(memory, bytes, at, c->wrap_bytes, 0);
}

/* ---- frames ---- */

uint64_t frame_tag(unsigned thread)
{
	return (uint64_t)(thread + 1) << 56;
}

uint64_t frame_header(unsigned thread, uint64_t sequence, size_t payload_bytes)
{
	return frame_tag(thread) | (sequence & 0xffffff) << 32 | payload_bytes;
}

static void begin_frame(struct checker *k)
{
	uint64_t header;
	unsigned thread;

	memcpy(&header, k->header, FRAME_HEADER);
	thread = (unsigned)(header >> 56) - 1;
	k->have = 0;
	k->left = header & 0xffffffff;
	if (thread >= k->config->threads || k->left > FRAME_MOST ||
		header != frame_header(thread, k->sequence[thread], k->left)) {
		k->lost = true;
		k->seen->bad++;
		return;
	}
	k->thread = thread;
	k->sequence[thread]++;
}

static size_t take_header(struct checker *k, const unsigned char *from, size_t bytes)
{
	size_t n = FRAME_HEADER - k->have < bytes ? FRAME_HEADER - k->have : bytes;

	memcpy(k->header + k->have, from, n);
	k->have += n;
	if (k->have == FRAME_HEADER)
		begin_frame(k);
	return n;
}

static size_t take_payload(struct checker *k, const unsigned char *from, size_t bytes)
{
	size_t n = k->left < bytes ? k->left : bytes;
	uint64_t *at = &k->seen->bytes_by[k->thread];

	k->seen->bad += stream_count_bad(from, n, *at, UINT64_MAX, frame_tag(k->thread));
	*at += n;
	k->left -= n;
	return n;
}

static void take_frames(struct checker *k, const unsigned char *from, size_t bytes)
{
	while (bytes > 0 && !k->lost) {
		size_t n = k->left > 0 ? take_payload(k, from, bytes) : take_header(k, from, bytes);

		from += n;
		bytes -= n;
	}
	k->seen->bad += bytes / 8;
}

void checker_take(struct checker *k, const void *memory, size_t bytes)
{
	if (k->config->threads > 0)
		take_frames(k, memory, bytes);
	else
		k->seen->bad += place_count_bad(k->config, memory, bytes, k->seen->bytes);
	k->seen->bytes += bytes;
	k->seen->words = k->seen->bytes / 8;
}

bool checker_read(struct checker *k, int fd, size_t bytes)
{
	static unsigned char buf[256 << 10];

	while (bytes > 0) {
		ssize_t n = read(fd, buf, bytes < sizeof(buf) ? bytes : sizeof(buf));

		if (n <= 0)
			return false;
		checker_take(k, buf, (size_t)n);
		bytes -= (size_t)n;
	}
	return true;
}
