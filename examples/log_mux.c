/* SPDX-License-Identifier: MIT */
/*
 * log_mux FILE...: the lines of all FILEs (files or FIFOs, a thread each) to standard output as they come.
 * Lines of different FILEs mix, but none is torn: what one commit gives stays in one piece.
 *
 *	cc -pthread log_mux.c $(pkg-config --cflags --libs gush)
 */
#include <gush.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST ((size_t)64 << 10) /* a longer line is broken up */

struct input {
	const char *name;
	struct gush_producer *log; /* one for all threads */
	pthread_t thread;
	int error; /* of reading; the log's own is told by flush */
};

static int add_line(struct gush_producer *log, const char *line, size_t bytes)
{
	struct gush_region region;
	int ret = gush_producer_reserve(log, bytes + 1, bytes + 1, &region);

	if (ret < 0)
		return ret;
	memcpy(region.memory, line, bytes);
	((char *)region.memory)[bytes] = '\n';
	return gush_producer_commit(log, &region, bytes + 1);
}

/* The whole lines of the text; what is left of it goes to its beginning. */
static int add_lines(struct gush_producer *log, char *text, size_t *bytes)
{
	char *line = text, *end = text + *bytes, *newline;
	int ret = 0;

	while (ret == 0 && (newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		ret = add_line(log, line, (size_t)(newline - line));
		line = newline + 1;
	}
	*bytes = (size_t)(end - line);
	memmove(text, line, *bytes);
	if (ret == 0 && *bytes == LINE_MOST) {
		ret = add_line(log, text, LINE_MOST);
		*bytes = 0;
	}
	return ret;
}

static void *follow(void *arg)
{
	struct input *input = arg;
	int fd = open(input->name, O_RDONLY | O_CLOEXEC), ret = 0;
	char text[LINE_MOST];
	size_t bytes = 0;
	ssize_t n = fd;

	while (fd >= 0 && ret == 0 && (n = read(fd, text + bytes, sizeof(text) - bytes)) > 0) {
		bytes += (size_t)n;
		ret = add_lines(input->log, text, &bytes);
		if (ret == 0) /* who reads a log wants to see it now, not when enough has gathered */
			ret = gush_producer_flush(input->log);
	}
	input->error = n < 0 ? errno : 0;
	if (ret == 0 && bytes > 0)
		add_line(input->log, text, bytes); /* the last line had no end */
	if (fd >= 0)
		close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;
	struct input *inputs = calloc((size_t)argc, sizeof(*inputs));
	struct gush_producer *log;
	int ret, status = 0;

	options.policy = GUSH_PROTECT;
	ret = inputs ? gush_producer_open(STDOUT_FILENO, &options, &log) : -ENOMEM;
	if (ret == 0) {
		for (int i = 1; i < argc; i++) {
			inputs[i] = (struct input){ .name = argv[i], .log = log };
			if (pthread_create(&inputs[i].thread, NULL, follow, &inputs[i]) != 0)
				abort();
		}
		for (int i = 1; i < argc; i++) {
			pthread_join(inputs[i].thread, NULL);
			if (inputs[i].error)
				fprintf(stderr, "log_mux: %s: %s\n", argv[i], strerror(inputs[i].error));
			status |= inputs[i].error;
		}
		ret = gush_producer_flush(log); /* tells an earlier error too, whichever thread met it */
		gush_producer_close(log);
	}
	if (ret < 0)
		fprintf(stderr, "log_mux: standard output: %s\n", strerror(-ret));
	free(inputs);
	return ret < 0 || status != 0;
}
