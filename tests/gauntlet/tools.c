/* SPDX-License-Identifier: MIT */
/* What each of our tools is told to do, and what must come of it. */
#include "tools.h"

#include "stream.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILE_NAME "/proc/self/fd/3"
#define OPERAND_BYTES ((size_t)100000) /* of a long line; 128 KiB is the most (MAX_ARG_STRLEN) */
#define OPERANDS_MOST 4000
/* A reader that dies has seen less long before, and those in between hold less, too. */
#define ENDLESS (512 * MIB)

/* ---- the file ---- */

/* Of both kinds, a pipe may share the pages. On disk it has no name any more. */
static int make_file(bool on_disk)
{
	const char *folder = getenv("TMPDIR");
	char name[400];
	int fd = -1;

	if (on_disk) {
		snprintf(name, sizeof(name), "%s/gauntlet-XXXXXX", folder ? folder : "/tmp");
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	return fd >= 0 ? fd : memfd_create("gauntlet", MFD_CLOEXEC);
}

static bool open_file(struct tool *t, struct rng *r)
{
	t->file = make_file(rng_one_in(r, 2));
	return t->file >= 0;
}

static bool fill_file(struct tool *t, const unsigned char *from)
{
	return pwrite(t->file, from, t->file_bytes, 0) == (ssize_t)t->file_bytes;
}

/* Stamped with the counter. */
static bool stamp_file(struct tool *t, struct rng *r, size_t bytes)
{
	static unsigned char piece[256 * KIB];
	bool good = open_file(t, r);

	t->file_bytes = bytes;
	for (size_t at = 0; good && at < bytes; at += sizeof(piece)) {
		size_t n = bytes - at < sizeof(piece) ? bytes - at : sizeof(piece);

		stream_fill(piece, n, at, UINT64_MAX, 0);
		good = pwrite(t->file, piece, n, (off_t)at) == (ssize_t)n;
	}
	return good;
}

/* Its name again and again, until about so much has come of it; `each` is what comes of it once. */
static void name_file(struct config *c, struct tool *t, uint64_t about, size_t each, size_t most)
{
	uint64_t times = (c->reader == READER_DYING ? ENDLESS : about) / each + 1;

	t->operand = FILE_NAME;
	t->operands = times < most ? (size_t)times : most;
	if (c->reader != READER_DYING)
		c->total_bytes = (uint64_t)t->operands * each;
}

/* ---- each of them ---- */

/* Nothing; a word; more than a page; more than a pipe's usual 64 KiB; more than a large pipe's MiB. */
static size_t draw_line_bytes(struct rng *r)
{
	switch (rng_below(r, 5)) {
	case 0:
		return 0;
	case 1:
		return 2 + rng_below(r, 300);
	case 2:
		return 4 * KIB + rng_below(r, 8 * KIB);
	case 3:
		return 64 * KIB + rng_below(r, 30 * KIB);
	default:
		return MIB + rng_below(r, 512 * KIB);
	}
}

static bool open_yes(struct config *c, struct tool *t, struct rng *r)
{
	size_t bytes = draw_line_bytes(r);

	t->command = "yes";
	t->line_bytes = bytes;
	t->tapped = c->reader != READER_DYING; /* nothing else would end it */
	/* Past 64 MiB it may go on by tee(2). */
	c->total_bytes = t->tapped ? 16 * MIB + rng_below(r, 112 * MIB) : UINT64_MAX;
	snprintf(t->name, sizeof(t->name), "yes of %zu bytes", bytes > 0 ? bytes : 2);
	if (!text_of_words(&t->text, r, bytes > 0 ? bytes : 2))
		return false;
	if (bytes == 0)
		t->text.bytes[0] = 'y';
	for (size_t i = OPERAND_BYTES; i + 2 < bytes; i += OPERAND_BYTES + 1)
		t->text.bytes[i] = ' '; /* the next operand comes */
	text_lengthen(&t->text);
	return true;
}

static bool open_cat(struct config *c, struct tool *t, struct rng *r)
{
	size_t ring = c->ring_bytes;

	t->command = "cat";
	t->by_input = rng_one_in(r, 2);
	c->wrap_bytes = ring / 2 + rng_below(r, ring);
	snprintf(t->name, sizeof(t->name), "cat%s", t->by_input ? " -" : "");
	name_file(c, t, 8 * ring, (size_t)c->wrap_bytes, OPERANDS_MOST);
	return stamp_file(t, r, (size_t)c->wrap_bytes);
}

/* It writes from a buffer of its own. A ring of the library's, after 16 MiB, would be of 32 MiB. */
static uint64_t draw_formatted_bytes(struct rng *r)
{
	return (rng_one_in(r, 4) ? 64 : 16) * MIB + rng_below(r, 16 * MIB);
}

/* cat -n: lines of one length, so that the number at each place is known. */
static bool open_numbered(struct config *c, struct tool *t, struct rng *r)
{
	size_t line = 101 + rng_below(r, 300), lines = MIB / line;

	t->option = "-n";
	t->file_bytes = lines * line;
	if (!open_file(t, r) || !text_of_words(&t->text, r, t->file_bytes))
		return false;
	t->text.line_bytes = line;
	for (size_t i = line; i <= t->file_bytes; i += line)
		t->text.bytes[i - 1] = '\n';
	name_file(c, t, draw_formatted_bytes(r), lines * (NUMBER_BYTES + line), NUMBERS_MOST / lines);
	return fill_file(t, t->text.bytes);
}

/* cat -A: of all bytes. */
static bool open_shown(struct config *c, struct tool *t, struct rng *r)
{
	static unsigned char memory[MIB];
	bool good = open_file(t, r);

	t->option = "-A";
	t->file_bytes = 256 * KIB + rng_below(r, sizeof(memory) - 256 * KIB);
	for (size_t i = 0; good && i < t->file_bytes; i++)
		memory[i] = (unsigned char)rng_next(r);
	if (good) {
		good = text_of_shown(&t->text, memory, t->file_bytes) && fill_file(t, memory);
		name_file(c, t, draw_formatted_bytes(r), t->text.period, OPERANDS_MOST);
	}
	return good;
}

static bool open_format(struct config *c, struct tool *t, struct rng *r)
{
	bool numbered = rng_one_in(r, 2);

	t->command = "cat";
	t->by_input = rng_one_in(r, 2);
	snprintf(t->name, sizeof(t->name), "cat %s%s", numbered ? "-n" : "-A", t->by_input ? " -" : "");
	return numbered ? open_numbered(c, t, r) : open_shown(c, t, r);
}

/* To nothing else, to /dev/null, or to a file, which is looked at in the end. */
static bool open_tee(struct config *c, struct tool *t, struct rng *r)
{
	unsigned to = c->mangle == MANGLE_FILE ? 2 : (unsigned)rng_below(r, 3);

	t->command = "tee";
	t->fed = true;
	t->operand = to == 1 ? "/dev/null" : FILE_NAME;
	t->operands = to > 0;
	snprintf(t->name, sizeof(t->name), "tee%s", to == 0 ? "" : to == 1 ? " /dev/null" : " FILE");
	return to < 2 || open_file(t, r);
}

/*
 * A file that is changed behind the tap, and with OUR_STABLE must not show it. Between its place in the file
 * and the tap the tool and a pipe hold less than the file, or it would send some bytes too early.
 */
static bool open_changing(struct config *c, struct tool *t, struct rng *r)
{
	bool by_tee = c->reader != READER_DYING && rng_one_in(r, 3), by_variable = rng_one_in(r, 2);
	size_t bytes = 2 * c->ring_bytes + rng_below(r, c->ring_bytes);

	t->command = by_tee ? "tee" : "cat";
	t->by_input = by_tee || rng_one_in(r, 2);
	t->tapped = true;
	if (c->policy == POLICY_OUR_STABLE) {
		t->option = by_variable ? NULL : "--stable";
		t->variable = by_variable ? "GUSH_STABLE" : NULL;
	}
	snprintf(t->name, sizeof(t->name), "%s%s%s%s of a changing file", t->variable ? "GUSH_STABLE=1 " : "",
		t->command, t->option ? " --stable" : "", t->by_input && !by_tee ? " -" : "");
	if (by_tee)
		bytes = (size_t)c->total_bytes; /* it takes it once */
	else
		name_file(c, t, c->total_bytes, bytes, OPERANDS_MOST);
	return stamp_file(t, r, bytes);
}

bool tool_open(struct config *c, struct tool *ret)
{
	static bool (*const opens[POLICIES])(struct config * c, struct tool * t, struct rng * r) = {
		[POLICY_UNSTABLE] = open_changing,
		[POLICY_OUR_YES] = open_yes,
		[POLICY_OUR_CAT] = open_cat,
		[POLICY_OUR_FORMAT] = open_format,
		[POLICY_OUR_TEE] = open_tee,
		[POLICY_OUR_STABLE] = open_changing,
	};
	struct rng r = { c->seed ^ 0x7001 };

	*ret = (struct tool){ .file = -1 };
	if (!opens[c->policy](c, ret, &r))
		return false;
	if (c->mangle != MANGLE_NONE)
		ret->tapped = true;
	/* tee may go on without a reader, as GNU's does. */
	ret->deaf = !ret->fed && rng_one_in(&r, 4);
	c->tool = ret;
	c->text = ret->text.bytes ? &ret->text : NULL;
	return true;
}

void tool_close(struct tool *t)
{
	if (t->file >= 0)
		close(t->file);
	text_free(&t->text);
}

/* ---- the command line ---- */

/* The line in its operands, which are of letters. */
static size_t split_line(const struct tool *t, char **to)
{
	char *line = strndup((char *)t->text.bytes, t->line_bytes - 1), *rest = NULL;
	size_t n = 0;

	for (char *word = line ? strtok_r(line, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest))
		to[n++] = word;
	return n;
}

static void execute(const struct config *c, char **arguments)
{
	const struct tool *t = c->tool;
	size_t n = 0;

	arguments[n++] = strdup(t->command);
	if (c->mangle == MANGLE_STATUS)
		arguments[n++] = strdup("--no-such-option");
	if (t->option)
		arguments[n++] = strdup(t->option);
	if (t->line_bytes > 0)
		n += split_line(t, arguments + n);
	for (size_t i = 0; i < t->operands; i++)
		arguments[n++] = strdup(i == 0 && t->by_input ? "-" : t->operand);
	execv(our_gush(), arguments);
}

void tool_main(const struct config *c, struct board *board)
{
	const struct tool *t = c->tool;
	char **arguments = calloc(t->operands + t->line_bytes / OPERAND_BYTES + 5, sizeof(*arguments));
	int null = t->deaf || c->mangle == MANGLE_STATUS ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

	(void)board;
	if (null >= 0)
		dup2(null, 2);
	signal(SIGPIPE, t->deaf ? SIG_IGN : SIG_DFL);
	unsetenv("GUSH_STABLE");
	unsetenv("GUSH_METHOD");
	if (t->variable)
		setenv(t->variable, "1", 1);
	if (arguments)
		execute(c, arguments);
	_exit(127);
}
