/* SPDX-License-Identifier: MIT */
/* Width, colour and character set: what the terminal has, unless the environment says otherwise. */
#include "term.h"

#include "terminal.h"

static char written[4096];

static void width(const char *columns_variable, int want)
{
	if (columns_variable)
		setenv("COLUMNS", columns_variable, 1);
	else
		unsetenv("COLUMNS");
	if (!CHECK_INT(term_columns(STDERR_FILENO), want))
		printf("  COLUMNS is %s\n", columns_variable ? columns_variable : "not set");
}

static void widths_on_a_terminal_of_132(void)
{
	width(NULL, 132);
	width("", 132);
	width("0", 132);
	width("wide", 132);
	width("-5", 132);
	width("99999999999999999999999", 132);
	width("100", 100);
	width("7", 20);
	width("20", 20);
	width("500", 500);
	width("501", 500);
	width("100000", 500);
}

static void width_from_the_terminal(void)
{
	on_terminal(widths_on_a_terminal_of_132, 132, written, sizeof(written));
}

static void widths_on_a_narrow_terminal(void)
{
	width(NULL, 20);
	width("90", 90);
}

static void narrow_terminal(void)
{
	on_terminal(widths_on_a_narrow_terminal, 3, written, sizeof(written));
}

static void widths_on_an_odd_terminal(void)
{
	width(NULL, 80); /* 0 columns: it does not know itself */
	width("60", 60);
}

static void terminal_without_a_width(void)
{
	on_terminal(widths_on_an_odd_terminal, 0, written, sizeof(written));
}

static void wide_terminal(void)
{
	int slave, master = open_terminal(&slave, 3000);

	if (master < 0)
		SKIP("no pseudo-terminals here");
	unsetenv("COLUMNS");
	CHECK_INT(term_columns(slave), 500);
	close(slave);
	close(master);
}

static void no_terminal(void)
{
	int fds[2];

	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	unsetenv("COLUMNS");
	CHECK_INT(term_columns(fds[1]), 80);
	CHECK_INT(term_columns(-1), 80);
	setenv("COLUMNS", "40", 1);
	CHECK_INT(term_columns(fds[1]), 40);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	CHECK(!term_colour(fds[1]));
	CHECK(!term_colour(-1));
	close(fds[0]);
	close(fds[1]);
}

static void colour(const char *no_color, const char *term, bool want)
{
	if (no_color)
		setenv("NO_COLOR", no_color, 1);
	else
		unsetenv("NO_COLOR");
	if (term)
		setenv("TERM", term, 1);
	else
		unsetenv("TERM");
	if (!CHECK(term_colour(STDERR_FILENO) == want))
		printf("  NO_COLOR %s, TERM %s\n", no_color ? no_color : "-", term ? term : "-");
}

static void colours(void)
{
	colour(NULL, "xterm-256color", true);
	colour("", "xterm", true); /* no-color.org: present and not empty */
	colour("1", "xterm", false);
	colour("0", "xterm", false);
	colour(NULL, "dumb", false);
	colour(NULL, NULL, false);
}

static void colour_on_a_terminal(void)
{
	on_terminal(colours, 80, written, sizeof(written));
}

static void character_set(void)
{
	static const struct {
		const char *all, *ctype, *lang;
		bool utf8;
	} cases[] = {
		{ NULL, NULL, NULL, false },
		{ NULL, NULL, "en_US.UTF-8", true },
		{ NULL, NULL, "C.utf8", true },
		{ NULL, NULL, "de_DE.UTF-8@euro", true },
		{ NULL, NULL, "de_DE", false },
		{ NULL, NULL, "de_DE.ISO-8859-1", false },
		{ NULL, "C", "en_US.UTF-8", false },
		{ "C", "en_US.UTF-8", "en_US.UTF-8", false },
		{ "C.UTF-8", "C", "C", true },
		{ "", "", "C.UTF-8", true }, /* empty: as if not set */
		{ "POSIX", NULL, "C.UTF-8", false },
	};
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *const values[] = { cases[i].all, cases[i].ctype, cases[i].lang };

		for (size_t k = 0; k < 3; k++)
			if (values[k])
				setenv(names[k], values[k], 1);
			else
				unsetenv(names[k]);
		if (!CHECK(term_utf8() == cases[i].utf8))
			printf("  case %zu\n", i);
	}
}

int main(void)
{
	TEST(width_from_the_terminal);
	TEST(narrow_terminal);
	TEST(terminal_without_a_width);
	TEST(wide_terminal);
	TEST(no_terminal);
	TEST(colour_on_a_terminal);
	TEST(character_set);
	return test_end();
}
