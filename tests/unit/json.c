/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "support.h"

#include <math.h>

static struct json j;
static char *text;
static size_t size;

static void begin(void)
{
	FILE *stream = open_memstream(&text, &size);

	json_begin(&j, stream);
}

/* What was written, with json_end's result checked; good until the next begin. */
static const char *end(int want)
{
	static char *last;

	CHECK_INT(json_end(&j), want);
	fclose(j.stream);
	free(last);
	last = text;
	return text;
}

static void single_values(void)
{
	begin();
	json_int(&j, NULL, 5);
	CHECK_TEXT(end(0), "5\n");
	begin();
	json_open(&j, NULL, '{');
	json_close(&j);
	CHECK_TEXT(end(0), "{}\n");
	begin();
	json_open(&j, NULL, '[');
	json_close(&j);
	CHECK_TEXT(end(0), "[]\n");
}

static void nesting_and_commas(void)
{
	begin();
	json_open(&j, NULL, '{');
	json_int(&j, "schema", 1);
	json_open(&j, "rounds", '[');
	json_double(&j, NULL, 3.5);
	json_bool(&j, NULL, true);
	json_open(&j, NULL, '{');
	json_close(&j);
	json_open(&j, NULL, '{');
	json_null(&j, "none");
	json_close(&j);
	json_close(&j);
	json_bool(&j, "last", false);
	json_close(&j);
	CHECK_TEXT(end(0), "{\n"
			   "  \"schema\": 1,\n"
			   "  \"rounds\": [\n"
			   "    3.5,\n"
			   "    true,\n"
			   "    {},\n"
			   "    {\n"
			   "      \"none\": null\n"
			   "    }\n"
			   "  ],\n"
			   "  \"last\": false\n"
			   "}\n");
}

static void integers(void)
{
	static const struct {
		int64_t number;
		const char *want;
	} cases[] = {
		{ 0, "0\n" },
		{ -1, "-1\n" },
		{ INT64_MAX, "9223372036854775807\n" },
		{ INT64_MIN, "-9223372036854775808\n" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_int(&j, NULL, cases[i].number);
		CHECK_TEXT(end(0), cases[i].want);
	}
}

static void doubles(void)
{
	const struct {
		double number;
		const char *want;
	} cases[] = {
		{ 0, "0\n" },
		{ 3.5, "3.5\n" },
		{ -0.25, "-0.25\n" },
		{ 1e100, "1e+100\n" },
		{ 1e-7, "1e-07\n" },
		{ 1.0 / 3, "0.333333\n" },
		{ 1234567, "1.23457e+06\n" },
		{ NAN, "null\n" },
		{ -NAN, "null\n" },
		{ INFINITY, "null\n" },
		{ -INFINITY, "null\n" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_double(&j, NULL, cases[i].number);
		CHECK_TEXT(end(0), cases[i].want);
	}
}

static void strings(void)
{
	static const struct {
		const char *given, *want;
	} cases[] = {
		{ NULL, "null\n" },
		{ "", "\"\"\n" },
		{ "plain", "\"plain\"\n" },
		{ "a\"b", "\"a\\\"b\"\n" },
		{ "a\\b", "\"a\\\\b\"\n" },
		{ "a/b", "\"a/b\"\n" },
		{ "\n\t\r\b\f", "\"\\u000a\\u0009\\u000d\\u0008\\u000c\"\n" },
		{ "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"\n" },
		{ "\x1b[31m", "\"\\u001b[31m\"\n" },
		{ "%s%n%d", "\"%s%n%d\"\n" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_text(&j, NULL, cases[i].given);
		CHECK_TEXT(end(0), cases[i].want);
	}
}

static void good_utf8(void)
{
	static const char *const cases[] = {
		"\xc2\x80",	    /* U+0080, the first of two bytes */
		"\xdf\xbf",	    /* U+07FF */
		"\xe0\xa0\x80",	    /* U+0800 */
		"\xed\x9f\xbf",	    /* U+D7FF, the last before the surrogates */
		"\xee\x80\x80",	    /* U+E000 */
		"\xef\xbf\xbf",	    /* U+FFFF */
		"\xf0\x90\x80\x80", /* U+10000 */
		"\xf4\x8f\xbf\xbf", /* U+10FFFF */
		"na\xc3\xafve",
	};
	char want[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_text(&j, NULL, cases[i]);
		snprintf(want, sizeof(want), "\"%s\"\n", cases[i]);
		CHECK_TEXT(end(0), want);
	}
}

#define BAD "\xef\xbf\xbd" /* U+FFFD, one for each byte that is not understood */

static void bad_utf8(void)
{
	static const struct {
		const char *given, *want;
	} cases[] = {
		{ "\x80", "\"" BAD "\"\n" }, { "\xff", "\"" BAD "\"\n" },
		{ "a\xc3", "\"a" BAD "\"\n" }, /* cut off at the end */
		{ "\xe2\x82", "\"" BAD BAD "\"\n" }, { "\xf0\x9f\x98", "\"" BAD BAD BAD "\"\n" },
		{ "\xc3(", "\"" BAD "(\"\n" }, { "\xe2(\x82", "\"" BAD "(" BAD "\"\n" },
		{ "\xc0\xaf", "\"" BAD BAD "\"\n" }, /* '/' in too many bytes */
		{ "\xc1\xbf", "\"" BAD BAD "\"\n" }, { "\xe0\x80\xaf", "\"" BAD BAD BAD "\"\n" },
		{ "\xf0\x80\x80\xaf", "\"" BAD BAD BAD BAD "\"\n" },
		{ "\xed\xa0\x80", "\"" BAD BAD BAD "\"\n" },	     /* a surrogate */
		{ "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"\n" }, /* past U+10FFFF */
		{ "\xc3\"", "\"" BAD "\\\"\"\n" },		     /* the quote is still escaped */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_text(&j, NULL, cases[i].given);
		CHECK_TEXT(end(0), cases[i].want);
	}
}

static void names_are_escaped(void)
{
	begin();
	json_open(&j, NULL, '{');
	json_int(&j, "a\"\n\xff", 1);
	json_close(&j);
	CHECK_TEXT(end(0), "{\n  \"a\\\"\\u000a" BAD "\": 1\n}\n");
}

static void left_open(void)
{
	begin();
	json_open(&j, NULL, '{');
	end(-EINVAL);
}

static void closed_too_often(void)
{
	begin();
	json_close(&j);
	end(-EINVAL);
	begin();
	json_open(&j, NULL, '[');
	json_close(&j);
	json_close(&j);
	end(-EINVAL);
}

static void nested_too_deep(void)
{
	for (int depth = JSON_DEPTH; depth < JSON_DEPTH + 3; depth++) {
		begin();
		for (int i = 0; i < depth; i++)
			json_open(&j, NULL, '[');
		for (int i = 0; i < depth; i++)
			json_close(&j);
		end(depth > JSON_DEPTH ? -EINVAL : 0);
	}
}

static void full_disk(void)
{
	FILE *full = fopen("/dev/full", "we");

	CHECK(full != NULL);
	json_begin(&j, full);
	json_int(&j, NULL, 1);
	CHECK_INT(json_end(&j), -ENOSPC);
	fclose(full);
}

/* The failed write lies long before the end. */
static void full_disk_early(void)
{
	FILE *full = fopen("/dev/full", "we");

	CHECK(full != NULL);
	json_begin(&j, full);
	json_open(&j, NULL, '[');
	for (int i = 0; i < 100000; i++)
		json_int(&j, NULL, i);
	json_close(&j);
	CHECK(json_end(&j) < 0);
	fclose(full);

	full = fopen("/dev/full", "we");
	CHECK(full != NULL);
	setvbuf(full, NULL, _IONBF, 0);
	json_begin(&j, full);
	json_int(&j, NULL, 1);
	CHECK(json_end(&j) < 0);
	fclose(full);
}

int main(void)
{
	TEST(single_values);
	TEST(nesting_and_commas);
	TEST(integers);
	TEST(doubles);
	TEST(strings);
	TEST(good_utf8);
	TEST(bad_utf8);
	TEST(names_are_escaped);
	TEST(left_open);
	TEST(closed_too_often);
	TEST(nested_too_deep);
	TEST(full_disk);
	TEST(full_disk_early);
	return test_end();
}
