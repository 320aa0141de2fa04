/* SPDX-License-Identifier: MIT */
/* What the bytes of a measured stream are, so that the far end can tell whether it got them. */
#ifndef CONTENTS_H
#define CONTENTS_H

#include <stddef.h>
#include <stdint.h>

enum contents {
	CONTENTS_X,	  /* the article's: every byte is 'X' */
	CONTENTS_ZERO,	  /* pages that were never touched */
	CONTENTS_COUNTER, /* 64-bit words in machine order: the word at byte 8n of the stream is n */
};

/* Writes words from `first` on; `bytes` is a multiple of 8, `to` is aligned to 8. */
void contents_count(void *to, size_t bytes, uint64_t first);

struct contents_check {
	enum contents expected;
	uint64_t bytes, bad_bytes; /* seen so far; those not as expected (a wrong word counts whole) */
};

/* The next bytes of the stream, in pieces of any size. */
void contents_check(struct contents_check *check, const void *data, size_t bytes);

#endif
