/* SPDX-License-Identifier: MIT */
/*
 * Random operations on consumers, each compared with a model that knows what the source was fed.
 *
 *	tests/fuzz/consumer [SECONDS [SEED]]	as part of `make check`: 3 seconds, a new seed each time,
 *printed
 *
 * One run: a source of a random kind; then next, peek, consume, split and feed, close the writer, close the
 * handle and open another with other limits, until the input is used up.
 */
#include "model.h"

struct handle {
	struct gush_consumer *c;
	size_t at;    /* consumed, of the source's content */
	size_t shown; /* by the last peek */
	size_t limit;
	bool ended; /* at `end`, whatever a file is fed later */
	size_t end;
};

static bool over(const struct run *r, const struct handle *h)
{
	return h->ended || r->source.kind == KIND_FILE || r->source.feed_fd < 0;
}

static size_t left(const struct run *r, const struct handle *h)
{
	return (h->ended ? h->end : r->source.fed) - h->at;
}

static void note_end(const struct run *r, struct handle *h)
{
	if (!h->ended)
		h->end = r->source.fed;
	h->ended = true;
}

static void check_data(const struct run *r, const struct handle *h, const void *data, size_t bytes)
{
	if (bytes > left(r, h))
		fail("more than was fed", (long long)bytes, (long long)left(r, h));
	must("bytes", memcmp(data, r->source.content + h->at, bytes), 0);
}

static void open_handle(struct run *r, struct handle *h)
{
	struct gush_consumer_options o = GUSH_CONSUMER_OPTIONS_INIT;

	o.flags = GUSH_NONBLOCK;
	o.wait = take(r, 4);
	if (take(r, 2))
		o.buffer_bytes = take_bytes(r);
	if (take(r, 2))
		o.buffer_limit_bytes = take_bytes(r);
	h->limit = o.buffer_limit_bytes ? o.buffer_limit_bytes : 64 << 20;
	h->shown = 0;
	h->ended = false;
	must("open", gush_consumer_open(r->source.fd, &o, &h->c), 0);
	note("open, buffer %zu, limit %zu, from %zu\n", (size_t)o.buffer_bytes, h->limit, h->at);
}

static void close_handle(struct run *r, struct handle *h)
{
	struct source *s = &r->source;
	int unread = 0;

	h->c = gush_consumer_close(h->c);
	note("close at %zu\n", h->at);
	if (s->kind == KIND_FILE) {
		must("offset", lseek(s->fd, 0, SEEK_CUR), (long long)h->at);
		return;
	}
	must("FIONREAD", ioctl(s->fd, FIONREAD, &unread), 0);
	if ((size_t)unread > s->fed - h->at)
		fail("left in the source", unread, (long long)(s->fed - h->at));
	h->at = s->fed - (size_t)unread; /* what was read ahead is lost */
}

static void do_next(struct run *r, struct handle *h)
{
	const void *data;
	size_t bytes = 0;
	int ret = gush_consumer_next(h->c, &data, &bytes);

	note("next: %d, %zu\n", ret, bytes);
	if (left(r, h) == 0) {
		must("next of nothing", ret, over(r, h) ? 0 : -EAGAIN);
		if (ret == 0)
			note_end(r, h);
		return;
	}
	must("next", ret, 1);
	must("next brings something", bytes > 0 && bytes <= h->limit, 1);
	check_data(r, h, data, bytes);
	h->at += bytes;
	h->shown = 0;
}

static void do_peek(struct run *r, struct handle *h)
{
	size_t least = take(r, 8) ? take_bytes(r) - 1 : 0, there = left(r, h), bytes = 0;
	const void *data;
	int ret = gush_consumer_peek(h->c, least, &data, &bytes);

	note("peek %zu: %d, %zu\n", least, ret, bytes);
	if (least > h->limit) {
		must("peek past the limit", ret, -EMSGSIZE);
		return;
	}
	if (there < least && !over(r, h)) {
		must("peek at what is not there", ret, -EAGAIN);
		return;
	}
	if (there < least)
		note_end(r, h);
	if (there == 0 && h->ended) {
		must("peek at nothing", ret, 0);
		return;
	}
	must("peek", ret, 1);
	check_data(r, h, data, bytes);
	if (bytes > h->limit || bytes < (there < least ? there : least) || bytes < h->shown)
		fail("bytes of a peek", (long long)bytes, (long long)least);
	h->shown = bytes;
}

static void do_consume(struct run *r, struct handle *h)
{
	size_t bytes = take(r, 2) && h->shown ? take(r, (unsigned)h->shown + 1) : take_bytes(r) - 1;
	int ret = gush_consumer_consume(h->c, bytes);

	note("consume %zu: %d\n", bytes, ret);
	must("consume", ret, bytes <= h->shown ? 0 : -EINVAL);
	if (ret == 0) {
		h->at += bytes;
		h->shown -= bytes;
	}
}

static void do_split(struct run *r, struct handle *h)
{
	static const unsigned char delimiters[] = { 0, '\n', 'a', 255 };
	unsigned char delimiter = delimiters[take(r, 4)];
	const char *start = r->source.content + h->at, *found = memchr(start, delimiter, left(r, h));
	size_t want = found ? (size_t)(found - start) + 1 : left(r, h), bytes = 0;
	const void *data;
	int ret = gush_consumer_split(h->c, delimiter, &data, &bytes);

	note("split at %d: %d, %zu\n", delimiter, ret, bytes);
	if (want > h->limit || (!found && want == h->limit && !h->ended)) {
		must("too long a record", ret, -EMSGSIZE);
		return;
	}
	if (!found && !over(r, h)) {
		must("split of what is not there", ret, -EAGAIN);
		return;
	}
	if (!found)
		note_end(r, h);
	must("split", ret, want > 0);
	if (ret == 0)
		return;
	must("length of a record", (long long)bytes, (long long)want);
	check_data(r, h, data, bytes);
	h->at += bytes;
	h->shown = 0;
}

static void operation(struct run *r, struct handle *h)
{
	switch (take(r, 16)) {
	case 0:
	case 1:
	case 2:
		feed(r, take_bytes(r));
		break;
	case 3:
	case 4:
		do_next(r, h);
		break;
	case 5:
	case 6:
	case 7:
		do_peek(r, h);
		break;
	case 8:
	case 9:
	case 10:
		do_consume(r, h);
		break;
	case 11:
		if (take(r, 4) == 0) {
			close_handle(r, h);
			open_handle(r, h);
		}
		break;
	case 12:
		if (r->source.kind != KIND_FILE && take(r, 8) == 0) {
			shut(&r->source.feed_fd);
			note("close the writer\n");
		}
		break;
	default:
		do_split(r, h);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = { .data = data, .size = size };
	struct handle h = { .at = 0 };

	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, hang);
	alarm(20);
	op_log_length = 0;
	op_log[0] = '\0';
	open_source(&r);
	note("source %d\n", r.source.kind);
	feed(&r, take_bytes(&r));
	open_handle(&r, &h);
	while (r.pos < r.size)
		operation(&r, &h);
	close_handle(&r, &h);
	shut(&r.source.fd);
	shut(&r.source.feed_fd);
	free(r.source.content);
	alarm(0);
	return 0;
}

#ifndef WITH_LIBFUZZER

#include "runner.h"

#endif
