/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <string.h>

void contents_count(void *to, size_t bytes, uint64_t first)
{
	uint64_t *word = to;

	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = first + i;
}

static size_t count_unlike(const unsigned char *data, size_t bytes, unsigned char expected)
{
	size_t bad = 0;

	/* Equal to itself moved by one, and the first byte right: all are right. */
	if (bytes > 0 && data[0] == expected && memcmp(data, data + 1, bytes - 1) == 0)
		return 0;
	for (size_t i = 0; i < bytes; i++)
		bad += data[i] != expected;
	return bad;
}

static size_t count_unlike_word(const unsigned char *data, size_t bytes, uint64_t at)
{
	size_t bad = 0;

	for (size_t i = 0; i < bytes; i++) {
		uint64_t word = (at + i) / 8;

		bad += data[i] != ((unsigned char *)&word)[(at + i) % 8];
	}
	return bad;
}

static size_t check_counter(const unsigned char *data, size_t bytes, uint64_t at)
{
	size_t head = (8 - at % 8) % 8, bad, i;

	if (head > bytes)
		head = bytes;
	bad = count_unlike_word(data, head, at);
	for (i = head; i + 8 <= bytes; i += 8) {
		uint64_t word;

		memcpy(&word, data + i, 8);
		if (word != (at + i) / 8)
			bad += 8;
	}
	return bad + count_unlike_word(data + i, bytes - i, at + i);
}

void contents_check(struct contents_check *check, const void *data, size_t bytes)
{
	if (check->expected == CONTENTS_COUNTER)
		check->bad_bytes += check_counter(data, bytes, check->bytes);
	else
		check->bad_bytes += count_unlike(data, bytes, check->expected == CONTENTS_X ? 'X' : 0);
	check->bytes += bytes;
}
