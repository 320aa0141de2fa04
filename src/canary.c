/* SPDX-License-Identifier: MIT */
#include "canary.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>

int gi_canary_open(struct gi_canary *canary, void *page)
{
	*canary = (struct gi_canary){ .page = page, .pipe = GI_PIPE_NONE };
	return gi_pipe_open(&canary->pipe);
}

void gi_canary_close(struct gi_canary *canary)
{
	gi_pipe_close(&canary->pipe);
}

int gi_canary_send(struct gi_canary *canary)
{
	ssize_t n;

	*canary->page = ++canary->song;
	canary->singing = true;
	n = gi_sys_vmsplice(
		canary->pipe.write_fd, (const void *)canary->page, sizeof(canary->song), SPLICE_F_NONBLOCK);
	if (n < 0)
		return (int)n;
	return n == sizeof(canary->song) ? 0 : -EIO;
}

int gi_canary_check(struct gi_canary *canary)
{
	uint64_t heard = 0;
	ssize_t n;

	*canary->page = ~canary->song;
	n = gi_sys_read(canary->pipe.read_fd, &heard, sizeof(heard));
	if (n != sizeof(heard))
		return n < 0 ? (int)n : -EIO;
	canary->singing = false;
	return heard == canary->song ? 0 : -EOPNOTSUPP;
}
