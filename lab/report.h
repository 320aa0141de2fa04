/* SPDX-License-Identifier: MIT */
/* A ladder's results for people and for programs. */
#ifndef REPORT_H
#define REPORT_H

#include "result.h"

#include <stdbool.h>
#include <stdio.h>

struct report_style {
	int columns;
	bool colour, utf8;
	bool explain; /* --explain: a paragraph for each step */
};

/* The table with its bars, then what was noticed, then the sentences of explain.h. */
void report_text(const struct ladder *l, const struct report_style *style, FILE *stream);
/* gush-ladder-json(5). 0 or -errno. */
int report_json(const struct ladder *l, FILE *stream);
/* A line of names, then one for each row. 0 or -errno. */
int report_csv(const struct ladder *l, FILE *stream);

/* The steps without running them. */
void report_list(const struct report_style *style, FILE *stream);

#endif
