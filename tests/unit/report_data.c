/* SPDX-License-Identifier: MIT */
/* The reports for programs: CSV line by line, JSON member by member. A real parser reads it in tests/cli. */
#include "report.h"

#include "made.h"

static char text[65536];

static int write_report(int (*report)(const struct ladder *, FILE *))
{
	struct ladder l = made_of_every_kind();
	FILE *f = fmemopen(text, sizeof(text), "w");
	int ret = report(&l, f);

	fclose(f);
	ladder_release(&l);
	return ret;
}

static void csv(void)
{
	CHECK_INT(write_report(report_csv), 0);
	CHECK_TEXT(text,
		"step,placement,status,gib_per_s,gib_per_s_low,gib_per_s_high,cpu_s_per_gib,ctx_per_gib,"
		"faults_per_gib,ratio_to_first,rounds,rejected,reason\n"
		"write-read,shared-l3,ok,1.25,1.125,1.375,1.5,32768,0,1,2,1,\"\"\n"
		"write-read-huge,shared-l3,skipped,,,,,,,,0,0,\"no huge pages: "
		"/sys/kernel/mm/transparent_hugepage/enabled says never, or memory is short\"\n"
		"vmsplice-read,shared-l3,failed,,,,,,,,0,0,\"vmsplice: Bad address, \"\"odd\"\"\"\n"
		"vmsplice-splice,shared-l3,ok,12.5,11.25,13.75,0.12,8192,3.25,10,0,0,\"\"\n"
		"busy-loop,same-cpu,partial,,,,,,,,1,0,\"cut after 1.0 s: 12.3 MiB had come through\"\n"
		"busy-loop,,skipped,,,,,,,,0,0,\"needs two CPUs, and this process may use only CPU 0\"\n"
		"one-cpu,same-cpu,ok,50,45,55,0.0201,2048.4,0,40,0,0,\"\"\n"
		"tee-master,same-cpu,partial,,,,,,,,0,0,\"interrupted after 0 of 9 rounds\"\n"
		"fill-unsafe,same-cpu,ok,4,3.6,4.4,0.25,100,0,3.2,0,0,\"\"\n"
		"protect,same-cpu,ok,3.5,3.15,3.85,0.3,100,0,2.8,0,0,\"\"\n"
		"limit,alone,ok,100,90,110,0.01,0,0,80,0,0,\"\"\n");
}

/* A member of the object that begins at `from`, as the text behind its name; "" when there is none. */
static const char *member(const char *from, const char *name)
{
	static char value[256];
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\n      \"%s\": ", name); /* a member of a step stands so far in */
	at = from ? strstr(from, key) : NULL;
	snprintf(value, sizeof(value), "%.*s", at ? (int)strcspn(at + strlen(key), "\n") : 0,
		at ? at + strlen(key) : "");
	return value;
}

static const char *step_object(const char *name, int nth)
{
	char key[64];
	const char *at = text;

	snprintf(key, sizeof(key), "\"name\": \"%s\",", name);
	for (at = strstr(text, key); at && nth > 0; nth--)
		at = strstr(at + 1, key);
	return at ? at - 7 : NULL;
}

static const char *const measurements[] = { "gib_per_s", "cpu_s_per_gib", "ctx_per_gib", "faults_per_gib",
	"ratio_to_first", "ratio_interval" };

static void json_of_rows_that_are_ok(void)
{
	const char *step;

	CHECK_INT(write_report(report_json), 0);
	step = step_object("vmsplice-splice", 0);
	CHECK_TEXT(member(step, "placement"), "\"shared-l3\",");
	CHECK_TEXT(member(step, "status"), "\"ok\",");
	CHECK_TEXT(member(step, "reason"), "null,");
	CHECK_TEXT(member(step, "gib_per_s"), "{");
	CHECK_TEXT(member(step, "cpu_s_per_gib"), "0.12,");
	CHECK_TEXT(member(step, "ctx_per_gib"), "8192,");
	CHECK_TEXT(member(step, "faults_per_gib"), "3.25,");
	CHECK_TEXT(member(step, "ratio_to_first"), "10,");
	CHECK_TEXT(member(step, "article_gib_per_s"), "32.8,");
	CHECK_TEXT(member(step_object("one-cpu", 0), "article_gib_per_s"), "null,");
	CHECK(strstr(step, "\"median\": 12.5,\n        \"low\": 11.25,\n        \"high\": 13.75\n"));
}

static void json_of_rows_that_are_not(void)
{
	static const struct {
		const char *name;
		int nth;
		const char *placement, *status, *reason;
	} cases[] = {
		{ "write-read-huge", 0, "\"shared-l3\",", "\"skipped\",", "\"no huge pages: /sys/" },
		{ "vmsplice-read", 0, "\"shared-l3\",", "\"failed\",",
			"\"vmsplice: Bad address, \\\"odd\\\"\"," },
		{ "busy-loop", 0, "\"same-cpu\",", "\"partial\",", "\"cut after 1.0 s: 12.3 MiB" },
		{ "busy-loop", 1, "null,", "\"skipped\",", "\"needs two CPUs, and" },
		{ "tee-master", 0, "\"same-cpu\",", "\"partial\",", "\"interrupted after 0" },
	};

	CHECK_INT(write_report(report_json), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *step = step_object(cases[i].name, cases[i].nth);

		CHECK_TEXT(member(step, "placement"), cases[i].placement);
		CHECK_TEXT(member(step, "status"), cases[i].status);
		CHECK_CASE(strncmp(member(step, "reason"), cases[i].reason, strlen(cases[i].reason)) == 0,
			member(step, "reason"));
		for (size_t k = 0; k < COUNT(measurements); k++)
			CHECK_TEXT(member(step, measurements[k]), "null,");
	}
	CHECK_TEXT(member(step_object("busy-loop", 1), "cpus"), "null,");
}

static void json_at_the_top(void)
{
	CHECK_INT(write_report(report_json), 0);
	CHECK(strncmp(text, "{\n  \"schema\": 1,\n  \"partial\": true,\n  \"environment\": {\n", 55) == 0);
	CHECK(strstr(text, "\"cpu\": \"Some, \\\"quoted\\\" CPU\","));
	CHECK(strstr(text, "\n  \"settings\": {\n    \"rounds\": 9,\n    \"rounds_run\": 9,\n    "
			   "\"round_s\": 0.25,\n    \"bytes\": 0,\n    "
			   "\"seed\": 42\n  },\n  \"steps\": [\n"));
	CHECK_TEXT(text + strlen(text) - 12, "    }\n  ]\n}\n");
	CHECK(!strstr(text, "nan") && !strstr(text, "inf"));
}

/* Raw rounds stay, those of rejected and of partial rows too. */
static void json_of_rounds(void)
{
	CHECK_INT(write_report(report_json), 0);
	CHECK(strstr(step_object("write-read", 0),
		"\"rounds\": [\n        {\n          \"round\": 1,\n          \"gib_per_s\": 1.25,\n"
		"          \"seconds\": 1,\n          \"bytes\": 1342177280,\n          \"cpu_s\": 0.3125,\n"
		"          \"ctx\": 1250,\n          \"faults\": 10,\n          \"rejected\": false,\n"
		"          \"disturbance\": null\n        },\n        {\n          \"round\": 2,\n"));
	CHECK(strstr(text,
		"\"rejected\": true,\n          \"disturbance\": \"the host took the CPU away (steal)\"\n"));
	CHECK(strstr(step_object("busy-loop", 0), "\"gib_per_s\": 0.0123,"));
	CHECK_TEXT(member(step_object("one-cpu", 0), "rounds"), "[]");
}

static void json_of_checks(void)
{
	CHECK_INT(write_report(report_json), 0);
	CHECK_TEXT(member(step_object("one-cpu", 0), "verified"), "null,");
	CHECK(strstr(step_object("write-read", 0),
		"\"verified\": {\n        \"bytes\": 201326592,\n        \"bad_bytes\": 0,\n        "
		"\"reason\": null\n      },"));
	CHECK(strstr(step_object("fill-unsafe", 0), "\"bad_bytes\": 100663296,\n        \"reason\": null"));
	CHECK(strstr(step_object("protect", 0),
		"\"reason\": \"more large pipes are refused: past this user's pipe-user-pages-soft\""));
}

/* Ratios that no pair of rounds gave are null, not NaN. */
static void json_without_a_ratio(void)
{
	struct ladder l = { .rounds_wanted = 1, .rounds_run = 1 };
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct row *row = made_ok(&l, "write-read", PLACEMENT_SMT, 5, 1, 1);

	row->ratio_to_first = (struct interval){ (double)NAN, (double)NAN, (double)NAN };
	CHECK_INT(report_json(&l, f), 0);
	fclose(f);
	CHECK(strstr(text, "\"partial\": false,"));
	CHECK_TEXT(member(step_object("write-read", 0), "ratio_to_first"), "null,");
	CHECK(!strstr(text, "nan"));
	ladder_release(&l);
}

static void no_rows(void)
{
	struct ladder l = { .rounds_wanted = 1, .rounds_run = 1 };
	FILE *f = fmemopen(text, sizeof(text), "w");

	CHECK_INT(report_json(&l, f), 0);
	fclose(f);
	CHECK(strstr(text, "\"steps\": []\n}\n"));
	f = fmemopen(text, sizeof(text), "w");
	CHECK_INT(report_csv(&l, f), 0);
	fclose(f);
	CHECK(is_one_line(text));
}

static void check_unwritable(int (*report)(const struct ladder *, FILE *), const char *path, int want)
{
	struct ladder l = made_of_every_kind();
	FILE *f = fopen(path, path[5] == 'f' ? "w" : "r");

	if (!CHECK(f))
		return;
	CHECK_INT(report(&l, f), want);
	fclose(f);
	ladder_release(&l);
}

static void unwritable_streams(void)
{
	check_unwritable(report_json, "/dev/full", -ENOSPC);
	check_unwritable(report_csv, "/dev/full", -ENOSPC);
	check_unwritable(report_json, "/dev/null", -EIO); /* open for reading */
	check_unwritable(report_csv, "/dev/null", -EIO);
}

int main(void)
{
	TEST(csv);
	TEST(json_of_rows_that_are_ok);
	TEST(json_of_rows_that_are_not);
	TEST(json_at_the_top);
	TEST(json_of_rounds);
	TEST(json_of_checks);
	TEST(json_without_a_ratio);
	TEST(no_rows);
	TEST(unwritable_streams);
	return test_end();
}
