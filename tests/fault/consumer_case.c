/* SPDX-License-Identifier: MIT */
#include "consumer_case.h"

#include "ends_case.h"
#include "gush.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLS_MOST 20000 /* a case needs some hundreds */
#define MESSAGE_MOST 9000
#define HALFWAY ((size_t)20000)

static unsigned char content[ENDS_TOTAL];
static size_t lasts[ENDS_TOTAL]; /* at i: how long the record is that i is the beginning of, or in */

static unsigned draw(unsigned below)
{
	static unsigned state = 20261130;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

/* Records of 1 to 300 bytes, one of 15000, and one without its delimiter. */
static void fill_content(void)
{
	size_t end = 0;

	for (size_t i = 0; i < ENDS_TOTAL; i++)
		content[i] = (unsigned char)('0' + draw(64));
	while (end < ENDS_TOTAL - 400) {
		end += end > 20000 && end < 21000 ? 15000 : 1 + draw(300);
		content[end - 1] = '\n';
	}
	for (size_t i = ENDS_TOTAL, last = ENDS_TOTAL; i-- > 0;) {
		if (content[i] == '\n')
			last = i + 1;
		lasts[i] = last - i;
	}
}

const char *consumer_case_name(const struct consumer_setup *s)
{
	static const char *const sources[] = { "file", "pipe", "unix", "tcp", "messages" };
	static const char *const manners[] = { "next", "split", "peek", "all of them" };
	static char text[120];

	snprintf(text, sizeof(text), "%s by %s%s%s%s%s%s", sources[s->source], manners[s->manner],
		s->flags & GUSH_NONBLOCK ? ", nonblock" : "", s->slow ? ", slow" : "",
		s->o_nonblock ? ", O_NONBLOCK" : "", s->halfway ? ", halfway" : "",
		s->no_nowait ? ", no RWF_NOWAIT" : "");
	return text;
}

/* ---- the source ---- */

static void feed_messages(struct source *from)
{
	while (from->fed < from->bytes) {
		size_t left = from->bytes - from->fed, n = 1 + draw(MESSAGE_MOST);

		if (write(from->far, content + from->fed, n < left ? n : left) < 0)
			return;
		from->fed += n < left ? n : left;
	}
	close(from->far);
	from->far = -1;
}

static int open_messages(struct source *from)
{
	const int room = 1 << 20;
	int fds[2];

	*from = (struct source){ .kind = END_UNIX, .content = content, .bytes = ENDS_TOTAL };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	from->fd = fds[0];
	from->far = fds[1];
	setsockopt(from->far, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	feed_messages(from);
	return from->fed == ENDS_TOTAL ? 0 : -EIO;
}

static int open_source(const struct consumer_setup *s, struct source *from)
{
	static const enum end_kind kinds[] = { END_FILE, END_PIPE, END_UNIX, END_TCP };
	bool later = s->slow || s->flags & GUSH_NONBLOCK;
	int ret;

	if (s->source == FROM_MESSAGES)
		ret = open_messages(from);
	else
		ret = source_open(from, kinds[s->source], content, ENDS_TOTAL, later ? 7000 : ENDS_TOTAL);
	if (ret == 0 && s->source == FROM_FILE && later)
		from->fed = ENDS_TOTAL;
	if (ret == 0 && s->o_nonblock)
		fcntl(from->fd, F_SETFL, O_NONBLOCK);
	return ret;
}

static void *feed_slowly(void *arg)
{
	struct source *from = arg;

	while (from->far >= 0 && from->fed < from->bytes) {
		usleep(300);
		source_feed(from, 13000);
	}
	return NULL;
}

/* ---- using it ---- */

struct use {
	const struct consumer_setup *setup;
	struct gush_consumer *c;
	struct consumer_outcome *o;
	unsigned turn;
	size_t shown_most; /* of what follows o->got */
};

static bool matches(struct use *u, const void *data, size_t bytes)
{
	size_t at = u->o->got;

	return bytes > 0 && bytes <= ENDS_TOTAL - at && memcmp(data, content + at, bytes) == 0;
}

static int by_peek(struct use *u)
{
	static const size_t leasts[] = { 1, 100, 4097, 9000, 20000 };
	size_t least = leasts[u->turn % 5], bytes = 0, eaten;
	const void *data;
	int ret = gush_consumer_peek(u->c, least, &data, &bytes);

	if (ret <= 0)
		return ret;
	if (!matches(u, data, bytes))
		u->o->wrong = "peek shows other bytes";
	if (bytes < u->shown_most)
		u->o->wrong = "less is there than was shown";
	eaten = bytes < 777 ? bytes : 777;
	if (gush_consumer_consume(u->c, bytes + 1) != -EINVAL || gush_consumer_consume(u->c, eaten) != 0)
		u->o->wrong = "consume";
	u->shown_most = bytes - eaten;
	u->o->got += eaten;
	return ret;
}

static int by_split(struct use *u)
{
	size_t bytes = 0;
	const void *data;
	int ret = gush_consumer_split(u->c, '\n', &data, &bytes);

	if (ret <= 0)
		return ret;
	if (!matches(u, data, bytes))
		u->o->wrong = "a record of other bytes";
	else if (bytes > lasts[u->o->got] || (bytes < lasts[u->o->got] && inject.kind != INJECT_ERRNO))
		u->o->wrong = "a record of another length";
	u->shown_most = 0;
	u->o->got += bytes;
	return ret;
}

static int by_next(struct use *u)
{
	size_t bytes = 0;
	const void *data;
	int ret = gush_consumer_next(u->c, &data, &bytes);

	if (ret <= 0)
		return ret;
	if (!matches(u, data, bytes))
		u->o->wrong = "other bytes";
	u->shown_most = 0;
	u->o->got += bytes;
	return ret;
}

static int call(struct use *u)
{
	static int (*const manners[])(struct use *) = { by_next, by_split, by_peek };
	unsigned manner = u->setup->manner;

	u->turn++;
	if (manner == BY_ALL)
		manner = u->turn % 7 == 0 ? BY_NEXT : u->turn % 2 ? BY_SPLIT : BY_PEEK;
	return manners[manner](u);
}

/* After -EAGAIN: what the other end would do. */
static void attend(struct use *u, struct source *from)
{
	struct pollfd p = { .fd = from->fd, .events = POLLIN };

	if (!(u->setup->flags & GUSH_NONBLOCK))
		u->o->wrong = "-EAGAIN without GUSH_NONBLOCK";
	source_feed(from, 11003);
	if (poll(&p, 1, 2000) <= 0)
		u->o->wrong = "it waits for what does not come";
}

static void drive(struct use *u, struct source *from)
{
	struct consumer_outcome *o = u->o;

	for (unsigned calls = 0; !o->wrong; calls++) {
		if (u->setup->halfway && o->got >= HALFWAY)
			return;
		if (calls > CALLS_MOST)
			o->wrong = "calls without end";
		o->ret = call(u);
		if (o->ret > 0)
			continue;
		if (o->ret == -EAGAIN) {
			attend(u, from);
			continue;
		}
		if (o->ret < 0 && call(u) != o->ret && o->own == 0) { /* one of its own: it goes on */
			o->own = o->ret;
			o->ret = 1;
			continue;
		}
		if (call(u) != o->ret || by_next(u) != o->ret)
			o->wrong = "another return after the end";
		return;
	}
}

/* ---- the judgement ---- */

static bool in_list(const int *list, int error)
{
	while (*list && *list != error)
		list++;
	return *list;
}

enum expect { COMPLETE, FAILED, EITHER };

static enum expect expected(const struct consumer_setup *s)
{
	static const int not_served[] = { EPERM, ENOSYS, EOPNOTSUPP, 0 };
	int error = (int)inject.value;

	if (inject.hits == 0 || inject.kind != INJECT_ERRNO)
		return COMPLETE;
	switch (inject.call) {
	case INJECT_FSTAT:
	case INJECT_GET_FLAGS:
	case INJECT_GET_PIPE_SIZE:
		return FAILED;
	case INJECT_READ:
	case INJECT_RECV:
		return error == EAGAIN ? COMPLETE : s->no_nowait && error == EOPNOTSUPP ? EITHER : FAILED;
	case INJECT_READ_FLAGS:
		return error == EAGAIN || in_list(not_served, error) ? COMPLETE : FAILED;
	case INJECT_POLL: /* without O_NONBLOCK the calls can wait themselves */
		return s->o_nonblock ? FAILED : COMPLETE;
	case INJECT_OPEN:
		return error == EAGAIN || error == EOPNOTSUPP ? COMPLETE : FAILED;
	default: /* memory: it goes on with what it has, and tells when that is not enough */
		return COMPLETE;
	}
}

static bool is_memory(void)
{
	return inject.call == INJECT_MMAP || inject.call == INJECT_MADVISE;
}

static const char *judge_own_error(const struct consumer_outcome *o)
{
	int want = inject.value == EAGAIN ? -ENOMEM : (int)-inject.value;

	if (o->own == 0)
		return NULL;
	if (inject.kind != INJECT_ERRNO || !is_memory())
		return "an error that did not stay";
	return o->own == want ? NULL : "not the error that happened";
}

static const char *judge(
	const struct consumer_setup *s, struct source *from, const struct consumer_outcome *o)
{
	enum expect want = expected(s);
	bool seek_failed = inject.kind == INJECT_ERRNO && inject.call == INJECT_LSEEK && inject.hits > 0;
	bool whole = s->halfway ? o->got >= HALFWAY : o->got == ENDS_TOTAL;
	int ret = o->open < 0 ? o->open : o->ret;

	if (o->wrong)
		return o->wrong;
	if (ret < 0 && (ret != -inject.value || inject.kind != INJECT_ERRNO || inject.hits == 0))
		return "not the error that happened";
	if (want == COMPLETE && (ret < 0 || !whole))
		return ret < 0 ? "an error where there should be none" : "the end, but not all of the bytes";
	if (want == FAILED && ret >= 0 && !s->halfway) /* what was read ahead need not be told of */
		return "no error";
	if (inject.mapped_bytes != 0 && inject.call != INJECT_MUNMAP)
		return "a mapping was left";
	if (seek_failed || (s->halfway && s->source != FROM_FILE))
		return judge_own_error(o);
	if (s->source != FROM_MESSAGES && source_rest(from, o->got) < 0)
		return "what is left in the source does not begin behind what was consumed";
	return judge_own_error(o);
}

/* What a failed munmap has left is taken away, or thousands of cases would fill the memory. */
static void clear_left(void)
{
	if (inject.left_base)
		munmap(inject.left_base, inject.left_bytes);
	inject.left_base = NULL;
}

static void run(const struct consumer_setup *s, struct source *from, struct consumer_outcome *o)
{
	struct gush_consumer_options options = GUSH_CONSUMER_OPTIONS_INIT;
	struct use u = { .setup = s, .o = o };
	pthread_t feeder;

	options.buffer_bytes = CONSUMER_BEGIN;
	options.flags = s->flags;
	o->open = gush_consumer_open(from->fd, &options, &u.c);
	if (o->open < 0) {
		o->wrong = u.c ? "a handle in spite of the error" : NULL;
		return;
	}
	if (s->slow && pthread_create(&feeder, NULL, feed_slowly, from) != 0) {
		o->wrong = "no thread for the test";
		return;
	}
	inject.running = true;
	drive(&u, from);
	gush_consumer_close(u.c);
	if (s->slow)
		pthread_join(feeder, NULL);
}

const char *consumer_case_run(
	const struct consumer_setup *s, const struct inject *fault, struct consumer_outcome *o)
{
	struct source from;
	const char *wrong;

	if (!content[0])
		fill_content();
	*o = (struct consumer_outcome){ 0 };
	if (open_source(s, &from) < 0)
		return "no source for the test";
	inject = *fault;
	inject.cap_bytes = CONSUMER_CAP;
	if (s->no_nowait) {
		inject.missing = INJECT_READ_FLAGS;
		inject.missing_errno = ENOSYS;
		inject.missing_from = 1;
	}
	run(s, &from, o);
	wrong = judge(s, &from, o);
	source_close(&from);
	clear_left();
	return wrong;
}
