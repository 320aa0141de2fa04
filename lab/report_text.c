/* SPDX-License-Identifier: MIT */
/* The results for people: a table with bars, as wide as the terminal. */
#include "explain.h"
#include "report.h"
#include "units.h"
#include "wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 20 /* vmsplice-splice-huge */
#define BAR_MIN 6
#define BAR_MAX 48
#define WORDS_MIN 30 /* columns */

/* The columns in the order of printing; what does not fit is left out in the order of `rank`, highest first.
 */
enum {
	COLUMN_RATE,
	COLUMN_INTERVAL,
	COLUMN_BAR,
	COLUMN_RATIO,
	COLUMN_CPU,
	COLUMN_SWITCHES,
	COLUMN_FAULTS,
	COLUMN_ARTICLE,
	COLUMNS
};

static const struct {
	const char *title;
	int width, rank;
} columns[COLUMNS] = {
	[COLUMN_RATE] = { "GiB/s", 5, 0 },
	[COLUMN_INTERVAL] = { "95 %", 9, 4 },
	[COLUMN_BAR] = { "", BAR_MIN, 5 },
	[COLUMN_RATIO] = { "ratio", 5, 2 },
	[COLUMN_CPU] = { "CPU s/GiB", 9, 3 },
	[COLUMN_SWITCHES] = { "ctx/GiB", 7, 6 },
	[COLUMN_FAULTS] = { "faults/GiB", 10, 7 },
	[COLUMN_ARTICLE] = { "article", 7, 1 },
};

struct table {
	const struct report_style *style;
	FILE *stream;
	int where_width;
	int width[COLUMNS]; /* 0: left out */
	double most;	    /* the longest bar's rate */
};

struct cell {
	char text[32];
};

/* ---- layout ---- */

static void lay_out(struct table *t, const struct ladder *l)
{
	int left = t->style->columns - NAME_WIDTH;

	t->where_width = 5;
	for (size_t i = 0; i < l->row_count; i++) {
		const char *where = row_where(&l->rows[i]);

		if (where && (int)strlen(where) > t->where_width)
			t->where_width = (int)strlen(where);
		if (l->rows[i].status == ROW_OK && l->rows[i].gib_per_s.median > t->most)
			t->most = l->rows[i].gib_per_s.median;
	}
	left -= 1 + t->where_width;
	for (int rank = 0; rank < COLUMNS; rank++)
		for (int c = 0; c < COLUMNS; c++)
			if (columns[c].rank == rank && left >= columns[c].width + 1) {
				t->width[c] = columns[c].width;
				left -= columns[c].width + 1;
			}
	if (t->width[COLUMN_BAR])
		t->width[COLUMN_BAR] += left < BAR_MAX - BAR_MIN ? left : BAR_MAX - BAR_MIN;
}

/* ---- cells ---- */

static struct cell number_cell(double number, int decimals_below_10)
{
	struct cell c = { "" };
	double size = fabs(number);

	if (isfinite(number))
		snprintf(c.text, sizeof(c.text), "%.*f",
			size >= 99.95  ? 0
			: size >= 9.95 ? 1
				       : decimals_below_10,
			number);
	return c;
}

static struct cell interval_cell(const struct interval *i)
{
	struct cell c, low = number_cell(i->low, 2), high = number_cell(i->high, 2);

	snprintf(c.text, sizeof(c.text), "%.12s-%.12s", low.text, high.text);
	return c;
}

static struct cell ratio_cell(double ratio)
{
	struct cell c, number = number_cell(ratio, 2);

	snprintf(c.text, sizeof(c.text), "%.20s%s", number.text, *number.text ? "x" : "");
	return c;
}

static struct cell article_cell(const struct step *step)
{
	struct cell c;

	snprintf(c.text, sizeof(c.text), "%.1f", step->article_gib_per_s);
	return c;
}

static struct cell small_cell(double number)
{
	struct cell c = { "" };

	if (isfinite(number))
		snprintf(c.text, sizeof(c.text), "%.*f", number < 10 ? 4 : 1, number);
	return c;
}

static const char *colour_of(enum step_group group)
{
	static const char *const colours[] = { "34", "32", "35", "36", "33" };

	return colours[group];
}

/* Eighths of a cell where the terminal has them. */
static void print_bar(const struct table *t, const struct row *row)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int width = t->width[COLUMN_BAR], units, full;

	units = (int)(row->gib_per_s.median / t->most * width * 8 + 0.5);
	full = t->style->utf8 ? units / 8 : (units + 4) / 8;
	if (t->style->colour)
		fprintf(t->stream, "\033[%sm", colour_of(row->step->group));
	for (int i = 0; i < full; i++)
		fputs(t->style->utf8 ? "█" : "#", t->stream);
	if (t->style->utf8 && units % 8) {
		fputs(eighths[units % 8], t->stream);
		full++;
	}
	if (t->style->colour)
		fputs("\033[0m", t->stream);
	fprintf(t->stream, "%*s", width - full, "");
}

static void print_cell(const struct table *t, int column, struct cell cell)
{
	if (t->width[column])
		fprintf(t->stream, " %*s", t->width[column], cell.text);
}

static void print_name(const struct table *t, const struct row *row, int where_width)
{
	const char *where = row_where(row);

	fprintf(t->stream, "%-*s %-*s", NAME_WIDTH, row->step->name, where_width, where ? where : "-");
}

static void print_measurements(const struct table *t, const struct row *row)
{
	print_name(t, row, t->where_width);
	print_cell(t, COLUMN_RATE, number_cell(row->gib_per_s.median, 2));
	print_cell(t, COLUMN_INTERVAL, interval_cell(&row->gib_per_s));
	if (t->width[COLUMN_BAR]) {
		fputc(' ', t->stream);
		print_bar(t, row);
	}
	print_cell(t, COLUMN_RATIO, ratio_cell(row->ratio_to_first.median));
	print_cell(t, COLUMN_CPU, small_cell(row->cpu_s_per_gib));
	print_cell(t, COLUMN_SWITCHES, number_cell(row->switches_per_gib, 1));
	print_cell(t, COLUMN_FAULTS, number_cell(row->faults_per_gib, 1));
	if (row->step->article_gib_per_s > 0) /* the last column: no blanks behind a line */
		print_cell(t, COLUMN_ARTICLE, article_cell(row->step));
	fputc('\n', t->stream);
}

/* Words beside a step's name and place, or below where there is little room. */
static void print_words(const struct table *t, const struct row *row, const char *text)
{
	int at = NAME_WIDTH + 1 + t->where_width + 1;
	bool below = t->style->columns - at < WORDS_MIN;

	print_name(t, row, below ? 0 : t->where_width);
	if (below)
		at = 4;
	fprintf(t->stream, below ? "\n%*s" : "%*s", below ? at : 1, "");
	wrap_text(t->stream, text, at, at, t->style->columns);
}

/* A row without measurements: what it reached, and why there is no more. */
static void print_reason(const struct table *t, const struct row *row)
{
	char text[512];
	double reached = row_reached_gib_per_s(row);

	if (row->status == ROW_SKIPPED)
		snprintf(text, sizeof(text), "not here: %s", row->reason);
	else if (row->status == ROW_PARTIAL && isfinite(reached))
		snprintf(text, sizeof(text), "%.*f GiB/s, partial: %s", reached < 0.1 ? 4 : 2, reached,
			row->reason);
	else
		snprintf(text, sizeof(text), "%s: %s", row_status_name(row->status), row->reason);
	print_words(t, row, text);
}

static void print_titles(const struct table *t)
{
	fprintf(t->stream, "\n%-*s %-*s", NAME_WIDTH, "step", t->where_width, "where");
	for (int c = 0; c < COLUMNS; c++)
		if (t->width[c])
			fprintf(t->stream, " %*s", t->width[c], columns[c].title);
	fputc('\n', t->stream);
}

static void print_group(const struct table *t, enum step_group group)
{
	bool colour = t->style->colour;

	fprintf(t->stream, "%s%s%s\n", colour ? "\033[1m" : "", step_group_title(group),
		colour ? "\033[0m" : "");
}

static void print_rows(const struct table *t, const struct ladder *l)
{
	for (size_t i = 0; i < l->row_count; i++) {
		const struct row *row = &l->rows[i];

		if (i == 0 || l->rows[i - 1].step->group != row->step->group)
			print_group(t, row->step->group);
		if (row->status == ROW_OK)
			print_measurements(t, row);
		else
			print_reason(t, row);
	}
}

/* ---- below the table ---- */

/* What the ratios are to: the first row that is OK. */
static const char *first_step(const struct ladder *l)
{
	for (size_t i = 0; i < l->row_count; i++)
		if (l->rows[i].status == ROW_OK)
			return l->rows[i].step->name;
	return "the first step, which did not do";
}

static void print_rejected(const struct table *t, const struct ladder *l)
{
	char text[128];
	size_t rounds = 0, rejected = 0;

	for (size_t i = 0; i < l->row_count; i++) {
		rounds += l->rows[i].round_count;
		rejected += row_rejected(&l->rows[i]);
	}
	snprintf(text, sizeof(text), "Rounds measured: %zu; disturbed by other load, and not counted: %zu.",
		rounds, rejected);
	wrap_text(t->stream, text, 0, 0, t->style->columns);
}

/* Of the columns that are shown. */
static void print_legend(const struct table *t, const struct ladder *l)
{
	char text[640];

	fputc('\n', t->stream);
	snprintf(text, sizeof(text), "GiB/s: median%s of %zu round%s%s%s%s%s%s.",
		t->width[COLUMN_INTERVAL] ? " and 95 % interval" : "", l->rounds_run,
		l->rounds_run == 1 ? "" : "s", t->width[COLUMN_RATIO] ? "; ratio: to " : "",
		t->width[COLUMN_RATIO] ? first_step(l) : "", t->width[COLUMN_RATIO] ? ", round by round" : "",
		t->width[COLUMN_CPU] ? "; CPU s/GiB: CPU seconds of both ends per GiB" : "",
		t->width[COLUMN_SWITCHES]
			? "; ctx and faults: context switches and page faults of both ends per GiB"
			: "");
	wrap_text(t->stream, text, 0, 0, t->style->columns);
	if (t->width[COLUMN_ARTICLE])
		wrap_text(t->stream,
			"article: figures of another machine (i7-8550U, Linux 5.17), from \"How fast are "
			"Linux pipes anyway?\", not measured here.",
			0, 0, t->style->columns);
	print_rejected(t, l);
}

static void print_checks_title(const struct table *t)
{
	fputc('\n', t->stream);
	wrap_text(t->stream,
		"Contents, checked in runs of their own; a splicing reader holds them for a while first:", 0,
		0, t->style->columns);
}

static void print_check(const struct table *t, const struct row *row)
{
	char text[320], bytes[UNITS_TEXT], bad[UNITS_TEXT];

	format_about((double)row->checked_bytes, bytes);
	if (row->check == CHECK_FAILED || row->check == CHECK_NOT_HERE)
		snprintf(text, sizeof(text), "could not be checked%s: %s",
			row->check == CHECK_NOT_HERE ? " here" : "", row->check_reason);
	else if (row->check == CHECK_RIGHT)
		snprintf(text, sizeof(text), "right: %s", bytes);
	else
		snprintf(text, sizeof(text), "WRONG: %s of %s", format_about((double)row->bad_bytes, bad),
			bytes);
	print_words(t, row, text);
}

static void print_checks(const struct table *t, const struct ladder *l)
{
	bool titled = false;

	for (size_t i = 0; i < l->row_count; i++) {
		if (l->rows[i].check == CHECK_NONE)
			continue;
		if (!titled)
			print_checks_title(t);
		titled = true;
		print_check(t, &l->rows[i]);
	}
}

static void print_step_texts(const struct table *t, const struct ladder *l)
{
	const struct step *last = NULL;

	fputs("\nWhat each step does:\n", t->stream);
	for (size_t i = 0; i < l->row_count; i++) {
		const struct step *step = l->rows[i].step;

		if (step == last)
			continue;
		last = step;
		fprintf(t->stream, "%-*s ", NAME_WIDTH, step->name);
		wrap_text(t->stream, step->summary, NAME_WIDTH + 1, NAME_WIDTH + 1, t->style->columns);
		fprintf(t->stream, "%*s", NAME_WIDTH + 1, "");
		wrap_text(t->stream, step->why, NAME_WIDTH + 1, NAME_WIDTH + 1, t->style->columns);
	}
}

void report_text(const struct ladder *l, const struct report_style *style, FILE *stream)
{
	struct table t = { .style = style, .stream = stream };

	lay_out(&t, l);
	print_titles(&t);
	print_rows(&t, l);
	print_legend(&t, l);
	print_checks(&t, l);
	if (style->explain)
		print_step_texts(&t, l);
	explain(l, style->columns, stream);
}

void report_list(const struct report_style *style, FILE *stream)
{
	for (size_t i = 0; i < step_count; i++) {
		const struct step *step = &steps[i];

		if (i == 0 || steps[i - 1].group != step->group)
			fprintf(stream, "%s%s%s\n", i ? "\n" : "", step_group_title(step->group),
				step->group == STEP_ABLATION ? " (with --all)" : "");
		fprintf(stream, "  %-*s ", NAME_WIDTH, step->name);
		wrap_text(stream, step->summary, NAME_WIDTH + 3, NAME_WIDTH + 3, style->columns);
		if (style->explain) {
			fprintf(stream, "%*s", NAME_WIDTH + 3, "");
			wrap_text(stream, step->why, NAME_WIDTH + 3, NAME_WIDTH + 3, style->columns);
		}
	}
}
