/* SPDX-License-Identifier: MIT */
/* From memory to the sink: what is queued, and memory of the caller's own. */
#include "errclass.h"
#include "producer.h"
#include "sys.h"
#include "transit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>

#define SHARED_PIECE_LEAST 4096 /* smaller ones are copied: each would take a slot, as a page does */
#define PIECES_MOST 64 /* of one call; more brought nothing, since each is a slot of a pipe at least */

static bool nonblocking(const struct gush_producer *p)
{
	return p->options.flags & GUSH_NONBLOCK;
}

int gi_producer_wait_change(struct gush_producer *p)
{
	if (nonblocking(p))
		return -EAGAIN;
	p->waiting++;
	pthread_cond_wait(&p->changed, &p->lock);
	p->waiting--;
	return p->error;
}

void gi_producer_tell_change(struct gush_producer *p)
{
	if (p->waiting > 0)
		pthread_cond_broadcast(&p->changed);
}

/* ---- one call, without the lock ---- */

static ssize_t copy_once(struct gush_producer *p, const struct gi_parcel *parcel)
{
	const struct iovec *first = parcel->pieces;

	if (nonblocking(p))
		return gi_nowait_write(&p->io, first->iov_base, first->iov_len);
	if (parcel->count == 1)
		return gi_sys_write(p->sink.fd, first->iov_base, first->iov_len);
	return gi_sys_writev(p->sink.fd, parcel->pieces, parcel->count);
}

static ssize_t send_once(struct gush_producer *p, const struct gi_parcel *parcel)
{
	unsigned flags = nonblocking(p) || gi_wait_nonblocking(&p->wait) ? SPLICE_F_NONBLOCK : 0;

	switch (parcel->by) {
	case GI_SEND_SHARE:
		return gi_sys_vmsplice_pieces(p->sink.fd, parcel->pieces, parcel->count, flags);
	case GI_SEND_TEE:
		return gi_sys_tee(parcel->master, p->sink.fd, parcel->master_bytes, flags);
	case GI_SEND_COPY:
		break;
	}
	return copy_once(p, parcel);
}

/* Bytes the sink took, waiting for it if need be; or -errno, which may be one that copying would not meet. */
static ssize_t move(struct gush_producer *p, const struct gi_parcel *parcel)
{
	for (;;) {
		ssize_t n = send_once(p, parcel);
		int ret;

		if (n > 0) {
			gi_wait_moved(&p->wait);
			return n;
		}
		if (n != -EAGAIN || nonblocking(p))
			return n < 0 ? n : -EIO; /* 0 for bytes that were to go is no answer */
		ret = gi_wait_again(&p->wait, p->sink.fd, POLLOUT);
		if (ret < 0)
			return ret;
	}
}

/* 0: it may be answered by another way. */
static int take_error(struct gush_producer *p, const struct gi_parcel *parcel, int error)
{
	static const enum gi_call calls[] = {
		[GI_SEND_COPY] = GI_CALL_WRITE,
		[GI_SEND_SHARE] = GI_CALL_VMSPLICE,
		[GI_SEND_TEE] = GI_CALL_TEE,
	};

	if (error == -EAGAIN)
		return error;
	gi_record_use(&p->record, parcel->way);
	if (gi_errclass(calls[parcel->by], error).class != GI_CLASS_NEXT) {
		gi_record_outcome(&p->record, GUSH_TRIED_USED, error, NULL);
		p->error = error;
		return error;
	}
	gi_record_outcome(&p->record, GUSH_TRIED_FAILED, error, NULL);
	p->refused[parcel->by] = true;
	if (parcel->by == GI_SEND_SHARE)
		gi_producer_stop_sharing(p);
	return 0;
}

ssize_t gi_producer_move(struct gush_producer *p, const struct gi_parcel *parcel)
{
	ssize_t n;

	p->sending = true;
	pthread_mutex_unlock(&p->lock);
	n = move(p, parcel);
	pthread_mutex_lock(&p->lock);
	p->sending = p->turn;
	gi_producer_tell_change(p);
	if (n < 0)
		return take_error(p, parcel, (int)n);
	p->delivered_bytes += (uint64_t)n;
	gi_record_use(&p->record, parcel->way);
	gi_record_bytes(&p->record, (uint64_t)n);
	gi_transit_enlarge_end(&p->sink, p->delivered_bytes);
	return n;
}

/* ---- the queue ---- */

/* The last of a block has gone. */
static void note_sent(struct gi_block *block, void *arg)
{
	const struct gush_producer *p = arg;

	block->sent_end = p->delivered_bytes;
	gi_protect_sent(&p->protect, block);
}

/*
 * The last page of several is left for the next call, unless all must go: two parts of one page would take
 * two slots of the pipe.
 */
static void leave_part_of_page(struct iovec *piece)
{
	size_t part = ((uintptr_t)piece->iov_base + piece->iov_len) % gi_page_bytes();

	if (part < piece->iov_len)
		piece->iov_len -= part;
}

static void mark_in_flight(struct gush_producer *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		gi_queue_piece(&p->queue, i)->block->in_flight = true;
}

static int send_front(struct gush_producer *p, bool all)
{
	struct iovec pieces[PIECES_MOST];
	struct gi_parcel parcel = { .by = p->sharing ? GI_SEND_SHARE : GI_SEND_COPY, .pieces = pieces };
	ssize_t n;

	parcel.way = gi_producer_way(p);
	parcel.count = gi_queue_front(&p->queue, pieces, PIECES_MOST);
	if (p->sharing) {
		mark_in_flight(p, parcel.count);
		if (!all && parcel.count == p->queue.count)
			leave_part_of_page(&pieces[parcel.count - 1]);
	}
	n = gi_producer_move(p, &parcel);
	if (n > 0)
		gi_queue_sent(&p->queue, (size_t)n, note_sent, p);
	return n < 0 ? (int)n : 0;
}

int gi_producer_drain(struct gush_producer *p, size_t leave)
{
	uint64_t until = p->queue.added_bytes;
	int ret = p->error;

	until -= leave < gi_queue_bytes(&p->queue) ? leave : gi_queue_bytes(&p->queue);
	while (ret == 0 && p->queue.sent_bytes < until)
		ret = p->sending ? gi_producer_wait_change(p) : send_front(p, leave == 0);
	return ret;
}

int gush_producer_flush(struct gush_producer *p)
{
	int ret;

	gi_producer_lock(p);
	ret = gi_producer_drain(p, 0);
	pthread_mutex_unlock(&p->lock);
	return ret;
}

/* ---- memory of the caller's own ---- */

int gi_producer_take_turn(struct gush_producer *p)
{
	int ret = gi_producer_drain(p, 0);

	while (ret == 0 && (p->sending || p->queue.count > 0))
		ret = p->sending ? gi_producer_wait_change(p) : gi_producer_drain(p, 0);
	if (ret == 0)
		p->turn = p->sending = true;
	return ret;
}

void gi_producer_end_turn(struct gush_producer *p)
{
	p->turn = p->sending = false;
	gi_producer_tell_change(p);
}

/* The pieces from byte `done` on. Returns how many. */
static size_t rest_of(const struct iovec *pieces, size_t count, uint64_t done, struct iovec *ret_rest)
{
	size_t n = 0;

	for (size_t i = 0; i < count && n < PIECES_MOST; i++) {
		if (done >= pieces[i].iov_len) {
			done -= pieces[i].iov_len;
			continue;
		}
		ret_rest[n].iov_base = (char *)pieces[i].iov_base + done;
		ret_rest[n++].iov_len = pieces[i].iov_len - (size_t)done;
		done = 0;
	}
	return n;
}

static bool may_share_constant(const struct gush_producer *p)
{
	return p->options.policy == GUSH_CONSTANT && p->sink.kind == GI_KIND_PIPE &&
	       !p->refused[GI_SEND_SHARE];
}

static ssize_t send_pieces(struct gush_producer *p, const struct iovec *pieces, size_t count, uint64_t total)
{
	bool large = total / count >= SHARED_PIECE_LEAST;
	uint64_t done = 0;

	while (done < total) {
		struct iovec rest[PIECES_MOST];
		struct gi_parcel parcel = { .way = "write", .pieces = rest };
		ssize_t moved;

		parcel.count = rest_of(pieces, count, done, rest);
		if (large && may_share_constant(p)) {
			parcel.by = GI_SEND_SHARE;
			parcel.way = "vmsplice";
		}
		moved = gi_producer_move(p, &parcel);
		if (moved < 0)
			return done > 0 ? (ssize_t)done : moved; /* the error stays for the next call */
		done += (uint64_t)moved;
	}
	return (ssize_t)done;
}

int64_t gush_producer_send(struct gush_producer *p, const struct iovec *pieces, size_t piece_count)
{
	uint64_t total = 0;
	int64_t ret;

	for (size_t i = 0; i < piece_count; i++)
		if (__builtin_add_overflow(total, pieces[i].iov_len, &total) || total > SSIZE_MAX)
			return -EINVAL;
	gi_producer_lock(p);
	ret = gi_producer_take_turn(p);
	if (ret == 0) {
		ret = total ? send_pieces(p, pieces, piece_count, total) : 0;
		gi_producer_end_turn(p);
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}
