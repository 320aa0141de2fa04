/* SPDX-License-Identifier: MIT */
/*
 * tee FILE...: standard input to standard output and to each FILE. A sink that fails leaves the others alone.
 *
 *	cc tee.c $(pkg-config --cflags --libs gush)
 */
#include <gush.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MOST_SINKS 64

int main(int argc, char **argv)
{
	int sinks[MOST_SINKS] = { 1 }, errors[MOST_SINKS] = { 0 }, status = 0;
	struct gush_fanout *fanout;
	int64_t n;

	if (argc > MOST_SINKS) {
		fprintf(stderr, "tee: no more than %d files\n", MOST_SINKS - 1);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* a reader that goes is that sink's error */
	for (int i = 1; i < argc; i++) {
		sinks[i] = open(argv[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		errors[i] = sinks[i] < 0 ? -errno : 0; /* -1 is a sink that has failed from the start */
	}
	n = gush_fanout_open(0, sinks, (size_t)argc, NULL, &fanout);
	if (n < 0) {
		fprintf(stderr, "tee: %s\n", strerror((int)-n));
		return 1;
	}
	while ((n = gush_fanout_step(fanout)) > 0)
		;
	for (int i = 0; i < argc; i++) {
		int error = errors[i] ? errors[i] : gush_fanout_error(fanout, (size_t)i);

		if (error == 0)
			continue;
		fprintf(stderr, "tee: %s: %s\n", i ? argv[i] : "standard output", strerror(-error));
		status = 1;
	}
	if (n < 0 && n != -EPIPE) { /* -EPIPE: no sink was left, and each has told why */
		fprintf(stderr, "tee: standard input: %s\n", strerror((int)-n));
		status = 1;
	}
	gush_fanout_close(fanout);
	return status;
}
