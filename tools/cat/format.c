/* SPDX-License-Identifier: MIT */
/*
 * The changes that options ask for. Most bytes stay as they are: BLOCK_BYTES at a time are looked at, which
 * gives a bit for each byte that may have to change. What lies between two of them is copied, without a look
 * at its length.
 */
#include "cat.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The loop is made once for lines that matter and once for those that do not, which the compiler would not
 * do. */
#define INLINE static inline __attribute__((always_inline))

#define BLOCK_BYTES 64

enum lines {
	LINES_IGNORED,
	LINES_SQUEEZED, /* and nothing else is done */
	LINES_COUNT,	/* each may get a number, or be left out */
};

/* ---- a bit for each byte of a block, the first one's lowest ---- */

#ifdef __SSE2__
#define STEP_BYTES 16
typedef __m128i step;

INLINE step load(const char *in)
{
	return _mm_loadu_si128((const __m128i *)(const void *)in);
}

INLINE uint64_t step_equal(step bytes, char c)
{
	return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

/* Those from 128 on are negative. */
INLINE uint64_t step_nonprinting(step bytes)
{
	return (uint64_t)_mm_movemask_epi8(_mm_or_si128(
		_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(127))));
}
#else
#define STEP_BYTES 8
#define EACH(byte) ((uint64_t)(byte)*0x0101010101010101u)
#define TOPS EACH(0x80)
typedef uint64_t step;

INLINE step load(const char *in)
{
	uint64_t word;

	memcpy(&word, in, sizeof(word));
	return le64toh(word);
}

/* From the top bit of each byte to eight bits side by side: no two of the products' bits that matter meet. */
INLINE uint64_t gather(uint64_t tops)
{
	return ((tops & TOPS) >> 7) * 0x0102040810204080u >> 56;
}

/* A sum of two bytes below 128 carries into the top bit and no further. */
INLINE uint64_t step_equal(step bytes, char c)
{
	bytes ^= EACH((unsigned char)c);
	return gather(~(((bytes & ~TOPS) + EACH(127)) | bytes));
}

INLINE uint64_t step_nonprinting(step bytes)
{
	uint64_t low = bytes & ~TOPS;

	return gather(~(low + EACH(128 - ' ')) | (low + EACH(1)) | bytes);
}
#endif

INLINE uint64_t equal(const char *in, char c)
{
	uint64_t found = 0;

	for (size_t at = 0; at < BLOCK_BYTES; at += STEP_BYTES)
		found |= step_equal(load(in + at), c) << at;
	return found;
}

INLINE uint64_t nonprinting(const char *in)
{
	uint64_t found = 0;

	for (size_t at = 0; at < BLOCK_BYTES; at += STEP_BYTES)
		found |= step_nonprinting(load(in + at)) << at;
	return found;
}

/* ---- line numbers ---- */

#define LAST_DIGIT (sizeof(((struct text_state *)0)->line_number) - 3)
#define NUMBER_WIDTH 6

static void begin_numbers(struct text_state *s)
{
	memset(s->line_number, ' ', sizeof(s->line_number));
	s->line_number[LAST_DIGIT] = '1';
	s->line_number[LAST_DIGIT + 1] = '\t';
	s->first = s->line_number + LAST_DIGIT - (NUMBER_WIDTH - 1);
}

INLINE char *put_number(struct text_state *s, char *out)
{
	char *end = s->line_number + LAST_DIGIT, *digit = end;
	size_t bytes = (size_t)(end - s->first) + 2;

	memcpy(out, s->first, 8);
	if (bytes > 8)
		memcpy(out + 8, s->first + 8, bytes - 8);
	while (*digit == '9')
		*digit-- = '0';
	*digit = *digit == ' ' ? '1' : (char)(*digit + 1);
	if (digit < s->first)
		s->first = digit;
	return out + bytes;
}

/* ---- single bytes ---- */

/* Then lines need not be looked at one by one. */
static bool only_squeezes(const struct text_state *s)
{
	return s->squeeze && !s->number && !s->ends && !s->tabs && !s->nonprinting;
}

static void show(struct text_change *change, unsigned char c)
{
	char *out = change->text;

	if (c >= 128) {
		*out++ = 'M';
		*out++ = '-';
		c -= 128;
	}
	if (c < ' ' || c == 127) {
		*out++ = '^';
		c ^= 64;
	}
	*out++ = (char)c;
	change->bytes = (unsigned char)(out - change->text);
}

void text_begin(struct text_state *s, struct text_change changes[256])
{
	begin_numbers(s);
	s->changes = changes;
	for (int c = 0; c < 256; c++)
		show(&changes[c], (unsigned char)c);
	if (!s->tabs)
		changes['\t'] = (struct text_change){ "\t", 1 };
	if (only_squeezes(s))
		changes['\n'] = (struct text_change){ "", 0 };
	else
		changes['\n'] = s->ends ? (struct text_change){ "$\n", 2 } : (struct text_change){ "\n", 1 };
}

/* Its whole memory is stored: how much of it counts is known too late for a branch. */
INLINE char *put_change(const struct text_change *change, char *out)
{
	memcpy(out, change, sizeof(*change));
	return out + change->bytes;
}

/* ---- lines ---- */

INLINE char *begin_line(struct text_state *s, char *out)
{
	if (s->inside_line)
		return out;
	s->inside_line = true;
	return s->number ? put_number(s, out) : out;
}

INLINE char *put_newline(struct text_state *s, const struct text_change *change, char *out)
{
	bool blank = !s->inside_line;

	if (blank) {
		if (s->squeeze && s->after_blank)
			return out;
		if (s->number && !s->number_nonblank)
			out = put_number(s, out);
	}
	s->after_blank = blank;
	s->inside_line = false;
	return put_change(change, out);
}

/* ---- the loop ---- */

/* Reads a byte behind the block: a return is only shown before a newline. */
INLINE uint64_t find_stops(const struct text_state *s, const char *in, enum lines lines)
{
	bool newlines_stop = lines == LINES_COUNT || s->ends;
	uint64_t stops, newlines;

	if (s->nonprinting) {
		stops = nonprinting(in);
		if (!s->tabs)
			stops &= ~equal(in, '\t');
		return newlines_stop ? stops : stops & ~equal(in, '\n');
	}
	newlines = equal(in, '\n');
	stops = newlines_stop ? newlines : 0;
	if (s->tabs)
		stops |= equal(in, '\t');
	if (s->ends)
		stops |= equal(in, '\r') &
			 (newlines >> 1 | (uint64_t)(in[BLOCK_BYTES] == '\n') << (BLOCK_BYTES - 1));
	return stops;
}

/*
 * Only squeezing: the newlines that are left out, those that end a blank line after a blank line, are found
 * without a stop at any other.
 */
INLINE uint64_t find_squeezed(struct text_state *s, const char *in, size_t bytes)
{
	uint64_t newlines = equal(in, '\n');
	uint64_t blank = newlines & (newlines << 1 | !s->inside_line);
	uint64_t squeezed = blank & (blank << 1 | (!s->inside_line && s->after_blank));

	s->inside_line = !(newlines >> (bytes - 1) & 1);
	s->after_blank = blank >> (bytes - 1) & 1;
	return squeezed;
}

/*
 * Copies a whole block, whatever there is to copy. A branch on the length is foretold wrongly too often: C
 * source with -A took 100 ms so, 123 ms with one for more than 16 bytes. Where nearly each byte changes the
 * branch would be worth it (UTF-8 of two bytes: 351 of 496 ms).
 */
INLINE char *put_run(struct text_state *s, const char *in, size_t bytes, char *out, enum lines lines)
{
	if (lines == LINES_COUNT && bytes > 0)
		out = begin_line(s, out);
	memcpy(out, in, BLOCK_BYTES);
	return out + bytes;
}

INLINE char *format_block(struct text_state *s, const char *in, size_t bytes, char *out, enum lines lines)
{
	uint64_t stops = (lines == LINES_SQUEEZED ? find_squeezed(s, in, bytes) : find_stops(s, in, lines)) &
			 UINT64_MAX >> (BLOCK_BYTES - bytes);
	size_t at = 0;

	for (; stops; stops &= stops - 1) {
		size_t stop = (size_t)__builtin_ctzll(stops);
		const struct text_change *change = &s->changes[(unsigned char)in[stop]];

		out = put_run(s, in + at, stop - at, out, lines);
		if (lines == LINES_COUNT && in[stop] == '\n')
			out = put_newline(s, change, out);
		else
			out = put_change(change, lines == LINES_COUNT ? begin_line(s, out) : out);
		at = stop + 1;
	}
	return put_run(s, in + at, bytes - at, out, lines);
}

/* The state is a copy of the loop's own: bytes that are written could be part of another. */
INLINE char *format(struct text_state *state, const char *in, size_t bytes, char *out, enum lines lines)
{
	struct text_state s = *state;

	s.first = s.line_number + (state->first - state->line_number);
	for (size_t at = 0; at < bytes; at += BLOCK_BYTES)
		out = format_block(
			&s, in + at, bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES, out, lines);
	state->first = state->line_number + (s.first - s.line_number);
	s.first = state->first;
	*state = s;
	return out;
}

/* A return at the end is held back, with the number before it: what follows decides how it is shown. */
static char *hold_return(struct text_state *s, char *out)
{
	s->return_held = true;
	return begin_line(s, out);
}

char *text_format(struct text_state *s, const char *in, size_t bytes, char *out)
{
	bool hold = bytes > 0 && s->ends && !s->nonprinting && in[bytes - 1] == '\r';

	if (s->return_held && bytes > 0) {
		out = *in == '\n' ? put_change(&s->changes['\r'], out) : text_end(s, out);
		s->return_held = false;
	}
	bytes -= hold;
	if (only_squeezes(s))
		out = format(s, in, bytes, out, LINES_SQUEEZED);
	else if (s->number || s->squeeze)
		out = format(s, in, bytes, out, LINES_COUNT);
	else
		out = format(s, in, bytes, out, LINES_IGNORED);
	return hold ? hold_return(s, out) : out;
}

char *text_end(struct text_state *s, char *out)
{
	if (s->return_held)
		*out++ = '\r';
	s->return_held = false;
	return out;
}
