/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CPUS 8192 /* CONFIG_NR_CPUS of the largest distribution kernels */

int machine_read(const char *sysfs, struct machine *ret)
{
	int count;

	*ret = (struct machine){ .cpus = calloc(MOST_CPUS, sizeof(*ret->cpus)) };
	if (!ret->cpus)
		return -ENOMEM;
	count = placement_usable_cpus(ret->cpus, MOST_CPUS);
	if (count < 0)
		return count;
	ret->cpu_count = count < MOST_CPUS ? (size_t)count : MOST_CPUS;
	count = placement_find(sysfs, ret->cpus, ret->cpu_count, ret->placements);
	if (count < 0)
		return count;
	ret->placement_count = (size_t)count;
	return 0;
}

int machine_place_by_hand(struct machine *m, const char *text)
{
	int ret = placement_parse(text, m->cpus, m->cpu_count, &m->placements[0]);

	if (ret < 0)
		return ret;
	m->placement_count = 1;
	m->by_hand = true;
	return 0;
}

void machine_release(struct machine *m)
{
	free(m->cpus);
	m->cpus = NULL;
}

/* The name in *list up to the comma, which is stepped over. False at the end. */
static bool next_name(const char **list, char *ret_name, size_t room)
{
	size_t n = strcspn(*list, ",");

	if (**list == '\0')
		return false;
	snprintf(ret_name, room, "%.*s", (int)(n < room ? n : room - 1), *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

const char *selection_unknown(const char *only)
{
	static char name[64];

	if (*only == '\0')
		return "";
	while (next_name(&only, name, sizeof(name)))
		if (!step_find(name))
			return name;
	return NULL;
}

static bool named(const char *only, const struct step *step)
{
	char name[64];

	while (next_name(&only, name, sizeof(name)))
		if (strcmp(name, step->name) == 0)
			return true;
	return false;
}

static const struct placement *placement_of_kind(const struct machine *m, enum placement_kind kind)
{
	for (size_t i = 0; i < m->placement_count; i++)
		if (m->placements[i].kind == kind)
			return &m->placements[i];
	return NULL;
}

/*
 * Two CPUs as the article had them: two cores, close together. The threads of one core come last, since they
 * share what the two ends would compete for.
 */
static const struct placement *near_placement(const struct machine *m)
{
	static const enum placement_kind order[] = { PLACEMENT_SHARED_L2, PLACEMENT_SHARED_L3,
		PLACEMENT_SAME_PACKAGE, PLACEMENT_OTHER_PACKAGE, PLACEMENT_SMT };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		const struct placement *p = placement_of_kind(m, order[i]);

		if (p)
			return p;
	}
	return NULL;
}

const struct placement *machine_near_placement(const struct machine *m)
{
	const struct placement *p = m->by_hand ? NULL : near_placement(m);

	return p ? p : &m->placements[0];
}

static int add_near(struct ladder *l, const struct machine *m, const struct step *step)
{
	const struct placement *p = m->by_hand ? &m->placements[0] : near_placement(m);
	struct row *row = ladder_add_row(l, step, p);

	if (row && !p) {
		row->status = ROW_SKIPPED;
		snprintf(row->reason, sizeof(row->reason),
			"needs two CPUs, and this process may use only CPU %d", m->cpus[0]);
	}
	return row ? 0 : -ENOMEM;
}

static int add_same(struct ladder *l, const struct machine *m, const struct step *step)
{
	struct placement same = m->placements[0];

	same.kind = PLACEMENT_SAME_CPU;
	same.receiver_cpu = same.sender_cpu;
	return ladder_add_row(l, step, &same) ? 0 : -ENOMEM;
}

static int add_step(struct ladder *l, const struct machine *m, const struct step *step)
{
	int ret = 0;

	switch (step->where) {
	case STEP_NEAR:
		return add_near(l, m, step);
	case STEP_SAME:
	case STEP_ALONE:
		return add_same(l, m, step);
	case STEP_BOTH:
		ret = add_near(l, m, step);
		if (m->by_hand && m->placements[0].sender_cpu == m->placements[0].receiver_cpu)
			return ret; /* that was one CPU already */
		return ret < 0 ? ret : add_same(l, m, step);
	case STEP_EVERYWHERE:
		for (size_t i = 0; ret == 0 && i < m->placement_count; i++)
			ret = ladder_add_row(l, step, &m->placements[i]) ? 0 : -ENOMEM;
		if (ret == 0 && m->placement_count == 1 && !m->by_hand)
			ret = add_near(l, m, step); /* to say what is missing */
	}
	return ret;
}

int selection_add_rows(struct ladder *l, const struct machine *m, const char *only, bool ablations)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < step_count; i++) {
		const struct step *step = &steps[i];
		bool wanted = only ? named(only, step) : ablations || step->group != STEP_ABLATION;

		if (wanted)
			ret = add_step(l, m, step);
	}
	return ret;
}
