/* SPDX-License-Identifier: MIT */
/*
 * Fan-outs under faults: one to five sinks of mixed kinds, each call failed and cut short, and tee cut to
 * unequal lengths in every order. Every sink gets every byte once; a sink's error is its own and the others
 * get all.
 */
#include "child_case.h"
#include "fanout_case.h"
#include "gush.h"
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define GUARD_MS 15000
#define PLANT_GUARD_MS 1000
#define CAP ((size_t)9001)
#define ORDERS 150 /* of lengths, drawn anew for each setup */
#define ORDER_LENGTH 12

static const struct fanout_setup setups[] = {
	{ .source = END_PIPE, .count = 1, .sinks = { END_FILE } },
	{ .source = END_FILE, .count = 2, .sinks = { END_PIPE, END_UNIX } },
	{ .source = END_UNIX, .count = 2, .sinks = { END_FULL, END_APPEND } },
	{ .source = END_PIPE, .count = 3, .sinks = { END_PIPE, END_DEAD, END_FILE } },
	{ .source = END_TCP, .count = 3, .sinks = { END_TCP, END_PIPE, END_UNIX } },
	{ .source = END_PIPE, .count = 5, .sinks = { END_PIPE, END_APPEND, END_FULL, END_UNIX, END_FILE } },
	{ .source = END_FILE, .count = 2, .sinks = { END_FULL, END_DEAD } },
};
#define SETUPS (sizeof(setups) / sizeof(*setups))

static void try_fault(const struct fanout_setup *s, const struct inject *fault)
{
	struct fanout_outcome o;
	const char *wrong;

	snprintf(child_record->current, sizeof(child_record->current),
		"%s to %zu sinks, %s first, flags %x; call %u of %s, fault %d %ld", end_names[s->source],
		s->count, end_names[s->sinks[0]], (unsigned)s->flags, fault->at,
		inject_call_name(fault->call), (int)fault->kind, fault->value);
	wrong = fanout_case_run(s, fault, &o);
	if (child_judged(wrong, inject.hits))
		printf("  %s: %s (returned %lld, errors %d %d %d %d %d)\n", child_record->current, wrong,
			(long long)o.ret, o.errors[0], o.errors[1], o.errors[2], o.errors[3], o.errors[4]);
}

static void try_call(const struct fanout_setup *s, enum inject_call call, unsigned at)
{
	static const int errors[] = { EAGAIN, EPERM, ENOSYS, EINVAL, EIO, ENOSPC, EPIPE, ECONNRESET, ENOMEM,
		EBADF, EOPNOTSUPP };
	long page = sysconf(_SC_PAGESIZE), n = (long)CAP;
	const long lengths[] = { 1, page - 1, page, page + 1, n / 2, n - 1 };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct inject fault = { INJECT_ERRNO, call, .at = at, .times = 1, .value = errors[i] };

		if (errors[i] != EAGAIN || inject_moves_bytes(call)) /* others know no such thing */
			try_fault(s, &fault);
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths) && inject_moves_bytes(call); i++) {
		struct inject fault = { INJECT_SHORT, call, .at = at, .times = 1, .value = lengths[i] };

		try_fault(s, &fault);
	}
}

static void try_setup(struct fanout_setup s, uint32_t flags)
{
	const struct inject none = { 0 };
	unsigned seen[INJECT_CALLS];

	s.flags = flags;
	s.cap_bytes = CAP;
	try_fault(&s, &none);
	memcpy(seen, inject.seen, sizeof(seen));
	for (enum inject_call call = 0; call < INJECT_ERRCLASS; call++) {
		for (unsigned at = 1; at <= 3 && at <= seen[call]; at++)
			try_call(&s, call, at);
		if (seen[call] > 3)
			try_call(&s, call, seen[call]);
	}
}

static void blocking_cases(void)
{
	for (size_t i = 0; i < SETUPS; i++)
		try_setup(setups[i], 0);
}

static void nonblock_cases(void)
{
	for (size_t i = 0; i < SETUPS; i++)
		try_setup(setups[i], GUSH_NONBLOCK);
}

static void no_tee_cases(void)
{
	for (size_t i = 1; i < SETUPS; i++) {
		struct fanout_setup s = setups[i];

		s.no_tee = true;
		try_setup(s, i % 2 ? 0 : GUSH_NONBLOCK);
	}
}

static unsigned draw(void)
{
	static unsigned state = 20240611;

	state = state * 1664525 + 1013904223;
	return state >> 16;
}

/* Some sinks run ahead of the others, by unequal lengths, while the hub's head moves on. */
static void try_unequal(enum inject_call call, bool no_tee)
{
	static const long lengths[] = { 1, 7, 4095, 4096, 4097, 9000, 20011, 45011 };
	long values[ORDER_LENGTH];

	for (unsigned order = 0; order < ORDERS * SETUPS; order++) {
		struct fanout_setup s = setups[order % SETUPS];
		struct inject fault = { INJECT_SHORT, call, .at = 1, .times = 100, .values = values,
			.value_count = 1 + draw() % ORDER_LENGTH };

		for (size_t i = 0; i < ORDER_LENGTH; i++)
			values[i] = lengths[draw() % (sizeof(lengths) / sizeof(*lengths))];
		s.no_tee = no_tee;
		s.flags = draw() % 2 ? GUSH_NONBLOCK : 0;
		fault.value = (long)order; /* to tell it by */
		try_fault(&s, &fault);
	}
}

static void unequal_tee_cases(void)
{
	try_unequal(INJECT_TEE, false);
	try_unequal(INJECT_WRITE, true);
	try_unequal(INJECT_SPLICE, false);
}

static void blocking(void)
{
	child_test(blocking_cases, 1000, GUARD_MS);
}

static void nonblock(void)
{
	child_test(nonblock_cases, 1000, GUARD_MS);
}

static void no_tee(void)
{
	child_test(no_tee_cases, 1000, GUARD_MS);
}

static void unequal_tee(void)
{
	child_test(unequal_tee_cases, 300, GUARD_MS);
}

static const struct plant {
	const char *bug;
	size_t setup;
	struct inject lie;
} plants[] = {
	{ "tee's length ignored: bytes twice", 1, { INJECT_UNDERCLAIM, INJECT_TEE, .at = 1 } },
	{ "tee's length ignored: bytes twice, five sinks", 5, { INJECT_UNDERCLAIM, INJECT_TEE, .at = 2 } },
	{ "tee counts too many", 1, { INJECT_OVERCLAIM, INJECT_TEE, .at = 1 } },
	{ "the hub's bytes dropped", 5, { INJECT_DROP, INJECT_SPLICE, .at = 1 } },
	{ "a leg's bytes dropped", 3, { INJECT_DROP, INJECT_SPLICE_AT, .at = 2 } },
	{ "a byte of a leg wrong", 4, { INJECT_CORRUPT, INJECT_TEE, .at = 2 } },
};

static const char *run_plant(const void *arg)
{
	const struct plant *p = arg;
	struct fanout_setup s = setups[p->setup];
	struct fanout_outcome o;

	s.cap_bytes = CAP;
	return fanout_case_run(&s, &p->lie, &o);
}

static void planted_bugs(void)
{
	size_t all = sizeof(plants) / sizeof(*plants), caught = 0;

	for (size_t i = 0; i < all; i++)
		caught += child_catches(run_plant, &plants[i], plants[i].bug, PLANT_GUARD_MS);
	child_check_caught(caught, all);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (child_setup() < 0)
		return 1;
	TEST(planted_bugs);
	TEST(blocking);
	TEST(nonblock);
	TEST(no_tee);
	TEST(unequal_tee);
	return child_end();
}
