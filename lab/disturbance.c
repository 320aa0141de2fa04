/* SPDX-License-Identifier: MIT */
#include "disturbance.h"

#include <string.h>
#include <unistd.h>

/* One tick either way is the resolution of /proc/stat: less than three cannot be told from none. */
#define TICKS_FORGIVEN 3
#define STEAL_SHARE 0.05  /* of the round's CPU time: with more, the host was busy */
#define OTHERS_SHARE 0.15 /* ditto for other processes here; kernel threads alone took 1 to 5 % */
/* Kernel threads preempt a busy pinned process 5 to 60 times a second here; each thief with a time slice adds
 * 250. */
#define PREEMPTIONS_PER_S 250
#define PREEMPTIONS_FORGIVEN 15
#define TAKEN_SHARE                                                                                          \
	0.7 /* ends that never sleep used 0.95 to 1 of their time here, and 0.19 under a quota of 0.2 */

static double tick_s(void)
{
	long per_s = sysconf(_SC_CLK_TCK);

	return per_s > 0 ? 1.0 / (double)per_s : 0.01;
}

/* "cpu3 user nice system idle iowait irq softirq steal ..." */
static void add_cpu_line(const char *line, int cpu_a, int cpu_b, struct cpu_times *t)
{
	unsigned long long user, nice, sys, idle, iowait, irq, softirq, steal;
	int cpu;

	/* Not the first line, "cpu  1234 ...", the sum: its first number is no CPU's. */
	if (line[3] < '0' || line[3] > '9')
		return;
	if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &sys, &idle,
		    &iowait, &irq, &softirq, &steal) != 9)
		return;
	if (cpu != cpu_a && cpu != cpu_b)
		return;
	t->known = true;
	t->busy_s += (double)(user + nice + sys + irq + softirq) * tick_s();
	t->steal_s += (double)steal * tick_s();
}

struct cpu_times disturbance_read(FILE *proc_stat, int cpu_a, int cpu_b)
{
	struct cpu_times t = { 0 };
	char line[512];

	while (fgets(line, sizeof(line), proc_stat)) {
		if (strncmp(line, "cpu", 3) == 0)
			add_cpu_line(line, cpu_a, cpu_b, &t);
		else if (strncmp(line, "procs_running ", 14) == 0)
			sscanf(line + 14, "%d", &t.running);
	}
	return t;
}

struct cpu_times disturbance_now(int cpu_a, int cpu_b)
{
	FILE *f = fopen("/proc/stat", "re");
	struct cpu_times t = { 0 };

	if (!f)
		return t;
	t = disturbance_read(f, cpu_a, cpu_b);
	fclose(f);
	return t;
}

const char *disturbance_judge(const struct disturbance_round *r)
{
	double forgiven = TICKS_FORGIVEN * tick_s();

	if (r->measured_cpu_s < TAKEN_SHARE * r->least_cpu_s)
		return "the CPUs were taken away (a quota, a stop, the host)";
	if ((double)r->preemptions > PREEMPTIONS_FORGIVEN + PREEMPTIONS_PER_S * r->measured_s)
		return "an end was preempted again and again";
	if (!r->before.known || !r->after.known)
		return NULL;
	if (r->after.steal_s - r->before.steal_s > STEAL_SHARE * r->wall_s + forgiven)
		return "the host took the CPU away (steal)";
	if (r->after.busy_s - r->before.busy_s - r->own_cpu_s > OTHERS_SHARE * r->wall_s + forgiven)
		return "other processes used these CPUs";
	/* Before the start only the caller runs, and perhaps a kernel thread for a moment. */
	if (r->before.running > 3 && r->after.running > 3)
		return "other processes were waiting to run";
	return NULL;
}
