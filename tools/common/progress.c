/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "term.h"
#include "units.h"

#include <stdio.h>
#include <unistd.h>

#define REDRAW_NS 100000000

void progress_begin(struct progress *p, int64_t now_ns)
{
	*p = (struct progress){ .shown = isatty(STDERR_FILENO), .start_ns = now_ns };
	if (p->shown)
		p->columns = term_columns(STDERR_FILENO);
}

void progress_update(struct progress *p, int64_t now_ns, double done, const char *what)
{
	char line[256], left[UNITS_TEXT] = "";
	double elapsed = (double)(now_ns - p->start_ns) * 1e-9;
	int n;

	if (!p->shown || (p->drawn_ns && now_ns - p->drawn_ns < REDRAW_NS))
		return;
	p->drawn_ns = now_ns;
	/* Too early an estimate is worse than none. */
	if (done > 0.02)
		format_duration(elapsed * (1 - done) / done, left);
	n = snprintf(line, sizeof(line), "%3.0f %%  %s%s  %s", done * 100, left, *left ? " left" : "", what);
	if (n >= p->columns)
		n = p->columns - 1;
	fprintf(stderr, "\r\033[K%.*s", n, line);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown && p->drawn_ns)
		fputs("\r\033[K", stderr);
	fflush(stderr);
}
