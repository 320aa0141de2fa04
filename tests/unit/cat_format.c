/* SPDX-License-Identifier: MIT */
/*
 * tools/cat/format.c beside a formatter that looks at one byte at a time, for all sets of options, on random
 * texts cut into random pieces. The object is none of a library: it is included.
 */
#include "../../tools/cat/format.c"
#include "support.h"

#define TEXT_BYTES 3000
#define ROUNDS 30

/* ---- the plain formatter ---- */

static size_t plain_byte(const struct text_state *o, const char *text, size_t at, size_t bytes, char *out)
{
	unsigned char c = (unsigned char)text[at], low = c & 127;
	size_t n = 0;

	if (c == '\t' && !o->tabs)
		out[n++] = '\t';
	else if (c == '\r' && o->ends && !o->nonprinting && at + 1 < bytes && text[at + 1] == '\n')
		n = (size_t)sprintf(out, "^M");
	else if (!o->nonprinting && c != '\t')
		out[n++] = (char)c;
	else
		n = (size_t)sprintf(out, low < 32 || low == 127 ? "%s^%c" : "%s%c", c >= 128 ? "M-" : "",
			low < 32 || low == 127 ? low ^ 64 : low);
	return n;
}

static size_t plain_format(const struct text_state *o, const char *text, size_t bytes, char *out)
{
	size_t n = 0, blanks = 0, number = 0;

	for (size_t at = 0; at < bytes; at++) {
		bool starts = at == 0 || text[at - 1] == '\n', blank = starts && text[at] == '\n';

		blanks = blank ? blanks + 1 : starts ? 0 : blanks;
		if (blank && o->squeeze && blanks > 1)
			continue;
		if (starts && o->number && !(blank && o->number_nonblank))
			n += (size_t)sprintf(out + n, "%6zu\t", ++number);
		if (text[at] != '\n')
			n += plain_byte(o, text, at, bytes, out + n);
		else
			n += (size_t)sprintf(out + n, o->ends ? "$\n" : "\n");
	}
	return n;
}

/* ---- the comparison ---- */

static struct text_state options_of(int set)
{
	return (struct text_state){
		.number = set & 1 || set & 2,
		.number_nonblank = set & 2,
		.squeeze = set & 4,
		.ends = set & 8,
		.tabs = set & 16,
		.nonprinting = set & 32,
	};
}

static void random_text(char *text, size_t bytes, int kind)
{
	static const char few[] = "\n\n\n\r\ta",
			  some[] = "abcdefghijklmnopqrstuvwxyz0123456789 \n\t\r\177\200";

	for (size_t i = 0; i < bytes; i++)
		text[i] = kind == 0   ? few[(size_t)rand() % (sizeof(few) - 1)]
			  : kind == 1 ? some[(size_t)rand() % (sizeof(some) - 1)]
				      : (char)rand();
}

/* Each piece in memory of its own, with no byte more than is promised on either side. */
static size_t format_cut(
	struct text_state s, const char *text, size_t bytes, size_t most, bool random, char *out)
{
	struct text_change changes[256];
	size_t n = 0;

	text_begin(&s, changes);
	for (size_t at = 0, piece; at < bytes; at += piece) {
		char *in, *room, *end;

		piece = random ? 1 + (size_t)rand() % most : most;
		piece = piece < bytes - at ? piece : bytes - at;
		in = malloc(piece + TEXT_OVERSHOOT);
		room = malloc(piece * TEXT_GROWTH + TEXT_OVERSHOOT);
		memset(in, rand() % 2 ? '\n' : 'x',
			piece + TEXT_OVERSHOOT); /* what is behind must not matter */
		memcpy(in, text + at, piece);
		end = text_format(&s, in, piece, room);
		memcpy(out + n, room, (size_t)(end - room));
		n += (size_t)(end - room);
		free(in);
		free(room);
	}
	return (size_t)(text_end(&s, out + n) - out);
}

static size_t format_pieces(struct text_state s, const char *text, size_t bytes, size_t most, char *out)
{
	return format_cut(s, text, bytes, most, true, out);
}

static void as_the_plain_one(void)
{
	static char text[TEXT_BYTES], want[TEXT_BYTES * TEXT_GROWTH], got[sizeof(want)];
	static const size_t most[] = { 1, 9, 100, TEXT_BYTES };

	srand(1);
	for (int set = 0; set < 64; set++) {
		struct text_state s = options_of(set);

		for (int round = 0; round < ROUNDS; round++) {
			size_t bytes = (size_t)rand() % TEXT_BYTES, n;

			random_text(text, bytes, round % 3);
			n = plain_format(&s, text, bytes, want);
			CHECK_INT(format_pieces(s, text, bytes, most[round % 4], got), n);
			if (!CHECK(memcmp(got, want, n) == 0))
				printf("  options %d, round %d\n", set, round);
		}
	}
}

/*
 * The bytes that matter at each place of a block and beside its ends, alone and in runs, in pieces that end
 * there, too. What is behind a piece is other bytes than those that follow.
 */
static void every_place(void)
{
	static const char *const what[] = { "\n", "\n\n\n", "\t", "\r\n", "\r", "\r\r\n\n", "\177\n\n",
		"\377\200\t" };
	static char text[3 * BLOCK_BYTES], want[sizeof(text) * TEXT_GROWTH], got[sizeof(want)];

	srand(2);
	for (int set = 0; set < 64; set++) {
		struct text_state s = options_of(set);

		for (size_t kind = 0; kind < sizeof(what) / sizeof(what[0]); kind++) {
			size_t bytes = strlen(what[kind]), bad = 0;

			for (size_t at = 0; at + bytes <= sizeof(text); at++) {
				size_t n, most = at % 2 ? sizeof(text) : at + bytes;

				memset(text, 'a', sizeof(text));
				memcpy(text + at, what[kind], bytes);
				n = plain_format(&s, text, sizeof(text), want);
				bad += format_pieces(s, text, sizeof(text), most, got) != n ||
				       memcmp(got, want, n) != 0;
			}
			if (!CHECK_INT(bad, 0))
				printf("  options %d, kind %zu\n", set, kind);
		}
	}
}

/* Each length of a piece up to beyond a block, cut at that place exactly. */
static void every_cut(void)
{
	static char text[4 * BLOCK_BYTES], want[sizeof(text) * TEXT_GROWTH], got[sizeof(want)];

	srand(3);
	for (int set = 0; set < 64; set++) {
		struct text_state s = options_of(set);

		for (size_t piece = 1; piece <= 2 * BLOCK_BYTES + 1; piece++) {
			size_t n;

			random_text(text, sizeof(text), (int)(piece % 3));
			n = plain_format(&s, text, sizeof(text), want);
			CHECK_INT(format_cut(s, text, sizeof(text), piece, false, got), n);
			if (!CHECK(memcmp(got, want, n) == 0))
				printf("  options %d, pieces of %zu\n", set, piece);
		}
	}
}

/* Numbers that get a digit more, past the width that is kept for them. */
static void numbers(void)
{
	struct text_state s = options_of(1);
	struct text_change changes[256];
	char out[64];

	text_begin(&s, changes);
	for (long i = 1; i < 10000002; i++) {
		char *end = put_number(&s, out), want[64];

		if (i % 1000 > 1 && i % 1000 < 999)
			continue;
		*end = '\0';
		snprintf(want, sizeof(want), "%6ld\t", i);
		if (strcmp(out, want) != 0)
			CHECK_TEXT(out, want);
	}
	CHECK_INT(LAST_DIGIT + 1 - 8, s.first - s.line_number);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(as_the_plain_one);
	TEST(every_place);
	TEST(every_cut);
	TEST(numbers);
	return test_end();
}
