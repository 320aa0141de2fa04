/* SPDX-License-Identifier: MIT */
/*
 * nonblock FD COMMAND [ARGUMENT]...: sets O_NONBLOCK on the description of FD, as careless programs do, and
 * becomes the command.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd, flags;

	if (argc < 3)
		return 2;
	fd = atoi(argv[1]);
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		perror("nonblock");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
