/* SPDX-License-Identifier: MIT */
#ifndef QUOTE_H
#define QUOTE_H

/*
 * A name as GNU's tools show it in messages: as it is, or so quoted that a shell reads it back, with escapes
 * for what cannot be printed. To be freed; NULL: no memory.
 */
char *quote_name(const char *name);

#endif
