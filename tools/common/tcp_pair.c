/* SPDX-License-Identifier: MIT */
#include "tcp_pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_through(int listener, int ret_fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int client, server = -1, error;

	if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client < 0)
		return -errno;
	if (connect(client, (struct sockaddr *)&address, length) == 0)
		server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (server < 0) {
		error = -errno;
		close(client);
		return error;
	}
	ret_fds[0] = server;
	ret_fds[1] = client;
	return 0;
}

int tcp_pair_open(int ret_fds[2])
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ret = listener < 0 ? -errno : connect_through(listener, ret_fds);

	if (listener >= 0)
		close(listener);
	return ret;
}
