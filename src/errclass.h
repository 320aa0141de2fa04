/* SPDX-License-Identifier: MIT */
/*
 * THE table: what an error of a call that moves bytes means. No list of errno values stands anywhere else.
 *
 * The rule behind it: with nothing in transit, almost any error of a clever call may be answered by trying
 * the next way, since that either succeeds or meets the real error, at a read or a write that tells the side.
 * What is fatal at once is what the next way would only repeat.
 */
#ifndef GI_ERRCLASS_H
#define GI_ERRCLASS_H

enum gi_call {
	GI_CALL_READ,
	GI_CALL_WRITE,
	GI_CALL_SPLICE,	    /* source to sink: either may be at fault */
	GI_CALL_SPLICE_IN,  /* into a transit pipe */
	GI_CALL_SPLICE_OUT, /* out of a transit pipe */
	GI_CALL_SENDFILE,
	GI_CALL_COPY_FILE_RANGE,
	GI_CALL_TEE,
	GI_CALL_VMSPLICE,
	GI_CALL_POLL,
	GI_CALL_OWN, /* what concerns neither end: memory, a pipe of ours */
};

enum gi_class {
	GI_CLASS_WAIT, /* would have had to wait */
	GI_CLASS_NEXT, /* another way may do */
	GI_CLASS_FATAL,
};

#define GI_SIDE_SOCKET (-1) /* the end that is a socket; where neither is one, the verdict is NEXT */

struct gi_verdict {
	enum gi_class class;
	int side; /* GUSH_SIDE_... or GI_SIDE_SOCKET; of NEXT: whose it is when no way is left */
};

/* error: -errno or errno. */
struct gi_verdict gi_errclass(enum gi_call call, int error);

#endif
