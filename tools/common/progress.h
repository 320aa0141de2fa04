/* SPDX-License-Identifier: MIT */
/* One line on standard error that is rewritten, with the time left; nothing at all when that is no terminal.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown; /* standard error is a terminal */
	int64_t start_ns, drawn_ns;
	int columns;
};

void progress_begin(struct progress *p, int64_t now_ns);
/* `done` is 0 to 1. Draws at most ten times a second. */
void progress_update(struct progress *p, int64_t now_ns, double done, const char *what);
void progress_end(struct progress *p); /* wipes the line */

#endif
