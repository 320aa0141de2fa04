/* SPDX-License-Identifier: MIT */
/*
 * The changes that options ask for. Most bytes stay as they are: 16 or 8 at a time are copied and looked at,
 * and only a byte that may have to change stops that.
 */
#include "cat.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The loop is made once for each kind of stops, which the compiler would not do of itself. */
#define INLINE static inline __attribute__((always_inline))

/* Which bytes stop the copying. */
enum stops {
	STOP_BLANK, /* a newline before another one, so that a blank line comes */
	STOP_NEWLINE,
	STOP_CONTROL,	  /* below ' ' */
	STOP_NONPRINTING, /* and DEL, and all from 128 on */
};

#ifdef __SSE2__
#define STEP_BYTES 16

/* A bit for each byte. */
INLINE uint64_t find_stops(const char *in, __m128i bytes, enum stops stops)
{
	const __m128i newline = _mm_set1_epi8('\n');
	__m128i found;

	switch (stops) {
	case STOP_BLANK:
		found = _mm_cmpeq_epi8(bytes, newline);
		bytes = _mm_loadu_si128((const __m128i *)(const void *)(in + 1));
		found = _mm_and_si128(found, _mm_cmpeq_epi8(bytes, newline));
		break;
	case STOP_NEWLINE:
		found = _mm_cmpeq_epi8(bytes, newline);
		break;
	case STOP_CONTROL:
		found = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ' - 1)), bytes);
		break;
	default: /* those from 128 on are negative */
		found = _mm_or_si128(
			_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(127)));
	}
	return (uint64_t)_mm_movemask_epi8(found);
}

/* Copies a step; 0: nothing stops it. */
INLINE uint64_t copy_step(const char *in, char *out, enum stops stops)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)in);

	_mm_storeu_si128((__m128i *)(void *)out, bytes);
	return find_stops(in, bytes, stops);
}

INLINE size_t first_of(uint64_t stops)
{
	return (size_t)__builtin_ctzll(stops);
}
#else
#define STEP_BYTES 8
#define EACH(byte) ((uint64_t)(byte)*0x0101010101010101u)
#define TOPS EACH(0x80)

INLINE uint64_t find_newlines(uint64_t word)
{
	word ^= EACH('\n');
	return (word - EACH(1)) & ~word & TOPS;
}

/*
 * The top bit of the first byte that is such, and of none before it; bits above that mean nothing, since a
 * subtraction borrows from them. Blank lines may be found where there are none: all that costs is time.
 */
INLINE uint64_t find_stops(uint64_t word, enum stops stops)
{
	switch (stops) {
	case STOP_BLANK:
	case STOP_NEWLINE:
		return find_newlines(word);
	case STOP_CONTROL:
		return (word - EACH(' ')) & ~word & TOPS;
	default:
		return ((word - EACH(' ')) | (word + EACH(1)) | word) & TOPS;
	}
}

INLINE uint64_t copy_step(const char *in, char *out, enum stops stops)
{
	uint64_t word;

	memcpy(&word, in, sizeof(word));
	memcpy(out, &word, sizeof(word));
	return find_stops(le64toh(word), stops);
}

INLINE size_t first_of(uint64_t stops)
{
	return (size_t)__builtin_ctzll(stops) / 8;
}
#endif

/*
 * Copies up to the first byte that stops it; returns how many. A step too much, and a byte, are read, and a
 * step too much is written.
 */
INLINE size_t copy_run(const char *in, size_t bytes, char *out, enum stops stops)
{
	size_t at = 0;

	while (at < bytes) {
		uint64_t found = copy_step(in + at, out + at, stops);

		if (found) {
			at += first_of(found);
			break;
		}
		at += STEP_BYTES; /* foreseen by the CPU: adding what was found would have to wait for it */
	}
	return at < bytes ? at : bytes; /* it may have been found behind the end */
}

/* ---- line numbers ---- */

#define LAST_DIGIT (sizeof(((struct text_state *)0)->line_number) - 3)
#define NUMBER_WIDTH 6

void text_begin(struct text_state *s)
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

static inline char *put_text(char *out, const char *text)
{
	while (*text)
		*out++ = *text++;
	return out;
}

static char *put_nonprinting(char *out, unsigned char c)
{
	if (c >= 128) {
		out = put_text(out, "M-");
		c -= 128;
	}
	if (c >= ' ' && c != 127) {
		*out++ = (char)c;
		return out;
	}
	*out++ = '^';
	*out++ = (char)(c ^ 64);
	return out;
}

INLINE char *put_newline(struct text_state *s, char *out)
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
	if (s->ends)
		*out++ = '$';
	*out++ = '\n';
	return out;
}

/* A byte that stopped the copying, and is no newline. */
static char *put_special(struct text_state *s, unsigned char c, char *out)
{
	if (c == '\t')
		return put_text(out, s->tabs ? "^I" : "\t");
	if (s->nonprinting)
		return put_nonprinting(out, c);
	if (c == '\r' && s->ends) {
		s->return_held = true;
		return out;
	}
	*out++ = (char)c;
	return out;
}

/* ---- the loop ---- */

/* The state is a copy of the loop's own: bytes that are written could be part of another. */
INLINE char *format(struct text_state *state, const char *in, const char *end, char *out, enum stops stops)
{
	struct text_state s = *state;

	s.first = s.line_number + (state->first - state->line_number);
	while (in < end) {
		size_t run;

		if (s.return_held) {
			out = put_text(out, *in == '\n' ? "^M" : "\r");
			s.return_held = false;
		}
		if (*in == '\n') {
			out = put_newline(&s, out);
			in++;
			continue;
		}
		if (!s.inside_line) {
			s.inside_line = true;
			if (s.number)
				out = put_number(&s, out);
		}
		run = copy_run(in, (size_t)(end - in), out, stops);
		in += run;
		out += run;
		if (in < end && *in != '\n')
			out = put_special(&s, (unsigned char)*in++, out);
	}
	if (stops == STOP_BLANK && end[-1] == '\n' && s.inside_line) /* it did not stop the copying */
		s.inside_line = s.after_blank = false;
	state->first = state->line_number + (s.first - s.line_number);
	s.first = state->first;
	*state = s;
	return out;
}

char *text_format(struct text_state *s, const char *in, size_t bytes, char *out)
{
	const char *end = in + bytes;

	if (s->nonprinting)
		return format(s, in, end, out, STOP_NONPRINTING);
	if (s->tabs || s->ends)
		return format(s, in, end, out, STOP_CONTROL);
	if (s->number)
		return format(s, in, end, out, STOP_NEWLINE);
	return format(s, in, end, out, STOP_BLANK);
}

char *text_end(struct text_state *s, char *out)
{
	if (s->return_held)
		*out++ = '\r';
	s->return_held = false;
	return out;
}
