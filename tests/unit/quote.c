/* SPDX-License-Identifier: MIT */
/* tools/common/quote.c: names as GNU cat 9.1 shows them. tests/conform asks it about many more. */
#include "quote.h"
#include "support.h"

struct shown {
	const char *name, *as;
};

static void check(const struct shown *cases, size_t count, const char *locale)
{
	setenv("LC_ALL", locale, 1);
	for (size_t i = 0; i < count; i++) {
		char *got = quote_name(cases[i].name);

		CHECK_TEXT(got, cases[i].as);
		free(got);
	}
}

static void plain(void)
{
	static const struct shown cases[] = { { "a", "a" },
		{ "/a/b.c-d_e+f,g@h%i]j", "/a/b.c-d_e+f,g@h%i]j" }, { "-x", "-x" }, { "x~", "x~" },
		{ "x#", "x#" }, { "a{b}", "a{b}" }, { "{}", "{}" } };

	check(cases, COUNT(cases), "C");
}

static void quoted(void)
{
	static const struct shown cases[] = { { "", "''" }, { "a b", "'a b'" }, { "~", "'~'" },
		{ "#", "'#'" }, { "{", "'{'" }, { "a:b", "'a:b'" }, { "a=b", "'a=b'" }, { "a\\b", "'a\\b'" },
		{ "*", "'*'" }, { "it's", "\"it's\"" }, { "it's $5", "'it'\\''s $5'" }, { "'", "\"'\"" },
		{ "'\"", "''\\''\"'" } };

	check(cases, COUNT(cases), "C");
}

static void escaped(void)
{
	static const struct shown cases[] = { { "a\nb", "'a'$'\\n''b'" }, { "\n", "''$'\\n'" },
		{ "\001\002", "''$'\\001\\002'" }, { "\n'x", "''$'\\n'\\''x'" }, { "\177", "''$'\\177'" },
		{ "\a\b\t\v\f\r", "''$'\\a\\b\\t\\v\\f\\r'" }, { "a\303\251", "'a'$'\\303\\251'" } };

	check(cases, COUNT(cases), "C");
}

static void utf8(void)
{
	static const struct shown cases[] = { { "a\303\251", "a\303\251" }, { "\303\251 b", "'\303\251 b'" },
		{ "\303", "''$'\\303'" }, { "\303(", "''$'\\303''('" }, { "\302\205", "''$'\\302\\205'" },
		{ "\340\200\200", "''$'\\340\\200\\200'" }, { "\355\240\200", "''$'\\355\\240\\200'" },
		{ "\360\237\230\200", "\360\237\230\200" }, { "\377", "''$'\\377'" } };

	check(cases, COUNT(cases), "C.UTF-8");
}

/* The longest that a byte can become, over and over. */
static void room(void)
{
	static char name[8001];
	char *got;

	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = i % 2 ? 'a' : '\001';
	got = quote_name(name);
	CHECK_INT(strlen(got), 2 + 4000 * 10);
	CHECK(strncmp(got, "''$'\\001''a'$'\\001''a'", 22) == 0);
	free(got);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(plain);
	TEST(quoted);
	TEST(escaped);
	TEST(utf8);
	TEST(room);
	return test_end();
}
