/* SPDX-License-Identifier: MIT */
/*
 * What is sent. Without frames each 64-bit word is its own index, counted modulo wrap_bytes. With frames
 * (threads) each region begins with a header word, and what follows is the next piece of its thread's own
 * counter: so every word can be verified, and the order and completeness of each thread's. Some tools write
 * other things (text.h).
 */
#ifndef STREAM_H
#define STREAM_H

#include "gauntlet.h"

#define FRAME_HEADER 8
#define FRAME_MOST ((size_t)1 << 20)

/* Bytes `at` and on of the counter. tag is or'ed into each word. */
void stream_fill(void *memory, size_t bytes, uint64_t at, uint64_t wrap, uint64_t tag);
/* Returns the words that are not as filled. */
uint64_t stream_count_bad(const void *memory, size_t bytes, uint64_t at, uint64_t wrap, uint64_t tag);

/* The same of a configuration without frames, whatever it sends. */
uint64_t place_count_bad(const struct config *c, const void *memory, size_t bytes, uint64_t at);

uint64_t frame_tag(unsigned thread);
uint64_t frame_header(unsigned thread, uint64_t sequence, size_t payload_bytes);

/* Verifies a stream as it comes. */
struct checker {
	const struct config *config;
	struct seen *seen;
	uint64_t sequence[THREADS_MOST];
	unsigned char header[FRAME_HEADER];
	size_t have;	 /* of the header */
	size_t left;	 /* of the frame */
	unsigned thread; /* whose it is */
	bool lost;	 /* a header was bad: all that follows counts as bad */
};

void checker_take(struct checker *k, const void *memory, size_t bytes);
/* Reads that many from a pipe into memory of its own. false: they were not there. */
bool checker_read(struct checker *k, int fd, size_t bytes);

#endif
