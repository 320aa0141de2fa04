/* SPDX-License-Identifier: MIT */
/* The steps of the ladder: what each end does, and what to compare it with. */
#ifndef STEP_H
#define STEP_H

#include "placement.h"
#include "receiver.h"
#include "reference.h"
#include "sender.h"

#include <stdbool.h>
#include <stddef.h>

enum step_group {
	STEP_ARTICLE, /* the article's own steps */
	STEP_OURS,
	STEP_CHANGING,	/* contents rewritten before each send */
	STEP_REFERENCE, /* no pipe between two processes: what to compare with */
	STEP_ABLATION,	/* with --all only */
};

enum step_where {
	STEP_NEAR,	 /* two CPUs, the nearest that are not threads of one core */
	STEP_SAME,	 /* one CPU */
	STEP_BOTH,	 /* each of the two above */
	STEP_EVERYWHERE, /* every placement of this machine */
	STEP_ALONE,	 /* one process on one CPU */
};

struct step {
	const char *name;
	const char *summary; /* for --list: one line */
	const char *why;     /* for --explain */
	enum step_group group;
	enum step_where where;
	double article_gib_per_s; /* on the article's machine; 0: none given there */
	struct sender_config sender;
	struct receiver_config receiver;
	const struct reference *reference; /* instead of two ends */
};

extern const struct step steps[];
extern const size_t step_count;

const struct step *step_find(const char *name); /* NULL: no such step */
const char *step_group_title(enum step_group group);

/* What must pass before a measurement starts, so that it sees the steady state. */
uint64_t step_warm_up_bytes(const struct step *step);

#endif
