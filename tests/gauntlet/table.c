/* SPDX-License-Identifier: MIT */
/* What configurations there are, and what can be expected of each. */
#include "gauntlet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const policy_names[POLICIES] = { "naive", "unstable", "barrier", "copy", "constant", "repeat",
	"protect", "trust", "give", "our_yes", "our_cat", "our_format", "our_tee", "our_stable" };
const char *const middle_names[MIDDLES] = { "direct", "holder", "tcp", "tcp_pipe", "gush_copy", "gush_fanout",
	"our_cat", "our_tee", "cat", "pv", "tee" };
const char *const reader_names[READERS] = { "fast", "slow", "splicing", "stalling", "dying" };

void config_name(const struct config *c, char *ret_name, size_t bytes)
{
	snprintf(ret_name, bytes, "%s_%s_%s", policy_names[c->policy], middle_names[c->middle],
		reader_names[c->reader]);
}

/* Those of two threads and more are framed; so is one in eight of one thread. */
static unsigned draw_threads(struct rng *r)
{
	static const unsigned counts[] = { 0, 0, 0, 0, 1, 2, 3, 4 };

	return counts[rng_below(r, COUNT(counts))];
}

void config_draw(struct config *c, uint64_t seed, bool large)
{
	static const size_t pipes[] = { 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB };
	static const size_t rings[] = { 2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB, 4 * MIB,
		4 * MIB, 4 * MIB, 0 };
	struct rng r = { seed ^ (uint64_t)c->middle << 32 ^ (uint64_t)c->reader << 40 };
	size_t ring;

	c->seed = rng_next(&r);
	c->pipe_bytes = pipes[rng_below(&r, COUNT(pipes))];
	c->ring_bytes = rings[rng_below(&r, COUNT(rings) - !large)];
	c->style = (enum style)rng_below(&r, STYLES);
	c->threads = draw_threads(&r);
	c->pause_us = large ? 100000 : 30000;
	c->nonblock = rng_one_in(&r, 4);
	c->troubles = rng_one_in(&r, 2) ? 1u << rng_below(&r, 4) : 0;
	c->wrap_bytes = UINT64_MAX;
	ring = c->ring_bytes > 0 ? c->ring_bytes : DEFAULT_RING;
	c->total_bytes = (c->ring_bytes == 0 ? 4 : large ? 12 : 8) * ring + rng_below(&r, ring);
	if (c->policy == POLICY_CONSTANT || c->policy == POLICY_REPEAT) {
		c->threads = 0;
		c->wrap_bytes = c->policy == POLICY_CONSTANT ? 8 * MIB : 1 + rng_below(&r, MIB);
	}
	if (c->policy == POLICY_REPEAT) {
		c->nonblock = false; /* it would be -EINVAL */
		c->total_bytes = 80 * MIB + rng_below(&r, 80 * MIB);
	}
	if (policy_is_tool(c->policy)) {
		c->threads = 0;
		c->troubles &= TROUBLE_SMALL; /* the others are those of a process that calls the library */
		c->ring_bytes = c->ring_bytes > 0 ? c->ring_bytes : 4 * MIB; /* others hold so much back */
	}
	if (c->reader == READER_DYING)
		c->total_bytes = UINT64_MAX;
}

static bool is_installed(const char *program)
{
	const char *path = getenv("PATH");
	char file[400];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, program);
		if (access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* In the build folder, of which this program is in tests/gauntlet; or in the root of a machine made for it.
 */
const char *our_gush(void)
{
	static char path[600];
	ssize_t n = readlink("/proc/self/exe", path, 500);

	path[n > 0 ? n : 0] = '\0';
	for (int up = 0; up < 3 && strrchr(path, '/'); up++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/gush");
	return path;
}

const char *config_missing(const struct config *c)
{
	static char text[40];

	if ((c->middle == MIDDLE_OUR_CAT || c->middle == MIDDLE_OUR_TEE || policy_is_tool(c->policy)) &&
		access(our_gush(), X_OK) < 0)
		return "no gush beside the tests";
	if (c->middle < MIDDLE_CAT || is_installed(middle_names[c->middle]))
		return NULL;
	snprintf(text, sizeof(text), "%s is not installed", middle_names[c->middle]);
	return text;
}

bool config_makes_sense(const struct config *c)
{
	/* With gush_copy each reader is tried; the others do much the same as it. */
	return c->middle < MIDDLE_OUR_CAT || c->reader == READER_SPLICING || c->reader == READER_SLOW;
}

bool config_is_judged(const struct config *c)
{
	if (policy_is_control(c->policy))
		return false;
	return c->policy != POLICY_TRUST || (c->middle == MIDDLE_NONE && c->reader != READER_SPLICING);
}

bool policy_is_control(enum policy policy)
{
	return policy < POLICY_BARRIER;
}

enum policy control_of(enum policy policy)
{
	return policy == POLICY_OUR_STABLE ? POLICY_UNSTABLE : POLICY_NAIVE;
}

bool policy_is_tool(enum policy policy)
{
	return policy == POLICY_UNSTABLE || policy >= POLICY_OUR_YES;
}
