/* SPDX-License-Identifier: MIT */
/* What this process has used so far, from getrusage(2). */
#ifndef USAGE_H
#define USAGE_H

#include <stdint.h>

struct usage {
	double cpu_s;		     /* user and system */
	uint64_t faults;	     /* page faults, minor and major */
	uint64_t waits, preemptions; /* context switches: voluntary, involuntary */
};

struct usage usage_now(void);
struct usage usage_since(const struct usage *start);

#endif
