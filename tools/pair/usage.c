/* SPDX-License-Identifier: MIT */
#include "usage.h"

#include <sys/resource.h>

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

struct usage usage_now(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (struct usage){
		.cpu_s = seconds(&r.ru_utime) + seconds(&r.ru_stime),
		.faults = (uint64_t)r.ru_minflt + (uint64_t)r.ru_majflt,
		.waits = (uint64_t)r.ru_nvcsw,
		.preemptions = (uint64_t)r.ru_nivcsw,
	};
}

struct usage usage_since(const struct usage *start)
{
	struct usage now = usage_now();

	now.cpu_s -= start->cpu_s;
	now.faults -= start->faults;
	now.waits -= start->waits;
	now.preemptions -= start->preemptions;
	return now;
}
