/* SPDX-License-Identifier: MIT */
/* A sandbox: system calls that fail with an error of ours, from now on, in this thread and its children. */
#ifndef FORBID_H
#define FORBID_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define BANS_MOST 6

struct ban {
	unsigned number;
	int error;
	enum { BAN_ALWAYS, BAN_FLAG, BAN_VALUE } when; /* argument `argument` has this flag, or is this */
	unsigned argument, operand;
};

/* The low half of an argument: all that we ask for is there, on machines that store it first. */
static inline unsigned ban_program(const struct ban *ban, struct sock_filter *to)
{
	unsigned low = (unsigned)offsetof(struct seccomp_data, args) + 8 * ban->argument, n = 0;
	unsigned test = ban->when == BAN_FLAG ? BPF_JSET : BPF_JEQ;
	unsigned char skip = ban->when == BAN_ALWAYS ? 1 : 3;

	to[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	to[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ban->number, 0, skip);
	if (ban->when != BAN_ALWAYS) {
		to[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low);
		to[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, ban->operand, 0, 1);
	}
	to[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)ban->error);
	return n;
}

/* As many as have an error. NULL, or why not. */
static inline const char *forbid_all(const struct ban *bans)
{
	struct sock_filter program[5 * BANS_MOST + 1];
	struct sock_fprog filter = { 0, program };

	for (unsigned i = 0; i < BANS_MOST && bans[i].error; i++)
		filter.len += ban_program(&bans[i], program + filter.len);
	program[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return "no seccomp filter can be installed";
	return NULL;
}

#endif
