/* SPDX-License-Identifier: MIT */
/*
 * soft_limit COMMAND [ARGUMENT]...: as an unprivileged user, takes pipes until the user's share of pipe
 * buffers
 * (/proc/sys/fs/pipe-user-pages-soft) is used up, and becomes the command, which holds them on: its new pipes
 * are small and none may grow. 77: no limit is met here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PIPES_MAX 400

static int use_up(void)
{
	for (int i = 0; i < PIPES_MAX; i++) {
		int fds[2];

		if (pipe(fds) < 0)
			return -1;
		if (fcntl(fds[0], F_SETPIPE_SZ, 1 << 20) < 0)
			return errno == EPERM && i > 0 ? 0 : -1;
	}
	errno = EDQUOT;
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (use_up() < 0) {
		perror("soft_limit");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
