/* SPDX-License-Identifier: MIT */
/* One configuration: everybody is started, the bytes are produced, and what came of it is judged. */
#include "tools.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A configuration takes a fraction of a second; a busy machine, emulation or a sanitizer take longer. */
#define DEADLINE_MS 30000

unsigned deadline_ms(void)
{
	return DEADLINE_MS;
}

struct board *board_new(void)
{
	void *base =
		mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		abort();
	return base;
}

void board_complain(struct board *board, const char *format, ...)
{
	va_list arguments;

	if (board->complaint[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(board->complaint, sizeof(board->complaint), format, arguments);
	va_end(arguments);
}

static void produce_any(const struct config *c, int fd, struct board *board)
{
	troubles_begin(c);
	if (c->tool)
		produce_by_tool(c, fd, board);
	else if (c->policy == POLICY_NAIVE || c->policy == POLICY_BARRIER)
		produce_naive(c, fd, board);
	else
		produce(c, fd, board);
	troubles_end(c);
}

static void run_chain(const struct config *c, struct board *board)
{
	struct team team = { .config = c, .board = board };
	int fds[2], from;

	if (!open_pipe(fds, c->pipe_bytes))
		return;
	/* The producer's end must stay this process's own. */
	from = middle_start(&team, fds[0]);
	if (from >= 0) {
		if (team_add(&team, reader_main, from, -1, -1)) {
			close(from);
			produce_any(c, fds[1], board);
		} else {
			close(from);
		}
	}
	close(fds[1]);
	team_end(&team);
}

void run_here(const struct config *c, struct board *board)
{
	struct config of_tool = *c;
	struct tool tool;

	memset(board, 0, sizeof(*board));
	board->error = -ENOENT; /* until the producer says otherwise */
	if (!policy_is_tool(c->policy)) {
		run_chain(c, board);
		return;
	}
	if (tool_open(&of_tool, &tool))
		run_chain(&of_tool, board);
	tool_close(&tool);
}

static void child_main(pid_t parent, const struct config *c, struct board *board)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	run_here(c, board);
	_exit(0);
}

/* The child holds the other end as long as it lives; its own children do not. */
static bool ends_in_time(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ret;

	do
		ret = poll(&p, 1, DEADLINE_MS);
	while (ret < 0 && errno == EINTR);
	return ret > 0;
}

enum outcome run_guarded(const struct config *c, struct board *board)
{
	pid_t parent = getpid(), pid;
	bool in_time;
	int fds[2], status = -1;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return RUN_CRASHED;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		child_main(parent, c, board);
	}
	close(fds[1]);
	in_time = pid > 0 && ends_in_time(fds[0]);
	close(fds[0]);
	if (pid < 0)
		return RUN_CRASHED;
	if (!in_time)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!in_time)
		return RUN_HUNG;
	return status == 0 ? RUN_ENDED : RUN_CRASHED;
}

uint64_t board_bad(const struct board *board)
{
	uint64_t bad = 0;

	for (size_t i = 0; i < SEERS; i++)
		bad += board->seen[i].bad;
	return bad;
}

uint64_t board_words(const struct board *board)
{
	uint64_t words = 0;

	for (size_t i = 0; i < SEERS; i++)
		words += board->seen[i].words;
	return words;
}

/* Of a reader that stays to the end. */
static const char *judge_complete(const struct config *c, const struct board *b, const struct seen *s)
{
	static char text[100];

	if (!s->done)
		return "a reader did not come to its end";
	if (s->bytes != b->produced) {
		snprintf(text, sizeof(text), "%llu bytes produced, %llu arrived",
			(unsigned long long)b->produced, (unsigned long long)s->bytes);
		return text;
	}
	/* Behind corrupt headers nobody can tell whose bytes they were. */
	for (unsigned i = 0; s->bad == 0 && i < c->threads; i++)
		if (s->bytes_by[i] != b->produced_by[i])
			return "not every thread's bytes arrived";
	return NULL;
}

static const char *judge_early_end(const struct board *b, const struct seen *s)
{
	if (!s->done)
		return "the reader did not come to its end";
	if (s->bytes > b->delivered)
		return "the reader has more than was delivered";
	return NULL;
}

const char *judge(const struct config *c, const struct board *b)
{
	static char text[200];
	int want = c->reader == READER_DYING ? -EPIPE : 0;
	const char *wrong = NULL;

	if (b->complaint[0] != '\0')
		return b->complaint;
	if (b->error != want) {
		snprintf(
			text, sizeof(text), "the producer ended with %d (%s)", b->error, strerror(-b->error));
		return text;
	}
	if (config_is_judged(c) && board_bad(b) > 0) {
		snprintf(text, sizeof(text), "%llu bad words of %llu", (unsigned long long)board_bad(b),
			(unsigned long long)board_words(b));
		return text;
	}
	wrong = want ? judge_early_end(b, &b->seen[SEER_READER])
		     : judge_complete(c, b, &b->seen[SEER_READER]);
	if (!wrong && !want && c->middle == MIDDLE_FANOUT)
		wrong = judge_complete(c, b, &b->seen[SEER_SIDE]);
	if (!wrong && !want && c->middle == MIDDLE_HOLDER && !b->seen[SEER_HOLDER].done)
		wrong = "the holder did not come to its end";
	if (!wrong && !want && b->delivered != b->produced)
		wrong = "after the flush not all counted as delivered";
	return wrong;
}
