/* SPDX-License-Identifier: MIT */
/*
 * by_socket unix|tcp in|out COMMAND [ARGUMENT]...: runs the command with a socket as its standard input (or
 * output), and copies standard input to it (or from it to standard output). Exits as the command did.
 */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A connected pair over loopback. */
static int tcp_pair(int ret_fds[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&at, size) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&at, &size) < 0)
		return -1;
	ret_fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (ret_fds[0] < 0 || connect(ret_fds[0], (struct sockaddr *)&at, size) < 0)
		return -1;
	ret_fds[1] = accept(listener, NULL, NULL);
	close(listener);
	return ret_fds[1] < 0 ? -1 : 0;
}

/* Until the end of the one or the other. */
static int copy(int from, int to)
{
	static char buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < n;) {
			ssize_t put = write(to, buf + at, (size_t)(n - at));

			if (put < 0)
				return errno == EPIPE || errno == ECONNRESET ? 0 : -1;
			at += put;
		}
	}
	return n < 0 && errno != ECONNRESET ? -1 : 0;
}

static int run(int fds[2], bool in, char **command)
{
	int ours = fds[0], status = 0;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(fds[1], in ? STDIN_FILENO : STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	close(fds[1]);
	if (child < 0 || copy(in ? STDIN_FILENO : ours, in ? ours : STDOUT_FILENO) < 0) {
		perror("by_socket");
		return 2;
	}
	close(ours);
	if (waitpid(child, &status, 0) < 0)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int fds[2];

	if (argc < 4)
		return 2;
	if (strcmp(argv[1], "tcp") == 0 ? tcp_pair(fds) < 0 : socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0) {
		perror("by_socket");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN);
	return run(fds, strcmp(argv[2], "in") == 0, argv + 3);
}
