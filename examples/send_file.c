/* SPDX-License-Identifier: MIT */
/*
 * send_file FILE: listens on a free port of this machine, prints it, and sends FILE to the first that
 * connects.
 *
 *	cc send_file.c $(pkg-config --cflags --libs gush)
 */
#define _GNU_SOURCE /* accept4 */
#include <gush.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket that listens on 127.0.0.1; its port is printed. */
static int listen_here(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&address, length) < 0 || listen(s, 1) < 0 ||
		getsockname(s, (struct sockaddr *)&address, &length) < 0)
		return -1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	return s;
}

int main(int argc, char **argv)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	int file, listener, client, ret;

	signal(SIGPIPE, SIG_IGN);
	if (argc != 2) {
		fprintf(stderr, "usage: send_file FILE\n");
		return 2;
	}
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	listener = file < 0 ? -1 : listen_here();
	client = listener < 0 ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (client < 0) {
		perror("send_file");
		return 1;
	}
	/* A server whose files change while they are sent would add: options.flags = GUSH_STABLE; */
	options.source_offset =
		0; /* the descriptor's own stays where it is: others may be sending the file */
	ret = gush_copy(file, client, &options, NULL);
	if (ret < 0)
		fprintf(stderr, "send_file: %s\n", strerror(-ret));
	close(client);
	return ret < 0;
}
