/* SPDX-License-Identifier: MIT */
#include "barrier.h"

#include "hugebuf.h"
#include "pipe.h"
#include "sys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct gi_barrier ways[] = {
	{ "barrier-clone3", gi_sys_clone3_no_pid, -EINVAL },
	{ "barrier-clone", gi_sys_clone_bad_pidfd, -EFAULT }, /* where a sandbox forbids clone3 */
	{ "barrier-child", gi_sys_clone_child, 0 },	      /* four times as dear: 420-650 us on 6.18 */
};

const struct gi_barrier *gi_barrier_at(size_t index)
{
	return index < sizeof(ways) / sizeof(*ways) ? &ways[index] : NULL;
}

int gi_barrier_run(const struct gi_barrier *barrier)
{
	long ret = barrier->copy_memory();

	/* A child that came to be after all was reaped by the wrapper, and has copied the memory just as
	 * well. */
	if (ret > 0 || (ret < 0 && ret == barrier->expected))
		return 0;
	return ret == 0 ? -EINVAL : (int)ret;
}

/* Where ways are tried: a pipe, and memory of the kind in question. */
struct trial {
	struct gi_hugebuf buf;
	struct gi_pipe pipe;
};

/*
 * Sends one page by reference, runs the way (or nothing), overwrites the page and reads back.
 * 1: the bytes stayed as they were sent, 0: they changed.
 */
static int try_way(const struct trial *trial, const struct gi_barrier *way)
{
	const struct gi_hugebuf *buf = &trial->buf;
	const struct gi_pipe *pipe = &trial->pipe;
	size_t page = gi_page_bytes();
	char *sent = buf->base + buf->mapped_bytes - page;
	char seen[64];
	ssize_t n;
	int ret;

	memset(buf->base, 1, buf->mapped_bytes);
	n = gi_sys_vmsplice(pipe->write_fd, sent, sizeof(seen), 0);
	if (n < 0)
		return (int)n;
	ret = way ? gi_barrier_run(way) : 0;
	memset(sent, 2, page);
	n = gi_sys_read(pipe->read_fd, seen, sizeof(seen));
	if (ret < 0)
		return ret;
	if (n != (ssize_t)sizeof(seen))
		return n < 0 ? (int)n : -EIO;
	return memchr(seen, 2, sizeof(seen)) == NULL;
}

static void end_trial(struct trial *trial)
{
	gi_pipe_close(&trial->pipe);
	gi_hugebuf_unmap(&trial->buf);
}

/* Before 5.18 small pages are protected and huge ones are not: the trial must not be fooled by small ones. */
static int make_huge(const struct trial *trial)
{
	int ret;

	memset(trial->buf.base, 1, trial->buf.mapped_bytes);
	ret = gi_hugebuf_is_huge(&trial->buf);
	return ret == 0 ? -EOPNOTSUPP : ret;
}

static int begin_trial(struct trial *trial, unsigned hugebuf_flags)
{
	bool huge = hugebuf_flags & GI_HUGEBUF_HUGE;
	int ret;

	*trial = (struct trial){ .pipe = GI_PIPE_NONE };
	ret = gi_hugebuf_map(huge ? gi_huge_page_bytes() : gi_page_bytes(), hugebuf_flags, &trial->buf);
	if (ret == 0 && huge)
		ret = make_huge(trial);
	if (ret >= 0)
		ret = gi_pipe_open(&trial->pipe);
	if (ret == 0)
		ret = try_way(trial, NULL);
	if (ret == 1)
		ret = -ENODATA;
	if (ret < 0)
		end_trial(trial);
	return ret;
}

int gi_barrier_try(const struct gi_barrier *barrier, unsigned hugebuf_flags)
{
	struct trial trial;
	int ret = begin_trial(&trial, hugebuf_flags);

	if (ret < 0)
		return ret;
	ret = try_way(&trial, barrier);
	end_trial(&trial);
	if (ret < 0)
		return ret;
	return ret == 1 ? 0 : -EOPNOTSUPP;
}

int gi_barrier_probe(unsigned hugebuf_flags, struct gi_barrier *ret_barrier)
{
	struct trial trial;
	int ret = begin_trial(&trial, hugebuf_flags);

	if (ret < 0)
		return ret == -ENODATA ? -EOPNOTSUPP : ret;
	ret = -EOPNOTSUPP;
	for (size_t i = 0; ret < 0 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (try_way(&trial, &ways[i]) == 1) {
			*ret_barrier = ways[i];
			ret = 0;
		}
	}
	end_trial(&trial);
	return ret;
}
