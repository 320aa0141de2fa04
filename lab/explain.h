/* SPDX-License-Identifier: MIT */
/* What bounds this machine, in plain words; each sentence follows from the columns and changes with them. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "result.h"

#include <stddef.h>
#include <stdio.h>

#define EXPLAIN_MOST 12
#define EXPLAIN_TEXT 480

/* Those that the rows allow: a sentence whose rows are missing is left out. Returns how many, at most
 * EXPLAIN_MOST. */
size_t explain_sentences(const struct ladder *l, char ret[EXPLAIN_MOST][EXPLAIN_TEXT]);
void explain(const struct ladder *l, int columns, FILE *stream);

#endif
