/* SPDX-License-Identifier: MIT */
/* One case of the fault tests: one end of a measured pipe, run with one fault, and judged. */
#ifndef PAIR_CASE_H
#define PAIR_CASE_H

#include "inject.h"
#include "wait.h"

#include <stdbool.h>
#include <stdint.h>

#define CASE_CHUNK ((size_t)32 << 10)
#define CASE_TOTAL (5 * CASE_CHUNK + 24)

/* What is tried: one end, one way to call, one way to wait. */
struct setup {
	const char *name;
	bool sends;
	int call; /* enum sender_call or receiver_call */
	bool protect, huge;
	enum inject_call missing; /* a call that this kernel does not have */
	int missing_errno;
	enum gi_wait_kind wait;
};

struct outcome {
	int ret;
	const char *failed_at;
	uint64_t claimed, arrived, bad; /* bytes */
	const char *wrong;		/* NULL: nothing found so far */
};

/*
 * Fills `inject` with the fault and what the setup lacks, runs, and judges: NULL, all is right; or what is
 * not. The same judgement for faults, which the product must get right, and for planted lies, which it
 * cannot.
 */
const char *case_run(const struct setup *setup, const struct inject *fault, struct outcome *ret_outcome);

#endif
