/* SPDX-License-Identifier: MIT */
/* Source and sink that are the same thing. */
#ifndef GI_OVERLAP_H
#define GI_OVERLAP_H

#include "endpoint.h"
#include "gush.h"

enum gi_overlap {
	GI_OVERLAP_NONE,
	/* One file or device, and it ends. Ways that share its pages would copy a page within itself. */
	GI_OVERLAP_SAME,
	/*
	 * It would read again what it has written: the two ends of one pipe, or a sink file that is the
	 * source file and is written ahead of where it is read (behind its end, in append mode). Without a
	 * limit it would never end.
	 */
	GI_OVERLAP_ENDLESS,
};

enum gi_overlap gi_overlap_of(const struct gi_endpoint *source, const struct gi_endpoint *sink,
	const struct gush_transfer_options *options);

#endif
