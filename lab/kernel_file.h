/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells in files of /proc and /sys: a text, a line, a field, a number, a list of CPUs.
 * Nothing is taken for granted: a file may be absent, empty, too long or not what its name says. On failure a
 * text is "", and every other result untouched.
 */
#ifndef KERNEL_FILE_H
#define KERNEL_FILE_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_FILE_TEXT 32768	   /* room for every CPU list: 8192 CPUs, each second one, take 20 KiB */
#define KERNEL_FILE_CPUS (1 << 20) /* CPU numbers are below this */

/* The file's beginning, as text. Returns its length, or -errno; room - 1: there may be more. */
__attribute__((format(printf, 3, 4))) int kernel_file_text(char *ret, size_t room, const char *path, ...);
/* Its first line, cut to fit, without blanks at its end. 0 or -errno (-ENODATA: nothing in it). */
__attribute__((format(printf, 3, 4))) int kernel_file_line(char *ret, size_t room, const char *path, ...);
/* A line that is one whole number. 0 or -errno (-EINVAL: it is something else). */
__attribute__((format(printf, 2, 3))) int kernel_file_number(int64_t *ret, const char *path, ...);

/* Part of a text, not ended by a NUL. */
struct kernel_file_span {
	const char *at;
	size_t length;
};
/* What stands behind "name:" in the first line that has it, as in cpuinfo and meminfo; empty: none has. */
struct kernel_file_span kernel_file_field(const char *text, const char *name);

/* The CPU number at *text, which moves behind it; -EINVAL: there is none. */
int kernel_file_cpu(const char **text);
/* The next range of a list such as "0-3,8,10-11". 1; 0: the list ends here; -EINVAL: not a list. */
int kernel_file_cpu_range(const char **text, int *ret_first, int *ret_last);

#endif
