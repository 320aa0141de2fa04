/* SPDX-License-Identifier: MIT */
#include "option.h"

#include "diag.h"
#include "quote_word.h"
#include "units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 28 /* where the explanations start */
#define COUNT_MAX 1000000000

/* Every command has these; their values are not stored. */
static const struct option_spec common_options[] = {
	{ .name = "help", .letter = 'h', .help = "print this and exit" },
	{ .name = "version", .help = "print the version and exit" },
	{ 0 },
};

int option_usage_error(const struct option_table *table, const char *format, ...)
{
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (table->style == OPTION_OURS) {
		diag("%s; see '%s --help'", message, diag_program());
		return table->usage_status;
	}
	diag("%s", message);
	fprintf(stderr, "Try '%s --help' for more information.\n", diag_program());
	return table->usage_status;
}

static bool is_gnu(const struct option_table *table)
{
	return table->style != OPTION_OURS;
}

/* GNU's tools say "write error" of what they print of themselves. */
static int end_of_text(const struct option_table *table)
{
	return diag_close_stdout_as(is_gnu(table) ? "write error" : "standard output") < 0 ? 1 : 0;
}

static void print_option(const struct option_spec *o)
{
	char left[128];
	int n;

	if (o->name[0] == '\0')
		n = snprintf(left, sizeof(left), "  -%c", o->letter);
	else
		n = snprintf(left, sizeof(left), o->letter ? "  -%c, --%s" : "  %c   --%s",
			o->letter ? o->letter : ' ', o->name);
	if (o->argument)
		snprintf(left + n, sizeof(left) - (size_t)n, o->kind == OPTION_MODE ? "[=%s]" : "=%s",
			o->argument);
	printf("%-*s %s\n", HELP_COLUMN, left, o->help);
}

static void print_options(const struct option_spec *o)
{
	for (; o && o->name; o++)
		print_option(o);
}

static int print_help(const struct option_table *table)
{
	printf("Usage: %s\n%s\n\n", table->usage, table->summary);
	print_options(table->options);
	print_options(table->additions);
	for (const struct option_spec *o = common_options; o->name; o++) {
		struct option_spec shown = *o;

		if (is_gnu(table))
			shown.letter = 0;
		print_option(&shown);
	}
	if (table->footer)
		printf("\n%s\n", table->footer);
	return end_of_text(table);
}

static int print_version(const struct option_table *table)
{
	if (is_gnu(table))
		printf("%s (gush) %s\n", diag_program(), GUSH_VERSION);
	else
		printf("gush %s\n", GUSH_VERSION);
	return end_of_text(table);
}

struct search {
	const char *given;
	size_t bytes;
	bool underscores; /* "buf_si" begins "buf-size" */
	const struct option_spec *found;
	int matches;
	char all[512]; /* names, for the message that there are several */
};

static bool begins(const struct search *s, const char *name)
{
	for (size_t i = 0; i < s->bytes; i++) {
		char c = s->given[i];

		if ((s->underscores && c == '_' ? '-' : c) != name[i])
			return false;
	}
	return name[0] != '\0';
}

static void found(struct search *s, const struct option_spec *o)
{
	size_t at = strlen(s->all);

	s->found = o;
	s->matches++;
	snprintf(s->all + at, sizeof(s->all) - at, " '--%s'", o->name);
}

/* An exact name wins over longer ones that begin with it. */
static void search_long(struct search *s, const struct option_spec *o)
{
	for (; o && o->name; o++) {
		if (!begins(s, o->name))
			continue;
		if (strlen(o->name) == s->bytes) {
			s->found = o;
			s->matches = 1;
			return;
		}
		found(s, o);
	}
}

static void search_whole(struct search *s, const struct option_spec *o)
{
	for (; o && o->name; o++) {
		if (begins(s, o->name) && strlen(o->name) == s->bytes) {
			s->found = o;
			s->matches = 1;
		}
	}
}

static const struct option_spec *find_letter(const struct option_spec *o, char letter)
{
	for (; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static int bad_value(
	const struct option_table *table, const struct option_spec *o, const char *text, int error)
{
	static const char *const expected[] = {
		[OPTION_SIZE] = "a size such as 4096, 64K, 1M or 2GiB",
		[OPTION_RATE] = "bytes a second such as 500K, 10M or 1GiB/s",
		[OPTION_DURATION] = "a duration such as 200ms, 1.5s or 2m",
		[OPTION_COUNT] = "a whole number, at least 1",
	};

	if (error == -ERANGE)
		return option_usage_error(table, "--%s: '%s' is too large", o->name, text);
	return option_usage_error(table, "--%s: '%s' is not %s", o->name, text, expected[o->kind]);
}

/* As GNU's tools say it: all that is right, one a line. */
static int bad_mode(
	const struct option_table *table, const struct option_spec *o, const char *text, bool ambiguous)
{
	char option[64], quoted[1024];

	snprintf(quoted, sizeof(quoted), "%s", quote_word(text));
	snprintf(option, sizeof(option), "--%s", o->name);
	diag("%s argument %s for %s", ambiguous ? "ambiguous" : "invalid", quoted, quote_word(option));
	fputs("Valid arguments are:\n", stderr);
	for (const char *const *m = table->modes; *m; m++)
		fprintf(stderr, "  - %s\n", quote_word(*m));
	fprintf(stderr, "Try '%s --help' for more information.\n", diag_program());
	return table->usage_status;
}

/* text NULL: none was given. */
static int store_mode(
	const struct option_table *table, const struct option_spec *o, const char *text, void *values)
{
	const char **at = (const char **)(void *)((char *)values + o->at), *found = NULL;
	int matches = 0;

	for (const char *const *m = table->modes; text && *m; m++) {
		if (strncmp(*m, text, strlen(text)) != 0)
			continue;
		found = *m;
		matches++;
		if (strlen(*m) == strlen(text)) {
			matches = 1;
			break;
		}
	}
	if (text && matches != 1)
		return bad_mode(table, o, text, matches > 1);
	*at = text ? found : "";
	return OPTION_DONE;
}

static int store(
	const struct option_table *table, const struct option_spec *o, const char *text, void *values)
{
	char *at = (char *)values + o->at;
	uint64_t number = 0;
	int64_t ns = 0;
	int ret = 0;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)(void *)at = true;
		return OPTION_DONE;
	case OPTION_MODE:
		return store_mode(table, o, text, values);
	case OPTION_TEXT:
		*(const char **)(void *)at = text;
		return OPTION_DONE;
	case OPTION_SIZE:
		ret = parse_size(text, &number);
		break;
	case OPTION_RATE:
		ret = parse_rate(text, &number);
		break;
	case OPTION_COUNT:
		ret = parse_count(text, COUNT_MAX, &number);
		break;
	case OPTION_DURATION:
		ret = parse_duration(text, &ns);
		number = (uint64_t)ns;
		break;
	}
	if (ret < 0 || number == 0)
		return bad_value(table, o, text, ret);
	if (o->kind == OPTION_DURATION)
		*(int64_t *)(void *)at = ns;
	else
		*(uint64_t *)(void *)at = number;
	return OPTION_DONE;
}

struct parser {
	const struct option_table *table;
	char **argv;
	int argc, next; /* next: the argument after the one in hand */
	void *values;
};

static int needs_value(const struct option_table *table, const struct option_spec *o, bool by_letter)
{
	if (!is_gnu(table))
		return option_usage_error(table, "--%s needs a value (%s)", o->name, o->argument);
	if (by_letter)
		return option_usage_error(table, "option requires an argument -- '%c'", o->letter);
	return option_usage_error(table, "option '--%s' requires an argument", o->name);
}

/* `text` is what stands behind '=' or the letter; NULL: nothing does. */
static int take(struct parser *p, const struct option_spec *o, const char *text, bool by_letter)
{
	if (o >= common_options && o < common_options + 2)
		return o->letter == 'h' ? print_help(p->table) : print_version(p->table);
	if (o->kind != OPTION_FLAG && o->kind != OPTION_MODE && !text) {
		if (p->next >= p->argc)
			return needs_value(p->table, o, by_letter);
		text = p->argv[p->next++];
	}
	return store(p->table, o, text, p->values);
}

static int unknown(const struct parser *p, const char *given, size_t bytes)
{
	if (is_gnu(p->table)) /* with the value, as getopt_long has it */
		return option_usage_error(p->table, "unrecognized option '--%s'", given);
	return option_usage_error(p->table, "unknown option '--%.*s'", (int)bytes, given);
}

static int ambiguous(const struct parser *p, const struct search *s)
{
	if (is_gnu(p->table))
		return option_usage_error(
			p->table, "option '--%s' is ambiguous; possibilities:%s", s->given, s->all);
	return option_usage_error(p->table, "option '--%.*s' is ambiguous", (int)s->bytes, s->given);
}

static int takes_no_value(const struct parser *p, const struct option_spec *o)
{
	if (is_gnu(p->table))
		return option_usage_error(p->table, "option '--%s' doesn't allow an argument", o->name);
	return option_usage_error(p->table, "--%s takes no value", o->name);
}

static int take_long(struct parser *p, const char *given)
{
	const char *equals = strchr(given, '=');
	struct search s = {
		.given = given,
		.bytes = equals ? (size_t)(equals - given) : strlen(given),
		.underscores = !is_gnu(p->table),
	};

	search_whole(&s, p->table->additions);
	if (s.matches == 0)
		search_long(&s, p->table->options);
	if (s.matches != 1 || strlen(s.found->name) != s.bytes)
		search_long(&s, common_options);
	if (s.matches == 0)
		return unknown(p, given, s.bytes);
	if (s.matches > 1)
		return ambiguous(p, &s);
	if (equals && s.found->kind == OPTION_FLAG)
		return takes_no_value(p, s.found);
	return take(p, s.found, equals ? equals + 1 : NULL, false);
}

/* One argument of letters: flags, and perhaps at last one with a value, here or in the next argument. */
static int take_letters(struct parser *p, const char *letters)
{
	int ret = OPTION_DONE;

	for (; *letters && ret == OPTION_DONE; letters++) {
		const struct option_spec *o = find_letter(p->table->options, *letters);

		if (!o && !is_gnu(p->table))
			o = find_letter(common_options, *letters);
		if (!o)
			return option_usage_error(p->table,
				is_gnu(p->table) ? "invalid option -- '%c'" : "unknown option '-%c'",
				*letters);
		if (o->kind != OPTION_FLAG && o->kind != OPTION_MODE)
			return take(p, o, letters[1] ? letters + 1 : NULL, true);
		ret = take(p, o, NULL, true);
	}
	return ret;
}

int option_parse(const struct option_table *table, int argc, char **argv, void *values, int *ret_first)
{
	struct parser p = { table, argv, argc, 1, values };
	bool ended = false, first_ends = is_gnu(table) && getenv("POSIXLY_CORRECT");
	int operands = 0, ret = OPTION_DONE;

	while (p.next < argc && ret == OPTION_DONE) {
		char *arg = argv[p.next++];

		if (ended || arg[0] != '-' || arg[1] == '\0') {
			argv[operands++] = arg; /* never overtakes p.next: argv[0] is free */
			ended |= first_ends;
		} else if (strcmp(arg, "--") == 0)
			ended = true;
		else if (arg[1] == '-')
			ret = take_long(&p, arg + 2);
		else
			ret = take_letters(&p, arg + 1);
	}
	/* The operands stand at the front; callers expect them at the back. */
	memmove(argv + argc - operands, argv, (size_t)operands * sizeof(*argv));
	*ret_first = argc - operands;
	return ret;
}
