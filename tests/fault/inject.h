/* SPDX-License-Identifier: MIT */
/*
 * Faults in the seam of system calls (src/sys.h). A program linked with --wrap for each name in
 * tests/fault/wrapped calls the wrappers of inject.c, which do as the one struct here says and otherwise
 * make the real call.
 */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>
#include <stddef.h>

enum inject_call {
	INJECT_OPEN,
	INJECT_CLOSE,
	INJECT_FSTAT,
	INJECT_READ,
	INJECT_WRITE,
	INJECT_WRITEV,
	INJECT_READ_FLAGS,
	INJECT_WRITE_FLAGS,
	INJECT_PREAD,
	INJECT_PWRITE,
	INJECT_SPLICE,
	INJECT_SPLICE_AT,
	INJECT_SENDFILE,
	INJECT_COPY_FILE_RANGE,
	INJECT_VMSPLICE,
	INJECT_VMSPLICE_PIECES,
	INJECT_TEE,
	INJECT_RECV, /* whole messages too: never cut short */
	INJECT_LSEEK,
	INJECT_FTRUNCATE,
	INJECT_FALLOCATE,
	INJECT_PIPE,
	INJECT_GET_FLAGS,
	INJECT_GET_PIPE_SIZE,
	INJECT_SET_PIPE_SIZE,
	INJECT_POLL,
	INJECT_MMAP,
	INJECT_MUNMAP,
	INJECT_MADVISE,
	INJECT_MLOCK,
	INJECT_IOCTL,
	INJECT_CLONE3,
	INJECT_CLONE_PIDFD,
	INJECT_CLONE_CHILD,
	/* No system calls: only planted bugs are put here. */
	INJECT_ERRCLASS,
	INJECT_CANARY,
	INJECT_TRANSIT_PUT,
	INJECT_CALLS,
};

enum inject_kind {
	INJECT_NOTHING,
	INJECT_ERRNO, /* fail with -value, having done nothing (close: having closed, as Linux does) */
	INJECT_SHORT, /* really move `value` bytes at most, and say so */
	/* Lies, told once: planted bugs that the checks must catch. */
	INJECT_DROP,	   /* send less than claimed; or receive more than claimed */
	INJECT_TWICE,	   /* send the same bytes twice; or hand the same ones out twice */
	INJECT_CORRUPT,	   /* one byte wrong */
	INJECT_OVERCLAIM,  /* claim one byte more than was moved */
	INJECT_UNDERCLAIM, /* claim half of what was moved */
	INJECT_END,	   /* 0, as at the end of the input, where there is more to come */
	/*
	 * A clone that claims to have failed as it should, and did nothing; an error taken for the other
	 * side's, or for one of another class (value: 1 + it); advice that was not taken; a canary that sings
	 * whatever happens; a transit pipe said to be empty.
	 */
	INJECT_PRETEND,
};

struct inject {
	enum inject_kind kind;
	enum inject_call call;
	unsigned at, times; /* the first call to hit, counted from 1, and how many in a row */
	long value;
	const long *values; /* INJECT_SHORT: one after the other, round and round, in place of value; NULL:
			       value */
	unsigned value_count;
	size_t cap_bytes; /* no call moves more than this; 0: as it likes */

	/* A second fault that is always there: an old kernel or a sandbox. 0: none */
	enum inject_call missing;
	int missing_errno;
	unsigned missing_from;	/* there from this call on */
	unsigned missing_times; /* 0: for good */
	int missing_in;		/* the descriptor of the first one */

	int poll_fd;	   /* the one descriptor that there is to wait for, */
	short poll_events; /* and what for */

	/* Found out. */
	bool poll_strayed;   /* a poll of another, or for something else */
	bool running;	     /* set by the test: prepared, now running */
	bool hit_running;    /* the (first) hit came while running */
	unsigned hits;	     /* faults and lies that happened */
	int hit_in, hit_out; /* descriptors of the first; -1: none, or not known */
	bool blind;	     /* FIONREAD says 0 */
	long mapped_bytes;   /* by mmap_private, less what munmap gave back */
	size_t last_bytes;   /* what the last receiving call brought */
	void *left_base;     /* what a munmap that was failed has left, for the test to take away */
	size_t left_bytes;
	unsigned seen[INJECT_CALLS];
};

extern struct inject inject;

const char *inject_call_name(enum inject_call call);
bool inject_moves_bytes(enum inject_call call);

#endif
