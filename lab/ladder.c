/* SPDX-License-Identifier: MIT */
/* gush ladder: climbs the article's steps and ours on this machine. */
#include "climb.h"
#include "diag.h"
#include "lab.h"
#include "option.h"
#include "output.h"
#include "report.h"
#include "selection.h"
#include "stop_signals.h"
#include "sys.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* 0, or -1 after saying what failed. A signal only ends it early. */
static int measure(struct ladder *l, const struct ladder_options *o)
{
	struct stop_signals stop;
	struct climb_options options = {
		.budget_s = o->quick ? QUICK_BUDGET_S : DEFAULT_BUDGET_S,
		.limit_s = o->quick ? QUICK_LIMIT_S : DEFAULT_LIMIT_S,
		.verify = o->verify,
	};
	int ret = stop_signals_open(&stop);

	if (o->rounds || o->bytes)
		options.limit_s = 0; /* these ask for so much, however long it takes */
	if (ret < 0) {
		diag_errno(ret, "signalfd");
		return -1;
	}
	signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would reap our children behind our back */
	options.signal_fd = stop.fd;
	ret = climb(l, &options);
	l->signal_number = stop_signals_close(&stop);
	if (ret < 0 && ret != -EINTR) {
		diag_errno(ret, "measuring");
		return -1;
	}
	ladder_summarise(l);
	return 0;
}

static int run(struct ladder *l, const struct ladder_options *o, struct output *json, struct output *csv)
{
	bool stdout_taken = json->stream == stdout || csv->stream == stdout, unwritten;
	FILE *stream = stdout_taken ? stderr : stdout;
	int fd = stdout_taken ? STDERR_FILENO : STDOUT_FILENO, ret;
	struct report_style style = { term_columns(fd), term_colour(fd), term_utf8(), o->explain };

	environment_print(&l->env, stream, style.columns);
	if (fflush(stream) != 0 && stream == stdout) { /* nobody would see what is measured */
		diag_errno(errno, "standard output");
		return 1;
	}
	ret = measure(l, o) < 0;
	unwritten = output_write(json, to_json, l) < 0;
	unwritten |= output_write(csv, to_csv, l) < 0;
	report_text(l, &style, stream);
	if (!(unwritten && stdout_taken)) /* else it was told already */
		unwritten |= diag_close_stdout() < 0;
	ret |= unwritten | status_of(l);
	if (l->signal_number)
		stop_signals_die(l->signal_number);
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
	else if (output_same(&json, &csv))
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
