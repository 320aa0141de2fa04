/* SPDX-License-Identifier: MIT */
/*
 * fdflags FD FILE COMMAND [ARGUMENT]...: runs the command, which inherits FD, and looks at the flags of the
 * shared description before, all the while, and after. Writes to FILE "same" or "changed 0X to 0Y", flags in
 * octal as F_GETFL gives them. Exits as the command did (128 + signal).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int watch(int fd, pid_t child, int before, int *ret_status)
{
	int changed_to = before;
	pid_t ended;

	do {
		int now;

		ended = waitpid(child, ret_status, WNOHANG);
		now = fcntl(fd, F_GETFL); /* once more when it has ended */
		if (now != before)
			changed_to = now;
		usleep(50);
	} while (ended == 0);
	return changed_to;
}

int main(int argc, char **argv)
{
	int fd, before, after, status = 0;
	pid_t child;
	FILE *out;

	if (argc < 4)
		return 2;
	fd = atoi(argv[1]);
	before = fcntl(fd, F_GETFL);
	if (before < 0) {
		perror("fdflags: F_GETFL");
		return 2;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[3], argv + 3);
		perror(argv[3]);
		_exit(127);
	}
	if (child < 0)
		return 2;
	after = watch(fd, child, before, &status);
	out = fopen(argv[2], "we");
	if (!out)
		return 2;
	if (after == before)
		fprintf(out, "same\n");
	else
		fprintf(out, "changed 0%o to 0%o\n", (unsigned)before, (unsigned)after);
	if (fclose(out) != 0)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
