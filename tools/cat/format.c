/* SPDX-License-Identifier: MIT */
/*
 * The changes that options ask for. Most bytes stay as they are: eight at a time are copied and looked at,
 * and only a byte that may have to change stops that.
 */
#include "cat.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define EACH(byte) ((uint64_t)(byte)*0x0101010101010101u)
#define TOPS EACH(0x80)

/* Which bytes stop the copying. */
enum stops { STOP_NEWLINE, STOP_CONTROL, STOP_NONPRINTING };

/*
 * The top bit of the first byte that is such, and of none before it; bits above that mean nothing, since a
 * subtraction borrows from them.
 */
static inline uint64_t find_stops(uint64_t word, enum stops stops)
{
	uint64_t other = word ^ EACH('\n');

	switch (stops) {
	case STOP_NEWLINE:
		return (other - EACH(1)) & ~other & TOPS;
	case STOP_CONTROL:
		return (word - EACH(' ')) & ~word & TOPS;
	case STOP_NONPRINTING: /* and DEL, and all from 128 on */
		return ((word - EACH(' ')) | (word + EACH(1)) | word) & TOPS;
	}
	return 0;
}

/* Copies up to the first byte that stops it; returns how many. Up to 7 bytes too many are read and written.
 */
static inline size_t copy_run(const char *in, size_t bytes, char *out, enum stops stops)
{
	size_t at = 0;

	while (at < bytes) {
		uint64_t word, found;

		memcpy(&word, in + at, sizeof(word));
		memcpy(out + at, &word, sizeof(word));
		found = find_stops(le64toh(word), stops);
		if (found) {
			at += (size_t)__builtin_ctzll(found) / 8;
			break;
		}
		at += sizeof(word);
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

static inline char *put_number(struct text_state *s, char *out)
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

static inline char *put_newline(struct text_state *s, char *out)
{
	if (!s->inside_line) {
		if (s->squeeze && s->after_blank)
			return out;
		if (s->number && !s->number_nonblank)
			out = put_number(s, out);
	}
	s->after_blank = !s->inside_line;
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

static inline char *format(struct text_state *s, const char *in, const char *end, char *out, enum stops stops)
{
	while (in < end) {
		size_t run;

		if (s->return_held) {
			out = put_text(out, *in == '\n' ? "^M" : "\r");
			s->return_held = false;
		}
		if (*in == '\n') {
			out = put_newline(s, out);
			in++;
			continue;
		}
		if (!s->inside_line) {
			s->inside_line = true;
			if (s->number)
				out = put_number(s, out);
		}
		run = copy_run(in, (size_t)(end - in), out, stops);
		in += run;
		out += run;
		if (in < end && *in != '\n')
			out = put_special(s, (unsigned char)*in++, out);
	}
	return out;
}

char *text_format(struct text_state *s, const char *in, size_t bytes, char *out)
{
	if (s->nonprinting)
		return format(s, in, in + bytes, out, STOP_NONPRINTING);
	if (s->tabs || s->ends)
		return format(s, in, in + bytes, out, STOP_CONTROL);
	return format(s, in, in + bytes, out, STOP_NEWLINE);
}

char *text_end(struct text_state *s, char *out)
{
	if (s->return_held)
		*out++ = '\r';
	s->return_held = false;
	return out;
}
