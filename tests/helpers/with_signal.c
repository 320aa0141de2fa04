/* SPDX-License-Identifier: MIT */
/*
 * with_signal default|ignore NUMBER COMMAND [ARGUMENT]...: becomes the command, for which that signal does
 * what it does by default, or is ignored: a shell starts its background jobs with SIGINT ignored.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	sigset_t none;

	if (argc < 4)
		return 2;
	if (signal(atoi(argv[2]), strcmp(argv[1], "ignore") == 0 ? SIG_IGN : SIG_DFL) == SIG_ERR) {
		perror("with_signal");
		return 2;
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
