/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include "kernel_file.h"
#include "placement.h"
#include "units.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#define USABLE_MAX 8192 /* CPUs past these are not counted */
#define LOAD_MAX 1e9

static bool has_word(struct kernel_file_span s, const char *word)
{
	const char *at = s.at, *end = s.at + s.length;

	while (at < end) {
		size_t n = strcspn(at, " \t\n");

		if (n == strlen(word) && memcmp(at, word, n) == 0)
			return true;
		at += n + 1;
	}
	return false;
}

static void read_cpu_name(const char *cpuinfo, struct environment *env)
{
	struct kernel_file_span name = kernel_file_field(cpuinfo, "model name");
	struct kernel_file_span implementer = kernel_file_field(cpuinfo, "CPU implementer"),
				part = kernel_file_field(cpuinfo, "CPU part");

	if (name.length > 0)
		snprintf(env->cpu, sizeof(env->cpu), "%.*s", (int)name.length, name.at);
	else if (implementer.length > 0 && part.length > 0)
		snprintf(env->cpu, sizeof(env->cpu), "implementer %.*s part %.*s", (int)implementer.length,
			implementer.at, (int)part.length, part.at);
}

/* A real machine names its maker in the same files, so only what is known to be virtual counts. */
static bool is_virtual(const char *dmi)
{
	static const char *const names[] = { "QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine", "Xen",
		"Bochs", "Parallels", "Google Compute Engine", "Amazon EC2", "Apple Virtualization" };

	if (strstr(dmi, ".metal"))
		return false; /* the EC2 kind that is a whole machine */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(dmi, names[i]))
			return true;
	return false;
}

static void read_hypervisor(const char *root, const char *cpuinfo, struct environment *env)
{
	char vendor[64], product[64], dmi[130];

	if (kernel_file_line(env->hypervisor, sizeof(env->hypervisor), "%s/sys/hypervisor/type", root) == 0)
		return;
	kernel_file_line(vendor, sizeof(vendor), "%s/sys/class/dmi/id/sys_vendor", root);
	kernel_file_line(product, sizeof(product), "%s/sys/class/dmi/id/product_name", root);
	snprintf(dmi, sizeof(dmi), "%s%s%s", vendor, vendor[0] && product[0] ? " " : "", product);
	if (is_virtual(dmi))
		snprintf(env->hypervisor, sizeof(env->hypervisor), "%.63s", dmi);
	else if (has_word(kernel_file_field(cpuinfo, "flags"), "hypervisor"))
		strcpy(env->hypervisor, "one without a name (cpuinfo flag)");
	else
		strcpy(env->hypervisor, "none seen");
}

static void read_cpuinfo(const char *root, struct environment *env)
{
	char cpuinfo[KERNEL_FILE_TEXT]; /* the first CPU's part is 2 to 4 KiB */

	kernel_file_text(cpuinfo, sizeof(cpuinfo), "%s/proc/cpuinfo", root);
	read_cpu_name(cpuinfo, env);
	read_hypervisor(root, cpuinfo, env);
}

/* -1: no list. The kernel's lists ascend; one that does not might count a CPU twice. */
static int count_online(const char *root)
{
	char text[KERNEL_FILE_TEXT];
	const char *at = text;
	int n = kernel_file_text(text, sizeof(text), "%s/sys/devices/system/cpu/online", root);
	int first, last, ret, previous = -1, count = 0;

	if (n <= 0 || (size_t)n == sizeof(text) - 1)
		return -1;
	while ((ret = kernel_file_cpu_range(&at, &first, &last)) > 0) {
		if (first <= previous)
			return -1;
		count += last - first + 1;
		previous = last;
	}
	return ret == 0 && count > 0 ? count : -1;
}

static bool read_cache(const char *root, int cpu, int index, struct environment_cache *ret)
{
	struct environment_cache cache = { 0 };
	char folder[PATH_MAX], size[UNITS_TEXT];
	int64_t level;
	int n = snprintf(
		folder, sizeof(folder), "%s/sys/devices/system/cpu/cpu%d/cache/index%d", root, cpu, index);

	if (n < 0 || (size_t)n >= sizeof(folder) || kernel_file_number(&level, "%s/level", folder) < 0)
		return false;
	if (level < 1 || level > 99)
		return false;
	cache.level = (int)level;
	kernel_file_line(cache.type, sizeof(cache.type), "%s/type", folder);
	kernel_file_line(cache.shared_cpus, sizeof(cache.shared_cpus), "%s/shared_cpu_list", folder);
	if (kernel_file_line(size, sizeof(size), "%s/size", folder) == 0)
		parse_size(size, &cache.bytes);
	*ret = cache;
	return true;
}

static void read_cpus(const char *root, struct environment *env)
{
	int cpus[USABLE_MAX], first;

	env->cpus_online = count_online(root);
	env->cpus_usable = placement_usable_cpus(cpus, USABLE_MAX);
	if (env->cpus_usable <= 0)
		env->cpus_usable = -1;
	first = env->cpus_usable > 0 ? cpus[0] : 0;
	for (int i = 0; i < 2 * ENVIRONMENT_CACHES && env->cache_count < ENVIRONMENT_CACHES; i++)
		if (read_cache(root, first, i, &env->caches[env->cache_count]))
			env->cache_count++;
	kernel_file_line(env->governor, sizeof(env->governor),
		"%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", root, first);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Sorted, so that two results of one machine read alike. */
static void read_mitigations(const char *root, struct environment *env)
{
	char folder[PATH_MAX];
	struct dirent **names;
	int n = snprintf(folder, sizeof(folder), "%s/sys/devices/system/cpu/vulnerabilities", root);
	int count = n > 0 && (size_t)n < sizeof(folder) ? scandir(folder, &names, is_visible, alphasort) : -1;

	for (int i = 0; i < count; i++) {
		struct environment_mitigation m = { 0 };

		snprintf(m.name, sizeof(m.name), "%.47s", names[i]->d_name);
		if (env->mitigation_count < ENVIRONMENT_MITIGATIONS &&
			kernel_file_line(m.state, sizeof(m.state), "%s/%s", folder, names[i]->d_name) == 0)
			env->mitigations[env->mitigation_count++] = m;
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

/* The choice in force: "always [madvise] never". */
static void read_bracketed(char *ret, size_t room, const char *root, const char *name)
{
	char line[256];
	const char *open, *close;

	if (kernel_file_line(line, sizeof(line), "%s/sys/kernel/mm/transparent_hugepage/%s", root, name) < 0)
		return;
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(ret, room, "%.*s", (int)(close - open - 1), open + 1);
}

static uint64_t field_bytes(const char *meminfo, const char *name)
{
	struct kernel_file_span value = kernel_file_field(meminfo, name);
	unsigned long long kib;
	char *end;

	if (value.length == 0 || *value.at < '0' || *value.at > '9')
		return 0;
	errno = 0;
	kib = strtoull(value.at, &end, 10);
	if (errno || kib > INT64_MAX / 1024 || strncmp(end, " kB", 3) != 0)
		return 0;
	return kib * 1024;
}

static void read_memory(const char *root, struct environment *env)
{
	char meminfo[8192];
	int64_t huge = 0;

	read_bracketed(env->thp_enabled, sizeof(env->thp_enabled), root, "enabled");
	read_bracketed(env->thp_defrag, sizeof(env->thp_defrag), root, "defrag");
	if (kernel_file_number(&huge, "%s/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", root) == 0 &&
		huge > 0)
		env->huge_page_bytes = (uint64_t)huge;
	env->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	kernel_file_text(meminfo, sizeof(meminfo), "%s/proc/meminfo", root);
	env->memory_bytes = field_bytes(meminfo, "MemTotal");
	env->memory_available_bytes = field_bytes(meminfo, "MemAvailable");
}

static int64_t read_limit(const char *root, const char *name)
{
	int64_t number;

	if (kernel_file_number(&number, "%s/proc/sys/fs/%s", root, name) < 0 || number < 0)
		return -1;
	return number;
}

/* Not strtod: it takes "nan" and hexadecimals, and its point is the locale's. */
static double read_load(const char *root)
{
	char line[64];
	const char *at = line;
	double load = 0, place = 1;

	if (kernel_file_line(line, sizeof(line), "%s/proc/loadavg", root) < 0 || *at < '0' || *at > '9')
		return -1;
	for (; *at >= '0' && *at <= '9'; at++)
		load = load * 10 + (*at - '0');
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
			load += (*at - '0') * (place /= 10);
	return load <= LOAD_MAX && (*at == ' ' || *at == '\0') ? load : -1;
}

static void read_build(struct environment *env)
{
#ifdef __GLIBC__
	snprintf(env->libc, sizeof(env->libc), "glibc %s", gnu_get_libc_version());
#else
	strcpy(env->libc,
		"musl"); /* which says neither its name nor its version; no third one is supported */
#endif
#ifdef __clang__
	snprintf(env->compiler, sizeof(env->compiler), "clang %d.%d.%d", __clang_major__, __clang_minor__,
		__clang_patchlevel__);
#else
	snprintf(env->compiler, sizeof(env->compiler), "gcc %s", __VERSION__);
#endif
}

void environment_read(const char *root, struct environment *ret)
{
	struct utsname name;

	*ret = (struct environment){ 0 };
	if (uname(&name) == 0) {
		snprintf(ret->kernel, sizeof(ret->kernel), "%s", name.release);
		snprintf(ret->machine, sizeof(ret->machine), "%.31s", name.machine);
	}
	read_cpuinfo(root, ret);
	read_cpus(root, ret);
	read_mitigations(root, ret);
	read_memory(root, ret);
	ret->pipe_max_bytes = read_limit(root, "pipe-max-size");
	ret->pipe_user_pages_soft = read_limit(root, "pipe-user-pages-soft");
	ret->pipe_user_pages_hard = read_limit(root, "pipe-user-pages-hard");
	ret->load_1min = read_load(root);
	read_build(ret);
}
