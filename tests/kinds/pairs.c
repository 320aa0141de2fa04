/* SPDX-License-Identifier: MIT */
/* Connected pairs of each kind that has two ends. */
#include "ends.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <termios.h>

static int pair_pipe(int fds[2])
{
	return pipe2(fds, O_CLOEXEC);
}

static int pair_fifo(int fds[2])
{
	char dir[] = "/tmp/gush-kinds-XXXXXX", path[sizeof(dir) + 4];

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/it", dir);
	if (mkfifo(path, 0600) == 0) {
		fds[0] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		fds[1] = open(path, O_WRONLY | O_CLOEXEC);
	}
	unlink(path);
	rmdir(dir);
	return fcntl(fds[0], F_SETFL, 0);
}

static int socket_pair(int type, int fds[2])
{
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds);
}

static int pair_unix(int fds[2])
{
	return socket_pair(SOCK_STREAM, fds);
}

static int pair_seqpacket(int fds[2])
{
	return socket_pair(SOCK_SEQPACKET, fds);
}

static int pair_tcp(int fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int buffer = 128 << 10;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ret = -1;

	/* Small ones, or a reader that goes would not be noticed for megabytes. */
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	if (bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0 &&
		getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
		connect(fds[1], (struct sockaddr *)&address, length) == 0) {
		fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		ret = fds[0] < 0 ? -1 : 0;
	}
	close(listener);
	return ret;
}

/* The slave, and the master: both read and write. Raw, so that bytes stay as they are. */
static int pair_terminal(int fds[2])
{
	struct termios raw;

	fds[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fds[1] < 0 || grantpt(fds[1]) < 0 || unlockpt(fds[1]) < 0)
		return -1;
	fds[0] = open(ptsname(fds[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fds[0] < 0 || tcgetattr(fds[0], &raw) < 0)
		return -1;
	cfmakeraw(&raw);
	return tcsetattr(fds[0], TCSANOW, &raw);
}

static const struct {
	const char *kind;
	int (*open)(int fds[2]);
} pairs[] = {
	{ "pipe", pair_pipe },
	{ "fifo", pair_fifo },
	{ "tcp", pair_tcp },
	{ "unix", pair_unix },
	{ "seqpacket", pair_seqpacket },
	{ "terminal", pair_terminal },
};

const char *end_pair(const char *kind, int ret_fds[2])
{
	ret_fds[0] = ret_fds[1] = -1;
	for (size_t i = 0; i < COUNT(pairs); i++)
		if (strcmp(pairs[i].kind, kind) == 0)
			return pairs[i].open(ret_fds) < 0 ? strerror(errno) : NULL;
	return "no such kind of pair";
}

bool end_is_stream(const char *kind)
{
	for (size_t i = 0; i < COUNT(pairs); i++)
		if (strcmp(pairs[i].kind, kind) == 0)
			return true;
	return false;
}
