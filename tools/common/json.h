/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON to a stream, indented. Nesting and commas are kept by the writer:
 *
 *	struct json j;
 *	json_begin(&j, stream);
 *	json_open(&j, NULL, '{');
 *	json_int(&j, "schema", 1);
 *	json_open(&j, "rounds", '[');
 *	json_double(&j, NULL, 3.5);	// NULL: no name, inside an array
 *	json_close(&j);
 *	json_close(&j);
 *	if (json_end(&j) < 0) ...	// everything closed, nothing failed to be written
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
	FILE *stream;
	int depth;
	bool misused;		 /* closed too often, nested too deep: json_end tells */
	bool filled[JSON_DEPTH]; /* this level has a member already */
	char closer[JSON_DEPTH];
};

void json_begin(struct json *j, FILE *stream);
void json_open(struct json *j, const char *name, char bracket); /* '{' or '[' */
void json_close(struct json *j);
void json_text(
	struct json *j, const char *name, const char *text); /* NULL text: null. Bad UTF-8 becomes U+FFFD */
void json_int(struct json *j, const char *name, int64_t number);
void json_double(struct json *j, const char *name, double number); /* six digits; null for NaN and infinity */
void json_bool(struct json *j, const char *name, bool value);
void json_null(struct json *j, const char *name);
int json_end(struct json *j); /* flushes; 0 or -errno (-EINVAL: misused) */

#endif
