/* SPDX-License-Identifier: MIT */
#include "quote_word.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static char out[1024]; /* a message holds twice that */
static size_t at;

static void put(const char *bytes, size_t count)
{
	if (at + count >= sizeof(out))
		count = 0; /* no half characters */
	memcpy(out + at, bytes, count);
	at += count;
	out[at] = '\0';
}

static void put_string(const char *s)
{
	put(s, strlen(s));
}

/* The bytes of the character at s; *ret_printable: it may be shown. What is no character is one byte. */
static size_t character(const char *s, bool *ret_printable)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t n = mbrtowc(&wide, s, strlen(s), &state);
	bool valid = n != 0 && n < (size_t)-2;

	*ret_printable = valid && iswprint((wint_t)wide);
	return valid ? n : 1;
}

/* \n, or \303 for what has no letter. */
static void put_escaped(const char *bytes, size_t count)
{
	static const char letters[] = "abtnvfr"; /* from 7 on */

	for (size_t i = 0; i < count; i++) {
		unsigned char c = (unsigned char)bytes[i];
		char escape[8];

		if (c >= 7 && c < 14)
			snprintf(escape, sizeof(escape), "\\%c", letters[c - 7]);
		else
			snprintf(escape, sizeof(escape), "\\%03o", c);
		put_string(escape);
	}
}

const char *quote_word(const char *word)
{
	const char *open = "'", *close = "'";
	size_t bytes;
	bool printable;

	setlocale(LC_CTYPE, ""); /* here only: nothing else depends on it, and it takes time */
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0) {
		open = "\xe2\x80\x98";
		close = "\xe2\x80\x99";
	}
	at = 0;
	put_string(open);
	for (; *word; word += bytes) {
		bytes = character(word, &printable);
		if (!printable) {
			put_escaped(word, bytes);
			continue;
		}
		if (*word == '\\' || strncmp(word, close, strlen(close)) == 0)
			put_string("\\");
		put(word, bytes);
	}
	put_string(close);
	return out;
}
