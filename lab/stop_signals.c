/* SPDX-License-Identifier: MIT */
#include "stop_signals.h"

#include "sys.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

/* nohup means it, and so does a shell of a background job. */
static void add_unless_ignored(sigset_t *set, int signal_number)
{
	struct sigaction now;

	if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaddset(set, signal_number);
}

int stop_signals_open(struct stop_signals *s)
{
	sigset_t stop;

	sigemptyset(&stop);
	add_unless_ignored(&stop, SIGINT);
	add_unless_ignored(&stop, SIGTERM);
	add_unless_ignored(&stop, SIGHUP);
	add_unless_ignored(&stop, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &stop, &s->before) < 0)
		return -errno;
	s->fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? -errno : 0;
}

int stop_signals_close(struct stop_signals *s)
{
	struct signalfd_siginfo info;
	int first = 0;

	/* All that are there: timeout(1), for one, sends its signal twice. */
	while (gi_sys_read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (first == 0)
			first = (int)info.ssi_signo;
	gi_sys_close(s->fd);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
	return first;
}

void stop_signals_die(int signal_number)
{
	sigset_t one;

	signal(signal_number, SIG_DFL);
	raise(signal_number);
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}
