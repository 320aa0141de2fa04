/* SPDX-License-Identifier: MIT */
/* tee: standard input to standard output and to files. Options, outputs, and what becomes of errors. */
#include "tee.h"

#include "diag.h"
#include "option.h"
#include "quote.h"
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tee_options {
	bool append, ignore_interrupts, stable;
	const char *output_error;
};

#define AT(member) offsetof(struct tee_options, member)

static const struct option_spec specs[] = {
	{ "append", 'a', OPTION_FLAG, AT(append), NULL, "add to the files, keep what is in them" },
	{ "ignore-interrupts", 'i', OPTION_FLAG, AT(ignore_interrupts), NULL, "go on after Ctrl-C (SIGINT)" },
	{ "output-error", 'p', OPTION_MODE, AT(output_error), "MODE", "what an output that fails means" },
	{ 0 },
};

static const struct option_spec additions[] = {
	{ "stable", 0, OPTION_FLAG, AT(stable), NULL, "copy, so that no later change of a file shows" },
	{ 0 },
};

/* In the order of enum tee_mode, from TEE_WARN on. */
static const char *const modes[] = { "warn", "warn-nopipe", "exit", "exit-nopipe", NULL };

static const struct option_table table = {
	.usage = "tee [OPTION]... [FILE]...",
	.summary = "Copy standard input to standard output and to each FILE.",
	.options = specs,
	.additions = additions,
	.modes = modes,
	.footer = "An output that fails is named and gets nothing more; the others go on.\n"
		  "A reader that is gone ends tee by SIGPIPE, unless there is a MODE:\n\n"
		  "  warn         name it, as any other\n"
		  "  warn-nopipe  leave it out, silently and as soon as it is gone (-p)\n"
		  "  exit         name any output that fails, and exit\n"
		  "  exit-nopipe  the same, but leave out a reader that is gone",
	.usage_status = EXIT_FAILURE,
	.style = OPTION_GNU,
};

static enum tee_mode mode_of(const char *text)
{
	if (!text)
		return TEE_DEFAULT;
	for (size_t i = 0; modes[i]; i++)
		if (strcmp(modes[i], text) == 0)
			return (enum tee_mode)(TEE_WARN + i);
	return TEE_WARN_NOPIPE; /* none was named */
}

static bool exits(enum tee_mode mode)
{
	return mode == TEE_EXIT || mode == TEE_EXIT_NOPIPE;
}

static void say(const struct tee_output *output, int error)
{
	char *quoted = quote_name(output->name);

	diag_errno(error, "%s", quoted ? quoted : output->name);
	free(quoted);
}

void tee_drop(struct tee *t, struct tee_output *output, int error)
{
	if (!output->works)
		return;
	output->works = false;
	t->working--;
	if (abs(error) == EPIPE && t->mode != TEE_WARN && t->mode != TEE_EXIT)
		return;
	say(output, error);
	t->failed = true;
	t->stopped = exits(t->mode);
}

/* What poll says of it when nobody reads any more; only asked where that is silent, and ends nothing else. */
static short gone_of(const struct tee *t, int fd)
{
	struct stat st;

	if ((t->mode != TEE_WARN_NOPIPE && t->mode != TEE_EXIT_NOPIPE) || fstat(fd, &st) < 0)
		return 0;
	return S_ISFIFO(st.st_mode) ? POLLERR : S_ISSOCK(st.st_mode) ? POLLERR | POLLHUP : 0;
}

static void add_output(struct tee *t, const char *name, int fd)
{
	struct tee_output *o = &t->outputs[t->count++];

	*o = (struct tee_output){ .name = name, .fd = fd, .works = true, .gone = gone_of(t, fd) };
	t->working++;
}

static void open_files(struct tee *t, char *const *names, bool append)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);

	for (; *names && !t->stopped; names++) {
		int fd = open(*names, flags, 0666);

		if (fd >= 0) {
			add_output(t, *names, fd);
			continue;
		}
		say(&(struct tee_output){ .name = *names }, errno);
		t->failed = true;
		t->stopped = exits(t->mode);
	}
}

/* Network file systems tell of some errors only now. Standard output has another name then. */
static void close_outputs(struct tee *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (close(t->outputs[i].fd) < 0 && t->outputs[i].works)
			tee_drop(t, &t->outputs[i], errno);
	if (diag_came_closed(STDIN_FILENO)) {
		diag_errno(EBADF, "standard input");
		t->failed = true;
	}
	if (close(STDOUT_FILENO) < 0) {
		diag_errno(errno, "write error");
		t->failed = true;
	}
}

static void run(struct tee *t, char *const *names, bool append)
{
	add_output(t, "standard output", STDOUT_FILENO);
	open_files(t, names, append);
	if (!t->stopped)
		tee_copy(t);
	if (t->input_error) {
		diag_errno(t->input_error, "read error");
		t->failed = true;
	}
	if (!t->stopped)
		close_outputs(t);
}

int tee_main(int argc, char **argv)
{
	struct tee_options options = { 0 };
	struct tee t = { 0 };
	int first, ret = option_parse(&table, argc, argv, &options, &first);
	size_t most;

	if (ret != OPTION_DONE)
		return ret;
	t.mode = mode_of(options.output_error);
	t.stable = options.stable;
	if (options.ignore_interrupts)
		signal(SIGINT, SIG_IGN);
	if (t.mode != TEE_DEFAULT)
		signal(SIGPIPE, SIG_IGN);
	most = (size_t)(argc - first) + 1;
	t.outputs = calloc(most, sizeof(*t.outputs));
	t.fds = calloc(2 * most + 1, sizeof(*t.fds));
	if (t.outputs && t.fds) {
		run(&t, argv + first, options.append);
	} else {
		diag_errno(ENOMEM, "the outputs");
		t.failed = true;
	}
	free(t.outputs);
	free(t.fds);
	return t.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
