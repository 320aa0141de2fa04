/* SPDX-License-Identifier: MIT */
/* The progress line: on a terminal only, seldom redrawn, never wider than it, wiped at the end. */
#include "progress.h"

#include "terminal.h"

#define S 1000000000ll
#define WIPE "\r\033[K"

static char written[8192];

static void a_run(void)
{
	struct progress p;

	progress_begin(&p, 100 * S);
	CHECK(p.shown);
	progress_update(&p, 100 * S, 0, "first");
	progress_update(&p, 110 * S, 0.25, "second");
	progress_update(&p, 120 * S, 1, "third");
	progress_end(&p);
}

/* 10 s for the first quarter: 30 s are left. No estimate before anything is done. */
static void on_a_terminal(void)
{
	unsetenv("COLUMNS");
	on_terminal(a_run, 80, written, sizeof(written));
	if (!test_skip_reason)
		CHECK_TEXT(written, WIPE "  0 %    first" WIPE " 25 %  30 s left  second" WIPE
					 "100 %  0 ms left  third" WIPE);
}

static void quick_updates(void)
{
	struct progress p;

	progress_begin(&p, S);
	for (int i = 0; i < 1000; i++)
		progress_update(&p, S + i * S / 1000, i / 1000.0, "work");
	progress_end(&p);
}

/* A second of updates, one a millisecond: drawn about ten times. */
static void seldom_redrawn(void)
{
	int drawn = 0;

	on_terminal(quick_updates, 80, written, sizeof(written));
	if (test_skip_reason)
		return;
	for (const char *at = written; (at = strstr(at, "work")); at++)
		drawn++;
	CHECK(drawn >= 9 && drawn <= 11);
}

static void a_long_text(void)
{
	char text[1000];
	struct progress p;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	progress_begin(&p, S);
	progress_update(&p, S, 0, text);
	progress_end(&p);
}

/* A line as wide as the terminal would wrap, and then could not be wiped. */
static void narrower_than_the_terminal(void)
{
	static const unsigned short columns[] = { 3, 20, 40, 80, 500 };

	for (size_t i = 0; i < COUNT(columns); i++) {
		unsetenv("COLUMNS");
		on_terminal(a_long_text, columns[i], written, sizeof(written));
		if (test_skip_reason)
			return;
		CHECK(strlen(written) > 2 * strlen(WIPE));
		CHECK(strlen(written) - 2 * strlen(WIPE) < (columns[i] < 20 ? 20 : columns[i]));
	}
}

static void nothing_happens(void)
{
	struct progress p;

	progress_begin(&p, S);
	progress_end(&p);
}

static void nothing_drawn_nothing_wiped(void)
{
	on_terminal(nothing_happens, 80, written, sizeof(written));
	if (!test_skip_reason)
		CHECK_TEXT(written, "");
}

static int run_elsewhere(const void *unused)
{
	struct progress p;

	(void)unused;
	progress_begin(&p, S);
	progress_update(&p, S, 0.5, "hidden");
	progress_update(&p, 9 * S, 0.7, "hidden");
	progress_end(&p);
	return p.shown;
}

static void not_on_a_terminal(void)
{
	struct captured c;

	capture(run_elsewhere, NULL, &c);
	CHECK_INT(captured_exit(&c), 0);
	CHECK_TEXT(c.out, "");
	CHECK_TEXT(c.err, "");
}

int main(void)
{
	TEST(on_a_terminal);
	TEST(seldom_redrawn);
	TEST(narrower_than_the_terminal);
	TEST(nothing_drawn_nothing_wiped);
	TEST(not_on_a_terminal);
	return test_end();
}
