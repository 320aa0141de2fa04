/* SPDX-License-Identifier: MIT */
/* What a run of the ladder measured: rows, their rounds, and what follows from them. */
#ifndef RESULT_H
#define RESULT_H

#include "environment.h"
#include "round.h"
#include "stats.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum row_status { ROW_OK, ROW_SKIPPED, ROW_FAILED, ROW_PARTIAL };

struct round_record {
	size_t number; /* rounds of one number ran close together: they can be paired */
	struct round_figures figures;
	const char *rejected; /* NULL, or what disturbed it */
};

/* One step at one placement. */
struct row {
	const struct step *step;
	struct placement placement;
	bool placed; /* false: this machine has no such placement */
	enum row_status status;
	char reason[240]; /* when not OK */
	struct round_record *rounds;
	size_t round_count, round_room;

	/* Of the rounds that were not rejected, when OK: */
	struct interval gib_per_s, ratio_to_first;
	double cpu_s_per_gib, switches_per_gib, faults_per_gib;

	/* --verify; NOT_HERE: the checking receiver cannot run here, though the step can */
	enum { CHECK_NONE, CHECK_RIGHT, CHECK_WRONG, CHECK_NOT_HERE, CHECK_FAILED } check;
	uint64_t checked_bytes, bad_bytes;
	char check_reason[240];
};

struct ladder {
	struct environment env;
	struct row *rows;
	size_t row_count;
	size_t rounds_wanted;
	size_t rounds_run; /* begun: fewer when the time was over, or a signal came */
	double time_per_round_s;
	uint64_t bytes_wanted; /* --bytes; 0: as many as take time_per_round_s */
	uint64_t seed;
	int signal_number; /* 0, or the signal that ended the run early */
};

/* placement NULL: none of the kind here. Returns the row, or NULL: no memory. Rows move when another is
 * added. */
struct row *ladder_add_row(struct ladder *l, const struct step *step, const struct placement *placement);
int row_add_round(struct row *row, const struct round_record *record);
void ladder_release(struct ladder *l);

const char *row_where(
	const struct row *row); /* the placement's name, "alone" for a reference; NULL: not placed */
const char *row_status_name(enum row_status status); /* "ok", "skipped", "failed", "partial" */
size_t row_rejected(const struct row *row);	     /* how many rounds were */
double figures_gib(const struct round_figures *f);
double figures_gib_per_s(const struct round_figures *f); /* NaN when nothing came through */
double row_reached_gib_per_s(
	const struct row *row); /* of a row that is not OK: the median of all it has, or NaN */

/* Fills in what follows from the rounds, in every row, and settles which rows are OK. */
void ladder_summarise(struct ladder *l);
bool ladder_is_partial(const struct ladder *l);

/* The row for explanations: OK, of that step, at that kind of placement (-1: the first that is OK). NULL:
 * none. */
const struct row *ladder_find(const struct ladder *l, const char *step, int placement_kind);

#endif
