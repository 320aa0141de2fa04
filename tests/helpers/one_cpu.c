/* SPDX-License-Identifier: MIT */
/* one_cpu COMMAND [ARGUMENT]...: becomes the command, it and its children bound to the CPU it happens to be
 * on. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (argc < 2 || cpu < 0)
		return 2;
	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		perror("one_cpu: sched_setaffinity");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
