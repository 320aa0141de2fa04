/* SPDX-License-Identifier: MIT */
#include "barrier.h"

#include "hugebuf.h"
#include "pipe.h"
#include "sys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct gi_barrier ways[] = {
	{ gi_sys_clone3_no_pid, -EINVAL },
	{ gi_sys_clone_bad_pidfd, -EFAULT }, /* where a sandbox forbids clone3 */
};

int gi_barrier_run(const struct gi_barrier *barrier)
{
	long ret = barrier->copy_memory();

	/* A child that came to be after all was reaped by the wrapper, and has copied the memory just as
	 * well. */
	if (ret > 0 || ret == barrier->expected)
		return 0;
	return ret == 0 ? -EINVAL : (int)ret;
}

/*
 * Sends one page by reference, runs the way (or nothing), overwrites the page and reads back.
 * 1: the bytes stayed as they were sent, 0: they changed.
 */
static int try_way(const struct gi_hugebuf *buf, const struct gi_pipe *pipe, const struct gi_barrier *way)
{
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

static int probe_in(const struct gi_hugebuf *buf, const struct gi_pipe *pipe, struct gi_barrier *ret_barrier)
{
	int ret = try_way(buf, pipe, NULL);

	if (ret < 0)
		return ret;
	if (ret == 1)
		return -EOPNOTSUPP; /* vmsplice copies here: nothing to protect, and nothing gained by it
				       either */
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (try_way(buf, pipe, &ways[i]) == 1) {
			*ret_barrier = ways[i];
			return 0;
		}
	}
	return -EOPNOTSUPP;
}

int gi_barrier_probe(unsigned hugebuf_flags, struct gi_barrier *ret_barrier)
{
	size_t bytes = hugebuf_flags & GI_HUGEBUF_HUGE ? gi_huge_page_bytes() : gi_page_bytes();
	struct gi_pipe pipe = GI_PIPE_NONE;
	struct gi_hugebuf buf = { 0 };
	int ret = gi_hugebuf_map(bytes, hugebuf_flags, &buf);

	if (ret == 0)
		ret = gi_pipe_open(&pipe);
	if (ret == 0)
		ret = probe_in(&buf, &pipe, ret_barrier);
	gi_pipe_close(&pipe);
	gi_hugebuf_unmap(&buf);
	return ret;
}
