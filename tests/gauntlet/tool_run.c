/* SPDX-License-Identifier: MIT */
/* A tool of ours is run, with whom it needs beside it, and what can be known of it is judged. */
#include "stream.h"
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes the counter. */
static void feed(const struct config *c, struct board *board)
{
	static unsigned char buf[256 * KIB];
	struct rng r = { c->seed ^ 0xfeed };
	uint64_t at = 0;

	(void)board;
	while (at < c->total_bytes) {
		size_t bytes = draw_bytes(c, &r);

		bytes = bytes < sizeof(buf) ? bytes : sizeof(buf);
		bytes = bytes < c->total_bytes - at ? bytes : (size_t)(c->total_bytes - at);
		stream_fill(buf, bytes, at, c->wrap_bytes, 0);
		if (!write_all(1, buf, bytes))
			return;
		at += bytes;
	}
}

/* ---- what came of it ---- */

/* Its output breaks when a reader dies, or the tap has enough of yes. */
static void judge_status(const struct config *c, int status, struct board *board)
{
	bool breaks = c->reader == READER_DYING || c->policy == POLICY_OUR_YES;
	int want_status = breaks ? 1 : 0, want_signal = breaks && !c->tool->deaf ? SIGPIPE : 0;

	if (WIFSIGNALED(status) && WTERMSIG(status) != want_signal)
		board_complain(board, "the tool was ended by signal %d", WTERMSIG(status));
	else if (WIFEXITED(status) && (want_signal != 0 || WEXITSTATUS(status) != want_status))
		board_complain(board, "the tool ended with exit status %d", WEXITSTATUS(status));
	board->error = c->reader == READER_DYING ? -EPIPE : 0;
}

/* What tee has written into a file; of a short life, the beginning. */
static void judge_file(const struct config *c, struct board *board)
{
	static unsigned char buf[256 * KIB];
	struct checker k = { .config = c, .seen = &board->seen[SEER_FILE] };
	ssize_t n;

	if (c->mangle == MANGLE_FILE && pwrite(c->tool->file, "wrong", 5, (off_t)(MIB + 3)) != 5)
		return;
	while ((n = pread(c->tool->file, buf, sizeof(buf), (off_t)k.seen->bytes)) > 0)
		checker_take(&k, buf, (size_t)n);
	if (c->reader != READER_DYING && k.seen->bytes != c->total_bytes)
		board_complain(board, "not all bytes are in the file; of 4 KiB there are %d",
			(int)(k.seen->bytes >> 12));
}

/* ---- running it ---- */

static bool put_tap(struct team *t, int file, int *out)
{
	int fds[2];
	bool good = open_pipe(fds, t->config->pipe_bytes);

	if (!good)
		return false;
	good = team_add(t, tap_main, fds[0], *out, file);
	close(fds[0]);
	*out = fds[1];
	return good;
}

static bool put_feeder(struct team *t, int *in)
{
	int fds[2];
	bool good = open_pipe(fds, t->config->pipe_bytes);

	if (!good)
		return false;
	good = team_add(t, feed, -1, fds[1], -1);
	close(fds[1]);
	*in = fds[0];
	return good;
}

/* An output that others have made non-blocking is waited for. */
static void start_tool(struct team *t, int in, int out)
{
	if (t->config->nonblock)
		fcntl(out, F_SETFL, O_WRONLY | O_NONBLOCK);
	team_add(t, tool_main, in, out, t->config->tool->file);
}

void produce_by_tool(const struct config *c, int fd, struct board *board)
{
	const struct tool *t = c->tool;
	struct team others = { .config = c, .board = board }, tool = others;
	int in = t->by_input ? t->file : -1, out = fd, status = -1;

	snprintf(board->used, sizeof(board->used), "%s%s", t->name, t->deaf ? ", SIGPIPE ignored" : "");
	board->produced = c->total_bytes;
	board->delivered = c->total_bytes; /* as far as can be known; the tap knows better */
	if ((!t->tapped || put_tap(&others, t->file, &out)) && (!t->fed || put_feeder(&others, &in)))
		start_tool(&tool, in, out);
	if (out != fd)
		close(out);
	if (t->fed && in >= 0)
		close(in);
	if (tool.count > 0 && waitpid(tool.pids[0], &status, 0) == tool.pids[0])
		judge_status(c, status, board);
	team_end(&others);
	if (c->policy == POLICY_OUR_TEE && t->file >= 0)
		judge_file(c, board);
}
