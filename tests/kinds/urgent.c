/* SPDX-License-Identifier: MIT */
/*
 * Urgent data: at its mark a splice from a TCP socket says 0, as at the end, with more to come. Any peer can
 * send it.
 */
#include "gush.h"
#include "harness.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define HALF 1000

/* Two connected sockets of this machine. */
static int connect_pair(int ret_fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &length) < 0)
		return -1;
	ret_fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ret_fds[0], (struct sockaddr *)&address, length) < 0)
		return -1;
	ret_fds[1] = accept(listener, NULL, NULL);
	close(listener);
	return ret_fds[1] < 0 ? -1 : 0;
}

static void send_with_urgent_byte(int fd)
{
	char half[HALF];

	memset(half, 'u', sizeof(half));
	CHECK_INT(send(fd, half, HALF, 0), HALF);
	CHECK_INT(send(fd, "!", 1, MSG_OOB), 1);
	CHECK_INT(send(fd, half, HALF, 0), HALF);
	close(fd);
}

static void check_all_arrives(int sink, int far)
{
	char got[4 * HALF];
	int tcp[2];
	uint64_t bytes = 0;
	ssize_t n;

	if (!CHECK_INT(connect_pair(tcp), 0))
		return;
	send_with_urgent_byte(tcp[0]);
	CHECK_INT(gush_copy(tcp[1], sink, NULL, &bytes), 0);
	CHECK_INT(bytes, 2 * HALF);
	n = far < 0 ? pread(sink, got, sizeof(got), 0) : read(far, got, sizeof(got));
	CHECK_INT(n, 2 * HALF);
	for (ssize_t i = 0; i < n; i++)
		if (!CHECK(got[i] == 'u'))
			break;
	close(tcp[1]);
}

static void to_a_pipe(void)
{
	int fds[2];

	CHECK_INT(pipe(fds), 0);
	check_all_arrives(fds[1], fds[0]);
	close(fds[0]);
	close(fds[1]);
}

static void to_a_file(void)
{
	FILE *file = tmpfile();

	if (CHECK(file != NULL)) {
		check_all_arrives(fileno(file), -1);
		fclose(file);
	}
}

int main(void)
{
	TEST(to_a_pipe);
	TEST(to_a_file);
	return test_end();
}
