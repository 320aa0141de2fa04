/* SPDX-License-Identifier: MIT */
/* Sizes, rates and durations, as people write and read them. */
#ifndef UNITS_H
#define UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A whole number and a unit: none or B is bytes; K, M, G, T, P, E and KiB, MiB, ... are powers of 1024; KB,
 * MB, ... are powers of 1000, as in dd(1). 0; -EINVAL: not a size; -ERANGE: past 8 EiB. The result is
 * untouched on error.
 */
int parse_size(const char *text, uint64_t *ret_bytes);
/* A size, and perhaps /s: bytes a second. */
int parse_rate(const char *text, uint64_t *ret_bytes_per_s);
/* A number, perhaps with a fraction, and ns, us, ms, s (assumed), m or h. */
int parse_duration(const char *text, int64_t *ret_ns);
/* A whole number without unit, no larger than max. */
int parse_count(const char *text, uint64_t max, uint64_t *ret_count);

#define UNITS_TEXT 32 /* enough for each of these */
/* Exact, in the largest unit that divides it: 256KiB, 10GiB, 4097B. */
const char *format_size(uint64_t bytes, char text[UNITS_TEXT]);
/* Three digits or so: 1.23 GiB, 12.3 KiB, 17 B. */
const char *format_about(double bytes, char text[UNITS_TEXT]);
const char *format_duration(double seconds, char text[UNITS_TEXT]); /* 12 ms, 1.5 s, 2 min 3 s */

#endif
