/* SPDX-License-Identifier: MIT */
#include "probe_print.h"

#include "diag.h"
#include "term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the terminal is too narrow for the names themselves. */
static const struct {
	const char *name, *brief;
} briefs[] = {
	{ "copy_file_range", "copy-range" },
	{ "read-write", "r/w" },
};

#define BRIEFS (sizeof(briefs) / sizeof(*briefs))
#define GAP 2 /* columns between columns */

static const char *cell(const struct probe_way *w, bool brief)
{
	for (size_t i = 0; brief && w->way && i < BRIEFS; i++)
		if (strcmp(w->way, briefs[i].name) == 0)
			return briefs[i].brief;
	return w->way ? w->way : "none";
}

/* The ways come row by row: as many columns as the first source has sinks. */
static size_t column_count(const struct probe_way *ways, size_t count)
{
	size_t n = 0;

	while (n < count && strcmp(ways[n].source, ways[0].source) == 0)
		n++;
	return n;
}

static int wider(int width, const char *text)
{
	return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static int column_width(const struct probe_way *ways, size_t count, size_t column, bool brief)
{
	int width = wider(0, ways[column].sink);

	for (size_t i = column; i < count; i += column_count(ways, count))
		width = wider(width, cell(&ways[i], brief));
	return width;
}

static int label_width(const struct probe_way *ways, size_t count)
{
	int width = 0;

	for (size_t i = 0; i < count; i++)
		width = wider(width, ways[i].source);
	return width;
}

static int matrix_width(const struct probe_way *ways, size_t count, bool brief)
{
	int width = GAP + label_width(ways, count);

	for (size_t k = 0; k < column_count(ways, count); k++)
		width += GAP + column_width(ways, count, k, brief);
	return width;
}

/* Nothing is padded behind the last column. */
static void print_cell(const char *text, int width, bool last)
{
	printf("%*s%-*s", GAP, "", last ? 0 : width, text);
}

static void print_matrix(const struct probe_way *ways, size_t count, bool brief)
{
	size_t columns = column_count(ways, count);
	int label = label_width(ways, count);

	if (columns == 0)
		return;
	printf("%*s%-*s", GAP, "", label, "");
	for (size_t k = 0; k < columns; k++)
		print_cell(ways[k].sink, column_width(ways, count, k, brief), k + 1 == columns);
	for (size_t i = 0; i < count; i++) {
		size_t k = i % columns;

		if (k == 0)
			printf("\n%*s%-*s", GAP, "", label, ways[i].source);
		print_cell(cell(&ways[i], brief), column_width(ways, count, k, brief), k + 1 == columns);
	}
	printf("\n");
	if (brief)
		for (size_t i = 0; i < BRIEFS; i++)
			printf("%s%s: %s", i ? ", " : "  ", briefs[i].brief, briefs[i].name);
	printf("%s", brief ? "\n" : "");
}

/* What is worth a note: what the kernel said no to. NULL: nothing. */
static const char *note_of(const struct probe_way *w)
{
	return w->error ? diag_errno_name(w->error) : *w->refused ? w->refused : NULL;
}

static bool same_note(const struct probe_way *a, const struct probe_way *b)
{
	const char *x = note_of(a), *y = note_of(b);

	return x && y && strcmp(a->source, b->source) == 0 && strcmp(x, y) == 0;
}

/* One line for all sinks of a source with the same note; at the first of them. */
static void print_note(const struct probe_way *ways, size_t count, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (same_note(&ways[i], &ways[at]))
			return;
	printf("  %s to %s", ways[at].source, ways[at].sink);
	for (size_t i = at + 1; i < count; i++)
		if (same_note(&ways[i], &ways[at]))
			printf(", %s", ways[i].sink);
	printf(": %s\n", note_of(&ways[at]));
}

static void print_notes(const struct probe_way *ways, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!note_of(&ways[i]))
			continue;
		if (!any)
			printf("refused by the kernel\n");
		any = true;
		print_note(ways, count, i);
	}
}

static void print_list(const struct probe_way *ways, size_t count, bool reasons)
{
	for (size_t i = 0; i < count; i++) {
		const char *why = ways[i].error ? strerror(-ways[i].error) : ways[i].why;

		printf("  %-9s  %-9s  ", ways[i].source, ways[i].sink);
		if (reasons && *why)
			printf("%-15s  %s\n", cell(&ways[i], false), why);
		else
			printf("%s\n", cell(&ways[i], false));
	}
}

void probe_print_ways(const struct probe_way *ways, size_t count, bool verbose)
{
	int columns = term_columns(STDOUT_FILENO);
	bool brief = matrix_width(ways, count, false) > columns;

	if (verbose || matrix_width(ways, count, true) > columns) {
		printf("ways, by source and sink\n");
		print_list(ways, count, verbose);
	} else {
		printf("ways, from sources (down) to sinks (across)\n");
		print_matrix(ways, count, brief);
	}
	if (!verbose)
		print_notes(ways, count);
}
