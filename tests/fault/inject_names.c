/* SPDX-License-Identifier: MIT */
#include "inject.h"

static const char *const names[] = {
	[INJECT_OPEN] = "open",
	[INJECT_CLOSE] = "close",
	[INJECT_FSTAT] = "fstat",
	[INJECT_READ] = "read",
	[INJECT_WRITE] = "write",
	[INJECT_WRITEV] = "writev",
	[INJECT_READ_FLAGS] = "read_flags",
	[INJECT_WRITE_FLAGS] = "write_flags",
	[INJECT_PREAD] = "pread",
	[INJECT_PWRITE] = "pwrite",
	[INJECT_SPLICE] = "splice",
	[INJECT_SPLICE_AT] = "splice_at",
	[INJECT_SENDFILE] = "sendfile",
	[INJECT_COPY_FILE_RANGE] = "copy_file_range",
	[INJECT_VMSPLICE] = "vmsplice",
	[INJECT_VMSPLICE_PIECES] = "vmsplice_pieces",
	[INJECT_TEE] = "tee",
	[INJECT_RECV] = "recv",
	[INJECT_LSEEK] = "lseek",
	[INJECT_FTRUNCATE] = "ftruncate",
	[INJECT_FALLOCATE] = "fallocate",
	[INJECT_PIPE] = "pipe",
	[INJECT_GET_FLAGS] = "get_flags",
	[INJECT_GET_PIPE_SIZE] = "get_pipe_size",
	[INJECT_SET_PIPE_SIZE] = "set_pipe_size",
	[INJECT_POLL] = "poll",
	[INJECT_MMAP] = "mmap_private",
	[INJECT_MUNMAP] = "munmap",
	[INJECT_MADVISE] = "madvise",
	[INJECT_MLOCK] = "mlock",
	[INJECT_IOCTL] = "ioctl",
	[INJECT_CLONE3] = "clone3_no_pid",
	[INJECT_CLONE_PIDFD] = "clone_bad_pidfd",
	[INJECT_CLONE_CHILD] = "clone_child",
	[INJECT_ERRCLASS] = "errclass",
	[INJECT_CANARY] = "canary",
	[INJECT_TRANSIT_PUT] = "transit_put",
};

const char *inject_call_name(enum inject_call call)
{
	return names[call];
}

bool inject_moves_bytes(enum inject_call call)
{
	return call >= INJECT_READ && call <= INJECT_TEE;
}
