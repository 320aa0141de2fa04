/* SPDX-License-Identifier: MIT */
/* gush bench transfers: how fast the library moves bytes between kinds of descriptors, beside a plain loop.
 */
#include "diag.h"
#include "flow.h"
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

static const struct option_table table = {
	.usage = "gush bench transfers [OPTION]...",
	.summary = "Measure how fast the library moves bytes between pairs of kinds of descriptors,\n"
		   "by the way it chooses, by its read-write, and beside a plain loop of read and\n"
		   "write with 64 KiB. FILE may be '-' for standard output.",
	.options = specs,
	.usage_status = 2,
};

/* The pairs that programs have most. */
static const struct {
	enum flow_end source, sink;
} pairs[] = {
	{ FLOW_PIPE, FLOW_PIPE },
	{ FLOW_PIPE, FLOW_FILE },
	{ FLOW_PIPE, FLOW_NULL },
	{ FLOW_PIPE, FLOW_TCP },
	{ FLOW_FILE, FLOW_PIPE },
	{ FLOW_FILE, FLOW_FILE },
	{ FLOW_FILE, FLOW_TCP },
	{ FLOW_FILE, FLOW_UNIX },
	{ FLOW_TCP, FLOW_PIPE },
	{ FLOW_TCP, FLOW_FILE },
	{ FLOW_TCP, FLOW_TCP },
	{ FLOW_UNIX, FLOW_UNIX },
};
#define PAIRS (sizeof(pairs) / sizeof(*pairs))

struct cell {
	struct flow flow;
	struct flow_figures *rounds; /* one for each round */
	double *rates;		     /* NaN: failed */
};

struct bench {
	struct cell cells[PAIRS * FLOW_WAYS];
	size_t rounds;
	uint64_t seed;
	struct environment env;
	struct placement placement;
};

static int prepare(struct bench *b)
{
	for (size_t i = 0; i < PAIRS * FLOW_WAYS; i++) {
		struct cell *c = &b->cells[i];

		c->flow = (struct flow){
			.source = pairs[i / FLOW_WAYS].source,
			.sink = pairs[i / FLOW_WAYS].sink,
			.way = (enum flow_way)(i % FLOW_WAYS),
			.mover_cpu = b->placement.sender_cpu,
			.other_cpu = b->placement.receiver_cpu,
			.time_ns = ROUND_NS,
		};
		c->rounds = calloc(b->rounds, sizeof(*c->rounds));
		c->rates = calloc(b->rounds, sizeof(*c->rates));
		if (!c->rounds || !c->rates)
			return -ENOMEM;
	}
	return 0;
}

static void release(struct bench *b)
{
	for (size_t i = 0; i < PAIRS * FLOW_WAYS; i++) {
		free(b->cells[i].rounds);
		free(b->cells[i].rates);
	}
}

static void run_cell(struct cell *c, size_t number)
{
	struct flow_figures f = flow_run(&c->flow);

	c->rounds[number] = f;
	c->rates[number] =
		f.error || f.seconds <= 0 ? (double)NAN : (double)f.bytes / (double)(1 << 30) / f.seconds;
}

static void run_rounds(struct bench *b)
{
	size_t order[PAIRS * FLOW_WAYS], count = PAIRS * FLOW_WAYS;
	uint64_t random = b->seed;
	struct progress p;

	progress_begin(&p, gi_sys_now_ns());
	for (size_t number = 0; number < b->rounds; number++) {
		stats_shuffle(order, count, &random);
		for (size_t i = 0; i < count; i++) {
			const struct flow *f = &b->cells[order[i]].flow;
			char what[64];

			snprintf(what, sizeof(what), "%s to %s, %s", flow_end_name(f->source),
				flow_end_name(f->sink), flow_way_name(f->way));
			progress_update(&p, gi_sys_now_ns(),
				(double)(number * count + i) / (double)(b->rounds * count), what);
			run_cell(&b->cells[order[i]], number);
		}
	}
	progress_end(&p);
}

/* ---- results ---- */

static struct interval rate_of(const struct bench *b, size_t i)
{
	return stats_interval(b->cells[i].rates, b->rounds, b->seed);
}

/* To the plain loop of the same pair, round by round. */
static struct interval ratio_of(const struct bench *b, size_t i)
{
	size_t plain = i / FLOW_WAYS * FLOW_WAYS + FLOW_PLAIN;

	return stats_ratio_interval(b->cells[i].rates, b->cells[plain].rates, b->rounds, b->seed);
}

static double cpu_of(const struct bench *b, size_t i)
{
	double *values = calloc(b->rounds, sizeof(*values)), median;

	if (!values)
		return (double)NAN;
	for (size_t n = 0; n < b->rounds; n++) {
		const struct flow_figures *f = &b->cells[i].rounds[n];

		values[n] = f->bytes ? f->mover_cpu_s / ((double)f->bytes / (double)(1 << 30)) : (double)NAN;
	}
	median = stats_median(values, b->rounds);
	free(values);
	return median;
}

static void print_row(const struct bench *b, size_t i, FILE *stream)
{
	const struct cell *c = &b->cells[i];
	struct interval rate = rate_of(b, i), ratio = ratio_of(b, i);

	fprintf(stream, "%-5s %-10s %-11s", flow_end_name(c->flow.source), flow_end_name(c->flow.sink),
		flow_way_name(c->flow.way));
	if (!isfinite(rate.median)) {
		fprintf(stream, " failed: %s\n", strerror(-c->rounds[0].error));
		return;
	}
	fprintf(stream, " %6.2f %6.2f-%-6.2f %6.2fx %7.4f  %s\n", rate.median, rate.low, rate.high,
		ratio.median, cpu_of(b, i), c->rounds[b->rounds - 1].method);
}

static void print_table(const struct bench *b, FILE *stream)
{
	fprintf(stream, "\n%-5s %-10s %-11s %6s %13s %7s %7s  %s\n", "from", "to", "way", "GiB/s",
		"95 %         ", "ratio", "CPU s/G", "moved by");
	for (size_t i = 0; i < PAIRS * FLOW_WAYS; i++)
		print_row(b, i, stream);
	fprintf(stream,
		"\nGiB/s: median and 95 %% interval of %zu rounds; ratio: to the plain loop, round by "
		"round;\n"
		"CPU s/G: CPU seconds of the moving process per GiB. Mover on CPU %d, the others on CPU "
		"%d.\n",
		b->rounds, b->placement.sender_cpu, b->placement.receiver_cpu);
}

static void json_cell(struct json *j, const struct bench *b, size_t i)
{
	const struct cell *c = &b->cells[i];
	struct interval rate = rate_of(b, i), ratio = ratio_of(b, i);

	json_open(j, NULL, '{');
	json_text(j, "source", flow_end_name(c->flow.source));
	json_text(j, "sink", flow_end_name(c->flow.sink));
	json_text(j, "way", flow_way_name(c->flow.way));
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
	json_open(&j, "transfers", '[');
	for (size_t i = 0; i < PAIRS * FLOW_WAYS; i++)
		json_cell(&j, b, i);
	json_close(&j);
	json_close(&j);
	return json_end(&j);
}

/* ---- the command ---- */

static int place(struct bench *b, const char *cpus)
{
	struct machine m;
	int ret = machine_read("/sys", &m);

	if (ret < 0)
		diag_errno(ret, "finding out which CPUs this process may use");
	else if (cpus && machine_place_by_hand(&m, cpus) < 0)
		ret = option_usage_error(
			&table, "--cpus: '%s' is not two CPUs that this process may use", cpus);
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
	run_rounds(b);
	ret = output_write(json, write_json, b) < 0;
	print_table(b, stream);
	return diag_close_stdout() < 0 ? 1 : ret;
}

static int bench_transfers(int argc, char **argv)
{
	static struct bench b;
	struct bench_options o = { 0 };
	struct output json;
	int first, ret = option_parse(&table, argc, argv, &o, &first);

	if (ret != OPTION_DONE)
		return ret;
	if (first < argc)
		return option_usage_error(&table, "'%s': takes no operands", argv[first]);
	if (o.rounds > ROUNDS_MOST)
		return option_usage_error(&table, "--rounds: at most %d", ROUNDS_MOST);
	ret = place(&b, o.cpus);
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

/* `gush bench WHAT`: so far there is one thing to measure. */
int bench_main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "transfers") == 0)
		return bench_transfers(argc - 1, argv + 1);
	if (argc > 1 && argv[1][0] == '-')
		return bench_transfers(argc, argv); /* --help, --version */
	if (argc < 2)
		return option_usage_error(&table, "what? there is: transfers");
	return option_usage_error(&table, "'%s' is nothing to measure; there is: transfers", argv[1]);
}
