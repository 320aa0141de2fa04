/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include "placement.h"
#include "tree.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static int first_cpu; /* whose caches and governor are read */

static void put_cpu(const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", first_cpu, file);
	put(path, text);
}

static void put_cache(int index, const char *level, const char *type, const char *size, const char *shared)
{
	const char *const names[] = { "level", "type", "size", "shared_cpu_list" };
	const char *const texts[] = { level, type, size, shared };

	for (int i = 0; i < 4; i++) {
		char path[64];

		snprintf(path, sizeof(path), "cache/index%d/%s", index, names[i]);
		if (texts[i])
			put_cpu(path, texts[i]);
	}
}

static const char x86_cpuinfo[] = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 140\n"
				  "model name\t: 11th Gen Intel(R) Core(TM) i7-1185G7 @ 3.00GHz\n"
				  "flags\t\t: fpu vme de sse2 rdrand lahf_lm\nbogomips\t: 5990.40\n\n"
				  "processor\t: 1\nmodel name\t: another\n";
static const char arm64_cpuinfo[] = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes\n"
				    "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
				    "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n";

static void put_machine(void)
{
	put("proc/cpuinfo", x86_cpuinfo);
	put("proc/loadavg", "0.52 0.58 0.59 1/467 12345\n");
	put("proc/meminfo",
		"MemTotal:       16252928 kB\nMemFree:         1000000 kB\nMemAvailable:    8126464 kB\n");
	put("proc/sys/fs/pipe-max-size", "1048576\n");
	put("proc/sys/fs/pipe-user-pages-soft", "16384\n");
	put("proc/sys/fs/pipe-user-pages-hard", "0\n");
	put("sys/devices/system/cpu/online", "0-3,8,10-11\n");
	put_cpu("cpufreq/scaling_governor", "powersave\n");
	put_cache(0, "1\n", "Data\n", "48K\n", "0,4\n");
	put_cache(1, "1\n", "Instruction\n", "32K\n", "0,4\n");
	put_cache(2, "2\n", "Unified\n", "1280K\n", "0,4\n");
	put_cache(3, "3\n", "Unified\n", "12288K\n", "0-7\n");
	put("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Enhanced IBRS\n");
	put("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
	put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("sys/kernel/mm/transparent_hugepage/defrag", "always defer [defer+madvise] madvise never\n");
	put("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
	put("sys/class/dmi/id/sys_vendor", "Some Maker Inc.\n");
	put("sys/class/dmi/id/product_name", "Notebook 5\n");
}

static void x86_machine(void)
{
	struct environment env;

	tree_begin();
	put_machine();
	environment_read(root, &env);
	CHECK_TEXT(env.cpu, "11th Gen Intel(R) Core(TM) i7-1185G7 @ 3.00GHz");
	CHECK_INT(env.cpus_online, 7);
	CHECK_TEXT(env.hypervisor, "none seen");
	CHECK_TEXT(env.thp_enabled, "madvise");
	CHECK_TEXT(env.thp_defrag, "defer+madvise");
	CHECK_INT(env.huge_page_bytes, 2097152);
	CHECK_INT(env.pipe_max_bytes, 1048576);
	CHECK_INT(env.pipe_user_pages_soft, 16384);
	CHECK_INT(env.pipe_user_pages_hard, 0);
	CHECK_TEXT(env.governor, "powersave");
	CHECK_NEAR(env.load_1min, 0.52, 1e-9);
	CHECK_INT(env.memory_bytes, 16252928LL * 1024);
	CHECK_INT(env.memory_available_bytes, 8126464LL * 1024);
	tree_end();
}

static void caches(void)
{
	struct environment env;

	tree_begin();
	put_machine();
	environment_read(root, &env);
	CHECK_INT(env.cache_count, 4);
	CHECK_INT(env.caches[1].level, 1);
	CHECK_TEXT(env.caches[1].type, "Instruction");
	CHECK_INT(env.caches[2].bytes, 1280 * 1024);
	CHECK_TEXT(env.caches[3].shared_cpus, "0-7");
	CHECK_INT(environment_last_cache_bytes(&env), 12288 * 1024);
	for (int i = 4; i < 12; i++) /* more than there is room for */
		put_cache(i, "4", "Instruction", "1G", "0");
	environment_read(root, &env);
	CHECK_INT(env.cache_count, ENVIRONMENT_CACHES);
	CHECK_INT(environment_last_cache_bytes(&env), 12288 * 1024);
	tree_end();
}

static void caches_in_part(void)
{
	struct environment env;

	tree_begin();
	put_cache(0, "2", NULL, NULL, NULL);
	put_cache(1, NULL, "Unified", "1K", "0");
	put_cache(2, "-1", "Unified", "1K", "0");
	put_cache(3, "3", "Unified", "99999999999999999999K", "0");
	put_cache(4, "3", "Data", "lots", "0");
	environment_read(root, &env);
	CHECK_INT(env.cache_count, 3);
	CHECK_INT(env.caches[0].level, 2);
	CHECK_TEXT(env.caches[0].type, "");
	CHECK_INT(env.caches[1].bytes, 0);
	CHECK_INT(env.caches[2].bytes, 0);
	CHECK_INT(environment_last_cache_bytes(&env), 0);
	tree_end();
}

static void mitigations(void)
{
	struct environment env;

	tree_begin();
	put_machine();
	put("sys/devices/system/cpu/vulnerabilities/folder/file", "x");
	put("sys/devices/system/cpu/vulnerabilities/void", "");
	environment_read(root, &env);
	CHECK_INT(env.mitigation_count, 2);
	CHECK_TEXT(env.mitigations[0].name, "meltdown");
	CHECK_TEXT(env.mitigations[0].state, "Not affected");
	CHECK_TEXT(env.mitigations[1].name, "spectre_v2");
	for (int i = 0; i < 60; i++) {
		char path[256];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/vulnerabilities/%02d_%0100d", i, 0);
		put(path, "Vulnerable");
	}
	environment_read(root, &env);
	CHECK_INT(env.mitigation_count, ENVIRONMENT_MITIGATIONS);
	CHECK_INT(strlen(env.mitigations[31].name), sizeof(env.mitigations[31].name) - 1);
	CHECK_TEXT(env.mitigations[31].state, "Vulnerable");
	tree_end();
}

static void arm64_machine(void)
{
	struct environment env;

	tree_begin();
	put("proc/cpuinfo", arm64_cpuinfo);
	environment_read(root, &env);
	CHECK_TEXT(env.cpu, "implementer 0x41 part 0xd0c");
	CHECK_TEXT(env.hypervisor, "none seen");
	put("proc/cpuinfo", "CPU implementer\t: 0x41\n"); /* half of it is nothing */
	environment_read(root, &env);
	CHECK_TEXT(env.cpu, "");
	tree_end();
}

static void check_hypervisor(
	const char *type, const char *vendor, const char *product, const char *cpuinfo, const char *want)
{
	struct environment env;

	tree_begin();
	if (type)
		put("sys/hypervisor/type", type);
	if (vendor)
		put("sys/class/dmi/id/sys_vendor", vendor);
	if (product)
		put("sys/class/dmi/id/product_name", product);
	if (cpuinfo)
		put("proc/cpuinfo", cpuinfo);
	environment_read(root, &env);
	CHECK_TEXT(env.hypervisor, want);
	tree_end();
}

static void hypervisors(void)
{
	check_hypervisor("xen\n", "QEMU\n", NULL, NULL, "xen");
	check_hypervisor(NULL, "QEMU\n", "Standard PC (Q35)\n", NULL, "QEMU Standard PC (Q35)");
	check_hypervisor(NULL, NULL, "KVM Virtual Machine\n", arm64_cpuinfo, "KVM Virtual Machine");
	check_hypervisor(NULL, "Amazon EC2\n", "m6g.large\n", NULL, "Amazon EC2 m6g.large");
	check_hypervisor(NULL, "Amazon EC2\n", "m6g.metal\n", NULL, "none seen");
	check_hypervisor(NULL, "Microsoft Corporation\n", "Surface\n", NULL, "none seen");
	check_hypervisor(
		NULL, NULL, NULL, "flags\t\t: fpu hypervisor lm\n", "one without a name (cpuinfo flag)");
	check_hypervisor(NULL, NULL, NULL, "flags\t\t: hypervisor", "one without a name (cpuinfo flag)");
	check_hypervisor(NULL, NULL, NULL, "flags\t\t: hypervisors nohypervisor hyper\nbugs\t: hypervisor\n",
		"none seen");
	check_hypervisor("", "\n", "", "", "none seen");
	check_hypervisor(NULL, "VMware, Inc. 123456789 123456789 123456789 123456789 123456789 123456789",
		"p 123456789 123456789 123456789 123456789 123456789 123456789 12345678", NULL,
		"VMware, Inc. 123456789 123456789 123456789 123456789 123456789 ");
}

static void check_unknown(const struct environment *env)
{
	CHECK_TEXT(env->cpu, "");
	CHECK_INT(env->cpus_online, -1);
	CHECK_INT(env->cache_count, 0);
	CHECK_TEXT(env->thp_enabled, "");
	CHECK_TEXT(env->thp_defrag, "");
	CHECK_INT(env->huge_page_bytes, 0);
	CHECK_INT(env->pipe_max_bytes, -1);
	CHECK_INT(env->pipe_user_pages_soft, -1);
	CHECK_INT(env->pipe_user_pages_hard, -1);
	CHECK_NEAR(env->load_1min, -1, 0);
	CHECK_INT(env->memory_bytes, 0);
	CHECK_INT(env->memory_available_bytes, 0);
	CHECK_INT(environment_last_cache_bytes(env), 0);
}

static void nothing_there(void)
{
	struct environment env;
	struct utsname name;

	tree_begin();
	memset(&env, 0xa5, sizeof(env)); /* whatever was there before */
	environment_read(root, &env);
	check_unknown(&env);
	CHECK_TEXT(env.governor, "");
	CHECK_INT(env.mitigation_count, 0);
	CHECK_TEXT(env.hypervisor, "none seen");
	CHECK(uname(&name) == 0);
	CHECK_TEXT(env.kernel, name.release);
	CHECK_TEXT(env.machine, name.machine);
	CHECK_INT(env.page_bytes, sysconf(_SC_PAGESIZE));
	CHECK(env.cpus_usable >= 1);
	CHECK(strncmp(env.libc, "glibc ", 6) == 0 || strcmp(env.libc, "musl") == 0);
	CHECK(strncmp(env.compiler, "gcc ", 4) == 0 || strncmp(env.compiler, "clang ", 6) == 0);
	tree_end();
}

static const char *const all_files[] = { "proc/cpuinfo", "proc/loadavg", "proc/meminfo",
	"proc/sys/fs/pipe-max-size", "proc/sys/fs/pipe-user-pages-soft", "proc/sys/fs/pipe-user-pages-hard",
	"sys/devices/system/cpu/online", "sys/devices/system/cpu/vulnerabilities/meltdown",
	"sys/kernel/mm/transparent_hugepage/enabled", "sys/kernel/mm/transparent_hugepage/defrag",
	"sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "sys/class/dmi/id/sys_vendor",
	"sys/class/dmi/id/product_name", "sys/hypervisor/type" };

static void put_everywhere(const char *bytes, size_t count)
{
	char text[256] = "";

	for (size_t i = 0; i < sizeof(all_files) / sizeof(*all_files); i++)
		put_bytes(all_files[i], bytes, count);
	memcpy(text, bytes, count < sizeof(text) ? count : sizeof(text) - 1);
	put_cpu("cpufreq/scaling_governor", text);
	put_cache(0, text, text, text, text);
}

/* What follows the string that begins at s; NULL: it does not end, or has a byte that must be escaped. */
static const char *skip_string(const char *s)
{
	for (s++; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL; /* the end, too */
		if (*s == '\\' && !strchr("\"\\u", *++s))
			return NULL;
	}
	return s + 1;
}

/* Strings are whole, brackets match, no comma stands before one that closes. */
static bool is_sound(const char *s)
{
	char closers[JSON_DEPTH], previous = 0;
	int depth = 0;

	for (; *s; s++) {
		if (*s == ' ' || *s == '\n')
			continue;
		if (*s == '{' || *s == '[') {
			closers[depth++] = *s == '{' ? '}' : ']';
		} else if (*s == '}' || *s == ']') {
			if (depth == 0 || closers[--depth] != *s || previous == ',')
				return false;
		} else if (*s == '"') {
			s = skip_string(s);
			if (!s)
				return false;
			s--;
		}
		previous = *s;
	}
	return depth == 0;
}

/* The caller frees it. */
static char *json_of(const struct environment *env)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	json_begin(&j, f);
	json_open(&j, NULL, '{');
	environment_json(env, &j);
	json_close(&j);
	CHECK_INT(json_end(&j), 0);
	fclose(f);
	CHECK_INT(strlen(text), size);
	CHECK(is_sound(text));
	return text;
}

static void check_lines(const struct environment *env, int columns)
{
	char *text = NULL;
	size_t size, lines = 0;
	FILE *f = open_memstream(&text, &size);

	environment_print(env, f, columns);
	fclose(f);
	CHECK(size > 0 && text[size - 1] == '\n');
	for (char *at = text; at < text + size; lines++) {
		size_t n = strcspn(at, "\n");

		CHECK(n > 0 && n <= (size_t)(columns < 60 ? 60 : columns));
		for (size_t i = 0; i < n; i++)
			CHECK(at[i] >= ' ' && at[i] <= '~');
		at += n + 1;
	}
	CHECK(lines >= 1 && lines <= 6);
	free(text);
}

static void check_shows(const struct environment *env)
{
	static const int columns[] = { INT_MIN, 0, 60, 61, 72, 80, 100, 132, 250, 300, INT_MAX };

	free(json_of(env));
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		check_lines(env, columns[i]);
}

static void junk_everywhere(void)
{
	static const char *const junk[] = { "", "\n", "\n\n\n", " ", "x", "-", "-1", ":", "[", "]", "][",
		"nan", "inf", "0x10", "flags", "flags:", "model name", "MemTotal: x kB",
		"MemTotal:", "MemTotal: 99999999999999999999999 kB", "MemTotal: 18014398509481985 kB",
		"MemTotal: 5", "\xff\xfe\x80", "\x1b[31m\a", "1e9", "1 2", "+5", "1.5x",
		"99999999999999999999999999999999999999999999999999999999999999999999999999999999" };

	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++) {
		struct environment env;

		tree_begin();
		put_everywhere(junk[i], strlen(junk[i]));
		environment_read(root, &env);
		CHECK(env.pipe_max_bytes == -1 && env.cpus_online == -1 && env.huge_page_bytes == 0);
		CHECK(env.memory_bytes == 0 && env.cache_count == 0);
		CHECK(env.load_1min == -1 || strcmp(junk[i], "1 2") == 0);
		check_shows(&env);
		tree_end();
	}
}

static void huge_files(void)
{
	static char bytes[100000];
	static const char fills[] = { 'a', '1', ',', '\n', ' ', '\t', ':', '[', '"', '\0', '\xff', '\x1b' };

	for (size_t i = 0; i < sizeof(fills); i++) {
		struct environment env;

		memset(bytes, fills[i], sizeof(bytes));
		tree_begin();
		put_everywhere(bytes, sizeof(bytes));
		environment_read(root, &env);
		check_unknown(&env);
		check_shows(&env);
		tree_end();
	}
}

static void long_values_are_cut(void)
{
	static char cpuinfo[4096], online[40000], path[PATH_MAX + 10];
	struct environment env;

	tree_begin();
	memset(cpuinfo, 'x', sizeof(cpuinfo) - 1);
	memcpy(cpuinfo, "model name\t: ", 13);
	put("proc/cpuinfo", cpuinfo);
	for (size_t i = 0; i < sizeof(online) - 1; i++)
		online[i] = "0,"[i % 2];
	put("sys/devices/system/cpu/online", online);
	environment_read(root, &env);
	CHECK_INT(strlen(env.cpu), sizeof(env.cpu) - 1);
	CHECK_INT(env.cpus_online, -1);
	check_shows(&env);
	put("sys/devices/system/cpu/online", "0-5,3-9"); /* counts some twice */
	environment_read(root, &env);
	CHECK_INT(env.cpus_online, -1);
	put("sys/devices/system/cpu/online", "0"); /* no newline */
	environment_read(root, &env);
	CHECK_INT(env.cpus_online, 1);
	memset(path, '/', sizeof(path) - 1);
	environment_read(path, &env); /* a root whose files' names are too long */
	check_unknown(&env);
	tree_end();
}

static void json_of_a_machine(void)
{
	struct environment env;
	char *text;

	tree_begin();
	put_machine();
	environment_read(root, &env);
	CHECK(!is_sound("{") && !is_sound("[}") && !is_sound("[1,]") && !is_sound("\"\n\"")); /* it sees */
	text = json_of(&env);
	CHECK(strstr(text, "\"environment\": {") != NULL);
	CHECK(strstr(text, "\"gush\": \"" GUSH_VERSION "\"") != NULL);
	CHECK(strstr(text, "\"cpus_online\": 7,") != NULL);
	CHECK(strstr(text, "\"bytes\": 12582912,") != NULL);
	CHECK(strstr(text, "\"meltdown\": \"Not affected\"") != NULL);
	CHECK(strstr(text, "\"pipe_user_pages_hard\": 0,") != NULL);
	CHECK(strstr(text, "\"load_1min\": 0.52,") != NULL);
	free(text);
	tree_end();
}

static void json_of_nothing_is_null(void)
{
	struct environment env;
	char *text, *at;
	int y, mo, d, h, mi, s, n = 0;

	tree_begin();
	environment_read(root, &env);
	text = json_of(&env);
	CHECK(strstr(text, "\"cpu\": null,") != NULL);
	CHECK(strstr(text, "\"cpus_online\": null,") != NULL);
	CHECK(strstr(text, "\"caches\": [],") != NULL);
	CHECK(strstr(text, "\"mitigations\": {},") != NULL);
	CHECK(strstr(text, "\"huge_page_bytes\": null,") != NULL);
	CHECK(strstr(text, "\"load_1min\": null,") != NULL);
	at = strstr(text, "\"time\": \"");
	CHECK(at && sscanf(at + 9, "%4d-%2d-%2dT%2d:%2d:%2dZ\"%n", &y, &mo, &d, &h, &mi, &s, &n) == 6 &&
		n == 21);
	free(text);
	tree_end();
}

static void hostile_names(void)
{
	struct environment env;
	char *text;

	tree_begin();
	put("proc/cpuinfo", "model name\t: \"Quoted\" \\ \xc3\xa9 \xff\xc3 \x1b[2J CPU\r\n");
	environment_read(root, &env);
	CHECK_TEXT(env.cpu, "\"Quoted\" \\ \xc3\xa9 \xff\xc3 \x1b[2J CPU");
	text = json_of(&env);
	CHECK(strstr(text,
		      "\"cpu\": \"\\\"Quoted\\\" \\\\ \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd \\u001b[2J CPU\"") !=
		NULL);
	free(text);
	check_shows(&env);
	tree_end();
}

static void print_of(const struct environment *env, int columns, char *ret, size_t room)
{
	FILE *f = fmemopen(ret, room, "w");

	environment_print(env, f, columns);
	fclose(f);
}

static void lines_for_people(void)
{
	struct environment env = { .cpu = "Some CPU",
		.cpus_online = 8,
		.cpus_usable = 2,
		.kernel = "6.1.0",
		.machine = "x86_64",
		.thp_enabled = "madvise",
		.pipe_max_bytes = 1048576,
		.load_1min = 0.125 };
	char text[512];

	print_of(&env, 200, text, sizeof(text));
	CHECK_TEXT(text, "Some CPU, 2 of 8 CPUs, Linux 6.1.0 x86_64, huge pages: madvise, pipes up to 1MiB, "
			 "load 0.12\n");
	print_of(&env, 60, text, sizeof(text));
	CHECK_TEXT(text, "Some CPU, 2 of 8 CPUs, Linux 6.1.0 x86_64\nhuge pages: madvise, pipes up to 1MiB, "
			 "load 0.12\n");
	env = (struct environment){
		.cpus_online = -1, .cpus_usable = 1, .pipe_max_bytes = -1, .load_1min = -1
	};
	print_of(&env, 80, text, sizeof(text));
	CHECK_TEXT(text, "unknown CPU, 1 CPU, huge pages: none seen\n");
	memset(env.cpu, 'x', sizeof(env.cpu) - 1);
	print_of(&env, 60, text, sizeof(text));
	CHECK(strncmp(text + 56, "x...\n", 5) == 0);
}

static void this_machine(void)
{
	struct environment env;

	environment_read("", &env);
	CHECK(env.cpus_usable >= 1 && env.page_bytes > 0 && env.kernel[0]);
	check_shows(&env);
}

int main(void)
{
	int cpu;

	if (placement_usable_cpus(&cpu, 1) == 1)
		first_cpu = cpu;
	TEST(x86_machine);
	TEST(caches);
	TEST(caches_in_part);
	TEST(mitigations);
	TEST(arm64_machine);
	TEST(hypervisors);
	TEST(nothing_there);
	TEST(junk_everywhere);
	TEST(huge_files);
	TEST(long_values_are_cut);
	TEST(json_of_a_machine);
	TEST(json_of_nothing_is_null);
	TEST(hostile_names);
	TEST(lines_for_people);
	TEST(this_machine);
	return test_end();
}
