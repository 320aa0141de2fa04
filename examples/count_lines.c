/* SPDX-License-Identifier: MIT */
/*
 * count_lines [-s]: how many newlines there are on standard input, as wc -l says.
 *
 * It looks for them in whatever comes, which is the faster way. With -s it takes line by line, as a program
 * must that wants to see the lines: each costs a call.
 *
 *	cc count_lines.c $(pkg-config --cflags --libs gush)
 */
#include <gush.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int count_in_pieces(struct gush_consumer *consumer, unsigned long long *lines)
{
	const void *data;
	size_t bytes;
	int ret;

	while ((ret = gush_consumer_next(consumer, &data, &bytes)) > 0) {
		const char *text = data;

		/* A sum over bytes, which compilers turn into instructions that look at many at once: a
		 * memchr for each line pays for long lines only. */
		while (bytes > 0) {
			size_t some = bytes < 255 ? bytes : 255;
			unsigned char found = 0;

			for (size_t i = 0; i < some; i++)
				found += text[i] == '\n';
			*lines += found;
			text += some;
			bytes -= some;
		}
	}
	return ret;
}

static int count_one_by_one(struct gush_consumer *consumer, unsigned long long *lines)
{
	const void *line;
	size_t bytes;
	int ret;

	while ((ret = gush_consumer_split(consumer, '\n', &line, &bytes)) > 0)
		*lines += ((const char *)line)[bytes - 1] == '\n'; /* the last one may lack it */
	return ret;
}

int main(int argc, char **argv)
{
	int one_by_one = argc == 2 && strcmp(argv[1], "-s") == 0, ret;
	unsigned long long lines = 0;
	struct gush_consumer *consumer;

	if (argc != 1 && !one_by_one) {
		fprintf(stderr, "usage: count_lines [-s]\n");
		return 2;
	}
	ret = gush_consumer_open(STDIN_FILENO, NULL, &consumer);
	if (ret == 0) {
		ret = (one_by_one ? count_one_by_one : count_in_pieces)(consumer, &lines);
		gush_consumer_close(consumer);
	}
	if (ret < 0) {
		fprintf(stderr, "count_lines: %s\n", strerror(-ret));
		return 1;
	}
	printf("%llu\n", lines);
	return 0;
}
