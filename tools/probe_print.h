/* SPDX-License-Identifier: MIT */
/* The ways of probe_ways for people: a matrix and what the kernel refused, or every pair with its reasons. */
#ifndef PROBE_PRINT_H
#define PROBE_PRINT_H

#include "probe_ways.h"

#include <stdbool.h>

void probe_print_ways(const struct probe_way *ways, size_t count, bool verbose);

#endif
