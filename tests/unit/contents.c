/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include "support.h"

#define BYTES 4096

static uint64_t words[BYTES / 8];
static unsigned char *const bytes = (unsigned char *)words;

static void counting(void)
{
	static const uint64_t firsts[] = { 0, 1, 255, 1ull << 32, UINT64_MAX - 5 };

	for (size_t i = 0; i < COUNT(firsts); i++) {
		words[100] = 4711;
		contents_count(words, 800, firsts[i]);
		for (uint64_t n = 0; n < 100; n++)
			CHECK(words[n] == firsts[i] + n);
		CHECK(words[100] == 4711);
	}
	words[0] = 4711;
	contents_count(words, 0, 1);
	CHECK(words[0] == 4711);
}

static const char *const names[] = { "X", "zero", "counter" };

static void good_bytes(enum contents kind)
{
	if (kind == CONTENTS_COUNTER)
		contents_count(words, BYTES, 0);
	else
		memset(bytes, kind == CONTENTS_X ? 'X' : 0, BYTES);
}

/* Gives the bytes in pieces of `piece`; 0: of 1, 2, 3, ... bytes. */
static struct contents_check check_in_pieces(enum contents kind, size_t piece)
{
	struct contents_check check = { .expected = kind };
	size_t at = 0, n = piece;

	while (at < BYTES) {
		n = piece ? piece : n + 1;
		if (n > BYTES - at)
			n = BYTES - at;
		contents_check(&check, bytes + at, n);
		at += n;
	}
	return check;
}

static const size_t pieces[] = { 0, 1, 2, 3, 7, 8, 9, 13, 64, 100, 1000, 4095, BYTES };

static void good_streams(void)
{
	for (int kind = 0; kind < 3; kind++) {
		good_bytes(kind);
		for (size_t i = 0; i < COUNT(pieces); i++) {
			struct contents_check check = check_in_pieces(kind, pieces[i]);

			CHECK_CASE(check.bad_bytes == 0, names[kind]);
			CHECK_CASE(check.bytes == BYTES, names[kind]);
		}
	}
}

/*
 * A byte of X or zeros counts as one. A wrong word of a counter counts whole where it came whole, else by its
 * bytes.
 */
static void expect_bad(enum contents kind, size_t piece, uint64_t bad_bytes, uint64_t bad_words)
{
	uint64_t got = check_in_pieces(kind, piece).bad_bytes;

	if (kind != CONTENTS_COUNTER || (piece > 0 && piece < 8))
		CHECK_CASE(got == bad_bytes, names[kind]);
	else if (piece % 8 == 0 && piece > 0)
		CHECK_CASE(got == 8 * bad_words, names[kind]);
	else
		CHECK_CASE(got >= bad_bytes && got <= 8 * bad_words, names[kind]);
}

static void one_bad_byte(void)
{
	for (int kind = 0; kind < 3; kind++)
		for (size_t at = 0; at < BYTES; at += at < 40 || at > BYTES - 40 ? 1 : 61) {
			good_bytes(kind);
			bytes[at] ^= 0x40;
			for (size_t i = 0; i < COUNT(pieces); i++)
				expect_bad(kind, pieces[i], 1, 1);
		}
}

static void many_bad_bytes(void)
{
	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; i < COUNT(pieces); i++) {
			good_bytes(kind);
			for (size_t at = 0; at < BYTES; at += 3)
				bytes[at] ^= 0x40;
			expect_bad(kind, pieces[i], (BYTES + 2) / 3, BYTES / 8);
		}
}

static void all_bad(void)
{
	for (int kind = 0; kind < 3; kind++) {
		good_bytes(kind);
		for (size_t at = 0; at < BYTES; at++)
			bytes[at] ^= 0x80;
		CHECK_CASE(check_in_pieces(kind, 17).bad_bytes == BYTES, names[kind]);
	}
	/* All alike, and all wrong: equal to its neighbour is not enough. */
	memset(bytes, 'Y', BYTES);
	CHECK_INT(check_in_pieces(CONTENTS_X, BYTES).bad_bytes, BYTES);
	CHECK_INT(check_in_pieces(CONTENTS_ZERO, BYTES).bad_bytes, BYTES);
	CHECK_INT(check_in_pieces(CONTENTS_X, 1).bad_bytes, BYTES);
}

/* A stream that lost or repeated bytes: what follows stands at the wrong place. */
static void lost_bytes(void)
{
	struct contents_check check = { .expected = CONTENTS_COUNTER };

	contents_count(words, BYTES, 0);
	contents_check(&check, bytes, 800);
	CHECK_INT(check.bad_bytes, 0);
	contents_check(&check, bytes + 808, 800); /* the words 101 to 200 in place of 100 to 199 */
	CHECK_INT(check.bad_bytes, 800);
	CHECK_INT(check.bytes, 1600);
}

/* Words past 2^32 and unaligned memory. */
static void far_along(void)
{
	static unsigned char moved[BYTES + 8];
	struct contents_check check = { .expected = CONTENTS_COUNTER, .bytes = 8ull << 40 };

	contents_count(words, BYTES, 1ull << 40);
	for (size_t shift = 0; shift < 8; shift++) {
		check.bytes = 8ull << 40;
		memcpy(moved + shift, bytes, BYTES);
		contents_check(&check, moved + shift, BYTES);
		CHECK_INT(check.bad_bytes, 0);
	}
	contents_check(&check, bytes, 0);
	CHECK_INT(check.bytes, (8ull << 40) + BYTES);
}

static void nothing(void)
{
	for (int kind = 0; kind < 3; kind++) {
		struct contents_check check = { .expected = kind };

		contents_check(&check, bytes, 0);
		contents_check(&check, NULL, 0);
		CHECK_CASE(check.bytes == 0 && check.bad_bytes == 0, names[kind]);
	}
}

int main(void)
{
	TEST(counting);
	TEST(good_streams);
	TEST(one_bad_byte);
	TEST(many_bad_bytes);
	TEST(all_bad);
	TEST(lost_bytes);
	TEST(far_along);
	TEST(nothing);
	return test_end();
}
