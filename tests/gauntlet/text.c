/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <string.h>
#include <sys/mman.h>

#define ROOM_BYTES (64 * KIB)

/* An allocator would keep some of it, and the soak take that for a leak. */
static void map(struct text *t, size_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	t->bytes = base == MAP_FAILED ? NULL : base;
	t->mapped = bytes;
}

bool text_of_words(struct text *t, struct rng *r, size_t bytes)
{
	map(t, bytes + ROOM_BYTES);
	t->period = bytes;
	for (size_t i = 0; t->bytes && i < bytes; i++)
		t->bytes[i] = (unsigned char)('a' + rng_below(r, 26));
	if (t->bytes)
		t->bytes[bytes - 1] = '\n';
	return t->bytes != NULL;
}

void text_lengthen(struct text *t)
{
	size_t times = t->mapped / t->period;

	for (size_t i = 1; i < times; i++)
		memcpy(t->bytes + i * t->period, t->bytes, t->period);
	t->period *= times;
}

void text_free(struct text *t)
{
	if (t->bytes)
		munmap(t->bytes, t->mapped);
	t->bytes = NULL;
}

/* ---- cat -A ---- */

#define SHOWN_MOST 4

/* As the manual has it. Returns how many bytes. */
static size_t show(unsigned char c, unsigned char *to)
{
	size_t n = 0;

	if (c == '\n') {
		to[n++] = '$';
		to[n++] = '\n';
		return n;
	}
	if (c >= 128) {
		to[n++] = 'M';
		to[n++] = '-';
		c -= 128;
	}
	if (c < ' ' || c == 127) {
		to[n++] = '^';
		c = c == 127 ? '?' : (unsigned char)(c + '@');
	}
	to[n++] = c;
	return n;
}

bool text_of_shown(struct text *t, const unsigned char *from, size_t bytes)
{
	map(t, bytes * SHOWN_MOST);
	t->period = 0;
	for (size_t i = 0; t->bytes && i < bytes; i++)
		t->period += show(from[i], t->bytes + t->period);
	return t->bytes != NULL;
}

/* ---- what must be where ---- */

/* From that place on, as much as lies side by side. */
static const unsigned char *plain_piece(const struct text *t, uint64_t at, size_t *ret_bytes)
{
	size_t skip = (size_t)(at % t->period);

	*ret_bytes = t->period - skip;
	return t->bytes + skip;
}

static const unsigned char *numbered_piece(const struct text *t, uint64_t at, size_t *ret_bytes)
{
	static unsigned char number[NUMBER_BYTES];
	uint64_t line = at / (NUMBER_BYTES + t->line_bytes), left = line + 1;
	size_t column = (size_t)(at % (NUMBER_BYTES + t->line_bytes));
	const unsigned char *piece;

	if (column >= NUMBER_BYTES) {
		piece = plain_piece(t, line * t->line_bytes + column - NUMBER_BYTES, ret_bytes);
		*ret_bytes = NUMBER_BYTES + t->line_bytes - column;
		return piece;
	}
	memset(number, ' ', sizeof(number));
	number[NUMBER_BYTES - 1] = '\t';
	for (size_t i = NUMBER_BYTES - 1; i > 0 && left > 0; left /= 10)
		number[--i] = (unsigned char)('0' + left % 10);
	*ret_bytes = NUMBER_BYTES - column;
	return number + column;
}

static uint64_t count_different(const unsigned char *a, const unsigned char *b, size_t bytes)
{
	uint64_t different = 0;

	for (size_t i = 0; i < bytes; i++)
		different += a[i] != b[i];
	return (different + 7) / 8;
}

uint64_t text_count_bad(const struct text *t, const void *memory, size_t bytes, uint64_t at)
{
	const unsigned char *from = memory;
	uint64_t bad = 0;

	while (bytes > 0) {
		size_t n;
		const unsigned char *want =
			t->line_bytes > 0 ? numbered_piece(t, at, &n) : plain_piece(t, at, &n);

		n = n < bytes ? n : bytes;
		if (memcmp(from, want, n) != 0)
			bad += count_different(from, want, n);
		from += n;
		at += n;
		bytes -= n;
	}
	return bad;
}
