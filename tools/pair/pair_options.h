/* SPDX-License-Identifier: MIT */
/*
 * The options that `gush write` and `gush read` share. They are the article's, so that the same list can be
 * given to both ends, ours or his; each end says which of them do nothing there.
 */
#ifndef PAIR_OPTIONS_H
#define PAIR_OPTIONS_H

#include "option.h"
#include "wait.h"

#include <stdbool.h>
#include <stdint.h>

struct pair_options {
	bool busy_loop, poll;
	bool huge_page, check_huge_page;
	bool write_with_vmsplice, read_with_splice;
	bool gift, lock_memory, dont_touch_pages, same_buffer;
	bool csv, verbose;
	uint64_t buf_bytes;	/* 0: not given */
	uint64_t bytes_to_pipe; /* 0: not given */
	uint64_t pipe_bytes;	/* 0: not given */
};

#define PAIR_DEFAULT_BUF_BYTES (256 << 10)	 /* the article's: the size of a level-2 cache then */
#define PAIR_DEFAULT_BYTES_TO_PIPE (10ull << 30) /* the article's */

extern const struct option_spec pair_option_specs[];

/* Parses, and refuses what contradicts itself at either end. OPTION_DONE or an exit status. */
int pair_options_parse(
	const struct option_table *table, int argc, char **argv, struct pair_options *ret_options);

/* Says in one line which of these were given and do nothing at this end; with --csv they fill their columns.
 */
struct pair_unused {
	bool given;
	const char *name;
};
void pair_note_unused(const struct pair_options *options, const struct pair_unused *list, size_t count);

void pair_print_options(const struct pair_options *options); /* for --verbose, on standard error */
enum gi_wait_kind pair_wait_kind(const struct pair_options *options);

/* After a failed preparation: the line that says what failed and what to do about it. */
void pair_explain_failure(const char *failed_at, int error, const struct pair_options *options);

struct usage;
void pair_print_usage(const struct usage *usage); /* for --verbose */

#endif
