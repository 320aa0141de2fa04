/* SPDX-License-Identifier: MIT */
/*
 * as_nobody COMMAND [ARGUMENT]...: gives up root for a user without any rights and becomes the command. The
 * user's number is one of 5000 by the process's, so that two test runs do not share what a user may have. 77:
 * not root.
 */
#include <grp.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define FIRST_UID 60000

int main(int argc, char **argv)
{
	uid_t user = FIRST_UID + (uid_t)getpid() % 5000;

	if (argc < 2)
		return 2;
	if (setgroups(0, NULL) < 0 || setgid((gid_t)user) < 0 || setuid(user) < 0) {
		perror("as_nobody");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
