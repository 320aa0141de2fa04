/* SPDX-License-Identifier: MIT */
#include "errclass.h"

#include "gush.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { ANY = 0, OF_SOCKET = -1 };

#define EVERY_CALL (-1)

/* The first line that matches holds. Seen on 6.18 unless said otherwise. */
static const struct {
	int call;  /* enum gi_call, or EVERY_CALL */
	int error; /* or ANY, or OF_SOCKET */
	struct gi_verdict verdict;
} table[] = {
	{ GI_CALL_OWN, ANY, { GI_CLASS_NEXT, GUSH_SIDE_NONE } },
	{ EVERY_CALL, EAGAIN, { GI_CLASS_WAIT, GUSH_SIDE_NONE } },

	{ GI_CALL_READ, ANY, { GI_CLASS_FATAL, GUSH_SIDE_SOURCE } },
	{ GI_CALL_WRITE, ANY, { GI_CLASS_FATAL, GUSH_SIDE_SINK } },
	{ GI_CALL_POLL, ANY, { GI_CLASS_FATAL, GUSH_SIDE_NONE } },

	/* A socket tells of these once; asked again, it says that the source has ended, or EPIPE. */
	{ GI_CALL_SPLICE, OF_SOCKET, { GI_CLASS_FATAL, GI_SIDE_SOCKET } },
	{ GI_CALL_SPLICE_IN, OF_SOCKET, { GI_CLASS_FATAL, GUSH_SIDE_SOURCE } },
	{ GI_CALL_SPLICE_OUT, OF_SOCKET, { GI_CLASS_FATAL, GUSH_SIDE_SINK } },
	{ GI_CALL_SENDFILE, OF_SOCKET, { GI_CLASS_FATAL, GI_SIDE_SOCKET } },

	/* Into a pipe of ours: the sink has no part in it. */
	{ GI_CALL_SPLICE_IN, ANY, { GI_CLASS_NEXT, GUSH_SIDE_SOURCE } },

	/* The sink's, and trying again would raise the signal again (SIGPIPE, SIGXFSZ) or change the file
	   further. */
	{ EVERY_CALL, EPIPE, { GI_CLASS_FATAL, GUSH_SIDE_SINK } },
	{ EVERY_CALL, EFBIG, { GI_CLASS_FATAL, GUSH_SIDE_SINK } },
	{ EVERY_CALL, ENOSPC, { GI_CLASS_FATAL, GUSH_SIDE_SINK } },
	{ EVERY_CALL, EDQUOT, { GI_CLASS_FATAL, GUSH_SIDE_SINK } },
	{ GI_CALL_SPLICE_OUT, ANY, { GI_CLASS_NEXT, GUSH_SIDE_SINK } },

	/*
	 * All else: EINVAL (append mode, /dev/full, some of /proc), EBADF and EXDEV (copy_file_range to
	 * append mode, across file systems), ESPIPE, EOPNOTSUPP, ENOSYS and EPERM (an old kernel, a sandbox),
	 * ETXTBSY, EISDIR, EIO, ...
	 */
	{ EVERY_CALL, ANY, { GI_CLASS_NEXT, GUSH_SIDE_NONE } },
};

/* What a connection can end with. */
static bool of_socket(int error)
{
	return error == ECONNRESET || error == ECONNABORTED || error == ECONNREFUSED || error == ETIMEDOUT ||
	       error == EHOSTUNREACH || error == EHOSTDOWN || error == ENETUNREACH || error == ENETDOWN ||
	       error == ENETRESET;
}

static bool matches(size_t i, enum gi_call call, int error)
{
	if (table[i].call != EVERY_CALL && table[i].call != (int)call)
		return false;
	return table[i].error == ANY || table[i].error == error ||
	       (table[i].error == OF_SOCKET && of_socket(error));
}

struct gi_verdict gi_errclass(enum gi_call call, int error)
{
	size_t i = 0;

	error = abs(error);
	while (!matches(i, call, error))
		i++;
	return table[i].verdict;
}
