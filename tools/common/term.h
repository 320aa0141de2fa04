/* SPDX-License-Identifier: MIT */
/* What the terminal behind a descriptor can show. */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>

int term_columns(int fd); /* COLUMNS, else the terminal's width, else 80; 20 to 500 */
bool term_colour(int fd); /* a terminal, not a dumb one, and NO_COLOR unset or empty */
bool term_utf8(void);	  /* as LC_ALL, LC_CTYPE or LANG say */

#endif
