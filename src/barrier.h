/* SPDX-License-Identifier: MIT */
/*
 * The copy-on-write barrier: after it, a write to private anonymous memory can no longer change bytes that a
 * pipe or a socket, here or further downstream, still holds by reference (from vmsplice).
 *
 * How: copying the address space, as fork does, write-protects those pages. At the next write the kernel
 * gives the writer a fresh page if anyone else holds the old one, and the old one back if nobody does. A
 * clone that is bound to fail after the copy has that effect, and no child.
 *
 * Not covered, each seen to corrupt on 6.18: hugetlb pages, shared and memfd mappings, MADV_DONTFORK and
 * MADV_WIPEONFORK ranges, pinned pages, and a write that runs while the barrier does. Kernels before 5.9
 * (before about 5.18 for huge pages) do not give the promise at all: hence gi_barrier_probe.
 */
#ifndef GI_BARRIER_H
#define GI_BARRIER_H

#include <stddef.h>

struct gi_barrier {
	long (*copy_memory)(void); /* NULL: no way found */
	long expected;		   /* the error it fails with when all is well */
};

/*
 * Finds a way that protects memory mapped as gi_hugebuf_map(.., flags) maps it, by trying: bytes overwritten
 * after the barrier must read back as they were, and bytes overwritten without one must not (else the test
 * tests nothing). 0; -EOPNOTSUPP when no way protects here; or -errno when the trial itself could not run.
 */
int gi_barrier_probe(unsigned hugebuf_flags, struct gi_barrier *ret_barrier);

/* 0, or -errno: then nothing is protected and the memory must not be written. */
int gi_barrier_run(const struct gi_barrier *barrier);

#endif
