/* SPDX-License-Identifier: MIT */
/* The names of errors, for programs to read. libc's own function for it is glibc's alone. */
#include "diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME(e)                                                                                              \
	{                                                                                                    \
		e, #e                                                                                        \
	}

static const struct {
	int error;
	const char *name;
} names[] = {
	NAME(EPERM),
	NAME(ENOENT),
	NAME(EINTR),
	NAME(EIO),
	NAME(ENXIO),
	NAME(EBADF),
	NAME(EAGAIN),
	NAME(ENOMEM),
	NAME(EACCES),
	NAME(EFAULT),
	NAME(EBUSY),
	NAME(EEXIST),
	NAME(EXDEV),
	NAME(ENODEV),
	NAME(ENOTDIR),
	NAME(EISDIR),
	NAME(EINVAL),
	NAME(ENFILE),
	NAME(EMFILE),
	NAME(ENOTTY),
	NAME(ETXTBSY),
	NAME(EFBIG),
	NAME(ENOSPC),
	NAME(ESPIPE),
	NAME(EROFS),
	NAME(EPIPE),
	NAME(ERANGE),
	NAME(ENOSYS),
	NAME(EOVERFLOW),
	NAME(ENOTSOCK),
	NAME(EMSGSIZE),
	NAME(EOPNOTSUPP),
	NAME(EAFNOSUPPORT),
	NAME(EADDRNOTAVAIL),
	NAME(ENETDOWN),
	NAME(ENETUNREACH),
	NAME(ECONNRESET),
	NAME(ENOBUFS),
	NAME(ENOTCONN),
	NAME(ETIMEDOUT),
	NAME(ECONNREFUSED),
	NAME(EDQUOT),
	NAME(ECANCELED),
};

const char *diag_errno_name(int error)
{
	static char number[16];

	error = abs(error);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].error == error)
			return names[i].name;
	snprintf(number, sizeof(number), "E%d", error);
	return number;
}
