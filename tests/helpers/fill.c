/* SPDX-License-Identifier: MIT */
/* fill BYTES: writes so many X to standard output and exits; a reader that goes first is no error. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[65536];
	unsigned long long left;

	if (argc != 2)
		return 2;
	left = strtoull(argv[1], NULL, 10);
	signal(SIGPIPE, SIG_IGN);
	memset(buf, 'X', sizeof(buf));
	while (left > 0) {
		ssize_t n = write(STDOUT_FILENO, buf, left < sizeof(buf) ? (size_t)left : sizeof(buf));

		if (n < 0 && errno == EPIPE)
			return 0;
		if (n < 0) {
			perror("fill: write");
			return 1;
		}
		left -= (unsigned long long)n;
	}
	return 0;
}
