/* SPDX-License-Identifier: MIT */
#ifndef WRAP_H
#define WRAP_H

#include <stdio.h>

/* Prints words, wrapped at `width`, each line after `indent` blanks; the first line is already at column
 * `at`. */
void wrap_text(FILE *stream, const char *text, int at, int indent, int width);

#endif
