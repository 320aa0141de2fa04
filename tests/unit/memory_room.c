/* SPDX-License-Identifier: MIT */
/* src/memory_room.c: directories that look like memory cgroups, and this machine. */
#include "memory_room.h"

#include "support.h"

static char group[200];

static void put(const char *name, const char *text)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	f = fopen(path, "we");
	if (CHECK(f)) {
		fputs(text, f);
		fclose(f);
	}
}

static void empty_group(void)
{
	DIR *dir = opendir(group);
	struct dirent *entry;
	char path[500];

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", group, entry->d_name);
			unlink(path);
		}
	if (dir)
		closedir(dir);
}

#define V2(limit, used)                                                                                      \
	{                                                                                                    \
		{ "memory.max", limit },                                                                     \
		{                                                                                            \
			"memory.current", used                                                               \
		}                                                                                            \
	}
#define V1(limit, used)                                                                                      \
	{                                                                                                    \
		{ "memory.limit_in_bytes", limit },                                                          \
		{                                                                                            \
			"memory.usage_in_bytes", used                                                        \
		}                                                                                            \
	}

static const struct group_case {
	const char *name;
	struct {
		const char *name, *text;
	} files[5];
	uint64_t room;
} cases[] = {
	{ "no files", { { 0 } }, UINT64_MAX },
	{ "a limit", V2("1000000\n", "400000\n"), 600000 },
	{ "no limit", V2("max\n", "400000\n"), UINT64_MAX },
	{ "full", V2("1000000\n", "1000000\n"), 0 },
	{ "more than full", V2("1000000\n", "1000001\n"), 0 },
	{ "nothing used", V2("1000000\n", "0\n"), 1000000 },
	{ "nothing allowed", V2("0\n", "0\n"), 0 },
	{ "version 1", V1("1000000\n", "400000\n"), 600000 },
	{ "version 1, no limit", V1("9223372036854771712\n", "400000\n"), 9223372036854371712u },
	{ "use is not told", { { "memory.max", "1000000\n" } }, UINT64_MAX },
	{ "limit is not told", { { "memory.current", "1000\n" } }, UINT64_MAX },
	{ "version 1, use is not told", { { "memory.limit_in_bytes", "1000000\n" } }, UINT64_MAX },
	{ "empty files", V2("", ""), UINT64_MAX },
	{ "nonsense", V2("-5\n", "x\n"), UINT64_MAX },
	{ "what could be dropped is room",
		{ { "memory.max", "1000000\n" }, { "memory.current", "900000\n" },
			{ "memory.stat", "anon 100\ninactive_file 200000\nfile 7\nactive_file 300000\n" } },
		600000 },
	{ "more could be dropped than is used",
		{ { "memory.max", "1000000\n" }, { "memory.current", "900000\n" },
			{ "memory.stat", "inactive_file 5000000\n" } },
		1000000 },
	{ "keys that only contain those",
		{ { "memory.max", "1000000\n" }, { "memory.current", "900000\n" },
			{ "memory.stat", "total_inactive_file 500\nactive_filed 500\nactive_file_x 5\n" } },
		100000 },
	{ "version 1, with its totals",
		{ { "memory.limit_in_bytes", "1000000\n" }, { "memory.usage_in_bytes", "900000\n" },
			{ "memory.stat", "cache 5\nactive_file 1000\ntotal_active_file 400000\n" } },
		101000 },
};

static void groups(void)
{
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	snprintf(group, sizeof(group), "%s/gush-unit-XXXXXX", folder);
	CHECK(mkdtemp(group) != NULL);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t room;

		for (size_t k = 0; k < COUNT(cases[i].files) && cases[i].files[k].name; k++)
			put(cases[i].files[k].name, cases[i].files[k].text);
		room = gi_memory_room_of_group(group);
		CHECK_CASE(room == cases[i].room, cases[i].name);
		empty_group();
	}
	rmdir(group);
	CHECK(gi_memory_room_of_group(group) == UINT64_MAX);
}

static void long_names(void)
{
	char name[5000];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK(gi_memory_room_of_group(name) == UINT64_MAX);
}

/* MemAvailable is an upper limit; nothing is left open. */
static void this_machine(void)
{
	struct fds before = fds_now();
	uint64_t room = gi_memory_room();

	CHECK(room > 0 && room < (uint64_t)1 << 50);
	CHECK_INT(fds_opened_since(&before), 0);
}

int main(void)
{
	TEST(groups);
	TEST(long_names);
	TEST(this_machine);
	return test_end();
}
