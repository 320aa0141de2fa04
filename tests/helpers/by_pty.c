/* SPDX-License-Identifier: MIT */
/*
 * by_pty in|out COMMAND [ARGUMENT]...: runs the command with a terminal as its standard input (or output).
 * in: what comes on standard input is typed, and then ^D. out: what is printed goes to standard output. Exits
 * as the command did; 125 when it was still waiting for input a second after the ^D.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int open_terminal(int *ret_master)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct termios mode;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0 || tcgetattr(slave, &mode) < 0)
		return -1;
	mode.c_lflag &= (tcflag_t)~ECHO;
	mode.c_oflag &= (tcflag_t)~OPOST; /* bytes as they are */
	if (tcsetattr(slave, TCSANOW, &mode) < 0)
		return -1;
	*ret_master = master;
	return slave;
}

static int type_it(int master, pid_t child)
{
	char buf[1024];
	ssize_t n;
	int status;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		if (write(master, buf, (size_t)n) != n)
			return -1;
	if (write(master, "\004", 1) != 1)
		return -1;
	for (int i = 0; i < 100; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		usleep(10000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 125 << 8;
}

static int take_it(int master, pid_t child)
{
	char buf[4096];
	ssize_t n;
	int status;

	/* EIO: nobody has the other end open any more. */
	while ((n = read(master, buf, sizeof(buf))) > 0)
		if (write(STDOUT_FILENO, buf, (size_t)n) != n)
			break;
	close(master);
	return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char **argv)
{
	bool in = argc > 1 && strcmp(argv[1], "in") == 0;
	int master, slave, status;
	pid_t child;

	if (argc < 3)
		return 2;
	slave = open_terminal(&master);
	child = slave < 0 ? -1 : fork();
	if (child == 0) {
		dup2(slave, in ? STDIN_FILENO : STDOUT_FILENO);
		close(slave);
		close(master);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (child < 0) {
		perror("by_pty");
		return 126;
	}
	close(slave);
	status = in ? type_it(master, child) : take_it(master, child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
