/* SPDX-License-Identifier: MIT */
/*
 * Where things are scarce or forbidden: the bytes arrive all the same, or an error tells why not and how far
 * it came.
 */
#include "drive.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define BYTES 300007u
#define FD_LIMIT 64
#define HOARD_MOST 200

static const char *const sources[] = { "disk", "pipe", "tcp", "unix", "seqpacket", "zero",
	"proc-filesystems" };
static const char *const sinks[] = { "disk", "append", "pipe", "tcp", "unix", "null" };

static const char *source_kind, *sink_kind;
static enum manner manner;

/* ---- a sandbox ---- */

static const struct forbidden {
	const char *name;
	unsigned number;
	enum { WORK, MAY_FAIL, FAIL } transfers, fanouts;
} forbidden[] = {
	{ "splice", SYS_splice, WORK, WORK }, { "tee", SYS_tee, WORK, WORK },
	{ "vmsplice", SYS_vmsplice, WORK, WORK }, { "sendfile", SYS_sendfile, WORK, WORK },
	{ "copy_file_range", SYS_copy_file_range, WORK, WORK }, { "preadv2", SYS_preadv2, WORK, WORK },
	{ "pwritev2", SYS_pwritev2, WORK, WORK }, { "lseek", SYS_lseek, WORK, WORK },
	{ "ioctl", SYS_ioctl, WORK, WORK },
	{ "pipe2", SYS_pipe2, WORK, FAIL },	    /* a fan-out is made of pipes */
	{ "ppoll", SYS_ppoll, MAY_FAIL, MAY_FAIL }, /* where there is something to wait for */
	{ "fcntl", SYS_fcntl, FAIL, FAIL },	    /* what is it? */
};

static const struct forbidden *call;
static int call_error;

static const char *forbid(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)call_error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { COUNT(program), program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return "no seccomp filter can be installed";
	return NULL;
}

/* No call but pread: any other may be forbidden. */
static void check_sink_file(const struct end *e, uint64_t bytes)
{
	static char got[BYTES + 1];

	CHECK(pread(e->fd, got, sizeof(got), (off_t)e->start) == (ssize_t)bytes);
	CHECK(memcmp(got, want, bytes) == 0);
}

static void sandboxed_pair(void)
{
	struct end source = { .fd = -1 }, sink = { .fd = -1 };
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct outcome out;
	const char *why;

	alarm(20);
	want_stamp(BYTES);
	CHECK(SOURCE(source_kind)->open(&source) == NULL && SINK(sink_kind)->open(&sink) == NULL);
	o.limit_bytes = SOURCE(source_kind)->limit ? want_bytes : GUSH_NO_LIMIT;
	why = forbid();
	if (why)
		SKIP(why);
	out = drive(source.fd, sink.fd, manner, &o);
	if (out.error != 0 || call->transfers == FAIL)
		CHECK(call->transfers != WORK && out.error == -call_error && out.bytes < want_bytes);
	else
		CHECK_INT(out.bytes, want_bytes);
	if (sink.regular)
		check_sink_file(&sink, out.bytes);
	end_close(&source);
	end_close(&sink);
	end_check_sink(&sink, out.bytes, "drained");
}

static void sandboxed_fanout(void)
{
	struct end source = { .fd = -1 }, ends[COUNT(sinks)];
	int fds[COUNT(sinks)];
	struct gush_fanout *f = NULL;
	int64_t n;
	const char *why;

	alarm(20);
	want_stamp(BYTES);
	CHECK(SOURCE(source_kind)->open(&source) == NULL);
	for (size_t i = 0; i < COUNT(sinks); i++) {
		ends[i] = (struct end){ .fd = -1 };
		CHECK(SINK(sinks[i])->open(&ends[i]) == NULL);
		fds[i] = ends[i].fd;
	}
	why = forbid();
	if (why)
		SKIP(why);
	n = gush_fanout_open(source.fd, fds, COUNT(sinks), NULL, &f);
	while (n == 0 && (n = gush_fanout_step(f)) > 0)
		n = 0;
	CHECK(n == 0 ? call->fanouts != FAIL : call->fanouts != WORK && n == -call_error);
	for (size_t i = 0; i < COUNT(sinks); i++) {
		uint64_t bytes = f ? gush_fanout_delivered(f, i) : 0;

		CHECK_CASE(n < 0 || bytes == want_bytes, sinks[i]);
		if (ends[i].regular)
			check_sink_file(&ends[i], bytes);
		end_close(&ends[i]);
		end_check_sink(&ends[i], bytes, sinks[i]);
	}
	gush_fanout_close(f);
}

static void each_pair(void (*pair)(void))
{
	for (size_t i = 0; i < COUNT(sources); i++)
		for (size_t k = 0; k < COUNT(sinks); k++) {
			source_kind = sources[i];
			sink_kind = sinks[k];
			manner = MANNER_BLOCK;
			in_child(pair);
			manner = MANNER_LOOP;
			in_child(pair);
			if (test_bad)
				printf("  %s to %s\n", source_kind, sink_kind);
			if (test_bad || test_skip_reason)
				return;
		}
}

static void sandbox(void)
{
	each_pair(sandboxed_pair);
	for (size_t i = 0; i < COUNT(sources) && !test_bad && !test_skip_reason; i++) {
		source_kind = sources[i];
		if (!SOURCE(source_kind)->limit)
			in_child(sandboxed_fanout);
	}
}

/* ---- signals ---- */

static void start_storm(void)
{
	storm_start(300000);
}

static void stormy_pair(void)
{
	drive_before = start_storm; /* what the test itself opens need not stand it */
	drive_source_pace = drive_sink_pace = PACE_SLOW;
	drive_pair(SOURCE(source_kind), SINK(sink_kind), manner, BYTES);
	if (!CHECK(atomic_load(&storm_signals) > 0))
		printf("  %d signals: %s to %s, %d\n", storm_signals, source_kind, sink_kind, manner);
	storm_stop();
}

static void signal_storm(void)
{
	static const char *const slow[] = { "pipe", "tcp", "unix", "terminal" };

	for (size_t i = 0; i < COUNT(slow) * COUNT(slow) && !test_bad; i++) {
		source_kind = slow[i / COUNT(slow)];
		sink_kind = slow[i % COUNT(slow)];
		manner = (enum manner)(i % MANNERS);
		in_child(stormy_pair);
	}
}

/* ---- few descriptors ---- */

static void take_descriptors(int left)
{
	struct rlimit limit = { FD_LIMIT, FD_LIMIT };
	int fd, last[8] = { 0 }, n = 0;

	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fd = dup(0)) >= 0)
		last[n++ % 8] = fd;
	CHECK(errno == EMFILE && n >= left);
	for (int i = 0; i < left; i++)
		close(last[(n - 1 - i) % 8]);
}

static int descriptors_left;

static void pair_without_descriptors(void)
{
	struct end source = { .fd = -1 }, sink = { .fd = -1 };
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct outcome out;

	alarm(20);
	want_stamp(BYTES);
	CHECK(SOURCE(source_kind)->open(&source) == NULL && SINK(sink_kind)->open(&sink) == NULL);
	o.limit_bytes = SOURCE(source_kind)->limit ? want_bytes : GUSH_NO_LIMIT;
	take_descriptors(descriptors_left);
	out = drive(source.fd, sink.fd, manner, &o);
	CHECK_INT(out.error, 0);
	CHECK_INT(out.bytes, want_bytes);
	if (sink.regular)
		check_sink_file(&sink, out.bytes);
	end_close(&source);
	end_close(&sink);
	end_check_sink(&sink, out.bytes, "drained");
}

static void three_descriptors(void)
{
	descriptors_left = 3;
	each_pair(pair_without_descriptors);
}

static void no_descriptors(void)
{
	descriptors_left = 0;
	each_pair(pair_without_descriptors);
}

static void fanout_body(void)
{
	int source = end_temp_file(0), sinks_fds[2] = { end_temp_file(0), end_temp_file(0) };
	struct gush_fanout *f = NULL;

	take_descriptors(descriptors_left);
	for (int i = 0; i < 3; i++) { /* it must give them back */
		CHECK_INT(gush_fanout_open(source, sinks_fds, 2, NULL, &f), -EMFILE);
		CHECK(f == NULL);
	}
}

static void fanout_without_descriptors(void)
{
	for (descriptors_left = 0; descriptors_left < 6; descriptors_left++)
		in_child(fanout_body);
}

/* ---- small pipes that may not grow ---- */

static const char *use_up_pipes(void)
{
	int fds[2];

	for (int i = 0; i < HOARD_MOST; i++)
		if (pipe(fds) < 0 || fcntl(fds[0], F_SETPIPE_SZ, 1 << 20) < 0)
			return errno == EPERM && i > 0 ? NULL : "this user's pipes are not limited";
	return "no limit of pipes was met";
}

static void pair_with_small_pipes(void)
{
	const char *why = use_up_pipes();

	if (why)
		SKIP(why);
	drive_pair(SOURCE(source_kind), SINK(sink_kind), manner, BYTES);
}

static void small_pipes_as_user(void)
{
	as_ordinary_user(pair_with_small_pipes);
}

static void small_pipes(void)
{
	if (geteuid() != 0)
		SKIP("only root can give up rights");
	each_pair(small_pipes_as_user);
}

static void fanout_with_small_pipes(void)
{
	const char *why = use_up_pipes();

	if (why)
		SKIP(why);
	call = &forbidden[2]; /* vmsplice: not used */
	call_error = EPERM;
	source_kind = "pipe";
	sandboxed_fanout();
}

static void small_pipes_fanout(void)
{
	if (geteuid() != 0)
		SKIP("only root can give up rights");
	as_ordinary_user(fanout_with_small_pipes);
}

/* ---- fork ---- */

static void relay_often(char stamp)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	int source = memfd_create("s", MFD_CLOEXEC), sink = memfd_create("d", MFD_CLOEXEC);
	static char bytes[60000], got[sizeof(bytes)];

	memset(bytes, stamp, sizeof(bytes));
	CHECK(write(source, bytes, sizeof(bytes)) == sizeof(bytes));
	o.method = "relay";
	o.sink_offset = o.source_offset = 0;
	for (int i = 0; i < 300 && !test_bad; i++) {
		CHECK_INT(gush_copy(source, sink, &o, NULL), 0);
		CHECK(pread(sink, got, sizeof(got), 0) == sizeof(got) &&
			memcmp(got, bytes, sizeof(got)) == 0);
	}
}

static void forked_child(void)
{
	relay_often('c');
}

/* The parent has pooled pipes, and one with bytes in it; the child must get neither. */
static void fork_pool(void)
{
	struct gush_transfer_options o = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_transfer *t = NULL;
	int from[2], to[2], status = -1;
	int64_t n = 0;
	pid_t pid;

	relay_often('p');
	CHECK(end_pair("unix", from) == NULL && end_pair("unix", to) == NULL);
	want_stamp(BYTES);
	o.method = "relay";
	o.flags = GUSH_NONBLOCK;
	fcntl(from[1], F_SETFL, O_NONBLOCK);
	fcntl(to[1], F_SETFL, O_NONBLOCK);
	CHECK_INT(gush_transfer_open(from[0], to[1], &o, &t), 0);
	for (int i = 0; i < 100 && n != -EAGAIN; i++) {
		CHECK(write(from[1], want, BYTES) > 0 || errno == EAGAIN);
		n = gush_transfer_step(t);
	}
	CHECK(gush_transfer_pending(t) > 0);
	pid = fork();
	if (pid == 0) {
		test_bad = 0;
		forked_child();
		_exit(test_bad != 0);
	}
	relay_often('q');
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	gush_transfer_close(t);
}

int main(void)
{
	char name[100];

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < COUNT(forbidden) * 2; i++) {
		call = &forbidden[i / 2];
		call_error = i % 2 ? ENOSYS : EPERM;
		snprintf(name, sizeof(name), "forbidden_%s_%s", call->name, i % 2 ? "ENOSYS" : "EPERM");
		test_run(name, sandbox);
	}
	TEST(signal_storm);
	TEST(three_descriptors);
	TEST(no_descriptors);
	TEST(fanout_without_descriptors);
	TEST(small_pipes);
	TEST(small_pipes_fanout);
	TEST(fork_pool);
	return test_end();
}
