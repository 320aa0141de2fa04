/* SPDX-License-Identifier: MIT */
/* take_tcp PORT: connects to a port of this machine and copies what comes from there to standard output. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	static char bytes[65536];
	int s = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t n;

	address.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 0));
	if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof(address)) < 0) {
		perror("take_tcp");
		return 1;
	}
	while ((n = read(s, bytes, sizeof(bytes))) > 0)
		if (write(STDOUT_FILENO, bytes, (size_t)n) != n)
			return 1;
	return n < 0;
}
