/* SPDX-License-Identifier: MIT */
/* One case of the producers' fault matrix: a policy, a sink, a way to feed it, one fault; run, and judged. */
#ifndef PRODUCER_CASE_H
#define PRODUCER_CASE_H

#include "ends_case.h"
#include "inject.h"

#include <stdint.h>

#define CASE_CAP ((size_t)9001) /* no call moves more: a round takes two */

enum producer_feed {
	FEED_LENT,   /* reserve and commit, two regions at a time */
	FEED_OWN,    /* memory of the caller's own */
	FEED_BOTH,   /* by turns */
	FEED_REPEAT, /* gush_producer_repeat */
};

struct producer_setup {
	uint32_t policy;
	enum end_kind sink;
	uint32_t flags, wait;
	enum producer_feed feed;
	bool grows; /* the sink is a small pipe, and may be made large */
	bool races; /* REPEAT: as long as it takes to try tee, which is found to be faster */
	enum inject_call broken;
	int broken_errno;
	unsigned broken_from, broken_times; /* from 0: it is not broken; times 0: for good */
};

struct producer_outcome {
	int64_t ret;
	int sink_fd;
	int again;	     /* what flush says afterwards */
	bool opened, sticky; /* sticky: every other function says the same as flush */
	uint64_t taken, delivered, pending;
	const char *wrong; /* NULL: nothing found so far */
};

/* NULL: all is right; or what is not. The same judgement for faults and for planted lies. */
const char *producer_case_run(
	const struct producer_setup *setup, const struct inject *fault, struct producer_outcome *ret_outcome);

#endif
