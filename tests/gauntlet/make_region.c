/* SPDX-License-Identifier: MIT */
/* Regions of least and most bytes, of which a part is committed. */
#include "maker.h"
#include "stream.h"

#include <errno.h>
#include <string.h>

static int reserve(struct maker *m, size_t want, struct gush_region *ret_region)
{
	struct works *w = m->works;
	size_t least = want, most = want;
	int ret;

	if (least > GUSH_REGION_MOST)
		least = most = GUSH_REGION_MOST;
	switch (rng_below(&m->r, 4)) {
	case 0:
		least = m->config->threads > 0 ? FRAME_HEADER + 1 : 1;
		break;
	case 1:
		most = rng_one_in(&m->r, 2) ? SIZE_MAX : most * 3;
		break;
	default:
		break;
	}
	do
		ret = gush_producer_reserve(w->producer, least, most, ret_region);
	while (wait_room(w, ret));
	if (ret == 0 && (ret_region->bytes < least || ret_region->bytes > most || !ret_region->memory))
		board_complain(w->board, "reserve lends less or more than asked for");
	return ret;
}

/* Fills `bytes` of the region, header included. */
static void fill(struct maker *m, char *to, size_t bytes)
{
	if (m->config->threads > 0) {
		uint64_t header = frame_header(m->thread, m->sequence, bytes - FRAME_HEADER);

		memcpy(to, &header, FRAME_HEADER);
		stream_fill(to + FRAME_HEADER, bytes - FRAME_HEADER, m->at, UINT64_MAX, frame_tag(m->thread));
	} else {
		stream_fill(to, bytes, m->at, m->config->wrap_bytes, 0);
	}
}

static int commit(struct maker *m, struct gush_region *region, size_t want)
{
	size_t bytes = region->bytes < want ? region->bytes : want;
	int ret;

	if (rng_one_in(&m->r, 8)) /* all of it is the caller's, also what is not committed */
		memset(region->memory, 0xee, region->bytes < MIB ? region->bytes : MIB);
	fill(m, region->memory, bytes);
	if (rng_one_in(&m->r, 16))
		bytes = 0;
	ret = gush_producer_commit(m->works->producer, region, bytes);
	if (ret == -EAGAIN)
		board_complain(m->works->board, "commit says EAGAIN");
	if (ret < 0 || bytes == 0)
		return ret;
	m->sequence++;
	m->at += m->config->threads > 0 ? bytes - FRAME_HEADER : bytes;
	m->left -= bytes < m->left ? bytes : m->left;
	note(m->works, m, bytes);
	return 0;
}

int make_region(struct maker *m)
{
	struct gush_region region = { 0 };
	size_t want = draw_bytes(m->config, &m->r);
	int ret;

	if (m->config->threads == 0 && want > m->left)
		want = (size_t)m->left;
	if (m->config->threads > 0)
		want += FRAME_HEADER + 1;
	if (want > GUSH_REGION_MOST)
		want = GUSH_REGION_MOST;
	ret = reserve(m, want, &region);
	return ret < 0 ? ret : commit(m, &region, want);
}
