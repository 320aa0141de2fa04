/* SPDX-License-Identifier: MIT */
/*
 * Right behind a tool. What comes out here was certainly written, and is passed on without being copied. So
 * it is the one to change a file where it was sent: the bytes there become those that are due when the file
 * is sent the next time, and the stream is a counter that never begins again, whatever the file is at last.
 */
#include "stream.h"
#include "tools.h"

#include <fcntl.h>
#include <unistd.h>

#define MANGLE_AT MIB /* in the midst of a pipe's worth */

struct tap {
	const struct config *config;
	uint64_t at;
	bool mangled;
};

static bool changes_file(const struct config *c)
{
	return c->policy == POLICY_OUR_STABLE || c->policy == POLICY_UNSTABLE;
}

/* Where bytes `at` and on of the stream came from. A piece begins again at its end. */
static bool change_file(const struct tool *t, uint64_t at, size_t bytes)
{
	static unsigned char buf[64 * KIB];

	while (bytes > 0) {
		uint64_t place = at % t->file_bytes;
		size_t n = t->file_bytes - place < bytes ? (size_t)(t->file_bytes - place) : bytes;

		n = n < sizeof(buf) ? n : sizeof(buf);
		stream_fill(buf, n, at + t->file_bytes, UINT64_MAX, 0);
		if (pwrite(3, buf, n, (off_t)place) != (ssize_t)n)
			return false;
		at += n;
		bytes -= n;
	}
	return true;
}

/* Takes a byte of the tool's, and passes on what a bug would make of it. */
static bool mangle(enum mangle how)
{
	unsigned char byte;

	if (read(0, &byte, 1) != 1)
		return false;
	if (how == MANGLE_WRONG)
		byte ^= 1;
	return how == MANGLE_LOST ||
	       (write_all(1, &byte, 1) && (how != MANGLE_DOUBLED || write_all(1, &byte, 1)));
}

static bool is_mangled_here(const struct tap *t)
{
	enum mangle how = t->config->mangle;

	return !t->mangled && t->at >= MANGLE_AT &&
	       (how == MANGLE_WRONG || how == MANGLE_LOST || how == MANGLE_DOUBLED);
}

/* false: no more can be passed on. */
static bool pass_piece(struct tap *t, struct rng *r)
{
	const struct config *c = t->config;
	size_t bytes = draw_bytes(c, r);
	ssize_t n;

	if (is_mangled_here(t)) {
		t->mangled = true;
		t->at++;
		return mangle(c->mangle);
	}
	bytes = bytes < c->total_bytes - t->at ? bytes : (size_t)(c->total_bytes - t->at);
	n = splice(0, NULL, 1, NULL, bytes, 0);
	if (n <= 0)
		return false;
	if (changes_file(c) && !change_file(c->tool, t->at, (size_t)n))
		return false;
	t->at += (uint64_t)n;
	return true;
}

void tap_main(const struct config *c, struct board *board)
{
	struct tap t = { .config = c };
	struct rng r = { c->seed ^ 0x7a9 };

	while (t.at < c->total_bytes && pass_piece(&t, &r))
		;
	board->delivered = t.at;
}
