/* SPDX-License-Identifier: MIT */
/* tee from the inside: its outputs, and what becomes of one that fails. */
#ifndef TEE_H
#define TEE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

enum tee_mode {
	TEE_DEFAULT, /* as WARN, but SIGPIPE ends it, and EPIPE is nothing to speak of */
	TEE_WARN,
	TEE_WARN_NOPIPE, /* EPIPE is nothing to speak of */
	TEE_EXIT,
	TEE_EXIT_NOPIPE, /* the same */
};

struct tee_output {
	const char *name;
	int fd;
	bool works;
	short gone; /* what poll says when its reader has gone; 0: it is not watched */
};

struct tee {
	enum tee_mode mode;
	struct tee_output *outputs; /* the first is standard output */
	size_t count, working;
	bool stable;	    /* later changes of an input file must not show */
	struct pollfd *fds; /* room for twice as many and one more */
	int input_error;    /* of standard input: 0 or -errno */
	bool failed;	    /* the exit status is to say so */
	bool stopped;	    /* by an error, as the mode has it */
};

/* tee.c: the output gets nothing more; `error` of either sign. Says so and stops, as the mode has it. */
void tee_drop(struct tee *t, struct tee_output *output, int error);

/* tee_copy.c: until the input ends, or tee is stopped, or no output works any more. */
void tee_copy(struct tee *t);

#endif
