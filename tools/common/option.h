/* SPDX-License-Identifier: MIT */
/*
 * The option parser: one table per command says what it takes, where the value goes and what --help prints.
 * Long names may be written with '_' for '-' (the article's programs use '_') and cut short where that is
 * clear; options and operands may be mixed; "--" ends the options.
 */
#ifndef OPTION_H
#define OPTION_H

#include <stddef.h>

enum option_kind {
	OPTION_FLAG,	 /* bool */
	OPTION_SIZE,	 /* uint64_t, bytes, at least 1 */
	OPTION_RATE,	 /* uint64_t, bytes a second, at least 1 */
	OPTION_DURATION, /* int64_t, ns, at least 1 */
	OPTION_COUNT,	 /* uint64_t, at least 1, at most 1,000,000,000 */
	OPTION_TEXT,	 /* const char *, not copied */
	OPTION_MODE,	 /* the same, one of the table's modes: --mode=MODE; "" without, and by its letter */
};

enum option_style {
	OPTION_OURS,
	/*
	 * As getopt_long and GNU's tools have it, messages included: for tools that replace theirs. No '_'
	 * for '-', no -h; a usage error is two lines; POSIXLY_CORRECT makes the first operand end the
	 * options.
	 */
	OPTION_GNU,
};

struct option_spec {
	const char *name; /* without the dashes, with '-' between words; "": it has a letter only */
	char letter;	  /* 0: none */
	enum option_kind kind;
	size_t at;	      /* offsetof the value in the command's struct of options */
	const char *argument; /* what --help calls it: "SIZE"; NULL for a flag */
	const char *help;
};

struct option_table {
	const char *usage;		   /* "gush read [OPTION]..." */
	const char *summary;		   /* a sentence or three: what it does */
	const struct option_spec *options; /* ends with a NULL name */
	/* What a replaced tool lacks; not to be cut short, so that its own short forms stay. May be NULL. */
	const struct option_spec *additions;
	const char *const *modes; /* what an OPTION_MODE may be, cut short too; ends with a NULL */
	const char *footer;	  /* behind the options; may be NULL */
	int usage_status;	  /* exit status of a usage error */
	enum option_style style;
};

enum { OPTION_DONE = -1 }; /* go on and run */

/*
 * Fills *values; operands are moved behind the options and start at argv[*ret_first]. Returns OPTION_DONE, or
 * the status to exit with at once: 0 after --help or --version, usage_status after an error that was named.
 */
int option_parse(const struct option_table *table, int argc, char **argv, void *values, int *ret_first);

/* Names the error, points to --help, and returns usage_status. In the table's style. */
__attribute__((format(printf, 2, 3))) int option_usage_error(
	const struct option_table *table, const char *format, ...);

#endif
