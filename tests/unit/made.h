/* SPDX-License-Identifier: MIT */
/* Made-up ladders: rows with chosen results, as if they had been measured. */
#ifndef MADE_H
#define MADE_H

#include "result.h"
#include "support.h"

#include <math.h>

#define GIB ((uint64_t)1 << 30)

static inline struct row *made_row(struct ladder *l, const char *step, enum placement_kind kind)
{
	struct placement p = { kind, 0, kind == PLACEMENT_SAME_CPU ? 0 : 1 };
	struct row *row = ladder_add_row(l, step_find(step), &p);

	if (!row || !row->step)
		abort();
	return row;
}

/* A row that is OK, its interval one tenth to either side. */
static inline struct row *made_ok(struct ladder *l, const char *step, enum placement_kind kind,
	double gib_per_s, double cpu_s_per_gib, double switches_per_gib)
{
	struct row *row = made_row(l, step, kind);
	double first = l->rows[0].gib_per_s.median;

	row->gib_per_s = (struct interval){ gib_per_s, 0.9 * gib_per_s, 1.1 * gib_per_s };
	first = row == l->rows ? gib_per_s : first;
	row->ratio_to_first = (struct interval){ gib_per_s / first, gib_per_s / first, gib_per_s / first };
	row->cpu_s_per_gib = cpu_s_per_gib;
	row->switches_per_gib = switches_per_gib;
	row->faults_per_gib = 0;
	return row;
}

static inline struct row *made_not_ok(struct ladder *l, const char *step, enum placement_kind kind,
	enum row_status status, const char *reason)
{
	struct row *row = made_row(l, step, kind);

	row->status = status;
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	return row;
}

/* One that this machine has no place for. */
static inline struct row *made_unplaced(struct ladder *l, const char *step, const char *reason)
{
	struct row *row = ladder_add_row(l, step_find(step), NULL);

	if (!row || !row->step)
		abort();
	row->status = ROW_SKIPPED;
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	return row;
}

/* A round that moved so much in one second; `rejected` is why it does not count, or NULL. */
static inline void made_round(struct row *row, size_t number, double gib_per_s, const char *rejected)
{
	struct round_record r = {
		.number = number,
		.figures = { .seconds = 1,
			.bytes = (uint64_t)(gib_per_s * (double)GIB),
			.cpu_s = gib_per_s / 4,
			.switches = (uint64_t)(gib_per_s * 1000),
			.preemptions = 1,
			.faults = (uint64_t)(gib_per_s * 8) },
		.rejected = rejected,
	};

	if (row_add_round(row, &r) < 0)
		abort();
}

/* A ladder with a row of each kind and status, as it comes out of a run that a signal ended. */
static inline struct ladder made_of_every_kind(void)
{
	struct ladder l = { .rounds_wanted = 9,
		.rounds_run = 9,
		.time_per_round_s = 0.25,
		.seed = 42,
		.signal_number = SIGINT };
	struct row *row = made_ok(&l, "write-read", PLACEMENT_SHARED_L3, 1.25, 1.5, 32768);

	l.env = (struct environment){ .kernel = "6.1.0",
		.cpu = "Some, \"quoted\" CPU",
		.cpus_online = 2,
		.cpus_usable = 2,
		.page_bytes = 4096,
		.pipe_max_bytes = 1 << 20,
		.load_1min = 0.5 };
	made_round(row, 0, 1.25, NULL);
	made_round(row, 1, 9, "the host took the CPU away (steal)");
	row->check = CHECK_RIGHT;
	row->checked_bytes = 192 << 20;
	made_not_ok(&l, "write-read-huge", PLACEMENT_SHARED_L3, ROW_SKIPPED,
		"no huge pages: /sys/kernel/mm/transparent_hugepage/enabled says never, or memory is short");
	made_not_ok(&l, "vmsplice-read", PLACEMENT_SHARED_L3, ROW_FAILED, "vmsplice: Bad address, \"odd\"");
	made_ok(&l, "vmsplice-splice", PLACEMENT_SHARED_L3, 12.5, 0.12, 8192)->faults_per_gib = 3.25;
	row = made_not_ok(&l, "busy-loop", PLACEMENT_SAME_CPU, ROW_PARTIAL,
		"cut after 1.0 s: 12.3 MiB had come through");
	made_round(row, 0, 0.0123, NULL);
	made_unplaced(&l, "busy-loop", "needs two CPUs, and this process may use only CPU 0");
	made_ok(&l, "one-cpu", PLACEMENT_SAME_CPU, 50, 0.0201, 2048.4);
	row = made_not_ok(
		&l, "tee-master", PLACEMENT_SAME_CPU, ROW_PARTIAL, "interrupted after 0 of 9 rounds");
	row = made_ok(&l, "fill-unsafe", PLACEMENT_SAME_CPU, 4, 0.25, 100);
	row->check = CHECK_WRONG;
	row->checked_bytes = 192 << 20;
	row->bad_bytes = 96 << 20;
	row = made_ok(&l, "protect", PLACEMENT_SAME_CPU, 3.5, 0.3, 100);
	row->check = CHECK_FAILED;
	snprintf(row->check_reason, sizeof(row->check_reason),
		"more large pipes are refused: past this user's pipe-user-pages-soft");
	made_ok(&l, "limit", PLACEMENT_SAME_CPU, 100, 0.01, 0);
	return l;
}

#endif
