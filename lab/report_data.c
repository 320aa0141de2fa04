/* SPDX-License-Identifier: MIT */
/* The results for programs: JSON (gush-ladder-json(5)) and CSV. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SCHEMA 1

static void json_measurements(struct json *j, const struct row *row)
{
	if (row->status != ROW_OK) {
		json_null(j, "gib_per_s");
		json_null(j, "cpu_s_per_gib");
		json_null(j, "ctx_per_gib");
		json_null(j, "faults_per_gib");
		json_null(j, "ratio_to_first");
		json_null(j, "ratio_interval");
		return;
	}
	stats_json(j, "gib_per_s", &row->gib_per_s);
	json_double(j, "cpu_s_per_gib", row->cpu_s_per_gib);
	json_double(j, "ctx_per_gib", row->switches_per_gib);
	json_double(j, "faults_per_gib", row->faults_per_gib);
	json_double(j, "ratio_to_first", row->ratio_to_first.median);
	if (isfinite(row->ratio_to_first.median))
		stats_json(j, "ratio_interval", &row->ratio_to_first);
	else
		json_null(j, "ratio_interval");
}

static void json_rounds(struct json *j, const struct row *row)
{
	json_open(j, "rounds", '[');
	for (size_t i = 0; i < row->round_count; i++) {
		const struct round_record *r = &row->rounds[i];

		json_open(j, NULL, '{');
		json_int(j, "round", (int64_t)r->number + 1);
		json_double(j, "gib_per_s", figures_gib_per_s(&r->figures));
		json_double(j, "seconds", r->figures.seconds);
		json_int(j, "bytes", (int64_t)r->figures.bytes);
		json_double(j, "cpu_s", r->figures.cpu_s);
		json_int(j, "ctx", (int64_t)r->figures.switches);
		json_int(j, "faults", (int64_t)r->figures.faults);
		json_bool(j, "rejected", r->rejected != NULL);
		json_text(j, "disturbance", r->rejected);
		json_close(j);
	}
	json_close(j);
}

static void json_check(struct json *j, const struct row *row)
{
	if (row->check == CHECK_NONE) {
		json_null(j, "verified");
		return;
	}
	json_open(j, "verified", '{');
	json_int(j, "bytes", (int64_t)row->checked_bytes);
	json_int(j, "bad_bytes", (int64_t)row->bad_bytes);
	json_text(j, "reason", row->check >= CHECK_NOT_HERE ? row->check_reason : NULL);
	json_close(j);
}

static void json_row(struct json *j, const struct row *row)
{
	json_open(j, NULL, '{');
	json_text(j, "name", row->step->name);
	json_text(j, "placement", row_where(row));
	if (row->placed) {
		json_open(j, "cpus", '[');
		json_int(j, NULL, row->placement.sender_cpu);
		json_int(j, NULL, row->placement.receiver_cpu);
		json_close(j);
	} else {
		json_null(j, "cpus");
	}
	json_text(j, "status", row_status_name(row->status));
	json_text(j, "reason", row->status == ROW_OK ? NULL : row->reason);
	json_measurements(j, row);
	json_double(j, "article_gib_per_s",
		row->step->article_gib_per_s > 0 ? row->step->article_gib_per_s : (double)NAN);
	json_check(j, row);
	json_rounds(j, row);
	json_close(j);
}

int report_json(const struct ladder *l, FILE *stream)
{
	struct json j;

	json_begin(&j, stream);
	json_open(&j, NULL, '{');
	json_int(&j, "schema", SCHEMA);
	json_bool(&j, "partial", ladder_is_partial(l));
	environment_json(&l->env, &j);
	json_open(&j, "settings", '{');
	json_int(&j, "rounds", (int64_t)l->rounds_wanted);
	json_int(&j, "rounds_run", (int64_t)l->rounds_run);
	json_double(&j, "round_s", l->time_per_round_s);
	json_int(&j, "bytes", (int64_t)l->bytes_wanted);
	json_int(&j, "seed", (int64_t)(l->seed & INT64_MAX));
	json_close(&j);
	json_open(&j, "steps", '[');
	for (size_t i = 0; i < l->row_count; i++)
		json_row(&j, &l->rows[i]);
	json_close(&j);
	json_close(&j);
	return json_end(&j);
}

static void csv_number(FILE *f, double number)
{
	if (isfinite(number))
		fprintf(f, ",%.6g", number);
	else
		fputc(',', f);
}

/* Quoted as RFC 4180 has it; reasons hold commas. */
static void csv_text(FILE *f, const char *text)
{
	fputs(",\"", f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void csv_row(FILE *f, const struct row *row)
{
	bool ok = row->status == ROW_OK;
	const double values[] = { row->gib_per_s.median, row->gib_per_s.low, row->gib_per_s.high,
		row->cpu_s_per_gib, row->switches_per_gib, row->faults_per_gib, row->ratio_to_first.median };

	fprintf(f, "%s,%s,%s", row->step->name, row->placed ? row_where(row) : "",
		row_status_name(row->status));
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		csv_number(f, ok ? values[i] : (double)NAN);
	fprintf(f, ",%zu,%zu", row->round_count, row_rejected(row));
	csv_text(f, ok ? "" : row->reason);
	fputc('\n', f);
}

int report_csv(const struct ladder *l, FILE *stream)
{
	fputs("step,placement,status,gib_per_s,gib_per_s_low,gib_per_s_high,cpu_s_per_gib,ctx_per_gib,"
	      "faults_per_gib,ratio_to_first,rounds,rejected,reason\n",
		stream);
	for (size_t i = 0; i < l->row_count; i++)
		csv_row(stream, &l->rows[i]);
	errno = 0;
	if (fflush(stream) != 0 || ferror(stream))
		return errno ? -errno : -EIO;
	return 0;
}
