/* SPDX-License-Identifier: MIT */
/* What a tool says on standard error: one line each, "gush read: thing: reason; what to do". */
#ifndef DIAG_H
#define DIAG_H

#include <stdbool.h>

void diag_set_program(const char *name); /* not copied */
const char *diag_program(void);

/*
 * First of all in main: a standard descriptor that came closed stays unusable, but its number is taken. Else
 * the next file or pipe to be opened would get it, and what is meant for people would end up in there.
 */
void diag_hold_standard_descriptors(void);
bool diag_came_closed(int fd); /* one of 0 to 2, as diag_hold_standard_descriptors found it */

__attribute__((format(printf, 1, 2))) void diag(const char *format, ...);
/* The same with ": " and the error's text behind; takes errno values of either sign. */
__attribute__((format(printf, 2, 3))) void diag_errno(int error, const char *format, ...);

/* "EINVAL": of either sign; "E999" in a static buffer for one without a name here. */
const char *diag_errno_name(int error);

/* Flushes and closes standard output. 0, or -1 after saying what failed: a full disk is an error too. */
int diag_close_stdout(void);
int diag_close_stdout_as(const char *what); /* what to call it in that message */

#endif
