/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include "../unit/support.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define PIPES_MOST 64
#define LAG_MIB 8
#define SPARSE_STEP (2 * MIB)
#define SPARSE_KEPT 4096

const char *const hold_names[HOLD_KINDS] = { "pipes", "tee", "tcp", "sparse" };

/* ---- looking at words ---- */

struct look {
	volatile struct held *held;
	union {
		unsigned char bytes[1 << 18];
		uint64_t words[1 << 15];
	} data;
	size_t have; /* the beginning of a word, from last time */
};

static void note_bad(volatile struct held *held, uint64_t at, uint64_t is)
{
	if (held->bad++ == 0) {
		held->first_bad = at;
		held->is = is;
	}
}

/* Reads once, and compares. */
static ssize_t look_once(struct look *l, int fd, size_t most)
{
	size_t room = sizeof(l->data) - l->have, whole;
	ssize_t n = read(fd, l->data.bytes + l->have, most < room ? most : room);

	if (n <= 0)
		return n;
	l->have += (size_t)n;
	whole = l->have / 8;
	for (size_t i = 0; i < whole; i++)
		if (l->data.words[i] != hold_word(l->held->bytes + 8 * i))
			note_bad(l->held, l->held->bytes + 8 * i, l->data.words[i]);
	l->held->bytes += 8 * whole;
	l->have -= 8 * whole;
	memmove(l->data.bytes, l->data.bytes + 8 * whole, l->have);
	return n;
}

static void look_at(struct look *l, int fd, uint64_t bytes)
{
	while (bytes > 0) {
		ssize_t n = look_once(l, fd, bytes);

		if (n <= 0)
			_exit(3);
		bytes -= (uint64_t)n;
	}
}

/* ---- holding ---- */

struct line {
	const struct hold *how;
	struct look look;
	int source, null;
	int pipes[PIPES_MOST][2];
	uint64_t in[PIPES_MOST], all;
	size_t count, first, last; /* used round and round */
	bool paused;
};

static void note_most(struct line *l)
{
	if (l->all > l->look.held->most)
		l->look.held->most = l->all;
}

static void pause_once(struct line *l)
{
	if (!l->paused && l->how->pause_ms)
		sleep_ms(l->how->pause_ms);
	l->paused = true;
}

static void look_at_oldest(struct line *l)
{
	pause_once(l);
	look_at(&l->look, l->pipes[l->first][0], l->in[l->first]);
	l->all -= l->in[l->first];
	l->in[l->first] = 0;
	if (l->first != l->last)
		l->first = (l->first + 1) % l->count;
}

/* Bytes moved, 0 at the end, -EAGAIN: there is no room in there. */
static ssize_t pass_on(struct line *l, int to)
{
	struct pollfd wanted = { .fd = l->source, .events = POLLIN };
	ssize_t n;

	poll(&wanted, 1, -1);
	if (l->how->kind != HOLD_TEE) {
		n = splice(l->source, NULL, to, NULL, MIB, SPLICE_F_NONBLOCK);
		return n < 0 ? -errno : n;
	}
	n = tee(l->source, to, MIB, SPLICE_F_NONBLOCK);
	for (ssize_t left = n; left > 0;) {
		ssize_t gone = splice(l->source, NULL, l->null, NULL, (size_t)left, 0);

		if (gone <= 0)
			_exit(4);
		left -= gone;
	}
	return n < 0 ? -errno : n;
}

static bool holds_still(const struct line *l)
{
	return l->how->until_bytes == 0 || l->look.held->bytes + l->all < l->how->until_bytes;
}

static void hold_in_pipes(struct line *l)
{
	ssize_t n = 1;

	l->count = l->how->lag_mib;
	for (size_t i = 0; i < l->count; i++) {
		if (pipe2(l->pipes[i], O_CLOEXEC) < 0)
			_exit(5);
		fcntl(l->pipes[i][0], F_SETPIPE_SZ, MIB);
	}
	while (n != 0 && holds_still(l)) {
		n = pass_on(l, l->pipes[l->last][1]);
		if (n > 0) {
			l->in[l->last] += (uint64_t)n;
			l->all += (uint64_t)n;
			note_most(l);
		} else if (n == -EAGAIN) {
			if ((l->last + 1) % l->count == l->first)
				look_at_oldest(l);
			l->last = (l->last + 1) % l->count;
		} else if (n < 0) {
			_exit(6);
		}
	}
	while (l->all > 0)
		look_at_oldest(l);
}

static void open_tcp(int ret_fds[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = 32 << 20;

	ret_fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (setsockopt(ret_fds[1], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) < 0)
		setsockopt(ret_fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&at, &length) < 0 ||
		connect(ret_fds[1], (struct sockaddr *)&at, length) < 0)
		_exit(7);
	ret_fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	fcntl(ret_fds[1], F_SETFL, O_NONBLOCK);
	close(listener);
}

static void hold_in_socket(struct line *l)
{
	ssize_t n = 1;
	int fds[2];

	open_tcp(fds);
	while (n != 0 && holds_still(l)) {
		n = l->all < l->how->lag_mib * MIB ? pass_on(l, fds[1]) : -EAGAIN;
		if (n > 0) {
			l->all += (uint64_t)n;
			note_most(l);
		} else if (n == -EAGAIN && l->all > 0) {
			pause_once(l);
			n = look_once(&l->look, fds[0], MIB);
			if (n <= 0)
				_exit(8);
			l->all -= (uint64_t)n;
		} else if (n < 0) {
			_exit(9);
		}
	}
	look_at(&l->look, fds[0], l->all);
	l->all = 0;
}

/* The kept ones are words of the places they came from. */
static void look_at_kept(struct line *l, int fd)
{
	uint64_t word;

	for (uint64_t at = 0; at < l->all; at += sizeof(word)) {
		uint64_t from = at / SPARSE_KEPT * SPARSE_STEP + at % SPARSE_KEPT;

		if (read(fd, &word, sizeof(word)) != sizeof(word))
			_exit(10);
		if (word != hold_word(from))
			note_bad(l->look.held, from, word);
	}
}

static void hold_some(struct line *l)
{
	int kept[2];
	ssize_t n = 1;

	if (pipe2(kept, O_CLOEXEC) < 0)
		_exit(11);
	fcntl(kept[0], F_SETPIPE_SZ, MIB);
	while (n > 0) {
		uint64_t in_step = l->look.held->bytes % SPARSE_STEP;

		if (in_step < SPARSE_KEPT) {
			n = splice(l->source, NULL, kept[1], NULL, (size_t)(SPARSE_KEPT - in_step), 0);
			l->look.held->bytes += n > 0 ? (uint64_t)n : 0;
			l->all += n > 0 ? (uint64_t)n : 0;
		} else {
			n = look_once(&l->look, l->source, (size_t)(SPARSE_STEP - in_step));
		}
	}
	note_most(l);
	look_at_kept(l, kept[0]);
}

static void read_the_rest(struct line *l)
{
	while (look_once(&l->look, l->source, MIB) > 0)
		;
}

static void hold_main(int source, const struct hold *how, volatile struct held *held)
{
	static struct line l;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(HANG_SECONDS);
	l.how = how;
	l.source = source;
	l.null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	l.look.held = held;
	if (how->kind == HOLD_TCP)
		hold_in_socket(&l);
	else if (how->kind == HOLD_SPARSE)
		hold_some(&l);
	else
		hold_in_pipes(&l);
	read_the_rest(&l);
	held->ended = true;
	_exit(0);
}

void hold_start(struct holding *h, const struct hold *how)
{
	struct hold full = *how;
	int fds[2];

	if (full.lag_mib == 0)
		full.lag_mib = LAG_MIB;
	if (full.lag_mib > PIPES_MOST || pipe2(fds, O_CLOEXEC) < 0)
		abort();
	fcntl(fds[0], F_SETPIPE_SZ, MIB);
	h->held = mmap(NULL, sizeof(*h->held), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (h->held == MAP_FAILED)
		abort();
	fflush(stdout);
	h->pid = fork();
	if (h->pid == 0) {
		close(fds[1]);
		hold_main(fds[0], &full, h->held);
	}
	CHECK(h->pid > 0);
	close(fds[0]);
	h->fd = fds[1];
}

/* ECHILD: another thread, or the kernel, has reaped it. */
void hold_end(struct holding *h)
{
	int status = 0;

	close(h->fd);
	CHECK(waitpid(h->pid, &status, 0) == h->pid || errno == ECHILD);
	for (int i = 0; !h->held->ended && i < 5000 && status == 0; i++)
		sleep_ms(1);
	CHECK_INT(status, 0);
	CHECK(h->held->ended);
}

void hold_end_good(struct holding *h, uint64_t bytes)
{
	hold_end(h);
	CHECK_INT(h->held->bytes, bytes);
	if (!CHECK_INT(h->held->bad, 0))
		printf("  the first at %#llx is %#llx of %#llx\n", (unsigned long long)h->held->first_bad,
			(unsigned long long)h->held->is, (unsigned long long)hold_word(h->held->first_bad));
}
