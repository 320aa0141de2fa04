/* SPDX-License-Identifier: MIT */
/* The processes of a round: each prepares, says that it is ready, waits for the start, and reports what it
 * did. */
#ifndef ENDS_H
#define ENDS_H

#include "pipe.h"
#include "round.h"
#include "usage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SENDER, RECEIVER, ENDS };

/* What one end tells the parent, in memory they share. */
struct end_report {
	int error; /* 0 or -errno */
	char failed_at[48];
	int64_t start_ns, end_ns; /* the start: after the warm-up, unless the time was over before */
	uint64_t start_bytes, end_bytes;
	struct usage start, used;
	uint64_t checked_bytes, bad_bytes;
};

struct end_exchange {
	atomic_bool stop; /* the time is over */
	struct end_report report[ENDS];
};

struct end_setup {
	const struct round_plan *plan;
	struct end_exchange *shared;
	struct gi_pipe data, go;   /* go: closed to start them */
	struct gi_pipe news[ENDS]; /* a byte when the end is ready, end of file when it has ended */
	int ends;		   /* 2, or 1 for a reference */
};

/* This process, to one CPU. 0 or -errno. */
int end_pin(int cpu);

/* In a process of its own, a child of `parent`. */
__attribute__((noreturn)) void end_run(struct end_setup *setup, int which, pid_t parent);

#endif
