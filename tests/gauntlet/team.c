/* SPDX-License-Identifier: MIT */
#include "team.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_MOST 100

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* Descriptors of others would keep their pipes open. */
static void keep_only(int in, int out, int third)
{
	int kept = third < 0 ? -1 : fcntl(third, F_DUPFD, FDS_MOST);

	if (in >= 0)
		dup2(in, 0);
	if (out >= 0)
		dup2(out, 1);
	for (int fd = 3; fd < FDS_MOST; fd++)
		close(fd);
	if (kept >= 0) {
		dup2(kept, 3);
		close(kept);
	}
}

bool team_add(struct team *t, role *what, int in, int out, int third)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		die_with(parent);
		signal(SIGPIPE, SIG_IGN);
		keep_only(in, out, third);
		what(t->config, t->board);
		_exit(0);
	}
	if (pid > 0)
		t->pids[t->count++] = pid;
	return pid > 0;
}

void team_end(struct team *t)
{
	while (t->count > 0)
		waitpid(t->pids[--t->count], NULL, 0);
}
