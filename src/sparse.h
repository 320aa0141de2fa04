/* SPDX-License-Identifier: MIT */
/* Holes of a source file become holes of the sink. */
#ifndef GI_SPARSE_H
#define GI_SPARSE_H

#include "transfer.h"

bool gi_sparse_possible(const struct gush_transfer *t);

/*
 * At a hole: makes it in the sink and returns its bytes. At data: returns 0 with *most cut at the next hole.
 * Or -errno through gi_transfer_fail. Where the file systems cannot do it, t->sparse becomes false and 0 is
 * returned.
 */
ssize_t gi_sparse_step(struct gush_transfer *t, size_t *most);

#endif
