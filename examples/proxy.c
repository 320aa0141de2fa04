/* SPDX-License-Identifier: MIT */
/*
 * proxy PORT: listens on a free port of 127.0.0.1, prints it, and passes every connection on to PORT of
 * 127.0.0.1, both ways, with one thread and epoll. What one side has finished sending (half-close) is passed
 * on as such, and so is a reset.
 *
 *	cc proxy.c $(pkg-config --cflags --libs gush)
 */
#define _GNU_SOURCE /* accept4 */
#include <gush.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURN_STEPS 8 /* then it is another connection's turn */

/* Way i goes from fd[i] to fd[!i]. */
struct connection {
	int fd[2];
	struct gush_transfer *way[2]; /* NULL: done */
	struct connection *dead_next;
};

static int epoll, listener, port;
static struct connection *dead; /* freed at the end of a turn: a later event of it may name one */

static int tcp_socket(int number, int (*attach)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)number),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (s >= 0 && attach(s, (struct sockaddr *)&address, sizeof(address)) < 0 && errno != EINPROGRESS) {
		close(s);
		return -1;
	}
	return s;
}

static void end_connection(struct connection *c, int error)
{
	const struct linger reset = { .l_onoff = 1 }; /* an end that is none must not look like one */

	for (int i = 0; i < 2; i++) {
		c->way[i] = gush_transfer_close(c->way[i]);
		if (c->fd[i] >= 0 && error)
			setsockopt(c->fd[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
	c->dead_next = dead;
	dead = c;
}

/* Some steps. 0, or the error that it failed with. */
static int run_way(struct connection *c, int i)
{
	int64_t n = 1;

	for (int step = 0; c->way[i] && n > 0 && step < TURN_STEPS; step++)
		n = gush_transfer_step(c->way[i]);
	if (n == 0) {
		c->way[i] = gush_transfer_close(c->way[i]);
		shutdown(c->fd[!i], SHUT_WR);
	}
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

/* Asks epoll, once, for what the ways wait for; one that has had its turn waits for more of the same. */
static int wait_for_more(struct connection *c)
{
	struct epoll_event event[2] = { { .data.ptr = c }, { .data.ptr = c } };
	int ret = 0;

	for (int i = 0; i < 2; i++) {
		int fd = c->fd[i];
		short events = POLLIN;

		if (!c->way[i])
			continue;
		if (gush_transfer_wait_for(c->way[i], &fd, &events) < 0 && gush_transfer_pending(c->way[i])) {
			fd = c->fd[!i];
			events = POLLOUT;
		}
		event[fd == c->fd[1]].events |= (uint32_t)events | EPOLLONESHOT; /* POLLIN is EPOLLIN */
	}
	for (int i = 0; i < 2 && ret == 0; i++)
		if (event[i].events)
			ret = epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd[i], &event[i]);
	return ret;
}

static void run_connection(struct connection *c)
{
	int error = run_way(c, 0);

	if (!error)
		error = run_way(c, 1);
	if (!error && (c->way[0] || c->way[1])) {
		error = wait_for_more(c) < 0 ? -ENOMEM : 0;
		if (!error)
			return;
	}
	end_connection(c, error);
}

static void begin_connection(int client)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	struct epoll_event nothing = { .events = EPOLLONESHOT };
	struct connection *c = calloc(1, sizeof(*c));
	int ret = 0;

	if (!c) {
		close(client);
		return;
	}
	options.flags = GUSH_NONBLOCK;
	c->fd[0] = client;
	c->fd[1] = tcp_socket(port, connect);
	for (int i = 0; i < 2 && ret == 0; i++) {
		ret = gush_transfer_open(c->fd[i], c->fd[!i], &options, &c->way[i]);
		if (ret == 0)
			ret = epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd[i], &nothing);
	}
	if (ret == 0)
		run_connection(c);
	else
		end_connection(c, ret);
}

/* Edge-triggered, and called when connections have ended too: there may have been too many descriptors. */
static void accept_all(void)
{
	int client;

	while ((client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0 ||
		errno == ECONNABORTED)
		if (client >= 0)
			begin_connection(client);
}

static void take_turn(void)
{
	struct epoll_event events[64];
	int count = epoll_wait(epoll, events, 64, -1);

	for (int i = 0; i < count; i++) {
		struct connection *c = events[i].data.ptr;

		if (!c)
			accept_all();
		else if (c->fd[0] >= 0)
			run_connection(c);
	}
	while (dead) {
		struct connection *next = dead->dead_next;

		free(dead);
		dead = next;
		if (!dead)
			accept_all();
	}
}

int main(int argc, char **argv)
{
	struct epoll_event accepting = { .events = EPOLLIN | EPOLLET };
	struct sockaddr_in address = { 0 };
	socklen_t length = sizeof(address);

	signal(SIGPIPE, SIG_IGN);
	port = argc == 2 ? atoi(argv[1]) : 0;
	listener = tcp_socket(0, bind);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (port <= 0 || listener < 0 || epoll < 0 || listen(listener, 128) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &length) < 0 ||
		epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &accepting) < 0) {
		fprintf(stderr, "proxy: cannot listen, or no port given\n");
		return 1;
	}
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (;;)
		take_turn();
}
