/* SPDX-License-Identifier: MIT */
/* The protocol of /dev/fuse itself (fuse(4), linux/fuse.h): all it takes here is a handful of answers. */
#include "fuse.h"

#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#define NODE_SIZED 2
#define NODE_UNSIZED 3
#define WRITE_MOST 65536u
#define ALIVE_SECONDS 40 /* no case is given more than 20 */

static int device;

/* A request, and what follows its header. */
static union {
	struct fuse_in_header header;
	char bytes[sizeof(struct fuse_in_header) + 4096 + WRITE_MOST];
} request;

static const void *arguments(void)
{
	return request.bytes + sizeof(request.header);
}

static void answer(int error, const void *data, size_t length)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + length),
		.error = error,
		.unique = request.header.unique,
	};
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)(uintptr_t)data, length } };

	/* It fails when whoever asked was killed meanwhile: nothing is owed then. */
	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = 4096 };

	attr.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0600;
	attr.size = node == NODE_SIZED ? want_bytes : 0;
	attr.uid = geteuid();
	attr.gid = getegid();
	return attr;
}

static void answer_init(void)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = 128 << 10,
		.flags = FUSE_ASYNC_READ | FUSE_BIG_WRITES,
		.max_write = WRITE_MOST,
	};

	answer(0, &out, sizeof(out));
}

static void answer_lookup(const char *name)
{
	struct fuse_entry_out out = { 0 };

	out.nodeid = strcmp(name, FUSE_SIZED) == 0     ? NODE_SIZED
		     : strcmp(name, FUSE_UNSIZED) == 0 ? NODE_UNSIZED
						       : 0;
	out.attr = attributes(out.nodeid);
	answer(out.nodeid ? 0 : -ENOENT, &out, out.nodeid ? sizeof(out) : 0);
}

static void answer_getattr(void)
{
	struct fuse_attr_out out = { .attr = attributes(request.header.nodeid) };

	answer(0, &out, sizeof(out));
}

static void answer_open(void)
{
	/* Else one that is killed waits for an answer as it closes, and a stuck server is not ended. */
	struct fuse_open_out out = { .open_flags = FOPEN_NOFLUSH };

	if (request.header.nodeid == NODE_UNSIZED)
		out.open_flags |= FOPEN_DIRECT_IO;
	answer(0, &out, sizeof(out));
}

static void answer_read(const struct fuse_read_in *in)
{
	uint64_t left = in->offset < want_bytes ? want_bytes - in->offset : 0;

	answer(0, want + in->offset, in->size < left ? in->size : left);
}

static void answer_write(const struct fuse_write_in *in)
{
	struct fuse_write_out out = { .size = in->size };

	if (in->offset > want_bytes || in->size > want_bytes - in->offset) {
		answer(-EFBIG, NULL, 0);
		return;
	}
	memcpy(want + in->offset, in + 1, in->size);
	answer(0, &out, sizeof(out));
}

static void answer_request(void)
{
	switch (request.header.opcode) {
	case FUSE_INIT:
		answer_init();
		return;
	case FUSE_LOOKUP:
		answer_lookup(arguments());
		return;
	case FUSE_GETATTR:
		answer_getattr();
		return;
	case FUSE_OPEN:
		answer_open();
		return;
	case FUSE_READ:
		answer_read(arguments());
		return;
	case FUSE_WRITE:
		answer_write(arguments());
		return;
	case FUSE_RELEASE:
		answer(0, NULL, 0);
		return;
	case FUSE_FORGET: /* these want no answer */
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default: /* the kernel does without */
		answer(-ENOSYS, NULL, 0);
	}
}

/* Until the file system is gone, which read tells by ENODEV. */
static void serve(void)
{
	for (;;) {
		ssize_t n = read(device, request.bytes, sizeof(request.bytes));

		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(request.header))
			_exit(n < 0 && errno == ENODEV ? 0 : 1);
		answer_request();
	}
}

/* No other process may hold the device: that would keep the requests of a dead server waiting. */
static pid_t start_server(void)
{
	pid_t parent = getpid(), child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(ALIVE_SECONDS);
		for (int fd = 3; fd < 512; fd++)
			if (fd != device)
				close(fd);
		if (getppid() == parent)
			serve();
		_exit(1);
	}
	close(device);
	return child;
}

static const char *mount_at(const char *dir)
{
	char options[100];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0)
		return "no /dev/fuse";
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, geteuid(),
		getegid());
	if (mount("gush-kinds", dir, "fuse", MS_NOSUID | MS_NODEV, options) == 0)
		return NULL;
	close(device);
	return "FUSE cannot be mounted";
}

static const char *open_and_unmount(struct end *e, const char *dir, const char *file)
{
	char path[100];
	const char *why = mount_at(dir);

	if (why)
		return why;
	e->child = start_server();
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	e->fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(e->fd >= 0);		      /* what could be mounted must work: no reason to skip */
	CHECK(umount2(dir, MNT_DETACH) == 0); /* the open file keeps it alive */
	e->regular = true;
	return NULL;
}

const char *fuse_open(struct end *e, const char *file)
{
	char dir[] = "/tmp/gush-kinds-XXXXXX";
	const char *why;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "mounting is not allowed";
	if (!mkdtemp(dir))
		return strerror(errno);
	why = open_and_unmount(e, dir, file);
	rmdir(dir);
	return why;
}
