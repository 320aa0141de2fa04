/* SPDX-License-Identifier: MIT */
/*
 * deny CALL[,CALL]... EPERM|ENOSYS|KILL COMMAND [ARGUMENT]...: becomes the command, in a seccomp filter that
 * lets these system calls fail so (or kill it). 77: no filter can be installed here.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "clone3", SYS_clone3 },
	{ "copy_file_range", SYS_copy_file_range },
	{ "fcntl", SYS_fcntl },
	{ "ioctl", SYS_ioctl },
	{ "lseek", SYS_lseek },
	{ "madvise", SYS_madvise },
	{ "mlock", SYS_mlock },
	{ "pipe2", SYS_pipe2 },
#ifdef SYS_poll
	{ "poll", SYS_poll },
#endif
	{ "ppoll", SYS_ppoll },
	{ "preadv2", SYS_preadv2 },
	{ "pwritev2", SYS_pwritev2 },
	{ "sendfile", SYS_sendfile },
	{ "splice", SYS_splice },
	{ "tee", SYS_tee },
	{ "vmsplice", SYS_vmsplice },
};

#define CALLS (sizeof(calls) / sizeof(*calls))

/* Load the number; for each call in the list: equal, then the verdict, else go on; allow. */
static struct sock_filter program[2 * CALLS + 2];
static unsigned short length;

static void emit(unsigned short code, unsigned k, unsigned char yes, unsigned char no)
{
	program[length++] = (struct sock_filter)BPF_JUMP(code, k, yes, no);
}

static int add(const char *name, unsigned verdict)
{
	for (size_t i = 0; i < CALLS; i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		emit(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
		emit(BPF_RET | BPF_K, verdict, 0, 0);
		return 0;
	}
	fprintf(stderr, "deny: '%s' is not a call in its list\n", name);
	return -1;
}

static unsigned verdict_of(const char *text)
{
	if (strcmp(text, "EPERM") == 0)
		return SECCOMP_RET_ERRNO | EPERM;
	if (strcmp(text, "ENOSYS") == 0)
		return SECCOMP_RET_ERRNO | ENOSYS;
	return SECCOMP_RET_KILL_PROCESS;
}

static int install(void)
{
	struct sock_fprog filter = { length, program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	emit(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ","))
		if (length + 3u > sizeof(program) / sizeof(*program) || add(name, verdict_of(argv[2])) < 0)
			return 2;
	emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	if (install() < 0) {
		perror("deny");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
