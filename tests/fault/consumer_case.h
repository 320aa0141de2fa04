/* SPDX-License-Identifier: MIT */
/* A whole consumer under one fault, judged: all of the source's bytes, or an exact prefix and the right
 * error. */
#ifndef CONSUMER_CASE_H
#define CONSUMER_CASE_H

#include "inject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONSUMER_CAP ((size_t)6000) /* bytes of one call */
#define CONSUMER_BEGIN 8192	    /* more than the first memory, less than the longest record */

enum consumer_source { FROM_FILE, FROM_PIPE, FROM_UNIX, FROM_TCP, FROM_MESSAGES, FROM_KINDS };
enum consumer_manner { BY_NEXT, BY_SPLIT, BY_PEEK, BY_ALL, CONSUMER_MANNERS };

struct consumer_setup {
	enum consumer_source source;
	enum consumer_manner manner;
	uint32_t flags;
	bool slow; /* fed bit by bit, so that it must wait */
	bool o_nonblock;
	bool halfway;	/* closed before the end */
	bool no_nowait; /* a kernel without RWF_NOWAIT */
};

struct consumer_outcome {
	int open, ret, own; /* own: an error after which it went on */
	size_t got;
	const char *wrong;
};

/* NULL, or what is wrong. */
const char *consumer_case_run(
	const struct consumer_setup *s, const struct inject *fault, struct consumer_outcome *o);
const char *consumer_case_name(const struct consumer_setup *s);

#endif
