/* SPDX-License-Identifier: MIT */
#include "memory_room.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_LIMIT UINT64_MAX
#define PATH_BYTES 600
#define TEXT_BYTES 8192 /* memory.stat has about 2,000 */

static int read_text(const char *directory, const char *name, char *ret_text)
{
	char path[PATH_BYTES + 32];
	size_t have = 0;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = gi_sys_open(path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	do {
		n = gi_sys_read(fd, ret_text + have, TEXT_BYTES - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && have < TEXT_BYTES - 1);
	gi_sys_close(fd);
	ret_text[have] = '\0';
	return n < 0 ? (int)n : 0;
}

/* The number behind a key at the beginning of a line; 0: not there. */
static uint64_t number_at(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0)
			return strtoull(line + length, NULL, 10);
	}
	return 0;
}

static uint64_t read_number(const char *directory, const char *name)
{
	char text[TEXT_BYTES];

	if (read_text(directory, name, text) < 0 || text[0] < '0' || text[0] > '9')
		return NO_LIMIT; /* "max" too */
	return strtoull(text, NULL, 10);
}

/* What a group uses for files it could drop; most groups that have run for long are "full" of those. */
static uint64_t droppable(const char *directory)
{
	char text[TEXT_BYTES];

	if (read_text(directory, "memory.stat", text) < 0)
		return 0;
	return number_at(text, "inactive_file ") + number_at(text, "active_file ");
}

uint64_t gi_memory_room_of_group(const char *directory)
{
	uint64_t limit = read_number(directory, "memory.max");
	uint64_t used = read_number(directory, "memory.current"), free_again;

	if (limit == NO_LIMIT) { /* version 1 */
		limit = read_number(directory, "memory.limit_in_bytes");
		used = read_number(directory, "memory.usage_in_bytes");
	}
	if (limit == NO_LIMIT || used == NO_LIMIT)
		return NO_LIMIT;
	free_again = droppable(directory);
	used -= free_again < used ? free_again : used;
	return used < limit ? limit - used : 0;
}

/* The group and all above it. path is changed. */
static uint64_t room_upwards(char *path, size_t root_bytes)
{
	uint64_t least = NO_LIMIT;

	for (;;) {
		uint64_t room = gi_memory_room_of_group(path);
		char *slash;

		if (room < least)
			least = room;
		slash = strrchr(path, '/');
		if (!slash || (size_t)(slash - path) < root_bytes)
			return least;
		*slash = '\0';
	}
}

static uint64_t room_of_line(const char *line)
{
	static const struct {
		const char *is, *root;
	} hierarchies[] = {
		{ ":memory:", "/sys/fs/cgroup/memory" },
		{ "0::", "/sys/fs/cgroup" },
		{ "0::", "/sys/fs/cgroup/unified" },
	};
	uint64_t least = NO_LIMIT;

	for (size_t i = 0; i < sizeof(hierarchies) / sizeof(*hierarchies); i++) {
		const char *at = strstr(line, hierarchies[i].is), *root = hierarchies[i].root;
		char path[PATH_BYTES];
		uint64_t room;

		if (!at || snprintf(path, sizeof(path), "%s%s", root, at + strlen(hierarchies[i].is)) >=
				   (int)sizeof(path))
			continue;
		room = room_upwards(path, strlen(root));
		if (room < least)
			least = room;
	}
	return least;
}

uint64_t gi_memory_room(void)
{
	char text[TEXT_BYTES], *line, *rest = text;
	uint64_t least = NO_LIMIT;

	if (read_text("/proc", "meminfo", text) == 0) {
		uint64_t kib = number_at(text, "MemAvailable:");

		if (kib > 0)
			least = kib << 10;
	}
	if (read_text("/proc/self", "cgroup", text) < 0)
		return least;
	while ((line = strsep(&rest, "\n"))) {
		uint64_t room = room_of_line(line);

		if (room < least)
			least = room;
	}
	return least;
}
