/* SPDX-License-Identifier: MIT */
/* The parts of cat: cat.c opens the inputs, plain.c moves bytes as they are, format.c changes them. */
#ifndef CAT_H
#define CAT_H

#include <stdbool.h>
#include <stddef.h>

struct cat_options {
	bool show_all, number_nonblank, ends_v, ends, number, squeeze, tabs_v, tabs, unbuffered, nonprinting;
	bool stable, explain;
};

/* What became of an input. READ_FAILED: it was named, and the next may follow. */
enum cat_result { CAT_DONE, CAT_READ_FAILED, CAT_WRITE_FAILED };

/* What to call an input in messages: "-", or the name, in quotes where it needs them. */
struct cat_input {
	int fd;
	const char *shown;
};

enum cat_result cat_plain(const struct cat_input *input, const struct cat_options *options);

/* The lines of all inputs are one text: numbers and blank lines go on from one to the next. */
struct formatter;
struct formatter *formatter_open(const struct cat_options *options); /* NULL: no memory */
enum cat_result formatter_take(struct formatter *f, const struct cat_input *input);
enum cat_result formatter_close(struct formatter *f); /* writes what is left */

/* In format.c: the changes themselves. */
struct text_change {
	char text[7]; /* "M-^?" is the longest */
	unsigned char bytes;
};

struct text_state {
	bool number, number_nonblank, squeeze, ends, tabs, nonprinting;
	bool inside_line; /* at least one byte of the current line has come */
	bool after_blank; /* the line before was blank */
	bool return_held; /* with `ends`: a '\r' came, and what follows decides how it is shown */
	const struct text_change *changes;
	char line_number[24], *first; /* digits of the next line's, right-aligned, with a tab behind */
};

#define TEXT_GROWTH 32	   /* bytes of output for one of input, at most */
#define TEXT_OVERSHOOT 128 /* bytes that may be read behind the input, and written behind the output */

void text_begin(struct text_state *s, struct text_change changes[256]); /* which it fills and keeps */
/* Formats the whole input; returns the end of the output. */
char *text_format(struct text_state *s, const char *in, size_t bytes, char *out);
char *text_end(struct text_state *s, char *out);

#endif
