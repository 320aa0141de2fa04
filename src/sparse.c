/* SPDX-License-Identifier: MIT */
#include "sparse.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

bool gi_sparse_possible(const struct gush_transfer *t)
{
	return t->source.kind == GI_KIND_REGULAR && t->sink.kind == GI_KIND_REGULAR && !t->sink.append;
}

static int64_t position(int fd, int64_t kept)
{
	return kept != GUSH_OWN_OFFSET ? kept : gi_sys_lseek(fd, 0, SEEK_CUR);
}

/* Asking for data and holes moves the descriptor's own offset: put it back. *ret_lost: the -errno of that. */
static int64_t seek_and_return(struct gush_transfer *t, int64_t at, int whence, int *ret_lost)
{
	int64_t own = position(t->source.fd, GUSH_OWN_OFFSET), found, back;

	if (own < 0)
		return own;
	found = gi_sys_lseek(t->source.fd, at, whence);
	back = gi_sys_lseek(t->source.fd, own, SEEK_SET);
	if (back < 0)
		*ret_lost = (int)back;
	return found;
}

/* What the sink holds where the hole goes must read as zeros; behind its end there is nothing to do but to
 * grow it. */
static int make_hole(struct gush_transfer *t, int64_t at, int64_t bytes)
{
	struct stat st;
	int ret = gi_sys_fstat(t->sink.fd, &st);

	if (ret < 0)
		return ret;
	if (at < st.st_size) {
		int64_t inside = st.st_size - at < bytes ? st.st_size - at : bytes;

		ret = gi_sys_fallocate(t->sink.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, inside);
		if (ret < 0)
			return ret;
	}
	return at + bytes > st.st_size ? gi_sys_ftruncate(t->sink.fd, at + bytes) : 0;
}

/* The hole is made, so its bytes count as delivered whatever happens here. */
static void advance(struct gush_transfer *t, int64_t bytes)
{
	int64_t from = 0, to = 0;

	gi_transfer_took(t, (size_t)bytes);
	gi_transfer_gave(t, (size_t)bytes);
	if (t->source_at == GUSH_OWN_OFFSET)
		from = gi_sys_lseek(t->source.fd, bytes, SEEK_CUR);
	if (t->sink_at == GUSH_OWN_OFFSET)
		to = gi_sys_lseek(t->sink.fd, bytes, SEEK_CUR);
	if (from < 0)
		gi_transfer_fail_after(t, GI_CALL_READ, (int)from);
	else if (to < 0)
		gi_transfer_fail_after(t, GI_CALL_WRITE, (int)to);
}

static ssize_t give_up(struct gush_transfer *t)
{
	t->sparse = false; /* the bytes are copied then, zeros and all */
	return 0;
}

/* Where the hole at `from` ends, or `from` when there is data; -ENXIO: no such place. */
static int64_t hole_end(struct gush_transfer *t, int64_t from, int *ret_lost)
{
	struct stat st;
	int ret = gi_sys_fstat(t->source.fd, &st); /* first: what is appended later is no hole */
	int64_t data;

	if (ret < 0)
		return ret;
	data = seek_and_return(t, from, SEEK_DATA, ret_lost);
	if (data != -ENXIO)
		return data;
	return st.st_size > from ? st.st_size : from; /* a hole up to the end */
}

static ssize_t skip_hole(struct gush_transfer *t, int64_t bytes)
{
	uint64_t left = t->options.limit_bytes - t->delivered_bytes;
	int64_t to = position(t->sink.fd, t->sink_at);

	if ((uint64_t)bytes > left)
		bytes = (int64_t)left;
	if (bytes > SSIZE_MAX)
		bytes = SSIZE_MAX;
	if (to < 0 || bytes > INT64_MAX - to || make_hole(t, to, bytes) < 0)
		return give_up(t); /* whatever the error: writing the zeros succeeds, or meets the real one */
	advance(t, bytes);
	return (ssize_t)bytes;
}

ssize_t gi_sparse_step(struct gush_transfer *t, size_t *most)
{
	int64_t from, end;
	int lost = 0;

	if (gush_transfer_pending(t) > 0)
		return 0;
	from = position(t->source.fd, t->source_at);
	end = from < 0 ? from : hole_end(t, from, &lost);
	if (lost < 0)
		return gi_transfer_fail(t, GI_CALL_READ, lost);
	if (end < 0)
		return give_up(t);
	if (end > from)
		return skip_hole(t, end - from);
	end = seek_and_return(t, from, SEEK_HOLE, &lost);
	if (lost < 0)
		return gi_transfer_fail(t, GI_CALL_READ, lost);
	if (end > from && (uint64_t)(end - from) < *most)
		*most = (size_t)(end - from);
	return 0;
}
