/* SPDX-License-Identifier: MIT */
/* TCP over loopback: what is spliced into a socket stays the sender's page until the receiver has copied it.
 */
#include "team.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (8 << 20)

/* Root may; without it what the system tunes by itself is more than one may ask for. */
static void enlarge(int fd, int option)
{
	int bytes = BUFFER_BYTES;

	(void)setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes));
}

bool tcp_pair(int ret_fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), server = -1;

	enlarge(listener, SO_RCVBUFFORCE);
	enlarge(client, SO_SNDBUFFORCE);
	if (bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0 &&
		getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
		connect(client, (struct sockaddr *)&address, length) == 0)
		server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	if (server < 0) {
		close(client);
		return false;
	}
	ret_fds[0] = server;
	ret_fds[1] = client;
	return true;
}

void tcp_pump(const struct config *c, struct board *board)
{
	(void)c;
	(void)board;
	while (splice(0, NULL, 1, NULL, MIB, 0) > 0)
		;
}

/* The receiver begins late, so that the queues are full, and rests at random. */
static void receive_slowly(const struct config *c, bool splices)
{
	static char buf[64 << 10];
	struct rng r = { c->seed ^ 0x7c9 };
	unsigned budget_us = c->pause_us / 2;

	usleep(c->pause_us / 4);
	for (;;) {
		ssize_t n = splices ? splice(0, NULL, 1, NULL, MIB, 0) : read(0, buf, sizeof(buf));

		if (n <= 0 || (!splices && !write_all(1, buf, (size_t)n)))
			return;
		if (rng_one_in(&r, 16))
			rng_pause(&r, 5000, &budget_us);
	}
}

void tcp_copy_slowly(const struct config *c, struct board *board)
{
	(void)board;
	receive_slowly(c, false);
}

void tcp_splice_slowly(const struct config *c, struct board *board)
{
	(void)board;
	receive_slowly(c, true);
}
