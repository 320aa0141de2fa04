/* SPDX-License-Identifier: MIT */
#include "climb.h"

#include "disturbance.h"
#include "progress.h"
#include "sys.h"
#include "units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define OVERHEAD_S                                                                                           \
	0.03 /* of a round: fork, buffers, rendezvous; 10 to 30 ms here, more with 512 MiB to touch */
#define MAX_TIME_S 0.25 /* a round's spread did not get smaller with longer ones */
#define MIN_TIME_S 0.03
#define CUT_TIMES 4 /* so many times its time may a round take, then it is cut */
#define CRAWL_BYTES_PER_S                                                                                    \
	(64 << 20) /* a step slower than this crawls: one hundredth of plain write and read */
#define RETRIES 2  /* of a disturbed round */
#define CHECK_BYTES ((uint64_t)192 << 20) /* more than a ring of protect six times over */
#define CHECK_NS 3000000000		  /* a step that crawls is checked for so long */
#define SLOWEST_GIB_PER_S 0.25		  /* with --bytes: a step slower than this is cut */
#define LONGEST_S 1e8 /* three years: what --bytes may ask for still fits into nanoseconds */

struct climber {
	struct ladder *ladder;
	const struct climb_options *options;
	struct progress progress;
	uint64_t *bytes; /* for each row: what a round of it moves, once the warm-up has told */
	uint64_t random;
	size_t done, planned; /* rounds */
	size_t retries_left;
	int64_t end_ns;	  /* no retries past this */
	int64_t limit_ns; /* no round of a further number past this; 0: no limit */
};

static double seconds_of_children(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

/*
 * One process that only calls, two that take turns on one CPU, and two that spin use all of their CPUs,
 * always. Two that sleep for each other on two CPUs may use any part of them.
 */
static double least_cpu_s(const struct round_plan *plan, double seconds)
{
	const struct placement *p = plan->placement;

	if (plan->step->reference || p->sender_cpu == p->receiver_cpu)
		return seconds;
	return plan->step->sender.wait == GI_WAIT_SPIN ? 2 * seconds : 0;
}

/* One round and whether something disturbed it. */
static const char *run_watched(const struct round_plan *plan, struct round_result *ret)
{
	const struct placement *p = plan->placement;
	struct disturbance_round d = { .before = disturbance_now(p->sender_cpu, p->receiver_cpu) };
	double cpu_s = seconds_of_children();
	int64_t start_ns = gi_sys_now_ns();

	round_run(plan, ret);
	d.wall_s = (double)(gi_sys_now_ns() - start_ns) * 1e-9;
	d.own_cpu_s = seconds_of_children() - cpu_s;
	d.after = disturbance_now(p->sender_cpu, p->receiver_cpu);
	d.measured_s = ret->figures.seconds;
	d.measured_cpu_s = ret->figures.cpu_s;
	d.least_cpu_s = least_cpu_s(plan, ret->figures.seconds);
	if (p->sender_cpu != p->receiver_cpu || plan->step->reference)
		d.preemptions = ret->figures.preemptions;
	return disturbance_judge(&d);
}

/*
 * A round that was cut still shows a rate. Only a step that crawls, or cannot bring what --bytes asks for, is
 * given up.
 */
static bool crawls(const struct climber *c, const struct round_figures *f)
{
	return c->ladder->bytes_wanted || (double)f->bytes < CRAWL_BYTES_PER_S * f->seconds;
}

/* Takes over what ended a row for good. True: the row is not to be run again. */
static bool settle(const struct climber *c, struct row *row, const struct round_result *result)
{
	char reached[UNITS_TEXT];

	switch (result->end) {
	case ROUND_DONE:
	case ROUND_INTERRUPTED:
		return false;
	case ROUND_CUT:
		if (!crawls(c, &result->figures))
			return false;
		row->status = ROW_PARTIAL;
		snprintf(row->reason, sizeof(row->reason), "cut after %.1f s: %s had come through",
			result->figures.seconds, format_about((double)result->figures.bytes, reached));
		return true;
	case ROUND_NOT_HERE:
		row->status = ROW_SKIPPED;
		break;
	case ROUND_FAILED:
		row->status = ROW_FAILED;
		break;
	}
	snprintf(row->reason, sizeof(row->reason), "%s", result->reason);
	return true;
}

static void show_progress(struct climber *c, const struct row *row, const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: %s, %s", what, row->step->name, row_where(row));
	progress_update(&c->progress, gi_sys_now_ns(), (double)c->done / (double)c->planned, text);
}

/* Runs for a round's time without a goal, to learn what a round can move. Not counted. */
static int warm_up(struct climber *c, size_t i)
{
	struct ladder *l = c->ladder;
	struct row *row = &l->rows[i];
	struct round_result result;
	struct round_plan plan = {
		.step = row->step,
		.placement = &row->placement,
		.warm_up_bytes = step_warm_up_bytes(row->step),
		.time_ns = (int64_t)(l->time_per_round_s * 1e9),
		.signal_fd = c->options->signal_fd,
	};
	double rate;

	show_progress(c, row, "warming up");
	round_run(&plan, &result);
	c->done++;
	if (result.end == ROUND_INTERRUPTED)
		return -EINTR;
	/* To be cut is the plan here, since there is no goal. */
	if (result.end != ROUND_CUT && settle(c, row, &result))
		return 0;
	rate = result.figures.seconds > 0 ? (double)result.figures.bytes / result.figures.seconds : 0;
	if (rate < CUT_TIMES * CRAWL_BYTES_PER_S)
		rate = CUT_TIMES *
		       CRAWL_BYTES_PER_S; /* a goal that one that crawls cannot reach before it is cut */
	c->bytes[i] = l->bytes_wanted ? l->bytes_wanted : (uint64_t)(rate * l->time_per_round_s);
	return 0;
}

static double longest_round_s(const struct climber *c)
{
	double wanted = (double)c->ladder->bytes_wanted / (double)(1 << 30) / SLOWEST_GIB_PER_S;

	return CUT_TIMES * c->ladder->time_per_round_s + (wanted < LONGEST_S ? wanted : LONGEST_S);
}

static int run_round(struct climber *c, size_t i, size_t number)
{
	struct row *row = &c->ladder->rows[i];
	struct round_plan plan = {
		.step = row->step,
		.placement = &row->placement,
		.warm_up_bytes = step_warm_up_bytes(row->step),
		.bytes = c->bytes[i],
		.time_ns = (int64_t)(longest_round_s(c) * 1e9),
		.signal_fd = c->options->signal_fd,
	};
	struct round_record record = { .number = number };
	struct round_result result;
	int ret;

	for (int tries = 0;; tries++) {
		record.rejected = run_watched(&plan, &result);
		if (result.end == ROUND_INTERRUPTED)
			return -EINTR;
		if (result.end == ROUND_DONE || result.end == ROUND_CUT) {
			record.figures = result.figures;
			ret = row_add_round(row, &record);
			if (ret < 0)
				return ret;
		}
		if (result.end == ROUND_CUT && record.rejected)
			; /* no wonder */
		else if (settle(c, row, &result) || !record.rejected)
			return 0;
		if (tries == RETRIES || c->retries_left == 0 || gi_sys_now_ns() > c->end_ns)
			return 0;
		c->retries_left--;
	}
}

/* Each row once, in random order. */
static int run_all_rows(struct climber *c, size_t number, size_t *order)
{
	struct ladder *l = c->ladder;
	char what[48];

	snprintf(what, sizeof(what), "round %zu of %zu", number + 1, l->rounds_wanted);
	stats_shuffle(order, l->row_count, &c->random);
	for (size_t n = 0; n < l->row_count; n++) {
		struct row *row = &l->rows[order[n]];
		int ret = 0;

		if (row->status == ROW_OK) {
			show_progress(c, row, what);
			ret = run_round(c, order[n], number);
		}
		c->done++;
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* The contents, in a run of its own that is not timed. */
static int check_row(struct climber *c, struct row *row)
{
	struct round_plan plan = {
		.step = row->step,
		.placement = &row->placement,
		.bytes = CHECK_BYTES,
		.time_ns = CHECK_NS,
		.check = true,
		.signal_fd = c->options->signal_fd,
	};
	struct round_result result;

	show_progress(c, row, "checking contents");
	round_run(&plan, &result);
	c->done++;
	if (result.end == ROUND_INTERRUPTED)
		return -EINTR;
	row->checked_bytes = result.figures.checked_bytes;
	row->bad_bytes = result.figures.bad_bytes;
	if (result.end == ROUND_DONE || (result.end == ROUND_CUT && row->checked_bytes > 0)) {
		row->check = row->bad_bytes ? CHECK_WRONG : CHECK_RIGHT;
		return 0;
	}
	row->check = result.end == ROUND_NOT_HERE ? CHECK_NOT_HERE : CHECK_FAILED;
	snprintf(row->check_reason, sizeof(row->check_reason), "%s",
		*result.reason ? result.reason : "nothing came through in time");
	return 0;
}

static int check_rows(struct climber *c)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < c->ladder->row_count; i++) {
		struct row *row = &c->ladder->rows[i];

		if (!row->step->reference && (row->status == ROW_OK || row->status == ROW_PARTIAL))
			ret = check_row(c, row);
		else
			c->done++;
	}
	return ret;
}

/* A busy machine has eaten the time: what is measured has to do. One round is always run. */
static bool late(const struct climber *c, size_t number)
{
	return number > 0 && c->limit_ns && gi_sys_now_ns() > c->limit_ns;
}

static int run_everything(struct climber *c)
{
	struct ladder *l = c->ladder;
	size_t *order = calloc(l->row_count + 1, sizeof(*order));
	int ret = order ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < l->row_count; i++)
		if (l->rows[i].status == ROW_OK)
			ret = warm_up(c, i);
		else
			c->done++;
	if (ret == 0 && c->options->verify)
		ret = check_rows(c);
	for (size_t number = 0; ret == 0 && number < l->rounds_wanted; number++) {
		if (late(c, number))
			break;
		l->rounds_run = number + 1;
		ret = run_all_rows(c, number, order);
	}
	free(order);
	return ret;
}

/* A round's time such that everything fits the budget. */
static void plan_time(struct climber *c)
{
	struct ladder *l = c->ladder;
	size_t runs = 0;

	for (size_t i = 0; i < l->row_count; i++)
		runs += l->rows[i].status == ROW_OK;
	runs = runs ? runs * (l->rounds_wanted + 1) : 1;
	l->time_per_round_s = c->options->budget_s / (double)runs - OVERHEAD_S;
	if (l->time_per_round_s > MAX_TIME_S)
		l->time_per_round_s = MAX_TIME_S;
	if (l->time_per_round_s < MIN_TIME_S)
		l->time_per_round_s = MIN_TIME_S;
	c->planned = l->row_count * (l->rounds_wanted + 1 + c->options->verify) + 1;
	c->retries_left = runs / 4 + 1;
	if (c->options->limit_s > 0)
		c->limit_ns = gi_sys_now_ns() + (int64_t)(c->options->limit_s * 1e9);
	c->end_ns = gi_sys_now_ns() + (int64_t)(c->options->budget_s * 1e9);
}

int climb(struct ladder *l, const struct climb_options *options)
{
	struct climber c = { .ladder = l, .options = options, .random = l->seed };
	int ret;

	c.bytes = calloc(l->row_count + 1, sizeof(*c.bytes));
	if (!c.bytes)
		return -ENOMEM;
	plan_time(&c);
	progress_begin(&c.progress, gi_sys_now_ns());
	ret = run_everything(&c);
	progress_end(&c.progress);
	free(c.bytes);
	return ret;
}
