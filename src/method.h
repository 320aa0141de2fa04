/* SPDX-License-Identifier: MIT */
/*
 * A way to move bytes from source to sink. The table in method.c holds them in the order of preference; each
 * is one file, method_NAME.c.
 */
#ifndef GI_METHOD_H
#define GI_METHOD_H

#include "endpoint.h"
#include "errclass.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gush_transfer;

#define GI_KINDS(kind) (1u << (kind))
#define GI_ANY_KIND (~0u)

enum {
	GI_METHOD_SHARES_PAGES =
		1 << 0, /* of a regular source with a pipe or socket sink: not for GUSH_STABLE */
	GI_METHOD_NEEDS_PIPE = 1 << 1, /* source or sink must be one */
	GI_METHOD_NO_PIPE = 1 << 2,    /* neither may be one */
	GI_METHOD_NO_APPEND = 1 << 3,  /* the kernel refuses a sink in append mode */
	/* Of a file, its "0 bytes" may be wrong, since it asks for the size first: a read has the last word.
	 */
	GI_METHOD_DOUBTS_END = 1 << 4,
	GI_METHOD_NO_SINK_OFFSET = 1 << 6, /* writes at the descriptor's own offset only */
	GI_METHOD_SOCKET_WAITS =
		1 << 7, /* waits, whatever is said, for a socket that is not O_NONBLOCK itself */
	GI_METHOD_CUTS_MESSAGES = 1 << 8, /* takes what fits the pipe; the rest of a message is lost */
};

struct gi_method {
	const char *name;
	unsigned sources, sinks; /* GI_KINDS masks */
	unsigned flags;
	int (*open)(struct gush_transfer *t); /* 0 or -errno; NULL: nothing to do */
	/*
	 * Moves up to `most` bytes. Returns the bytes delivered, 0 at the end of the source, or -errno after
	 * gi_transfer_fail told what call it was. May not deliver and fail at once.
	 */
	ssize_t (*step)(struct gush_transfer *t, size_t most);
	/*
	 * Delivers bytes that are in transit, by write, before another way takes over: same returns, 0 when
	 * none is left. NULL: this way never has any between steps.
	 */
	ssize_t (*drain)(struct gush_transfer *t);
	void (*close)(struct gush_transfer *t); /* NULL: nothing to do */
};

extern const struct gi_method gi_method_copy_file_range, gi_method_sendfile, gi_method_splice,
	gi_method_relay, gi_method_read_write;

const struct gi_method *gi_method_at(size_t index); /* NULL past the last */

/* NULL: this way suits these ends; else why not, in words. */
const char *gi_method_unfit(const struct gi_method *m, const struct gush_transfer *t);

#endif
