/* SPDX-License-Identifier: MIT */
#include "quote.h"

#include "term.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a shell would not leave alone; found by trying every character in names given to GNU cat 9.1. */
static const char anywhere[] = " !\"$&'()*:;<=>?[\\^`|";
static const char at_start[] = "#~";
static const char alone[] = "{}";
/* Between double quotes, beside letters and digits. */
static const char in_double_quotes[] = " %'+,-./:@]_";

static bool is_plain_byte(unsigned char c)
{
	return c >= ' ' && c < 127;
}

/* The bytes of the character here if it can be printed, else 0. Beyond ASCII where the locale is UTF-8. */
static size_t printable(const char *text, bool utf8)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t bytes = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;

	if (c[0] < 128)
		return is_plain_byte(c[0]) ? 1 : 0;
	if (!utf8 || c[0] < 0xc2 || c[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if (c[0] == 0xc2 && c[1] < 0xa0) /* controls */
		return 0;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90)) /* longer than need be */
		return 0;
	if ((c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90)) /* no character */
		return 0;
	return bytes;
}

static bool is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 128;
}

enum manner { AS_IT_IS, DOUBLE, SINGLE };

static enum manner choose(const char *name, bool utf8)
{
	bool quote = *name == '\0' || strchr(at_start, *name) || (strchr(alone, *name) && name[1] == '\0');
	bool can_double = strchr(name, '\'') != NULL;
	size_t n;

	for (const char *c = name; *c; c += n) {
		n = printable(c, utf8);
		if (n == 0)
			return SINGLE;
		quote |= strchr(anywhere, *c) != NULL;
		can_double &= is_word((unsigned char)*c) || strchr(in_double_quotes, *c);
	}
	return can_double ? DOUBLE : quote ? SINGLE : AS_IT_IS;
}

static char *put(char *out, const char *text)
{
	return stpcpy(out, text);
}

static char *put_escape(char *out, unsigned char c)
{
	static const char letters[] = "abtnvfr"; /* from 7 on */

	if (c >= 7 && c < 14)
		return out + sprintf(out, "\\%c", letters[c - 7]);
	return out + sprintf(out, "\\%03o", c);
}

/* 'text', with '$'\n'' for what cannot be printed, and '\'' for a quote. */
static char *put_single(char *out, const char *name, bool utf8)
{
	bool escaping = false;

	*out++ = '\'';
	while (*name) {
		size_t n = printable(name, utf8);

		if (n == 0) {
			if (!escaping)
				out = put(out, "'$'");
			out = put_escape(out, (unsigned char)*name++);
			escaping = true;
			continue;
		}
		if (*name == '\'')
			out = put(out, "'\\''");
		else {
			if (escaping)
				out = put(out, "''");
			memcpy(out, name, n);
			out += n;
		}
		escaping = false;
		name += n;
	}
	*out++ = '\'';
	return out;
}

char *quote_name(const char *name)
{
	bool utf8 = term_utf8();
	char *quoted = malloc(strlen(name) * 9 + 3), *end; /* "'$'\ooo''" for a byte, at most */

	if (!quoted)
		return NULL;
	switch (choose(name, utf8)) {
	case AS_IT_IS:
		end = put(quoted, name);
		break;
	case DOUBLE:
		end = put(put(put(quoted, "\""), name), "\"");
		break;
	default:
		end = put_single(quoted, name, utf8);
	}
	*end = '\0';
	return quoted;
}
