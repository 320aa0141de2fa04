/* SPDX-License-Identifier: MIT */
/* The environment as JSON for results, and as lines for people. */
#include "environment.h"

#include "units.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#define COLUMNS_MIN 60

/* In a result, what is not known is null: "" and 0 would read as facts. */
static void text_or_null(struct json *j, const char *name, const char *text)
{
	json_text(j, name, *text ? text : NULL);
}

static void count_or_null(struct json *j, const char *name, int64_t number)
{
	if (number >= 0)
		json_int(j, name, number);
	else
		json_null(j, name);
}

static void bytes_or_null(struct json *j, const char *name, uint64_t bytes)
{
	count_or_null(j, name, bytes > 0 && bytes <= INT64_MAX ? (int64_t)bytes : -1);
}

static void put_time(struct json *j)
{
	time_t now = time(NULL);
	char text[40] = "";
	struct tm utc;

	if (gmtime_r(&now, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		text[0] = '\0';
	text_or_null(j, "time", text);
}

static void put_caches(const struct environment *env, struct json *j)
{
	json_open(j, "caches", '[');
	for (int i = 0; i < env->cache_count; i++) {
		json_open(j, NULL, '{');
		json_int(j, "level", env->caches[i].level);
		text_or_null(j, "type", env->caches[i].type);
		bytes_or_null(j, "bytes", env->caches[i].bytes);
		text_or_null(j, "shared_cpus", env->caches[i].shared_cpus);
		json_close(j);
	}
	json_close(j);
}

static void put_mitigations(const struct environment *env, struct json *j)
{
	json_open(j, "mitigations", '{');
	for (int i = 0; i < env->mitigation_count; i++)
		json_text(j, env->mitigations[i].name, env->mitigations[i].state);
	json_close(j);
}

void environment_json(const struct environment *env, struct json *j)
{
	json_open(j, "environment", '{');
	json_text(j, "gush", GUSH_VERSION);
	put_time(j);
	text_or_null(j, "kernel", env->kernel);
	text_or_null(j, "machine", env->machine);
	text_or_null(j, "cpu", env->cpu);
	count_or_null(j, "cpus_online", env->cpus_online);
	count_or_null(j, "cpus_usable", env->cpus_usable);
	put_caches(env, j);
	text_or_null(j, "hypervisor", env->hypervisor);
	text_or_null(j, "thp_enabled", env->thp_enabled);
	text_or_null(j, "thp_defrag", env->thp_defrag);
	bytes_or_null(j, "huge_page_bytes", env->huge_page_bytes);
	bytes_or_null(j, "page_bytes", env->page_bytes);
	count_or_null(j, "pipe_max_bytes", env->pipe_max_bytes);
	count_or_null(j, "pipe_user_pages_soft", env->pipe_user_pages_soft);
	count_or_null(j, "pipe_user_pages_hard", env->pipe_user_pages_hard);
	text_or_null(j, "governor", env->governor);
	put_mitigations(env, j);
	if (env->load_1min >= 0)
		json_double(j, "load_1min", env->load_1min);
	else
		json_null(j, "load_1min");
	bytes_or_null(j, "memory_bytes", env->memory_bytes);
	bytes_or_null(j, "memory_available_bytes", env->memory_available_bytes);
	text_or_null(j, "libc", env->libc);
	text_or_null(j, "compiler", env->compiler);
	json_close(j);
}

struct lines {
	FILE *stream;
	size_t columns, at;
};

/* A virtual machine's owner names its CPU: no byte of it may steer a terminal, and each takes one column. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Adds an item to the line, or begins a new one with it. */
__attribute__((format(printf, 2, 3))) static void put_item(struct lines *l, const char *format, ...)
{
	char text[256];
	va_list args;
	size_t n;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	make_plain(text);
	n = strlen(text);
	if (n > l->columns) {
		n = l->columns;
		memcpy(text + n - 3, "...", 4);
	}
	if (l->at > 0 && l->at + 2 + n > l->columns) {
		putc('\n', l->stream);
		l->at = 0;
	}
	l->at += (size_t)(l->at > 0 ? 2 : 0) + n;
	fprintf(l->stream, "%s%s", l->at > n ? ", " : "", text);
}

static void put_cpus(const struct environment *env, struct lines *l)
{
	put_item(l, "%s", env->cpu[0] ? env->cpu : "unknown CPU");
	if (env->cpus_usable > 0 && env->cpus_online > env->cpus_usable)
		put_item(l, "%d of %d CPUs", env->cpus_usable, env->cpus_online);
	else if (env->cpus_usable > 0)
		put_item(l, "%d CPU%s", env->cpus_usable, env->cpus_usable == 1 ? "" : "s");
}

void environment_print(const struct environment *env, FILE *stream, int columns)
{
	struct lines l = { stream, columns < COLUMNS_MIN ? COLUMNS_MIN : (size_t)columns, 0 };
	char size[UNITS_TEXT];

	put_cpus(env, &l);
	if (env->kernel[0])
		put_item(&l, "Linux %s %s", env->kernel, env->machine);
	put_item(&l, "huge pages: %s", env->thp_enabled[0] ? env->thp_enabled : "none seen");
	if (env->pipe_max_bytes >= 0)
		put_item(&l, "pipes up to %s", format_size((uint64_t)env->pipe_max_bytes, size));
	if (env->load_1min >= 0)
		put_item(&l, "load %.2f", env->load_1min);
	putc('\n', stream);
}

uint64_t environment_last_cache_bytes(const struct environment *env)
{
	uint64_t largest = 0;

	for (int i = 0; i < env->cache_count; i++) {
		const struct environment_cache *cache = &env->caches[i];

		if (strcmp(cache->type, "Data") != 0 && strcmp(cache->type, "Unified") != 0)
			continue;
		if (cache->bytes > largest)
			largest = cache->bytes;
	}
	return largest;
}
