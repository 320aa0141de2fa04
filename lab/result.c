/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row *ladder_add_row(struct ladder *l, const struct step *step, const struct placement *placement)
{
	struct row *rows = realloc(l->rows, (l->row_count + 1) * sizeof(*rows));

	if (!rows)
		return NULL;
	l->rows = rows;
	rows[l->row_count] = (struct row){ .step = step };
	if (placement) {
		rows[l->row_count].placement = *placement;
		rows[l->row_count].placed = true;
	}
	return &rows[l->row_count++];
}

int row_add_round(struct row *row, const struct round_record *record)
{
	if (row->round_count == row->round_room) {
		size_t room = row->round_room ? 2 * row->round_room : 16;
		struct round_record *rounds = realloc(row->rounds, room * sizeof(*rounds));

		if (!rounds)
			return -ENOMEM;
		row->rounds = rounds;
		row->round_room = room;
	}
	row->rounds[row->round_count++] = *record;
	return 0;
}

void ladder_release(struct ladder *l)
{
	for (size_t i = 0; i < l->row_count; i++)
		free(l->rows[i].rounds);
	free(l->rows);
	l->rows = NULL;
	l->row_count = 0;
}

const char *row_where(const struct row *row)
{
	if (!row->placed)
		return NULL;
	return row->step->reference ? "alone" : placement_name(row->placement.kind);
}

const char *row_status_name(enum row_status status)
{
	static const char *const names[] = { "ok", "skipped", "failed", "partial" };

	return names[status];
}

size_t row_rejected(const struct row *row)
{
	size_t count = 0;

	for (size_t i = 0; i < row->round_count; i++)
		count += row->rounds[i].rejected != NULL;
	return count;
}

double figures_gib(const struct round_figures *f)
{
	return (double)f->bytes / (double)(1ull << 30);
}

double figures_gib_per_s(const struct round_figures *f)
{
	return f->seconds > 0 && f->bytes > 0 ? figures_gib(f) / f->seconds : (double)NAN;
}

enum column { COLUMN_RATE, COLUMN_CPU, COLUMN_SWITCHES, COLUMN_FAULTS };

static double value_of(const struct round_figures *f, enum column column)
{
	switch (column) {
	case COLUMN_CPU:
		return f->cpu_s / figures_gib(f);
	case COLUMN_SWITCHES:
		return (double)f->switches / figures_gib(f);
	case COLUMN_FAULTS:
		return (double)f->faults / figures_gib(f);
	case COLUMN_RATE:
		break;
	}
	return figures_gib_per_s(f);
}

/* The values of the rounds that count, or of all; returns how many. ret has room for round_count. */
static size_t collect(const struct row *row, enum column column, bool all, double *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < row->round_count; i++) {
		const struct round_record *r = &row->rounds[i];

		if ((all || !r->rejected) && r->figures.bytes > 0)
			ret[count++] = value_of(&r->figures, column);
	}
	return count;
}

static double median_of(const struct row *row, enum column column, bool all)
{
	double *values = calloc(row->round_count + 1, sizeof(*values)), median = (double)NAN;

	if (values)
		median = stats_median(values, collect(row, column, all, values));
	free(values);
	return median;
}

double row_reached_gib_per_s(const struct row *row)
{
	return median_of(row, COLUMN_RATE, true);
}

/* The rate in the round of that number, or NaN when it was rejected or is missing. */
static double rate_in_round(const struct row *row, size_t number)
{
	for (size_t i = 0; i < row->round_count; i++)
		if (row->rounds[i].number == number && !row->rounds[i].rejected)
			return figures_gib_per_s(&row->rounds[i].figures);
	return (double)NAN;
}

static void summarise_ratio(const struct ladder *l, struct row *row, const struct row *first)
{
	double *own = calloc(l->rounds_wanted + 1, sizeof(*own));
	double *base = calloc(l->rounds_wanted + 1, sizeof(*base));

	row->ratio_to_first = (struct interval){ (double)NAN, (double)NAN, (double)NAN };
	if (own && base && first && first->status == ROW_OK) {
		for (size_t n = 0; n < l->rounds_wanted; n++) {
			own[n] = rate_in_round(row, n);
			base[n] = rate_in_round(first, n);
		}
		row->ratio_to_first = stats_ratio_interval(own, base, l->rounds_wanted, l->seed);
	}
	free(own);
	free(base);
}

static void summarise_row(const struct ladder *l, struct row *row)
{
	double *rates = calloc(row->round_count + 1, sizeof(*rates));

	if (rates)
		row->gib_per_s = stats_interval(rates, collect(row, COLUMN_RATE, false, rates), l->seed);
	free(rates);
	row->cpu_s_per_gib = median_of(row, COLUMN_CPU, false);
	row->switches_per_gib = median_of(row, COLUMN_SWITCHES, false);
	row->faults_per_gib = median_of(row, COLUMN_FAULTS, false);
}

static size_t count_good(const struct row *row)
{
	size_t count = 0;

	for (size_t i = 0; i < row->round_count; i++)
		count += !row->rounds[i].rejected && isfinite(figures_gib_per_s(&row->rounds[i].figures));
	return count;
}

/* A run that a signal ended owes all its rounds; one whose time was over owes those that it began. */
static size_t rounds_due(const struct ladder *l)
{
	return l->signal_number ? l->rounds_wanted : l->rounds_run;
}

/* A row that ran is OK when at least half of its rounds, and one, were left alone. */
static void settle_status(const struct ladder *l, struct row *row)
{
	size_t good = count_good(row);

	if (row->status != ROW_OK || (good > 0 && 2 * good >= rounds_due(l)))
		return;
	row->status = ROW_PARTIAL;
	if (l->signal_number)
		snprintf(row->reason, sizeof(row->reason), "interrupted after %zu of %zu rounds", good,
			l->rounds_wanted);
	else
		snprintf(row->reason, sizeof(row->reason), "other load disturbed %zu of %zu rounds",
			row_rejected(row), row->round_count);
}

void ladder_summarise(struct ladder *l)
{
	const struct row *first = NULL;

	for (size_t i = 0; i < l->row_count; i++)
		settle_status(l, &l->rows[i]);
	for (size_t i = 0; i < l->row_count; i++) {
		if (l->rows[i].status == ROW_OK && !first)
			first = &l->rows[i];
		summarise_row(l, &l->rows[i]);
		summarise_ratio(l, &l->rows[i], first);
	}
}

bool ladder_is_partial(const struct ladder *l)
{
	return l->signal_number != 0;
}

const struct row *ladder_find(const struct ladder *l, const char *step, int placement_kind)
{
	for (size_t i = 0; i < l->row_count; i++) {
		const struct row *row = &l->rows[i];

		if (row->status == ROW_OK && strcmp(row->step->name, step) == 0 &&
			(placement_kind < 0 || row->placement.kind == (enum placement_kind)placement_kind))
			return row;
	}
	return NULL;
}
