/* SPDX-License-Identifier: MIT */
/* Functions that run in a child whose standard error is a pseudo-terminal, and what they wrote there. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "support.h"

#include <sys/ioctl.h>
#include <termios.h>

static inline int open_terminal(int *ret_slave, unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	struct termios raw;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	*ret_slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_slave < 0 || ioctl(*ret_slave, TIOCSWINSZ, &size) < 0 || tcgetattr(*ret_slave, &raw) < 0)
		return -1;
	cfmakeraw(&raw); /* what is written is what is read */
	tcsetattr(*ret_slave, TCSANOW, &raw);
	return master;
}

/* The function's failed checks fail the case. */
static inline void on_terminal(void (*function)(void), unsigned short columns, char *ret_text, size_t room)
{
	int slave, master = open_terminal(&slave, columns), status = -1;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	ret_text[0] = '\0';
	if (master < 0)
		SKIP("no pseudo-terminals here");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(slave, STDERR_FILENO);
		test_bad = 0;
		alarm(HANG_SECONDS);
		function();
		fflush(stdout);
		_exit(test_bad != 0);
	}
	close(slave);
	while (n < room - 1 && (got = read(master, ret_text + n, room - 1 - n)) > 0)
		n += (size_t)got;
	ret_text[n] = '\0';
	close(master);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

#endif
