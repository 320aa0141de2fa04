/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_begin(struct json *j, FILE *stream)
{
	*j = (struct json){ .stream = stream };
}

/* How many bytes the well-formed UTF-8 sequence at s has; 0: it is not one. */
static int utf8_length(const unsigned char *s)
{
	uint32_t code;
	int n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	code = s[0] & (0x7fu >> n);
	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	if (n == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
		return 0;
	if (n == 4 && (code < 0x10000 || code > 0x10ffff))
		return 0;
	return n;
}

static void put_string(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', f);
	while (*s) {
		int n = utf8_length(s);

		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(f, "\\u%04x", *s);
		else if (n > 0)
			fwrite(s, 1, (size_t)n, f);
		else
			fputs("\xef\xbf\xbd", f);
		s += n > 0 ? n : 1;
	}
	putc('"', f);
}

static void indent(struct json *j)
{
	fprintf(j->stream, "\n%*s", j->depth * 2, "");
}

/* Comma, line break and name: all that stands before a value. */
static void before(struct json *j, const char *name)
{
	if (j->depth > 0) {
		if (j->filled[j->depth - 1])
			putc(',', j->stream);
		j->filled[j->depth - 1] = true;
		indent(j);
	}
	if (name) {
		put_string(j->stream, name);
		fputs(": ", j->stream);
	}
}

void json_open(struct json *j, const char *name, char bracket)
{
	before(j, name);
	if (j->depth == JSON_DEPTH) {
		j->misused = true;
		return;
	}
	putc(bracket, j->stream);
	j->filled[j->depth] = false;
	j->closer[j->depth++] = bracket == '{' ? '}' : ']';
}

void json_close(struct json *j)
{
	if (j->depth == 0) {
		j->misused = true;
		return;
	}
	j->depth--;
	if (j->filled[j->depth])
		indent(j);
	putc(j->closer[j->depth], j->stream);
}

void json_text(struct json *j, const char *name, const char *text)
{
	before(j, name);
	if (text)
		put_string(j->stream, text);
	else
		fputs("null", j->stream);
}

void json_int(struct json *j, const char *name, int64_t number)
{
	before(j, name);
	fprintf(j->stream, "%" PRId64, number);
}

void json_double(struct json *j, const char *name, double number)
{
	before(j, name);
	if (isfinite(number))
		fprintf(j->stream, "%.6g", number);
	else
		fputs("null", j->stream);
}

void json_bool(struct json *j, const char *name, bool value)
{
	before(j, name);
	fputs(value ? "true" : "false", j->stream);
}

void json_null(struct json *j, const char *name)
{
	before(j, name);
	fputs("null", j->stream);
}

int json_end(struct json *j)
{
	putc('\n', j->stream);
	if (j->depth != 0 || j->misused)
		return -EINVAL;
	errno = 0;
	if (fflush(j->stream) != 0 || ferror(j->stream))
		return errno ? -errno : -EIO;
	return 0;
}
