/* SPDX-License-Identifier: MIT */
/* gush ladder: climbs the article's steps and ours on this machine. */
#include "climb.h"
#include "diag.h"
#include "lab.h"
#include "option.h"
#include "output.h"
#include "report.h"
#include "selection.h"
#include "sys.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DEFAULT_ROUNDS 9
#define DEFAULT_BUDGET_S 60.0 /* leaves room for preparations and disturbed rounds */
#define DEFAULT_LIMIT_S 80.0  /* no round starts later: under 90 s in all, however busy the machine */
#define QUICK_ROUNDS 3
#define QUICK_BUDGET_S 9.0
#define QUICK_LIMIT_S 17.0 /* under 20 s in all */

struct ladder_options {
	const char *only, *cpus, *json, *csv;
	uint64_t rounds, bytes; /* 0: not given */
	bool all, quick, verify, list, explain;
};

#define AT(member) offsetof(struct ladder_options, member)

static const struct option_spec specs[] = {
	{ "quick", 'q', OPTION_FLAG, AT(quick), NULL, "3 short rounds: about 15 s" },
	{ "rounds", 'r', OPTION_COUNT, AT(rounds), "N", "how often each step is measured (9)" },
	{ "bytes", 'b', OPTION_SIZE, AT(bytes), "SIZE", "what a round moves (what 0.25 s or less allows)" },
	{ "only", 'o', OPTION_TEXT, AT(only), "STEP,...", "these steps and no others" },
	{ "all", 'a', OPTION_FLAG, AT(all), NULL, "the ablations too: one thing changed at a time" },
	{ "cpus", 'c', OPTION_TEXT, AT(cpus), "A,B", "sender on CPU A, receiver on CPU B" },
	{ "verify", 'V', OPTION_FLAG, AT(verify), NULL, "check the contents as well, in untimed runs" },
	{ "list", 'l', OPTION_FLAG, AT(list), NULL, "name the steps and run none" },
	{ "explain", 'e', OPTION_FLAG, AT(explain), NULL, "say what each step does and why" },
	{ "json", 0, OPTION_TEXT, AT(json), "FILE", "results and raw rounds, as gush-ladder-json(5)" },
	{ "csv", 0, OPTION_TEXT, AT(csv), "FILE", "a line for each step" },
	{ 0 },
};

static const struct option_table table = {
	.usage = "gush ladder [OPTION]...",
	.summary = "Measure how fast pipes are here, step by step from write/read to the fastest\n"
		   "way known, and say what bounds each. FILE may be '-' for standard output.",
	.options = specs,
	.usage_status = 2,
};

/* One that was ignored when we started stays ignored: nohup means it, and so does a shell of a background
 * job. */
static void add_unless_ignored(sigset_t *set, int signal_number)
{
	struct sigaction now;

	if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaddset(set, signal_number);
}

static int open_signals(void)
{
	sigset_t stop;

	sigemptyset(&stop);
	add_unless_ignored(&stop, SIGINT);
	add_unless_ignored(&stop, SIGTERM);
	add_unless_ignored(&stop, SIGHUP);
	add_unless_ignored(&stop, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &stop, NULL) < 0)
		return -errno;
	signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would reap our children behind our back */
	return signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ends as the signal would have ended us: the shell then knows. */
static void die_of(int signal_number)
{
	sigset_t one;

	signal(signal_number, SIG_DFL);
	raise(signal_number);
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static int check_options(const struct ladder_options *o)
{
	const char *unknown = o->only ? selection_unknown(o->only) : NULL;

	if (unknown)
		return option_usage_error(&table, "--only: '%s' is no step; --list names them", unknown);
	if (o->only && o->all)
		return option_usage_error(
			&table, "--only and --all contradict: --only may name ablations itself");
	if ((o->json && *o->json == '\0') || (o->csv && *o->csv == '\0'))
		return option_usage_error(&table, "--json and --csv need the name of a file, or '-'");
	if (o->json && o->csv && strcmp(o->json, "-") == 0 && strcmp(o->csv, "-") == 0)
		return option_usage_error(&table, "--json and --csv cannot both go to standard output");
	return OPTION_DONE;
}

static int place(struct machine *m, const struct ladder_options *o)
{
	int ret = machine_read("/sys", m);

	if (ret < 0) {
		diag_errno(ret, "finding out which CPUs this process may use");
		return 1;
	}
	if (!o->cpus)
		return OPTION_DONE;
	ret = machine_place_by_hand(m, o->cpus);
	if (ret == -EPERM)
		return option_usage_error(
			&table, "--cpus: '%s' names a CPU that this process may not use", o->cpus);
	if (ret < 0)
		return option_usage_error(&table, "--cpus: '%s' is not two CPU numbers such as 0,1", o->cpus);
	return OPTION_DONE;
}

static void read_signal(int signal_fd, struct ladder *l)
{
	struct signalfd_siginfo info;

	if (gi_sys_read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		l->signal_number = (int)info.ssi_signo;
	else
		l->signal_number = SIGTERM;
}

/* What a ladder's rows say for the exit status: failing to run here is no failure, wrong bytes are one. */
static int status_of(const struct ladder *l)
{
	int status = 0;

	for (size_t i = 0; i < l->row_count; i++) {
		const struct row *row = &l->rows[i];

		if (row->status == ROW_FAILED || row->check == CHECK_FAILED)
			status = 1;
		if (row->check == CHECK_FAILED)
			diag("%s (%s): its contents could not be checked: %s", row->step->name,
				row_where(row), row->check_reason);
		/* fill-unsafe says in its name that it may be wrong. */
		if (row->check == CHECK_WRONG && strcmp(row->step->name, "fill-unsafe") != 0) {
			diag("%s (%s): %llu bytes arrived changed", row->step->name, row_where(row),
				(unsigned long long)row->bad_bytes);
			status = 1;
		}
	}
	return status;
}

static int to_json(const void *results, FILE *stream)
{
	return report_json(results, stream);
}

static int to_csv(const void *results, FILE *stream)
{
	return report_csv(results, stream);
}

static int run(struct ladder *l, const struct ladder_options *o, struct output *json, struct output *csv)
{
	bool stdout_taken = json->stream == stdout || csv->stream == stdout;
	FILE *stream = stdout_taken ? stderr : stdout;
	int fd = stdout_taken ? STDERR_FILENO : STDOUT_FILENO, unwritten, ret;
	struct report_style style = { term_columns(fd), term_colour(fd), term_utf8(), o->explain };
	struct climb_options climb_options = {
		.budget_s = o->quick ? QUICK_BUDGET_S : DEFAULT_BUDGET_S,
		/* --rounds and --bytes ask for so much, however long it takes. */
		.limit_s = o->rounds || o->bytes ? 0
			   : o->quick		 ? QUICK_LIMIT_S
						 : DEFAULT_LIMIT_S,
		.verify = o->verify,
		.signal_fd = open_signals(),
	};

	if (climb_options.signal_fd < 0) {
		diag_errno(climb_options.signal_fd, "signalfd");
		return 1;
	}
	environment_print(&l->env, stream, style.columns);
	if (fflush(stream) != 0 && stream == stdout) { /* nobody would see what is measured */
		diag_errno(errno, "standard output");
		return 1;
	}
	ret = climb(l, &climb_options);
	if (ret == -EINTR)
		read_signal(climb_options.signal_fd, l);
	else if (ret < 0)
		diag_errno(ret, "measuring");
	gi_sys_close(climb_options.signal_fd);
	ladder_summarise(l);
	ret = ret < 0 && ret != -EINTR;
	unwritten = output_write(json, to_json, l) < 0;
	unwritten |= output_write(csv, to_csv, l) < 0;
	report_text(l, &style, stream);
	if (!(unwritten && stdout_taken)) /* else it was told already */
		unwritten |= diag_close_stdout() < 0;
	ret |= unwritten | status_of(l);
	if (l->signal_number)
		die_of(l->signal_number);
	return ret;
}

static int list(const struct ladder_options *o)
{
	struct report_style style = { term_columns(STDOUT_FILENO), false, false, o->explain };

	report_list(&style, stdout);
	return diag_close_stdout() < 0 ? 1 : 0;
}

static int prepare_and_run(const struct ladder_options *o, const struct machine *m)
{
	struct ladder l = { .rounds_wanted = o->quick ? QUICK_ROUNDS : DEFAULT_ROUNDS,
		.bytes_wanted = o->bytes };
	struct output json, csv;
	int ret = 1;

	if (o->rounds)
		l.rounds_wanted = (size_t)o->rounds;
	l.seed = (uint64_t)gi_sys_now_ns() | 1;
	environment_read("", &l.env);
	if (selection_add_rows(&l, m, o->only, o->all) < 0)
		diag_errno(ENOMEM, "preparing the steps");
	else if (output_open(o->json, &json) < 0 || output_open(o->csv, &csv) < 0)
		ret = 1;
	else if (output_same_file(&json, &csv))
		ret = option_usage_error(&table, "--json and --csv name the same file, '%s'", o->csv);
	else
		ret = run(&l, o, &json, &csv);
	ladder_release(&l);
	return ret;
}

int ladder_main(int argc, char **argv)
{
	struct ladder_options o = { 0 };
	struct machine m = { 0 };
	int first, ret = option_parse(&table, argc, argv, &o, &first);

	if (ret != OPTION_DONE)
		return ret;
	if (first < argc)
		return option_usage_error(&table, "'%s': takes no operands", argv[first]);
	ret = check_options(&o);
	if (ret != OPTION_DONE)
		return ret;
	if (o.list)
		return list(&o);
	ret = place(&m, &o);
	if (ret == OPTION_DONE)
		ret = prepare_and_run(&o, &m);
	machine_release(&m);
	return ret;
}
