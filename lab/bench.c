/* SPDX-License-Identifier: MIT */
/* gush bench: how fast the library moves bytes, beside plain loops. What is measured, a subject says. */
#include "bench.h"
#include "diag.h"
#include "json.h"
#include "lab.h"
#include "option.h"
#include "output.h"
#include "progress.h"
#include "selection.h"
#include "stats.h"
#include "sys.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROUNDS 7
#define ROUND_NS 100000000
#define ROUNDS_MOST 1000

struct bench_options {
	const char *json, *cpus;
	uint64_t rounds;
};

#define AT(member) offsetof(struct bench_options, member)

static const struct option_spec specs[] = {
	{ "rounds", 'r', OPTION_COUNT, AT(rounds), "N", "how often each is measured (7)" },
	{ "cpus", 'c', OPTION_TEXT, AT(cpus), "A,B", "the mover on CPU A, what feeds and empties on CPU B" },
	{ "json", 0, OPTION_TEXT, AT(json), "FILE", "results and raw rounds" },
	{ 0 },
};

struct cell {
	struct bench_row row;
	struct flow_figures *rounds; /* one for each round */
	double *rates;		     /* NaN: failed */
};

struct bench {
	const struct bench_subject *subject;
	struct cell *cells;
	size_t count, rounds;
	uint64_t seed;
	struct environment env;
	struct placement placement;
};

static int prepare(struct bench *b)
{
	b->cells = calloc(b->count, sizeof(*b->cells));
	if (!b->cells)
		return -ENOMEM;
	for (size_t i = 0; i < b->count; i++) {
		struct cell *c = &b->cells[i];

		b->subject->describe(i, &c->row);
		c->rounds = calloc(b->rounds, sizeof(*c->rounds));
		c->rates = calloc(b->rounds, sizeof(*c->rates));
		if (!c->rounds || !c->rates)
			return -ENOMEM;
	}
	return 0;
}

static void release(struct bench *b)
{
	for (size_t i = 0; b->cells && i < b->count; i++) {
		free(b->cells[i].rounds);
		free(b->cells[i].rates);
	}
	free(b->cells);
	b->cells = NULL;
}

static void run_cell(struct bench *b, size_t index, size_t number)
{
	struct cell *c = &b->cells[index];
	struct flow_figures f = b->subject->run(index, &b->placement, ROUND_NS);

	c->rounds[number] = f;
	c->rates[number] =
		f.error || f.seconds <= 0 ? (double)NAN : (double)f.bytes / c->row.unit / f.seconds;
}

static int run_rounds(struct bench *b)
{
	size_t count = b->count, *order = calloc(count, sizeof(*order));
	uint64_t random = b->seed;
	struct progress p;

	if (!order)
		return -ENOMEM;
	progress_begin(&p, gi_sys_now_ns());
	for (size_t number = 0; number < b->rounds; number++) {
		stats_shuffle(order, count, &random);
		for (size_t i = 0; i < count; i++) {
			const struct bench_row *row = &b->cells[order[i]].row;
			char what[96];

			snprintf(what, sizeof(what), "%s to %s, %s", row->from, row->to, row->way);
			progress_update(&p, gi_sys_now_ns(),
				(double)(number * count + i) / (double)(b->rounds * count), what);
			run_cell(b, order[i], number);
		}
	}
	progress_end(&p);
	free(order);
	return 0;
}

/* ---- results ---- */

static struct interval rate_of(const struct bench *b, size_t i)
{
	return stats_interval(b->cells[i].rates, b->rounds, b->seed);
}

/* To the row it is compared with, round by round. */
static struct interval ratio_of(const struct bench *b, size_t i)
{
	const double *base = b->cells[b->cells[i].row.base].rates;

	return stats_ratio_interval(b->cells[i].rates, base, b->rounds, b->seed);
}

static double cpu_of(const struct bench *b, size_t i)
{
	double *values = calloc(b->rounds, sizeof(*values)), median;

	if (!values)
		return (double)NAN;
	for (size_t n = 0; n < b->rounds; n++) {
		const struct flow_figures *f = &b->cells[i].rounds[n];

		values[n] =
			f->bytes ? f->mover_cpu_s / ((double)f->bytes / b->cells[i].row.unit) : (double)NAN;
	}
	median = stats_median(values, b->rounds);
	free(values);
	return median;
}

/* At least 11. */
static int way_width(const struct bench *b)
{
	size_t width = 11;

	for (size_t i = 0; i < b->count; i++)
		if (strlen(b->cells[i].row.way) > width)
			width = strlen(b->cells[i].row.way);
	return (int)width;
}

static void print_row(const struct bench *b, size_t i, int width, FILE *stream)
{
	const struct cell *c = &b->cells[i];
	struct interval rate = rate_of(b, i), ratio = ratio_of(b, i);

	fprintf(stream, "%-8s %-10s %-*s", c->row.from, c->row.to, width, c->row.way);
	if (!isfinite(rate.median)) {
		fprintf(stream, " failed: %s\n", strerror(-c->rounds[0].error));
		return;
	}
	fprintf(stream, " %6.2f %6.2f-%-6.2f %6.2fx %7.4f  %s\n", rate.median, rate.low, rate.high,
		ratio.median, cpu_of(b, i), c->rounds[b->rounds - 1].method);
}

static void print_table(const struct bench *b, FILE *stream)
{
	int width = way_width(b);

	fprintf(stream, "\n%-8s %-10s %-*s %6s %13s %7s %7s  %s\n", "from", "to", width, "way", "GiB/s",
		"95 %         ", "ratio", "CPU s/G", "moved by");
	for (size_t i = 0; i < b->count; i++)
		print_row(b, i, width, stream);
	fprintf(stream,
		"\nGiB/s: median and 95 %% interval of %zu rounds; ratio: to %s, round by round;\n"
		"CPU s/G: CPU seconds of the moving process per GiB. Mover on CPU %d, the others on CPU "
		"%d.\n",
		b->rounds, b->subject->base, b->placement.sender_cpu, b->placement.receiver_cpu);
}

static void json_cell(struct json *j, const struct bench *b, size_t i)
{
	const struct cell *c = &b->cells[i];
	struct interval rate = rate_of(b, i), ratio = ratio_of(b, i);

	json_open(j, NULL, '{');
	json_text(j, "source", c->row.from);
	json_text(j, "sink", c->row.to);
	json_text(j, "way", c->row.way);
	json_text(j, "method", c->rounds[b->rounds - 1].error ? NULL : c->rounds[b->rounds - 1].method);
	stats_json(j, "gib_per_s", &rate);
	stats_json(j, "ratio_to_plain", &ratio);
	json_double(j, "mover_cpu_s_per_gib", cpu_of(b, i));
	json_open(j, "rounds", '[');
	for (size_t n = 0; n < b->rounds; n++) {
		json_open(j, NULL, '{');
		json_double(j, "gib_per_s", c->rates[n]);
		json_int(j, "bytes", (int64_t)c->rounds[n].bytes);
		json_double(j, "mover_cpu_s", c->rounds[n].mover_cpu_s);
		json_text(j, "error", c->rounds[n].error ? diag_errno_name(c->rounds[n].error) : NULL);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static int write_json(const void *results, FILE *stream)
{
	const struct bench *b = results;
	struct json j;

	json_begin(&j, stream);
	json_open(&j, NULL, '{');
	json_int(&j, "schema", 1);
	environment_json(&b->env, &j);
	json_open(&j, "cpus", '[');
	json_int(&j, NULL, b->placement.sender_cpu);
	json_int(&j, NULL, b->placement.receiver_cpu);
	json_close(&j);
	json_open(&j, b->subject->name, '[');
	for (size_t i = 0; i < b->count; i++)
		json_cell(&j, b, i);
	json_close(&j);
	json_close(&j);
	return json_end(&j);
}

/* ---- the command ---- */

static int place(struct bench *b, const struct option_table *table, const char *cpus)
{
	struct machine m;
	int ret = machine_read("/sys", &m);

	if (ret < 0)
		diag_errno(ret, "finding out which CPUs this process may use");
	else if (cpus && machine_place_by_hand(&m, cpus) < 0)
		ret = option_usage_error(
			table, "--cpus: '%s' is not two CPUs that this process may use", cpus);
	else
		b->placement = *machine_near_placement(&m);
	machine_release(&m);
	return ret < 0 ? 1 : ret;
}

static int run(struct bench *b, struct output *json)
{
	FILE *stream = json->stream == stdout ? stderr : stdout;
	int ret;

	environment_print(&b->env, stream, 80);
	fflush(stream);
	ret = run_rounds(b);
	if (ret < 0)
		return diag_errno(ret, "preparing"), 1;
	ret = output_write(json, write_json, b) < 0;
	print_table(b, stream);
	return diag_close_stdout() < 0 ? 1 : ret;
}

static int bench_run(const struct bench_subject *subject, int argc, char **argv)
{
	const struct option_table table = {
		.usage = subject->usage,
		.summary = subject->summary,
		.options = specs,
		.usage_status = 2,
	};
	struct bench b = { .subject = subject };
	struct bench_options o = { 0 };
	const char *wrong = NULL;
	struct output json;
	int first, ret = option_parse(&table, argc, argv, &o, &first);

	if (ret != OPTION_DONE)
		return ret;
	if (first < argc && !subject->begin)
		return option_usage_error(&table, "'%s': takes no operands", argv[first]);
	ret = subject->begin ? subject->begin(argc - first, argv + first, &wrong) : 0;
	if (ret == -EINVAL)
		return option_usage_error(
			&table, "'%s' is not TOOL=PATH, with a tool that is measured", wrong);
	if (ret < 0)
		return diag_errno(ret, "%s", wrong), 1;
	b.count = subject->count();
	if (o.rounds > ROUNDS_MOST)
		return option_usage_error(&table, "--rounds: at most %d", ROUNDS_MOST);
	ret = place(&b, &table, o.cpus);
	if (ret != 0)
		return ret;
	b.rounds = o.rounds ? (size_t)o.rounds : DEFAULT_ROUNDS;
	b.seed = (uint64_t)gi_sys_now_ns() | 1;
	environment_read("", &b.env);
	ret = 1;
	if (prepare(&b) < 0)
		diag_errno(ENOMEM, "preparing");
	else if (output_open(o.json, &json) == 0)
		ret = run(&b, &json);
	release(&b);
	return ret;
}

static const struct bench_subject *const subjects[] = { &bench_transfers, &bench_producers, &bench_tools,
	NULL };

static const struct option_table overview = {
	.usage = "gush bench WHAT [OPTION]...",
	.summary = "Measure how fast the library moves bytes, beside plain loops. WHAT is one of\n"
		   "  transfers   between pairs of kinds of descriptors\n"
		   "  producers   from memory into a pipe, under each policy\n"
		   "  tools       yes, cat and tee, beside the system's\n"
		   "'gush bench WHAT --help' tells more. FILE may be '-' for standard output.",
	.options = specs,
	.usage_status = 2,
};

/* `gush bench WHAT` */
int bench_main(int argc, char **argv)
{
	struct bench_options unused = { 0 };
	int first, ret;

	for (const struct bench_subject *const *s = subjects; argc > 1 && *s; s++)
		if (strcmp(argv[1], (*s)->name) == 0)
			return bench_run(*s, argc - 1, argv + 1);
	ret = option_parse(&overview, argc, argv, &unused, &first); /* --help, --version */
	if (ret != OPTION_DONE)
		return ret;
	if (first == argc)
		return option_usage_error(&overview, "what? there are: transfers, producers, tools");
	return option_usage_error(
		&overview, "'%s' is nothing to measure; there are: transfers, producers, tools", argv[first]);
}
