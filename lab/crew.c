/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include "ends.h"
#include "receiver.h"
#include "sender.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPLICE_CHUNK ((size_t)1 << 20)
#define READ_CHUNK ((size_t)256 << 10) /* the ladder's: larger ones leave the level-2 cache */

int crew_settle_in(pid_t parent, int cpu)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	return end_pin(cpu);
}

void crew_reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void empty(int fd, const struct receiver_config *config)
{
	struct receiver r;

	if (receiver_prepare(&r, fd, config) == 0)
		receiver_run(&r, UINT64_MAX);
	receiver_release(&r);
}

void crew_empty_by_splice(int fd)
{
	empty(fd, &(struct receiver_config){ .call = RECEIVER_SPLICE, .chunk_bytes = SPLICE_CHUNK });
}

void crew_empty_by_read(int fd)
{
	empty(fd, &(struct receiver_config){ .call = RECEIVER_READ, .chunk_bytes = READ_CHUNK });
}

void crew_feed_by_vmsplice(int fd)
{
	const struct sender_config config = {
		.call = SENDER_VMSPLICE,
		.chunk_bytes = SPLICE_CHUNK,
		.chunks = 2,
		.huge = true,
	};
	struct sender s;

	if (sender_prepare(&s, fd, &config) == 0)
		sender_run(&s, 0);
	sender_release(&s);
}
