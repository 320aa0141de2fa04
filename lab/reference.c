/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include "environment.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LIMIT_CHUNK ((size_t)1 << 20)
#define MEMORY_PASS ((size_t)16 << 20)
#define MEMORY_MIN ((uint64_t)64 << 20)
#define MEMORY_MAX                                                                                           \
	((uint64_t)256 << 20) /* a virtual machine may claim its host's whole cache: 260 MiB seen */

static int fail_at(struct reference_state *state, const char *what, int error)
{
	state->failed_at = what;
	return error;
}

void reference_init(struct reference_state *state)
{
	*state = (struct reference_state){ .pipe = GI_PIPE_NONE, .null_fd = -1 };
}

void reference_release(struct reference_state *state)
{
	gi_hugebuf_unmap(&state->buf);
	gi_pipe_close(&state->pipe);
	if (state->null_fd >= 0)
		gi_sys_close(state->null_fd);
}

/* Huge pages where there are any: the reading core should meet memory, not page tables. */
static int map_touched(struct reference_state *state, size_t bytes, bool need_huge)
{
	int ret = gi_hugebuf_map(bytes, GI_HUGEBUF_HUGE, &state->buf);

	if (ret == -EOPNOTSUPP && !need_huge)
		ret = gi_hugebuf_map(bytes, 0, &state->buf);
	if (ret < 0)
		return fail_at(state, "buffer", ret);
	memset(state->buf.base, 'X', bytes);
	if (!need_huge)
		return 0;
	ret = gi_hugebuf_is_huge(&state->buf);
	return ret > 0 ? 0 : fail_at(state, "huge page check", ret == 0 ? -ENODATA : ret);
}

static int prepare_limit(struct reference_state *state)
{
	size_t capacity;
	int ret = map_touched(state, LIMIT_CHUNK, true);

	if (ret < 0)
		return ret;
	ret = gi_pipe_open(&state->pipe);
	if (ret == 0)
		ret = gi_pipe_grow(state->pipe.write_fd, LIMIT_CHUNK, &capacity);
	if (ret < 0)
		return fail_at(state, "pipe size", ret);
	state->null_fd = gi_sys_open("/dev/null", O_WRONLY, 0);
	return state->null_fd < 0 ? fail_at(state, "/dev/null", state->null_fd) : 0;
}

static int pass_limit(struct reference_state *state)
{
	size_t in = 0, out = 0;
	ssize_t n;

	while (in < LIMIT_CHUNK) {
		n = gi_sys_vmsplice(
			state->pipe.write_fd, state->buf.base + in, LIMIT_CHUNK - in, SPLICE_F_NONBLOCK);
		if (n < 0)
			return fail_at(state, "vmsplice", (int)n);
		in += (size_t)n;
	}
	while (out < in) {
		n = gi_sys_splice(state->pipe.read_fd, state->null_fd, in - out, SPLICE_F_NONBLOCK);
		if (n <= 0)
			return fail_at(state, "splice", n < 0 ? (int)n : -EIO);
		out += (size_t)n;
	}
	return 0;
}

/* Twice the last cache, so that each pass comes from memory; less where memory is short. */
static size_t memory_bytes(void)
{
	struct environment env;
	uint64_t bytes;

	environment_read("", &env);
	bytes = 2 * environment_last_cache_bytes(&env);
	if (bytes > MEMORY_MAX)
		bytes = MEMORY_MAX;
	if (env.memory_available_bytes && bytes > env.memory_available_bytes / 4)
		bytes = env.memory_available_bytes / 4;
	if (bytes < MEMORY_MIN)
		bytes = MEMORY_MIN;
	return (size_t)(bytes / (2 * MEMORY_PASS) * (2 * MEMORY_PASS));
}

static int prepare_memory(struct reference_state *state)
{
	return map_touched(state, memory_bytes(), false);
}

static char *next_slice(struct reference_state *state, size_t end)
{
	char *slice = state->buf.base + state->at;

	state->at += MEMORY_PASS;
	if (state->at >= end)
		state->at = 0;
	return slice;
}

/* Four sums, so that the loads do not wait for one another. */
static int pass_mem_read(struct reference_state *state)
{
	const uint64_t *word = (const uint64_t *)(const void *)next_slice(state, state->buf.bytes);
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < MEMORY_PASS / 8; i += 4) {
		a += word[i];
		b += word[i + 1];
		c += word[i + 2];
		d += word[i + 3];
	}
	a += b + c + d;
	__asm__ volatile("" : : "r"(a)); /* the sum is needed, says this: the loop stays */
	return 0;
}

static int pass_memcpy(struct reference_state *state)
{
	char *from = next_slice(state, state->buf.bytes / 2);
	char *to = from + state->buf.bytes / 2;

	memcpy(to, from, MEMORY_PASS);
	__asm__ volatile("" : : "r"(to) : "memory");
	return 0;
}

const struct reference reference_limit = { prepare_limit, pass_limit, LIMIT_CHUNK };
const struct reference reference_mem_read = { prepare_memory, pass_mem_read, MEMORY_PASS };
const struct reference reference_memcpy = { prepare_memory, pass_memcpy, MEMORY_PASS };
