/* SPDX-License-Identifier: MIT */
/* Whether something else used the CPUs while a round ran: then its figures say nothing about the step. */
#ifndef DISTURBANCE_H
#define DISTURBANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of /proc/stat, for the CPUs of one placement: in seconds, counted in ticks of 10 ms. */
struct cpu_times {
	bool known;
	double busy_s, steal_s;
	int running; /* runnable threads in the whole system, the caller among them */
};

struct cpu_times disturbance_read(FILE *proc_stat, int cpu_a, int cpu_b);
struct cpu_times disturbance_now(int cpu_a, int cpu_b);

struct disturbance_round {
	struct cpu_times before, after;
	double wall_s, own_cpu_s; /* of the whole round, preparations included */
	uint64_t preemptions;	  /* of the ends; 0 when they share a CPU, where they preempt each other */
	double measured_s;
	double measured_cpu_s; /* of the ends, while it was measured */
	double least_cpu_s;    /* what they must have used if nobody took the CPUs away; 0: they may sleep */
};

/* NULL: it was left alone; otherwise what disturbed it. */
const char *disturbance_judge(const struct disturbance_round *round);

#endif
