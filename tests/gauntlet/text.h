/* SPDX-License-Identifier: MIT */
/* What a tool must write where that is no counter: a text again and again, with or without numbers of lines.
 */
#ifndef TEXT_H
#define TEXT_H

#include "gauntlet.h"

struct text {
	unsigned char *bytes; /* NULL: none */
	size_t mapped, period;
	size_t line_bytes; /* 0: as it is; else all lines have so many, and each comes with its number */
};

/* What is in front of each line then: up to 999999 of them. */
#define NUMBER_BYTES 7
#define NUMBERS_MOST 999999

/* Random words, as many bytes as wanted, and a newline at the end of them. false: no memory. */
bool text_of_words(struct text *t, struct rng *r, size_t bytes);
/* What the bytes become under cat -A, a byte after the other. */
bool text_of_shown(struct text *t, const unsigned char *from, size_t bytes);
/* 64 KiB of it at least, again and again: verifying it is not to be the slowest part. */
void text_lengthen(struct text *t);
void text_free(struct text *t);

/* Returns how many words' worth of bytes are not as they must be at that place of the output. */
uint64_t text_count_bad(const struct text *t, const void *memory, size_t bytes, uint64_t at);

#endif
