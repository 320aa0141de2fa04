/* SPDX-License-Identifier: MIT */
/* One case of the fan-outs' fault matrix: a source, some sinks, one fault; run, and judged. */
#ifndef FANOUT_CASE_H
#define FANOUT_CASE_H

#include "ends_case.h"
#include "inject.h"

#include <stdint.h>

#define FANOUT_SINKS 5

struct fanout_setup {
	enum end_kind source;
	size_t count;
	enum end_kind sinks[FANOUT_SINKS];
	uint32_t flags;
	bool no_tee;	  /* a sandbox */
	size_t cap_bytes; /* 0: the calls take what they like */
};

struct fanout_outcome {
	int64_t ret;
	uint64_t returned;
	bool opened;
	int source_fd, sink_fds[FANOUT_SINKS];
	int errors[FANOUT_SINKS];
	uint64_t delivered[FANOUT_SINKS];
	const char *wrong;
};

/* NULL: all is right; or what is not. The same judgement for faults and for planted lies. */
const char *fanout_case_run(
	const struct fanout_setup *setup, const struct inject *fault, struct fanout_outcome *ret_outcome);

#endif
