/* SPDX-License-Identifier: MIT */
/*
 * generator POLICY [LINES]: the numbers 1, 2, ... to standard output, a line each, as seq does; without LINES
 * until the reader goes. POLICY is copy, protect, give or trust-reader, and the bytes are the same with each;
 * but trust-reader is right only where the next program copies what it reads, as wc and sort do.
 *
 *	cc generator.c $(pkg-config --cflags --libs gush)
 */
#include <gush.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST 21 /* the digits of UINT64_MAX, and the end of the line */

static const struct policy {
	const char *name;
	uint32_t policy;
} policies[] = {
	{ "copy", GUSH_COPY },
	{ "protect", GUSH_PROTECT },
	{ "give", GUSH_GIVE },
	{ "trust-reader", GUSH_TRUST_READER },
};

/* As many whole lines as there is room for, straight into the memory that is sent. Returns their bytes. */
static size_t fill(char *memory, size_t room, uint64_t *next, uint64_t end)
{
	size_t bytes = 0;

	while (*next < end && room - bytes >= LINE_MOST) {
		char digits[LINE_MOST], *first = digits + sizeof(digits);
		uint64_t left = (*next)++;

		*--first = '\n';
		do
			*--first = (char)('0' + left % 10);
		while (left /= 10);
		memcpy(memory + bytes, first, (size_t)(digits + sizeof(digits) - first));
		bytes += (size_t)(digits + sizeof(digits) - first);
	}
	return bytes;
}

static int generate(struct gush_producer *out, uint64_t end)
{
	struct gush_region region;
	uint64_t next = 1;
	int ret = 0;

	while (ret == 0 && next < end) {
		ret = gush_producer_reserve(out, LINE_MOST, SIZE_MAX, &region);
		if (ret == 0)
			ret = gush_producer_commit(
				out, &region, fill(region.memory, region.bytes, &next, end));
	}
	return ret < 0 ? ret : gush_producer_flush(out);
}

int main(int argc, char **argv)
{
	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;
	const struct policy *policy = policies;
	struct gush_producer *out;
	int ret;

	while (argc > 1 && policy < policies + 4 && strcmp(policy->name, argv[1]) != 0)
		policy++;
	if (argc < 2 || argc > 3 || policy == policies + 4) {
		fprintf(stderr, "usage: generator copy|protect|give|trust-reader [LINES]\n");
		return 2;
	}
	options.policy = policy->policy;
	ret = gush_producer_open(STDOUT_FILENO, &options, &out);
	if (ret == 0) {
		ret = generate(out, argc > 2 ? strtoull(argv[2], NULL, 10) + 1 : UINT64_MAX);
		gush_producer_close(out);
	}
	if (ret < 0)
		fprintf(stderr, "generator: %s\n", strerror(-ret));
	return ret < 0;
}
