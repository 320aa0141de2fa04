/* SPDX-License-Identifier: MIT */
/*
 * libgush: moves bytes between any two descriptors the fastest way that is correct here, and loses none.
 *
 *	#include <gush.h>
 *	cc ... $(pkg-config --cflags --libs gush)
 *
 * This header is the manual; gush(3) and the pages it names say the same with more examples.
 *
 * CONVENTIONS
 *   Errors are negative errno values; errno itself means nothing. Outputs named ret_* are written on success
 *   only, but for the count of gush_copy, which is exact in every case: what has been delivered to the sink,
 *   and no more. Sizes and offsets are bytes, in 64 bits. Times are nanoseconds.
 *   Structs of options begin with their own size, so that they can grow: start from the _INIT value. One that
 *   says it is smaller than the library's is -EINVAL; what a larger one has behind is not looked at.
 *   A function that ends a handle takes NULL and returns NULL. No other takes NULL for a handle.
 *
 * DESCRIPTORS
 *   They stay the caller's, and stay open as long as the handle: the library closes none of them and never
 *   changes their flags (O_NONBLOCK, O_APPEND) nor a file's offset other than by moving bytes. A pipe may be
 *   made larger (never smaller), eight of a process at most: a user has 64 large ones.
 *   With GUSH_SPARSE a source's own offset is somewhere else for moments, also where source_offset is given.
 *   O_NONBLOCK must not be changed by others while a handle is open; of a blocking socket that several read,
 *   a step of a GUSH_NONBLOCK transfer may wait for bytes that another took. SO_RCVTIMEO and SO_SNDTIMEO have
 *   no effect.
 *   What the library opens itself is O_CLOEXEC. It keeps up to four empty pipes (eight descriptors) when all
 *   handles are closed: a program that closes descriptors which it did not open breaks it.
 *
 * THREADS
 *   Different handles may be used at the same time by different threads; one handle by one thread at a time,
 *   but for a producer, which several may use at once (not while it is closed).
 *   Functions without a handle may be called at any time. No function is safe in a signal handler.
 *   The library starts a thread once, for 2 ms, when adaptive waiting has waited some times: to learn what a
 *   wake-up costs. GUSH_WAIT_BLOCK never does.
 *
 * FORK
 *   A handle belongs to the process that opened it: a child must leave it alone, close included. The child
 *   may open handles of its own, if its parent had one thread only. A producer is an exception: a child of
 *   fork(3) may go on with it and close it; what was lent and queued is the parent's to send.
 *
 * SIGNALS
 *   Interrupted calls are restarted. A write to a reader that has gone raises SIGPIPE, as write(2) does;
 *   ignore the signal to get -EPIPE instead.
 *
 * ENVIRONMENT
 *   GUSH_METHOD=read-write makes every transfer use that way and no other, but where options->method is
 *   given; a name that is none is ignored, and a way that does not suit the descriptors is -ENOTSUP.
 *   GUSH_STABLE=1 sets GUSH_STABLE in every transfer. Both hold for fan-outs too. GUSH_POLICY=copy makes
 *every producer copy. None is read by programs that run with more rights than their caller. They are read
 *when a handle is opened.
 */
#ifndef GUSH_H
#define GUSH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUSH_API __attribute__((visibility("default")))

/* The library's version, "0.3.0"; lives as long as the library. Since 0.2. */
GUSH_API const char *gush_version(void);

/* ---- transfers: from one descriptor to another ------------------------------------------------------- */

enum {
	/*
	 * Copy, so that a later change of a source file does not show in bytes already delivered. Without it,
	 * bytes that go from a regular file or a block device to a pipe or a socket may share the file's
	 * pages until the reader has them.
	 */
	GUSH_STABLE = 1 << 0,
	/*
	 * Holes of a source file become holes of a sink file. Both must be regular files, and the sink not in
	 * append mode; else it has no effect.
	 */
	GUSH_SPARSE = 1 << 1,
	/*
	 * Never wait: gush_transfer_step returns -EAGAIN instead. For event loops. Disks are waited for all
	 * the same, as with O_NONBLOCK.
	 */
	GUSH_NONBLOCK = 1 << 2,
};

enum {
	GUSH_WAIT_DEFAULT = 0,	/* ADAPTIVE between pipes, files and /dev/null, where it pays; else BLOCK */
	GUSH_WAIT_ADAPTIVE = 1, /* try again for about the cost of a wake-up, then in the kernel */
	GUSH_WAIT_SPIN = 2,	/* try again at once: uses a whole CPU */
	GUSH_WAIT_BLOCK = 3,	/* in the kernel */
};

#define GUSH_NO_LIMIT UINT64_MAX
#define GUSH_OWN_OFFSET ((int64_t)-1)

/* How to transfer. Since 0.2. */
struct gush_transfer_options {
	size_t size;	       /* sizeof(struct gush_transfer_options) */
	uint64_t limit_bytes;  /* stop after so many; GUSH_NO_LIMIT: at the end of the source */
	int64_t source_offset; /* where to read; GUSH_OWN_OFFSET: at the descriptor's offset, which moves */
	int64_t sink_offset;   /* the same for writing */
	const char *method; /* one way by name and no other (gush_method_name); NULL: the library chooses */
	uint32_t flags;	    /* GUSH_STABLE | ... */
	uint32_t wait;	    /* GUSH_WAIT_...; with GUSH_NONBLOCK it does not matter */
};

#define GUSH_TRANSFER_OPTIONS_INIT                                                                           \
	{                                                                                                    \
		sizeof(struct gush_transfer_options), GUSH_NO_LIMIT, GUSH_OWN_OFFSET, GUSH_OWN_OFFSET, NULL, \
			0, 0                                                                                 \
	}

/*
 * Copies until the source ends, the limit is reached or something fails. 0, or -errno; *ret_bytes (NULL: not
 * wanted) is what was delivered, in both cases. options NULL: those of the INIT value.
 *
 * Errors: what read(2) says of the source or write(2) of the sink, among them -ESPIPE for an offset of what
 * has none; those of gush_transfer_open; -EAGAIN with GUSH_NONBLOCK. What was taken from the source and not
 * delivered is lost after an error of the sink, and after -EAGAIN; not so of a file or block device,
 * whose offset is put back. To learn which side failed, use a handle and gush_transfer_side.
 *
 *	uint64_t bytes;
 *	int ret = gush_copy(STDIN_FILENO, STDOUT_FILENO, NULL, &bytes);
 *	if (ret < 0)
 *		fprintf(stderr, "%s after %llu bytes\n", strerror(-ret), (unsigned long long)bytes);
 *
 * Since 0.2.
 */
GUSH_API int gush_copy(
	int source, int sink, const struct gush_transfer_options *options, uint64_t *ret_bytes);

/* One transfer, step by step. Since 0.2, and so are its functions. */
struct gush_transfer;

/*
 * 0 and a handle, to be ended by gush_transfer_close; or -errno:
 *
 *   -EBADF    a descriptor is not open, or the source not for reading, or the sink not for writing
 *   -EINVAL   unknown flags, an unknown way, an unknown kind of waiting, an offset below 0, a wrong size
 *   -EINVAL   it would read again what it writes, and not end: both ends of one pipe; a file into itself
 *             (append mode, or ahead of where it is read) by more than the limit allows
 *   -ENOTSUP  options->method, or GUSH_METHOD, cannot serve these two descriptors with these options
 *   -ENOMEM
 *
 * From a socket that keeps messages apart (SOCK_SEQPACKET, SOCK_DGRAM) whole messages are taken, their bytes
 * follow each other in the sink; one of more than 128 KiB ends it with -EMSGSIZE, and an empty one ends it as
 * if the source had. What a limit cuts off a message is lost.
 */
GUSH_API int gush_transfer_open(int source, int sink, const struct gush_transfer_options *options,
	struct gush_transfer **ret_transfer);

/*
 * Moves what can be moved in one go: a pipe's contents, a MiB, of file to file 64 MiB, of a hole all of it.
 * Returns the bytes delivered by this call, 0 when the transfer is complete, or -errno:
 *
 *   -EAGAIN  with GUSH_NONBLOCK only: wait as gush_transfer_wait_for tells, then call again
 *   others   the transfer is over; gush_transfer_side tells which side failed
 *
 * A descriptor that is O_NONBLOCK itself is waited for, unless GUSH_NONBLOCK is set.
 * A call that would return -errno after it has delivered bytes returns the bytes, and the error next time.
 * When the transfer is over, further calls return the same 0 or -errno.
 */
GUSH_API int64_t gush_transfer_step(struct gush_transfer *transfer);

/*
 * After a step's -EAGAIN: the descriptor to poll(2) or epoll(7), and for POLLIN or POLLOUT. 0, or -EINVAL:
 * nothing to wait for.
 */
GUSH_API int gush_transfer_wait_for(const struct gush_transfer *transfer, int *ret_fd, short *ret_events);

/* Bytes delivered so far; those of holes, too. */
GUSH_API uint64_t gush_transfer_delivered(const struct gush_transfer *transfer);

/*
 * Bytes taken from the source and not yet delivered. More than 0 between steps, and after an error of the
 * sink: those bytes cannot be put back into a pipe or socket. The own offset of a file or block device is put
 * back when the handle is closed.
 */
GUSH_API uint64_t gush_transfer_pending(const struct gush_transfer *transfer);

enum { GUSH_SIDE_NONE, GUSH_SIDE_SOURCE, GUSH_SIDE_SINK };

/* Which side the last error came from. NONE: there was none, or it was neither's (-ENOMEM). */
GUSH_API int gush_transfer_side(const struct gush_transfer *transfer);

/* Always NULL. Bytes still pending are lost, as with any buffer, but for those of a file or block device. */
GUSH_API struct gush_transfer *gush_transfer_close(struct gush_transfer *transfer);

/* ---- ways, and the record of what was tried ---------------------------------------------------------- */

/* The ways by name, in the order of preference; NULL past the last. Lives as long as the library. Since 0.2.
 */
GUSH_API const char *gush_method_name(size_t index);

enum {
	GUSH_TRIED_UNFIT,  /* not for these kinds of descriptor, or these options */
	GUSH_TRIED_FAILED, /* the kernel refused it, perhaps after some bytes; `error` says how */
	GUSH_TRIED_USED,   /* chosen, and not refused */
};

/* One way and what became of it. Since 0.2. */
struct gush_report_entry {
	size_t size;	    /* sizeof(struct gush_report_entry), set by the caller */
	const char *method; /* lives as long as the library */
	const char *reason; /* in words; may be NULL; lives as long as the transfer */
	uint64_t bytes;	    /* delivered by it */
	int outcome;	    /* GUSH_TRIED_... */
	int error;	    /* -errno, or 0; of a way that was used, what the transfer ended with */
};

/*
 * The record of a transfer: entry 0, 1, ... in the order of trying. 0; -ENOENT past the last; -EINVAL for a
 * ret_entry->size that is too small. Since 0.2.
 */
GUSH_API int gush_report_entry(
	const struct gush_transfer *transfer, size_t index, struct gush_report_entry *ret_entry);

/* ---- fan-out: from one descriptor to several --------------------------------------------------------- */

enum {
	GUSH_FANOUT_WAIT, /* the slowest sink sets the pace */
	GUSH_FANOUT_DROP, /* a sink that takes nothing for drop_after_ns is dropped, with -ETIMEDOUT */
};

/* How to fan out. Since 0.2. */
struct gush_fanout_options {
	size_t size;	       /* sizeof(struct gush_fanout_options) */
	uint64_t limit_bytes;  /* stop after so many; GUSH_NO_LIMIT: at the end of the source */
	int64_t drop_after_ns; /* GUSH_FANOUT_DROP: how long a sink may keep the others waiting */
	uint32_t flags;	       /* GUSH_STABLE, GUSH_NONBLOCK */
	uint32_t policy;       /* GUSH_FANOUT_... */
};

#define GUSH_FANOUT_OPTIONS_INIT                                                                             \
	{                                                                                                    \
		sizeof(struct gush_fanout_options), GUSH_NO_LIMIT, 0, 0, GUSH_FANOUT_WAIT                    \
	}

/* One fan-out, step by step. Since 0.2, and so are its functions. */
struct gush_fanout;

/*
 * The sinks may be of any kinds, mixed; one descriptor may be there twice. Each gets every byte once, in
 * order. 0 and a handle, to be ended by gush_fanout_close; or -errno: -EBADF (the source), -EINVAL, -ENOMEM,
 * -EMFILE, -ENFILE. A sink that cannot be written to, or is the source itself (-EINVAL, as of a
 * transfer), is no error here: gush_fanout_error tells of it. It needs a pipe for itself and one for each
 * sink: 2 descriptors each, and one more.
 */
GUSH_API int gush_fanout_open(int source, const int *sinks, size_t sink_count,
	const struct gush_fanout_options *options, struct gush_fanout **ret_fanout);

/*
 * Returns bytes taken from the source and delivered to every sink that still works, 0 at the end, or -errno:
 *
 *   -EAGAIN  with GUSH_NONBLOCK only: wait as gush_fanout_wait_for tells, then call again; under
 *            GUSH_FANOUT_DROP no longer than drop_after_ns, since sinks are dropped in steps
 *   -EPIPE   no sink works any more
 *   others   an error of the source; all that was taken before it has been delivered
 */
GUSH_API int64_t gush_fanout_step(struct gush_fanout *fanout);

/* A sink's error: 0, or the -errno it failed with; it gets nothing more then. -ENOENT: no such sink. */
GUSH_API int gush_fanout_error(const struct gush_fanout *fanout, size_t sink);
/* Bytes delivered to a sink so far. 0: no such sink. */
GUSH_API uint64_t gush_fanout_delivered(const struct gush_fanout *fanout, size_t sink);
/*
 * Leaves a sink out from now on, as if it had failed with `error`, a negative errno. 0, also when it has
 * failed already; -ENOENT: no such sink; -EINVAL: not negative.
 */
GUSH_API int gush_fanout_drop(struct gush_fanout *fanout, size_t sink, int error);

struct pollfd;
/*
 * After a step's -EAGAIN: fills up to `room` entries to poll; returns how many there are. ret_fds may be NULL
 * when room is 0.
 */
GUSH_API size_t gush_fanout_wait_for(const struct gush_fanout *fanout, struct pollfd *ret_fds, size_t room);

/* Always NULL. Bytes that some sink has not got yet are lost to it. */
GUSH_API struct gush_fanout *gush_fanout_close(struct gush_fanout *fanout);

/* ---- producers: from memory to a descriptor ----------------------------------------------------------- */

/*
 * Who may see what of the memory that is sent. Only COPY and CONSTANT work for memory of the caller's own
 * (gush_producer_send); the others are about memory that gush_producer_reserve lends.
 */
enum {
	/* The bytes are copied, as write(2) does. Always right. */
	GUSH_COPY = 0,
	/* The caller never changes the bytes again: pipes share their pages. Reserved memory is copied. */
	GUSH_CONSTANT = 1,
	/*
	 * Pipes share pages, and bytes in flight never change, whoever holds them downstream and however
	 * long: the copy-on-write barrier (docs/barrier.md). Where it does not protect, or would be slower
	 * than copying, the library copies. It uses 32 MiB of memory, and up to ring_limit_bytes.
	 */
	GUSH_PROTECT = 2,
	/*
	 * Pipes share pages, and a page is used again after a pipe's worth of newer bytes. Right only if the
	 * pipe's direct reader copies, with read(2). It CORRUPTS behind a reader that passes pages on, as
	 * cat, pv and tee of these days do.
	 */
	GUSH_TRUST_READER = 3,
	/* Pipes get the pages for good, and each piece of memory is a fresh one. */
	GUSH_GIVE = 4,
};

/* How to produce. Since 0.3. */
struct gush_producer_options {
	size_t size;	     /* sizeof(struct gush_producer_options) */
	uint64_t ring_bytes; /* memory to lend from, at once; 0: the library chooses when, and how much */
	uint64_t ring_limit_bytes; /* PROTECT: to grow to under a reader that lags; 0: 256 MiB */
	uint32_t policy;	   /* GUSH_COPY, ... */
	uint32_t flags;		   /* GUSH_NONBLOCK */
	uint32_t wait; /* GUSH_WAIT_..., where pages are shared; DEFAULT: ADAPTIVE for CONSTANT, else BLOCK */
	uint32_t reserved; /* 0 */
};

#define GUSH_PRODUCER_OPTIONS_INIT                                                                           \
	{                                                                                                    \
		sizeof(struct gush_producer_options), 0, 0, GUSH_COPY, 0, 0, 0                               \
	}

/*
 * A stream of bytes into one descriptor. Several threads may use one handle: each gets memory of its own
 * from gush_producer_reserve, and what one commit gives stays together and in one piece in the stream.
 * Since 0.3, and so are its functions.
 *
 *	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;
 *	struct gush_producer *p;
 *	struct gush_region region;
 *
 *	options.policy = GUSH_PROTECT;
 *	if (gush_producer_open(STDOUT_FILENO, &options, &p) < 0)
 *		...
 *	while (gush_producer_reserve(p, 1, SIZE_MAX, &region) == 0) {
 *		size_t bytes = generate(region.memory, region.bytes);
 *
 *		if (bytes == 0 || gush_producer_commit(p, &region, bytes) < 0)
 *			break;
 *	}
 *	ret = gush_producer_flush(p);
 *	gush_producer_close(p);
 */
struct gush_producer;

/*
 * 0 and a handle, to be ended by gush_producer_close; or -errno: -EBADF (not open, or not for writing),
 * -EINVAL (options), -ENOMEM. options NULL: those of the INIT value. The sink may be of any kind; what is no
 * pipe gets the bytes by write(2). GUSH_POLICY=copy in the environment makes every policy COPY.
 */
GUSH_API int gush_producer_open(
	int sink, const struct gush_producer_options *options, struct gush_producer **ret_producer);

/* Memory lent by gush_producer_reserve. */
struct gush_region {
	void *memory;
	size_t bytes;
	uint64_t reserved; /* the library's */
};

#define GUSH_REGION_MOST ((size_t)1 << 20) /* what reserve can always give in one piece */

/*
 * Lends memory to write to: region->bytes is from least_bytes to most_bytes. Its contents are arbitrary. It
 * is the caller's until gush_producer_commit; a thread holds one at a time. May wait: for the sink, and for
 * other threads to commit. 0, or -errno:
 *
 *   -EINVAL   least_bytes is 0, or more than most_bytes or GUSH_REGION_MOST
 *   -EDEADLK  the thread holds a region itself
 *   -EAGAIN   GUSH_NONBLOCK: poll the sink for POLLOUT, then call again
 *   -ENOMEM
 *   others    an earlier error of the sink
 */
GUSH_API int gush_producer_reserve(struct gush_producer *producer, size_t least_bytes, size_t most_bytes,
	struct gush_region *ret_region);

/*
 * Takes the first `bytes` of a region (0: none of it) into the stream, and the region back. They are sent
 * when enough have gathered, or by gush_producer_flush. 0, or -errno: -EINVAL (more than the region has);
 * an error of the sink, as write(2) tells it, now and ever after. GUSH_NONBLOCK: never -EAGAIN.
 */
GUSH_API int gush_producer_commit(struct gush_producer *producer, struct gush_region *region, size_t bytes);

struct iovec;
/*
 * Sends memory of the caller's own, after what was committed before. CONSTANT: it shares pages with pipes
 * and must never change again; every other policy: it is copied, and may be used again on return. Returns
 * the bytes taken, all of them but with GUSH_NONBLOCK, or when the sink fails after some: the next call has
 * its error; or -errno, as gush_producer_flush.
 */
GUSH_API int64_t gush_producer_send(
	struct gush_producer *producer, const struct iovec *pieces, size_t piece_count);

/*
 * Sends the same bytes again and again, total_bytes in all (GUSH_NO_LIMIT: until the sink fails). They are
 * copied first, and may be used again on return. The fastest way for what repeats. Returns the bytes taken
 * or -errno, as gush_producer_send; -EINVAL with GUSH_NONBLOCK, or for no bytes.
 */
GUSH_API int64_t gush_producer_repeat(
	struct gush_producer *producer, const void *memory, size_t bytes, uint64_t total_bytes);

/* Sends all that was committed. 0, or -errno: -EAGAIN with GUSH_NONBLOCK; the sink's error. */
GUSH_API int gush_producer_flush(struct gush_producer *producer);

/* Bytes that the sink has taken. Of a pipe: they are in it, and need not have been read. */
GUSH_API uint64_t gush_producer_delivered(const struct gush_producer *producer);
/* Bytes committed and not sent yet. */
GUSH_API uint64_t gush_producer_pending(const struct gush_producer *producer);

/*
 * The ways tried so far, as gush_report_entry: "write", "vmsplice", "tee", and for PROTECT "barrier-clone3",
 * "barrier-clone", "barrier-child", "fresh-pages".
 */
GUSH_API int gush_producer_report_entry(
	const struct gush_producer *producer, size_t index, struct gush_report_entry *ret_entry);

/* Always NULL. It does not flush: what is pending is lost. Bytes in flight stay as they are. */
GUSH_API struct gush_producer *gush_producer_close(struct gush_producer *producer);

/* ---- consumers: from a descriptor to memory ----------------------------------------------------------- */

/* How to consume. Since 0.3. */
struct gush_consumer_options {
	size_t size;		     /* sizeof(struct gush_consumer_options) */
	uint64_t buffer_bytes;	     /* to begin with; 0: 256 KiB */
	uint64_t buffer_limit_bytes; /* to grow to for one record, or one peek; 0: 64 MiB; it comes first */
	uint32_t flags;		     /* GUSH_NONBLOCK */
	uint32_t wait;		     /* GUSH_WAIT_...; DEFAULT: ADAPTIVE for pipes, else BLOCK */
};

#define GUSH_CONSUMER_OPTIONS_INIT                                                                           \
	{                                                                                                    \
		sizeof(struct gush_consumer_options), 0, 0, 0, 0                                             \
	}

/*
 * A stream of bytes out of one descriptor. Since 0.3, and so are its functions.
 *
 *	const void *data;
 *	size_t bytes;
 *
 *	while ((ret = gush_consumer_next(c, &data, &bytes)) > 0)
 *		use(data, bytes);
 */
struct gush_consumer;

/*
 * 0 and a handle, to be ended by gush_consumer_close; or -errno: -EBADF (not open, or not for reading),
 * -EINVAL (options), -ENOMEM. The source may be of any kind; it is read from the descriptor's own offset on.
 * Of a socket that keeps messages apart whole messages are taken, and their bytes follow each other; an empty
 * one is the end.
 */
GUSH_API int gush_consumer_open(
	int source, const struct gush_consumer_options *options, struct gush_consumer **ret_consumer);

/*
 * gush_consumer_next, _peek and _split return 1 with data, 0 at the end of the source, or -errno:
 *
 *   -EAGAIN    with GUSH_NONBLOCK only: poll the source for POLLIN, then call again
 *   -EMSGSIZE  peek and split: more than the buffer may grow to; nothing is lost, next hands it out
 *   -EMSGSIZE  a message of more than buffer_limit_bytes: as an error of the source
 *   -ENOMEM    peek and split, of messages next too: the buffer cannot grow; nothing is lost
 *   others     an error of the source, after all that was read before it has been handed out
 *
 * The end and an error of the source stay: the source is not read again. Data are the library's, and stay as
 * they are until the next call with the handle.
 */

/* What is there already, else what the next read brings: at least a byte. It counts as consumed. */
GUSH_API int gush_consumer_next(struct gush_consumer *consumer, const void **ret_data, size_t *ret_bytes);

/*
 * The next least_bytes and what happens to be there behind them, consuming none. Fewer come only when the
 * source has ended behind them, or failed: a longer peek would bring no more. With 0 nothing is read: what is
 * there already, which may be 0 bytes. -EMSGSIZE: least_bytes is more than buffer_limit_bytes, whatever the
 * source holds.
 */
GUSH_API int gush_consumer_peek(
	struct gush_consumer *consumer, size_t least_bytes, const void **ret_data, size_t *ret_bytes);
/*
 * Consumes some of what the last peek showed; next and split end what it showed. 0, or -EINVAL, consuming
 * none: it is more than that, less what was consumed since.
 */
GUSH_API int gush_consumer_consume(struct gush_consumer *consumer, size_t bytes);

/*
 * The next record, up to and with the delimiter, which the last one before the end, or before an error, may
 * lack. It counts as consumed. It is handed out where it was read, but for one that straddles the end of the
 * buffer, which is moved first; no byte is looked at twice. -EMSGSIZE: no delimiter in buffer_limit_bytes;
 * gush_consumer_next then hands these out, and split the rest of the record.
 */
GUSH_API int gush_consumer_split(
	struct gush_consumer *consumer, unsigned char delimiter, const void **ret_data, size_t *ret_bytes);

/*
 * Always NULL. What was read and not consumed is lost, but for a regular file or block device, whose own
 * offset is put back.
 */
GUSH_API struct gush_consumer *gush_consumer_close(struct gush_consumer *consumer);

#ifdef __cplusplus
}
#endif

#endif
