/* SPDX-License-Identifier: MIT */
/* What this kernel, user and sandbox really do: each answer is the outcome of a trial. */
#ifndef GI_PROBE_H
#define GI_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum gi_vmsplice {
	GI_VMSPLICE_FAILS,
	GI_VMSPLICE_ALIASES, /* a later write to the memory shows in the pipe: zero-copy */
	GI_VMSPLICE_COPIES,
};

/* Sends a page by vmsplice, changes it, reads. The error of FAILS is in *ret_error. */
enum gi_vmsplice gi_probe_vmsplice(int *ret_error);

/* Whether vmsplice from a pipe into memory works: 0 (it always copies) or -errno. */
int gi_probe_vmsplice_to_memory(void);

/* 0: the copy-on-write barrier protects pages of that kind; -EOPNOTSUPP or another -errno: it does not. */
int gi_probe_barrier(bool huge);

struct gi_probe_call {
	const char *name;
	int (*try_it)(void); /* 0 or -errno */
};
/* Each call that the library may make, tried on descriptors where it must work. Ends with a NULL name. */
extern const struct gi_probe_call gi_probe_calls[];

struct gi_probe_pipes {
	size_t default_bytes;  /* of a new pipe */
	size_t largest_bytes;  /* that one could be grown to, asking for up to 1 MiB */
	size_t full_size_left; /* how many pipes of 1 MiB could be had at once; at most GI_PROBE_PIPES_MOST */
};
#define GI_PROBE_PIPES_MOST 64
int gi_probe_pipes(struct gi_probe_pipes *ret);

#endif
