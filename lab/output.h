/* SPDX-License-Identifier: MIT */
/* A result file that the user named. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	const char *path;
	FILE *stream; /* NULL: not wanted */
};

/*
 * Opens it before anything is measured, so that a bad path costs no minute. path NULL: not wanted; "-", or
 * another name of what standard output is: standard output. 0, or -1 after saying what is wrong.
 */
int output_open(const char *path, struct output *ret);

bool output_same(const struct output *a, const struct output *b);

/*
 * Empties the file only now, when the whole text is there, so that an aborted run leaves the old results;
 * writes and closes it. 0, or -errno after saying what failed.
 */
int output_write(struct output *out, int (*report)(const void *results, FILE *stream), const void *results);

#endif
