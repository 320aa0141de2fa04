/* SPDX-License-Identifier: MIT */
/* Source and sink that are the same thing. */
#ifndef GI_OVERLAP_H
#define GI_OVERLAP_H

#include "endpoint.h"
#include "gush.h"

#include <stdbool.h>

/*
 * Whether a transfer would read again what it has written: the two ends of one pipe, or a sink file that is
 * the source file and is written ahead of where it is read (behind its end, in append mode). Without a limit
 * it would never end.
 */
bool gi_overlap_endless(const struct gi_endpoint *source, const struct gi_endpoint *sink,
	const struct gush_transfer_options *options);

#endif
