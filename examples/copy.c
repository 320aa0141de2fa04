/* SPDX-License-Identifier: MIT */
/*
 * copy [FILE]: standard input, or FILE, to standard output.
 *
 *	cc copy.c $(pkg-config --cflags --libs gush)
 */
#include <gush.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int source = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	uint64_t bytes;
	int ret;

	if (source < 0) {
		fprintf(stderr, "copy: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	ret = gush_copy(source, STDOUT_FILENO, NULL, &bytes);
	if (ret < 0) {
		fprintf(stderr, "copy: after %llu bytes: %s\n", (unsigned long long)bytes, strerror(-ret));
		return 1;
	}
	return 0;
}
