/* SPDX-License-Identifier: MIT */
/* Whether this process is a copy of the one that filled in some state. */
#ifndef GI_FORKS_H
#define GI_FORKS_H

#include <stdbool.h>
#include <sys/types.h>

struct gi_origin {
	pid_t pid;	/* not enough where parent and child are each the first of a pid namespace */
	unsigned forks; /* before it, since the library was first asked */
};

struct gi_origin gi_origin_now(void);

/* By fork(3) alone, without a system call. A child made by a bare clone(2) is not told. */
bool gi_origin_forked(const struct gi_origin *origin);

/* By either: asks for the pid. */
bool gi_origin_is_here(const struct gi_origin *origin);

#endif
