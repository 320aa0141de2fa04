/* SPDX-License-Identifier: MIT */
#include "overlap.h"

#include "sys.h"

#include <unistd.h>

static int64_t start_of(int fd, int64_t option)
{
	return option != GUSH_OWN_OFFSET ? option : gi_sys_lseek(fd, 0, SEEK_CUR);
}

bool gi_overlap_endless(const struct gi_endpoint *source, const struct gi_endpoint *sink,
	const struct gush_transfer_options *options)
{
	struct stat from_st, to_st;
	int64_t from, to;

	if (source->kind != sink->kind || (source->kind != GI_KIND_PIPE && source->kind != GI_KIND_REGULAR))
		return false;
	if (gi_sys_fstat(source->fd, &from_st) < 0 || gi_sys_fstat(sink->fd, &to_st) < 0)
		return false;
	if (from_st.st_dev != to_st.st_dev || from_st.st_ino != to_st.st_ino)
		return false;
	if (source->kind == GI_KIND_PIPE)
		return true;
	from = start_of(source->fd, options->source_offset);
	to = sink->append ? to_st.st_size : start_of(sink->fd, options->sink_offset);
	if (from < 0 || from >= from_st.st_size) /* not known, or nothing to read: it ends at once */
		return false;
	return to > from && (uint64_t)(to - from) < options->limit_bytes;
}
