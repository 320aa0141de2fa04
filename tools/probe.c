/* SPDX-License-Identifier: MIT */
/* gush probe: what this kernel, user and sandbox allow, and which way the library takes between which ends.
 */
#include "probe.h"
#include "diag.h"
#include "json.h"
#include "option.h"
#include "probe_print.h"
#include "probe_ways.h"
#include "tools.h"
#include "units.h"
#include "wakeup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct probe_options {
	bool json, stable, verbose;
};

static const struct option_spec specs[] = {
	{ "json", 'j', OPTION_FLAG, offsetof(struct probe_options, json), NULL, "print JSON" },
	{ "stable", 's', OPTION_FLAG, offsetof(struct probe_options, stable), NULL,
		"the ways of stable transfers (GUSH_STABLE)" },
	{ "verbose", 'v', OPTION_FLAG, offsetof(struct probe_options, verbose), NULL,
		"list every pair, and why a way was passed over" },
	{ 0 },
};

static const struct option_table table = {
	.usage = "gush probe [OPTION]...",
	.summary = "Try what this kernel, user and sandbox allow, and print which way the library\n"
		   "takes between each pair of kinds of descriptors.",
	.options = specs,
	.usage_status = 2,
};

/* Everything that was found out, before any of it is printed. */
struct findings {
	enum gi_vmsplice vmsplice;
	int vmsplice_error, to_memory, barrier_small, barrier_huge;
	struct gi_probe_pipes pipes;
	int pipes_error;
	int64_t wakeup_ns;
	struct probe_way ways[PROBE_WAYS_MOST];
	size_t way_count;
};

static void find_out(struct findings *f, uint32_t flags)
{
	f->vmsplice = gi_probe_vmsplice(&f->vmsplice_error);
	f->to_memory = gi_probe_vmsplice_to_memory();
	f->barrier_small = gi_probe_barrier(false);
	f->barrier_huge = gi_probe_barrier(true);
	f->pipes_error = gi_probe_pipes(&f->pipes);
	f->wakeup_ns = gi_wakeup_ns();
	f->way_count = probe_ways(f->ways, flags);
}

static const char *vmsplice_name(enum gi_vmsplice v)
{
	static const char *const names[] = { "fail", "alias", "copy" };

	return names[v];
}

static const char *outcome(int error)
{
	return error ? strerror(-error) : "ok";
}

/* ---- for people ---- */

static void print_calls(void)
{
	printf("calls\n");
	for (const struct gi_probe_call *c = gi_probe_calls; c->name; c++)
		printf("  %-18s %s\n", c->name, outcome(c->try_it()));
}

static void print_memory(const struct findings *f)
{
	static const char *const meanings[] = { "fails",
		"zero-copy: later writes to the memory show in the pipe", "copies: nothing is gained by it" };

	printf("memory to a pipe\n  %-18s %s%s%s\n", "vmsplice", meanings[f->vmsplice],
		f->vmsplice_error ? ": " : "", f->vmsplice_error ? outcome(f->vmsplice_error) : "");
	printf("  %-18s %s\n", "pipe to memory", f->to_memory ? outcome(f->to_memory) : "vmsplice copies");
	printf("  %-18s %s\n", "barrier, 4K pages", f->barrier_small ? "does not protect" : "protects");
	printf("  %-18s %s\n", "barrier, huge", f->barrier_huge ? "does not protect" : "protects");
}

static void print_pipes(const struct findings *f)
{
	char fresh[UNITS_TEXT], largest[UNITS_TEXT];

	printf("pipes\n");
	if (f->pipes_error) {
		printf("  none: %s\n", outcome(f->pipes_error));
		return;
	}
	printf("  new %s, up to %s; of 1MiB %s%zu can be had now\n",
		format_size(f->pipes.default_bytes, fresh), format_size(f->pipes.largest_bytes, largest),
		f->pipes.full_size_left == GI_PROBE_PIPES_MOST ? "at least " : "", f->pipes.full_size_left);
	printf("  a wake-up takes %.1f us\n", (double)f->wakeup_ns / 1000);
}

/* ---- for programs ---- */

static void json_outcome(struct json *j, const char *name, int error)
{
	json_text(j, name, error ? diag_errno_name(error) : "ok");
}

static void json_ways(struct json *j, const struct findings *f)
{
	json_open(j, "ways", '[');
	for (size_t i = 0; i < f->way_count; i++) {
		const struct probe_way *w = &f->ways[i];

		json_open(j, NULL, '{');
		json_text(j, "source", w->source);
		json_text(j, "sink", w->sink);
		json_text(j, "way", w->way);
		json_text(j, "why", *w->why ? w->why : NULL);
		json_outcome(j, "outcome", w->error);
		json_close(j);
	}
	json_close(j);
}

static void json_pipes(struct json *j, const struct findings *f)
{
	json_open(j, "pipe", '{');
	json_outcome(j, "outcome", f->pipes_error);
	json_int(j, "new_bytes", (int64_t)f->pipes.default_bytes);
	json_int(j, "largest_bytes", (int64_t)f->pipes.largest_bytes);
	json_int(j, "full_size_left", (int64_t)f->pipes.full_size_left);
	json_close(j);
}

static int print_json(const struct findings *f)
{
	struct json j;

	json_begin(&j, stdout);
	json_open(&j, NULL, '{');
	json_int(&j, "schema", 1);
	json_text(&j, "gush", gush_version());
	json_text(&j, "vmsplice", vmsplice_name(f->vmsplice));
	json_outcome(&j, "vmsplice_to_memory", f->to_memory);
	json_open(&j, "barrier", '{');
	json_bool(&j, "small", f->barrier_small == 0);
	json_bool(&j, "thp", f->barrier_huge == 0);
	json_close(&j);
	json_open(&j, "calls", '{');
	for (const struct gi_probe_call *c = gi_probe_calls; c->name; c++)
		json_outcome(&j, c->name, c->try_it());
	json_close(&j);
	json_pipes(&j, f);
	json_int(&j, "wakeup_ns", f->wakeup_ns);
	json_ways(&j, f);
	json_close(&j);
	return json_end(&j);
}

int probe_main(int argc, char **argv)
{
	struct probe_options o = { 0 };
	static struct findings f;
	static char buffer[1 << 16];
	int first, ret = option_parse(&table, argc, argv, &o, &first);

	if (ret != OPTION_DONE)
		return ret;
	if (first < argc)
		return option_usage_error(&table, "'%s': takes no operands", argv[first]);
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer)); /* only closing it writes: that names the error */
	find_out(&f, o.stable ? GUSH_STABLE : 0);
	if (o.json) {
		ret = print_json(&f);
		if (ret < 0) {
			diag_errno(ret, "standard output");
			return 1;
		}
	} else {
		print_calls();
		print_memory(&f);
		print_pipes(&f);
		probe_print_ways(f.ways, f.way_count, o.verbose);
	}
	return diag_close_stdout() < 0 ? 1 : 0;
}
