/* SPDX-License-Identifier: MIT */
/* One case of the transfers' fault matrix: two ends, one way, one fault; run, and judged. */
#ifndef TRANSFER_CASE_H
#define TRANSFER_CASE_H

#include "ends_case.h"
#include "inject.h"

#include <stdint.h>

#define CASE_CAP ((size_t)9001)	     /* no call moves more: five and an end */
#define CASE_PIECE ((size_t)3 << 12) /* of a file with holes */

struct setup {
	const char *method; /* NULL: the library chooses */
	enum end_kind source, sink;
	uint32_t flags;
	bool limited;	      /* to a part of the source */
	bool offsets;	      /* given, not the descriptors' own */
	bool old_data;	      /* the sink file held some */
	unsigned holes;	      /* of the source file: bit i: piece i */
	unsigned broken_from; /* one call does not work from the so manyth on; 0: all do */
	enum inject_call broken;
	int broken_errno;
};

struct outcome {
	int64_t ret;
	int source_fd, sink_fd;
	uint64_t delivered, pending, returned; /* returned: the sum of what steps returned */
	int side, again;		       /* again: what one step more returns */
	bool opened;
	const char *wrong; /* NULL: nothing found so far */
};

/* NULL: all is right; or what is not. The same judgement for faults and for planted lies. */
const char *transfer_case_run(
	const struct setup *setup, const struct inject *fault, struct outcome *ret_outcome);

#endif
