/* SPDX-License-Identifier: MIT */
/*
 * The copy-on-write barrier: after it, a write to private anonymous memory can no longer change bytes that a
 * pipe or a socket, here or further downstream, still holds by reference (from vmsplice). docs/barrier.md
 * says why, when not, and what it costs.
 *
 * How: copying the address space, as fork does, write-protects those pages. At the next write the kernel
 * gives the writer a fresh page if anyone else holds the old one, and the old one back if nobody does. A
 * clone that is bound to fail after the copy has that effect, and no child.
 *
 * Not covered, each seen to corrupt on 6.18: hugetlb pages, shared and memfd mappings, MADV_DONTFORK and
 * MADV_WIPEONFORK ranges, pinned pages, and a write to bytes in flight that runs while the barrier does.
 * Kernels before 5.9 (before about 5.18 for huge pages) do not give the promise at all: hence the trial.
 */
#ifndef GI_BARRIER_H
#define GI_BARRIER_H

#include <stddef.h>

struct gi_barrier {
	const char *name;
	long (*copy_memory)(void); /* NULL: no way found */
	long expected;		   /* the error it fails with when all is well; 0: it makes a child */
};

/* The ways, in the order of preference; NULL past the last. */
const struct gi_barrier *gi_barrier_at(size_t index);

/*
 * Whether this way protects memory mapped as gi_hugebuf_map(.., flags) maps it, by trying: bytes overwritten
 * after the barrier must read back as they were, and bytes overwritten without one must not (else the test
 * tests nothing). 0; -EOPNOTSUPP: it does not protect here, or the kernel gave no huge page to try it on;
 * -ENODATA: vmsplice copies here, so that there is nothing to protect and nothing to gain; or -errno when the
 * trial itself could not run.
 */
int gi_barrier_try(const struct gi_barrier *barrier, unsigned hugebuf_flags);

/* The first way that protects. As gi_barrier_try, but -EOPNOTSUPP for -ENODATA. */
int gi_barrier_probe(unsigned hugebuf_flags, struct gi_barrier *ret_barrier);

/* 0, or -errno: then nothing is protected and the memory must not be written. */
int gi_barrier_run(const struct gi_barrier *barrier);

#endif
