/* SPDX-License-Identifier: MIT */
#include "reason.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY 0

/* First match wins; "%s" in the text is the error's own. */
static const struct {
	const char *failed_at; /* NULL: anything */
	int error;	       /* ANY: every one */
	enum round_end end;
	const char *text;
} reasons[] = {
	{ "huge page check", ENODATA, ROUND_NOT_HERE,
		"no huge pages: /sys/kernel/mm/transparent_hugepage/enabled says never, or memory is short" },
	{ "huge page check", ANY, ROUND_NOT_HERE,
		"cannot tell whether pages are huge (%s): is /proc mounted?" },
	{ "buffer", EOPNOTSUPP, ROUND_NOT_HERE, "this kernel has no transparent huge pages" },
	{ "buffer", EINVAL, ROUND_NOT_HERE, "this kernel has no transparent huge pages" },
	{ "buffer", EPERM, ROUND_NOT_HERE,
		"mapping or locking memory is forbidden or past 'ulimit -l' (%s)" },
	{ "buffer", EAGAIN, ROUND_NOT_HERE, "memory may not be locked: 'ulimit -l' is too low" },
	{ "buffer", ENOMEM, ROUND_NOT_HERE, "not enough memory, or past 'ulimit -l'" },
	{ "pipe size", EPERM, ROUND_NOT_HERE,
		"a pipe that large is refused: past /proc/sys/fs/pipe-max-size or this user's "
		"pipe-user-pages-soft" },
	{ "pipe size", ERANGE, ROUND_NOT_HERE, "pages are too large here for a pipe of that size" },
	{ "master pipe", EPERM, ROUND_NOT_HERE,
		"a second large pipe is refused: past this user's pipe-user-pages-soft, or vmsplice is "
		"forbidden" },
	{ "pipe to hold bytes in", EPERM, ROUND_NOT_HERE,
		"more large pipes are refused: past this user's pipe-user-pages-soft" },
	{ "copy-on-write barrier", EOPNOTSUPP, ROUND_NOT_HERE, "no clone that fails protects pages here" },
	{ NULL, EPERM, ROUND_NOT_HERE, "forbidden here (%s): a sandbox?" },
	{ NULL, EACCES, ROUND_NOT_HERE, "forbidden here (%s): a sandbox?" },
	{ NULL, ENOSYS, ROUND_NOT_HERE, "not in this kernel, or forbidden by a sandbox (%s)" },
	{ NULL, EMFILE, ROUND_NOT_HERE, "too few descriptors: raise 'ulimit -n' (%s)" },
	{ NULL, ENFILE, ROUND_NOT_HERE,
		"no more pipes or files: past this user's pipe-user-pages-hard, or the system's limit (%s)" },
	{ "starting the processes", EAGAIN, ROUND_NOT_HERE,
		"no more processes allowed: raise 'ulimit -u' (%s)" },
	{ NULL, ANY, ROUND_FAILED, "%s" },
};

static void fill(const char *text, const char *failed_at, int error, char *ret_reason, size_t room)
{
	const char *hole = strstr(text, "%s");

	/* The step's own calls are named; for the rest the text says it all. */
	if (hole)
		snprintf(ret_reason, room, "%s: %.*s%s%s", failed_at, (int)(hole - text), text,
			strerror(error), hole + 2);
	else
		snprintf(ret_reason, room, "%s", text);
}

enum round_end reason_of_error(const char *failed_at, int error, char *ret_reason, size_t room)
{
	size_t i = 0;

	error = abs(error);
	while ((reasons[i].failed_at && strcmp(reasons[i].failed_at, failed_at) != 0) ||
		(reasons[i].error != ANY && reasons[i].error != error))
		i++;
	fill(reasons[i].text, failed_at, error, ret_reason, room);
	return reasons[i].end;
}

enum round_end reason_of_signal(int signal_number, char *ret_reason, size_t room)
{
	if (signal_number == SIGSYS) {
		snprintf(ret_reason, room, "a sandbox kills processes that make this step's calls (SIGSYS)");
		return ROUND_NOT_HERE;
	}
	snprintf(ret_reason, room, "an end was killed by signal %d (%s)%s", signal_number,
		strsignal(signal_number), signal_number == SIGKILL ? ": out of memory?" : "");
	return ROUND_FAILED;
}
