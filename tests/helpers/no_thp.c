/* SPDX-License-Identifier: MIT */
/* no_thp COMMAND [ARGUMENT]...: becomes the command, which then gets no transparent huge pages. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0) {
		perror("no_thp: PR_SET_THP_DISABLE");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
