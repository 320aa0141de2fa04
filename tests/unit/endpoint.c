/* SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include "support.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

static bool same(const struct gi_endpoint *a, const struct gi_endpoint *b)
{
	return a->fd == b->fd && a->kind == b->kind && a->readable == b->readable &&
	       a->writable == b->writable && a->nonblock == b->nonblock && a->append == b->append &&
	       a->capacity_bytes == b->capacity_bytes;
}

/* Classifies, compares, closes; the description's flags must be as they were. */
static void expect(const char *name, int fd, struct gi_endpoint want)
{
	struct gi_endpoint got;
	int flags = fcntl(fd, F_GETFL);

	want.fd = fd;
	CHECK_CASE(fd >= 0, name);
	CHECK_CASE(gi_endpoint_classify(fd, &got) == 0, name);
	CHECK_CASE(same(&got, &want), name);
	CHECK_CASE(fcntl(fd, F_GETFL) == flags, name);
	close(fd);
}

static int open_it(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC);
}

static void devices(void)
{
	static const struct {
		const char *path;
		int flags;
		struct gi_endpoint want;
	} cases[] = {
		{ "/dev/null", O_RDONLY, { .kind = GI_KIND_NULL, .readable = true } },
		{ "/dev/null", O_WRONLY, { .kind = GI_KIND_NULL, .writable = true } },
		{ "/dev/null", O_RDWR, { .kind = GI_KIND_NULL, .readable = true, .writable = true } },
		{ "/dev/zero", O_RDONLY, { .kind = GI_KIND_CHAR, .readable = true } },
		{ "/dev/full", O_WRONLY, { .kind = GI_KIND_CHAR, .writable = true } },
		{ "/dev/zero", O_RDONLY | O_NONBLOCK,
			{ .kind = GI_KIND_CHAR, .readable = true, .nonblock = true } },
		{ "/", O_RDONLY, { .kind = GI_KIND_DIRECTORY, .readable = true } },
		{ "/proc/self/stat", O_RDONLY, { .kind = GI_KIND_REGULAR, .readable = true } },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		expect(cases[i].path, open_it(cases[i].path, cases[i].flags), cases[i].want);
}

static void files(void)
{
	static const struct {
		const char *name;
		int flags;
		struct gi_endpoint want;
	} cases[] = {
		{ "read", O_RDONLY, { .kind = GI_KIND_REGULAR, .readable = true } },
		{ "write", O_WRONLY, { .kind = GI_KIND_REGULAR, .writable = true } },
		{ "both", O_RDWR, { .kind = GI_KIND_REGULAR, .readable = true, .writable = true } },
		{ "append", O_WRONLY | O_APPEND,
			{ .kind = GI_KIND_REGULAR, .writable = true, .append = true } },
		{ "append, both", O_RDWR | O_APPEND,
			{ .kind = GI_KIND_REGULAR, .readable = true, .writable = true, .append = true } },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		expect(cases[i].name, open_nameless(S_IFREG, cases[i].flags), cases[i].want);
	expect("memfd", memfd_create("m", MFD_CLOEXEC),
		(struct gi_endpoint){ .kind = GI_KIND_REGULAR, .readable = true, .writable = true });
}

static void pipes(void)
{
	struct gi_endpoint want = { .kind = GI_KIND_PIPE, .readable = true };
	int fds[2];

	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	want.capacity_bytes = (size_t)fcntl(fds[0], F_GETPIPE_SZ);
	expect("read end", fds[0], want);
	expect("write end", fds[1],
		(struct gi_endpoint){
			.kind = GI_KIND_PIPE, .writable = true, .capacity_bytes = want.capacity_bytes });

	CHECK_INT(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	want.nonblock = true;
	want.capacity_bytes = (size_t)fcntl(fds[1], F_SETPIPE_SZ, 32768);
	CHECK_INT(want.capacity_bytes, 32768);
	expect("read end, non-blocking, smaller", fds[0], want);
	close(fds[1]);
}

static void fifos(void)
{
	int fd = open_nameless(S_IFIFO, O_RDWR);
	size_t capacity = (size_t)fcntl(fd, F_GETPIPE_SZ);

	expect("FIFO, both", fd,
		(struct gi_endpoint){ .kind = GI_KIND_PIPE,
			.readable = true,
			.writable = true,
			.capacity_bytes = capacity });
	fd = open_nameless(S_IFIFO, O_RDONLY | O_NONBLOCK);
	expect("FIFO, read", fd,
		(struct gi_endpoint){ .kind = GI_KIND_PIPE,
			.readable = true,
			.nonblock = true,
			.capacity_bytes = capacity });
}

static void sockets(void)
{
	struct gi_endpoint want = { .kind = GI_KIND_SOCKET, .readable = true, .writable = true };
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	expect("unix stream", fds[0], want);
	expect("unix stream", fds[1], want);
	expect("TCP", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), want);
	want.nonblock = true;
	CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	expect("unix datagrams, non-blocking", fds[0], want);
	close(fds[1]);
}

static void terminals(void)
{
	struct gi_endpoint want = { .kind = GI_KIND_TERMINAL, .readable = true, .writable = true };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		SKIP("no pseudo-terminals here");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	expect("terminal", slave, want);
	expect("other side of a terminal", master, want);
}

static void something_unknown(void)
{
	expect("eventfd", eventfd(0, EFD_CLOEXEC),
		(struct gi_endpoint){ .kind = GI_KIND_OTHER, .readable = true, .writable = true });
}

static void not_open(void)
{
	static const int fds[] = { -1, -100, 1023, INT32_MAX };
	struct gi_endpoint e, before;

	memset(&e, 0x5a, sizeof(e));
	before = e;
	for (size_t i = 0; i < COUNT(fds); i++)
		CHECK_INT(gi_endpoint_classify(fds[i], &e), -EBADF);
	CHECK_INT(memcmp(&e, &before, sizeof(e)), 0);
}

static void names(void)
{
	static const struct {
		enum gi_kind kind;
		const char *name;
	} cases[] = {
		{ GI_KIND_OTHER, "something unknown" },
		{ GI_KIND_PIPE, "pipe" },
		{ GI_KIND_REGULAR, "regular file" },
		{ GI_KIND_SOCKET, "socket" },
		{ GI_KIND_TERMINAL, "terminal" },
		{ GI_KIND_NULL, "/dev/null" },
		{ GI_KIND_CHAR, "character device" },
		{ GI_KIND_BLOCK, "block device" },
		{ GI_KIND_DIRECTORY, "directory" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_TEXT(gi_kind_name(cases[i].kind), cases[i].name);
}

static void opens_nothing(void)
{
	struct fds before = fds_now();
	struct gi_endpoint e;

	for (int fd = 0; fd < 3; fd++)
		CHECK_INT(gi_endpoint_classify(fd, &e), fcntl(fd, F_GETFD) < 0 ? -EBADF : 0);
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(devices);
	TEST(files);
	TEST(pipes);
	TEST(fifos);
	TEST(sockets);
	TEST(terminals);
	TEST(something_unknown);
	TEST(not_open);
	TEST(names);
	TEST(opens_nothing);
	return test_end();
}
