/* SPDX-License-Identifier: MIT */
/* The machine a result was measured on, as this process sees it. What is not known stays empty, 0 or -1. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "json.h"

#include <stdint.h>
#include <stdio.h>

#define ENVIRONMENT_CACHES 8
#define ENVIRONMENT_MITIGATIONS 32

struct environment_cache {
	int level;
	char type[16]; /* "Data", "Instruction", "Unified" */
	uint64_t bytes;
	char shared_cpus[64]; /* "0-3" */
};

struct environment_mitigation {
	char name[48], state[160]; /* a file of /sys/devices/system/cpu/vulnerabilities and its line */
};

struct environment {
	char kernel[128];	      /* uname -r */
	char machine[32];	      /* uname -m */
	char cpu[128];		      /* /proc/cpuinfo "model name"; arm64 has none: implementer and part */
	int cpus_online, cpus_usable; /* usable: affinity mask */
	struct environment_cache caches[ENVIRONMENT_CACHES]; /* of the first usable CPU */
	int cache_count;
	char hypervisor[64]; /* "none seen", or what /sys/hypervisor/type, DMI or the cpuinfo flag tells */
	char thp_enabled[16], thp_defrag[24]; /* the word in brackets: "madvise" */
	uint64_t huge_page_bytes, page_bytes; /* 0: none */
	int64_t pipe_max_bytes, pipe_user_pages_soft, pipe_user_pages_hard; /* /proc/sys/fs */
	char governor[32]; /* cpufreq of the first usable CPU; "" when the machine shows none */
	struct environment_mitigation mitigations[ENVIRONMENT_MITIGATIONS];
	int mitigation_count;
	double load_1min; /* before the run; -1: unknown */
	uint64_t memory_bytes, memory_available_bytes;
	char libc[64];	   /* "glibc 2.36", "musl" */
	char compiler[64]; /* what this binary was built with */
};

/* `root` is "" but for tests, which keep a made-up /proc and /sys below it. Never fails: see above. */
void environment_read(const char *root, struct environment *ret);
/*
 * One object, named "environment": the fields above plus "gush" (the version) and "time" (UTC, ISO 8601).
 * What is not known is null; "caches" is an array of objects, "mitigations" an object of name and state.
 */
void environment_json(const struct environment *env, struct json *j);
/*
 * A few lines for people: CPU, kernel, huge pages, pipe limit, load. No line longer than `columns` (at least
 * 60; less counts as 60), and printable ASCII only: what is printed may come from a hypervisor's owner.
 */
void environment_print(const struct environment *env, FILE *stream, int columns);
/* The largest data or unified cache, in bytes; 0: unknown. */
uint64_t environment_last_cache_bytes(const struct environment *env);

#endif
