/* SPDX-License-Identifier: MIT */
/* What a tool says on standard error: one line each, "gush read: thing: reason; what to do". */
#ifndef DIAG_H
#define DIAG_H

void diag_set_program(const char *name); /* not copied */
const char *diag_program(void);

__attribute__((format(printf, 1, 2))) void diag(const char *format, ...);
/* The same with ": " and the error's text behind; takes errno values of either sign. */
__attribute__((format(printf, 2, 3))) void diag_errno(int error, const char *format, ...);

/* Flushes and closes standard output. 0, or -1 after saying what failed: a full disk is an error too. */
int diag_close_stdout(void);

#endif
