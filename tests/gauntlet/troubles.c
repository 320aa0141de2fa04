/* SPDX-License-Identifier: MIT */
/* What else may go on in a process that produces. Forks are made by those who produce. */
#include "gauntlet.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define SIGNAL_EVERY_US 200
#define LOCK_ON_FAULT                                                                                        \
	4 /* MCL_ONFAULT, for C libraries that do not name it. Without it memory is there at once */

static pid_t handled_by;

/* In a child of the library's own nobody may run our handlers. */
static void handle(int number)
{
	(void)number;
	if (getpid() != handled_by)
		abort();
}

static void storm(suseconds_t every_us)
{
	struct itimerval t = { { 0, every_us }, { 0, every_us } };

	setitimer(ITIMER_REAL, &t, NULL);
}

/* Past a limit nothing could be mapped at all any more, stacks of threads included. */
static bool may_lock(void)
{
	struct rlimit limit = { 0, 0 };

	return geteuid() == 0 || (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
}

void troubles_begin(const struct config *c)
{
	struct sigaction action = { .sa_handler = handle };

	if (c->troubles & TROUBLE_SIGNALS) {
		handled_by = getpid();
		sigaction(SIGALRM, &action, NULL);
		storm(SIGNAL_EVERY_US);
	}
	if (c->troubles & TROUBLE_LOCKED && may_lock())
		(void)mlockall(MCL_FUTURE | (c->seed % 2 ? LOCK_ON_FAULT : 0));
	if (c->troubles & TROUBLE_SMALL)
		(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

void troubles_end(const struct config *c)
{
	if (c->troubles & TROUBLE_SIGNALS) {
		storm(0);
		signal(SIGALRM, SIG_IGN);
	}
	if (c->troubles & TROUBLE_LOCKED)
		munlockall();
	if (c->troubles & TROUBLE_SMALL)
		(void)prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

const char *troubles_name(unsigned troubles)
{
	switch (troubles) {
	case TROUBLE_FORKS:
		return ", forks";
	case TROUBLE_SIGNALS:
		return ", signals";
	case TROUBLE_LOCKED:
		return ", locked";
	case TROUBLE_SMALL:
		return ", small pages";
	default:
		return "";
	}
}
