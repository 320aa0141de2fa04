/* SPDX-License-Identifier: MIT */
/* The report for people: what it says, how wide it is, its bars and its colours. */
#include "report.h"
#include "wrap.h"

#include "made.h"
#include "report_golden.h"

static char text[65536];

static const char *report_of(const struct ladder *l, struct report_style style)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!f)
		abort();
	report_text(l, &style, f);
	fclose(f);
	return text;
}

static const char *report_every_kind(struct report_style style)
{
	struct ladder l = made_of_every_kind();

	report_of(&l, style);
	ladder_release(&l);
	return text;
}

/* Up to the sentences, which explain.c looks at. */
static void check_golden(int columns, const char *want)
{
	char *end;

	report_every_kind((struct report_style){ .columns = columns });
	end = strstr(text, "\nWhat bounds this machine:\n- ");
	if (CHECK(end))
		*end = '\0';
	CHECK_TEXT(text, want);
}

static void golden_texts(void)
{
	check_golden(40, golden_40);
	check_golden(80, golden_80);
	check_golden(120, golden_120);
}

/* Columns, not bytes: each character here takes one, an escape sequence none. */
static int columns_of(const char *line, size_t n)
{
	int columns = 0;

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '\033') {
			while (line[i] != 'm')
				i++;
			continue;
		}
		columns += (line[i] & 0xc0) != 0x80;
	}
	return columns;
}

/* A word cannot be broken: a line of only one may be longer, such as a path on a narrow terminal. */
static bool is_one_word(const char *line, size_t n)
{
	size_t blanks = strspn(line, " -");

	return !memchr(line + blanks, ' ', n - blanks);
}

static int longest_line(void)
{
	int longest = 0;

	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\n");
		int columns = columns_of(at, n);

		if (columns > longest && !is_one_word(at, n))
			longest = columns;
		if (n > 0 && at[n - 1] == ' ') {
			printf("  blanks behind \"%.*s\"\n", (int)n, at);
			return 1 << 20;
		}
		at += n + (at[n] == '\n');
	}
	return longest;
}

static void never_wider_than_asked(void)
{
	for (int columns = 40; columns <= 200; columns++)
		for (int kind = 0; kind < 8; kind++) {
			struct report_style style = { columns, kind & 1, kind & 2, kind & 4 };

			report_every_kind(style);
			if (!CHECK(longest_line() <= columns))
				printf("  at %d columns, kind %d: %d\n", columns, kind, longest_line());
		}
}

/* The table fills the width it has. */
static void bars_use_the_width(void)
{
	report_every_kind((struct report_style){ .columns = 80 });
	CHECK(strstr(text, " ######### 80.0x"));
	report_every_kind((struct report_style){ .columns = 90 });
	CHECK(strstr(text, " ########### 80.0x")); /* and room for one column more */
	report_every_kind((struct report_style){ .columns = 500 });
	CHECK(strstr(text, " ################################################ 80.0x")); /* 48 is enough */
}

/* The table's lines of a step, without colour; "" when it is not there. */
static const char *line_of(const char *step)
{
	static char line[512];
	const char *at = strstr(text, step);

	snprintf(line, sizeof(line), "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
	return line;
}

static void bars_in_eighths(void)
{
	report_every_kind((struct report_style){ .columns = 80, .utf8 = true });
	CHECK(strstr(line_of("write-read "), "1.12-1.38 ▏         1.00x"));	 /* 0.9 of an eighth */
	CHECK(strstr(line_of("vmsplice-splice "), "11.2-13.8 █▏        10.0x")); /* 9.0 eighths */
	CHECK(strstr(line_of("one-cpu "), "45.0-55.0 ████▌     40.0x"));	 /* 36.0 */
	CHECK(strstr(line_of("limit "), "90.0-110 █████████ 80.0x"));
	CHECK(!strchr(text, '#'));
}

/* As the report without the escape sequences, and with them where they belong. */
static void colours(void)
{
	static char plain[sizeof(text)], bare[sizeof(text)];
	size_t n = 0;

	strcpy(plain, report_every_kind((struct report_style){ .columns = 100, .utf8 = true }));
	CHECK(!strchr(plain, '\033'));
	report_every_kind((struct report_style){ .columns = 100, .utf8 = true, .colour = true });
	CHECK(strstr(text, "\033[1mThe article's steps\033[0m\n"));
	CHECK(strstr(line_of("one-cpu "), "\033[32m█"));
	CHECK(strstr(line_of("limit "), "\033[36m█"));
	for (const char *at = text; *at; at++)
		if (*at == '\033')
			at = strchr(at, 'm');
		else
			bare[n++] = *at;
	bare[n] = '\0';
	CHECK_TEXT(bare, plain);
}

static void every_status_is_shown(void)
{
	report_every_kind((struct report_style){ .columns = 200 });
	CHECK(strstr(text, "write-read-huge      shared-l3 not here: no huge pages: /sys/kernel/mm/"));
	CHECK(strstr(text, "vmsplice-read        shared-l3 failed: vmsplice: Bad address, \"odd\"\n"));
	CHECK(strstr(
		text, "busy-loop            same-cpu  0.0123 GiB/s, partial: cut after 1.0 s: 12.3 MiB"));
	CHECK(strstr(text, "busy-loop            -         not here: needs two CPUs"));
	CHECK(strstr(text, "disturbed by other load, and not counted: 1."));
	CHECK(strstr(text, "WRONG: 96.0 MiB of 192 MiB"));
	CHECK(!strstr(text, "nan") && !strstr(text, "inf"));
}

static void checks_only_when_asked(void)
{
	struct ladder l = made_of_every_kind();

	for (size_t i = 0; i < l.row_count; i++)
		l.rows[i].check = CHECK_NONE;
	CHECK(!strstr(report_of(&l, (struct report_style){ .columns = 80 }), "Contents, checked"));
	ladder_release(&l);
}

/* Wrong bytes never look like none. */
static void few_wrong_bytes(void)
{
	struct ladder l = made_of_every_kind();

	for (size_t i = 0; i < l.row_count; i++)
		if (l.rows[i].check == CHECK_WRONG)
			l.rows[i].bad_bytes = 8;
	report_of(&l, (struct report_style){ .columns = 80 });
	CHECK(strstr(text, "WRONG: 8 B of 192 MiB"));
	ladder_release(&l);
}

static void numbers_without_a_value(void)
{
	struct ladder l = { .rounds_wanted = 1, .rounds_run = 1 };
	struct row *row = made_ok(&l, "write-read", PLACEMENT_SMT, 5, 1, 1);

	row->ratio_to_first = (struct interval){ (double)NAN, (double)NAN, (double)NAN };
	row->cpu_s_per_gib = row->switches_per_gib = row->faults_per_gib = (double)NAN;
	report_of(&l, (struct report_style){ .columns = 120 });
	CHECK(strstr(text, "median and 95 % interval of 1 round;"));
	CHECK(!strstr(text, "nan"));
	ladder_release(&l);
}

static void large_and_small_numbers(void)
{
	static const double rates[] = { 1e-6, 0.004, 0.996, 9.949, 9.951, 99.94, 99.96, 999.9, 12345 };

	for (size_t i = 0; i < COUNT(rates); i++) {
		struct ladder l = { .rounds_wanted = 1, .rounds_run = 1 };

		made_ok(&l, "write-read", PLACEMENT_SMT, 5, 1, 1);
		made_ok(&l, "one-cpu", PLACEMENT_OTHER_PACKAGE, rates[i], 1 / rates[i], 1e4 / rates[i]);
		report_of(&l, (struct report_style){ .columns = 80, .utf8 = true });
		CHECK(rates[i] > 9999 || longest_line() <= 80);
		ladder_release(&l);
	}
}

static void nothing_measured(void)
{
	struct ladder l = { .rounds_wanted = 9, .rounds_run = 9 };

	made_not_ok(&l, "write-read", PLACEMENT_SHARED_L3, ROW_FAILED, "no luck");
	report_of(&l, (struct report_style){ .columns = 80 });
	CHECK(strstr(text, "failed: no luck"));
	CHECK(!strstr(text, "What bounds this machine") && !strstr(text, "nan"));
	ladder_release(&l);
	report_of(&l, (struct report_style){ .columns = 80 });
	CHECK(strstr(text, "Rounds measured: 0"));
}

static void explained(void)
{
	static char flat[sizeof(text)];
	size_t n = 0;

	report_every_kind((struct report_style){ .columns = 100, .explain = true });
	for (const char *at = text; *at; at++) /* lines and indents become single blanks */
		if ((unsigned char)*at > ' ' || (n > 0 && flat[n - 1] != ' '))
			flat[n++] = (unsigned char)*at > ' ' ? *at : ' ';
	flat[n] = '\0';
	CHECK(strstr(flat, "What each step does:"));
	CHECK(strstr(flat, step_find("protect")->why));
	CHECK(strstr(flat, step_find("protect")->summary));
	CHECK(!strstr(flat, step_find("gift")->why));
	CHECK(!strstr(report_every_kind((struct report_style){ .columns = 100 }), "What each step does:"));
}

static void list_of_steps(void)
{
	for (int columns = 60; columns <= 140; columns += 20) {
		struct report_style style = { .columns = columns, .explain = columns == 100 };
		FILE *f = fmemopen(text, sizeof(text), "w");

		report_list(&style, f);
		fclose(f);
		for (size_t i = 0; i < step_count; i++)
			CHECK_CASE(strstr(text, steps[i].name), steps[i].name);
		CHECK(longest_line() <= columns);
		CHECK(strstr(text, "One thing changed at a time (with --all)\n"));
	}
}

static void wrap_one(const char *words, int at, int indent, int width, const char *want)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	wrap_text(f, words, at, indent, width);
	fclose(f);
	CHECK_TEXT(text, want);
}

static void wrapping(void)
{
	wrap_one("", 0, 0, 10, "\n");
	wrap_one("one two", 0, 0, 10, "one two\n");
	wrap_one("one two three", 0, 2, 7, "one two\n  three\n");
	wrap_one("one two three", 1, 0, 7, "one\ntwo\nthree\n");
	wrap_one("one  two ", 0, 0, 10, "one two\n");
	wrap_one("a-very-long-word b", 0, 1, 5, "a-very-long-word\n b\n");
	wrap_one("1234567890", 0, 0, 10, "1234567890\n");
	wrap_one("12345 7890", 0, 0, 10, "12345 7890\n");
	wrap_one("12345 78901", 0, 0, 10, "12345\n78901\n");
}

int main(void)
{
	TEST(golden_texts);
	TEST(never_wider_than_asked);
	TEST(bars_use_the_width);
	TEST(bars_in_eighths);
	TEST(colours);
	TEST(every_status_is_shown);
	TEST(checks_only_when_asked);
	TEST(few_wrong_bytes);
	TEST(numbers_without_a_value);
	TEST(large_and_small_numbers);
	TEST(nothing_measured);
	TEST(explained);
	TEST(list_of_steps);
	TEST(wrapping);
	return test_end();
}
