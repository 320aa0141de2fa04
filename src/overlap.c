/* SPDX-License-Identifier: MIT */
#include "overlap.h"

#include "sys.h"

#include <unistd.h>

static int64_t start_of(int fd, int64_t option)
{
	return option != GUSH_OWN_OFFSET ? option : gi_sys_lseek(fd, 0, SEEK_CUR);
}

static bool may_overlap(enum gi_kind kind)
{
	return kind == GI_KIND_PIPE || kind == GI_KIND_REGULAR || kind == GI_KIND_BLOCK;
}

enum gi_overlap gi_overlap_of(const struct gi_endpoint *source, const struct gi_endpoint *sink,
	const struct gush_transfer_options *options)
{
	struct stat from_st, to_st;
	int64_t from, to;

	if (source->kind != sink->kind || !may_overlap(source->kind))
		return GI_OVERLAP_NONE;
	if (gi_sys_fstat(source->fd, &from_st) < 0 || gi_sys_fstat(sink->fd, &to_st) < 0)
		return GI_OVERLAP_NONE;
	if (source->kind == GI_KIND_BLOCK) /* it has an end, wherever it is written */
		return from_st.st_rdev == to_st.st_rdev ? GI_OVERLAP_SAME : GI_OVERLAP_NONE;
	if (from_st.st_dev != to_st.st_dev || from_st.st_ino != to_st.st_ino)
		return GI_OVERLAP_NONE;
	if (source->kind == GI_KIND_PIPE)
		return GI_OVERLAP_ENDLESS;
	from = start_of(source->fd, options->source_offset);
	to = sink->append ? to_st.st_size : start_of(sink->fd, options->sink_offset);
	if (from < 0 || from >= from_st.st_size) /* not known, or nothing to read: it ends at once */
		return GI_OVERLAP_SAME;
	return to > from && (uint64_t)(to - from) < options->limit_bytes ? GI_OVERLAP_ENDLESS
									 : GI_OVERLAP_SAME;
}
