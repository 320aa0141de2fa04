/* SPDX-License-Identifier: MIT */
/*
 * The fault matrix of consumers: sources of all kinds, used in every manner; each system call, failed with
 * each errno, at the first, second, third and last time, and cut short. All bytes come, or an exact prefix,
 * then the error that happened, for good; what is left in the source begins behind what was consumed. That
 * the judgement sees is shown by planted bugs: each must be caught by it.
 */
#include "child_case.h"
#include "consumer_case.h"
#include "gush.h"
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define GUARD_MS 15000
#define PLANT_GUARD_MS 1000

static void try_fault(const struct consumer_setup *s, const struct inject *fault)
{
	static const char *const kinds[] = {
		[INJECT_NOTHING] = "no fault", [INJECT_ERRNO] = "fails with", [INJECT_SHORT] = "is cut to"
	};
	struct consumer_outcome o;
	const char *wrong;

	snprintf(child_record->current, sizeof(child_record->current), "%s; call %u of %s %s %ld",
		consumer_case_name(s), fault->at, inject_call_name(fault->call), kinds[fault->kind],
		fault->value);
	wrong = consumer_case_run(s, fault, &o);
	if (child_judged(wrong, inject.hits))
		printf("  %s: %s (open %d, returned %d, own error %d, %zu bytes)\n", child_record->current,
			wrong, o.open, o.ret, o.own, o.got);
}

static const int errors[] = { EAGAIN, EPERM, ENOSYS, EINVAL, EIO, ENOMEM, EBADF, EISDIR, ECONNRESET,
	EOPNOTSUPP, ETIMEDOUT, EFAULT, ENOTCONN, EMSGSIZE };

static void try_errors(const struct consumer_setup *s, enum inject_call call, unsigned at)
{
	bool says_later = inject_moves_bytes(call) || call == INJECT_RECV || call == INJECT_MMAP ||
			  call == INJECT_MADVISE || call == INJECT_OPEN;

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct inject fault = { INJECT_ERRNO, call, .at = at, .times = 1, .value = errors[i] };

		if (errors[i] != EAGAIN || says_later)
			try_fault(s, &fault);
	}
}

static void try_lengths(const struct consumer_setup *s, enum inject_call call, unsigned at, unsigned times)
{
	long page = sysconf(_SC_PAGESIZE);
	const long lengths[] = { 1, 7, page - 1, page, page + 1, (long)CONSUMER_CAP - 1 };

	for (size_t i = times > 1; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct inject fault = { INJECT_SHORT, call, .at = at, .times = times, .value = lengths[i] };

		try_fault(s, &fault);
	}
}

static void try_call(const struct consumer_setup *s, enum inject_call call, unsigned at)
{
	try_errors(s, call, at);
	if (inject_moves_bytes(call))
		try_lengths(s, call, at, 1);
}

/* Without a fault first: it must work, and it tells which calls there are. */
static void try_setup(const struct consumer_setup *s)
{
	const struct inject none = { 0 };
	unsigned seen[INJECT_CALLS];

	try_fault(s, &none);
	memcpy(seen, inject.seen, sizeof(seen));
	for (enum inject_call call = 0; call < INJECT_ERRCLASS; call++) {
		for (unsigned at = 1; at <= 3 && at <= seen[call]; at++)
			try_call(s, call, at);
		if (seen[call] > 3)
			try_call(s, call, seen[call]);
		if (seen[call] && inject_moves_bytes(call))
			try_lengths(s, call, 1, 10000);
	}
}

static void try_manners(struct consumer_setup s)
{
	for (enum consumer_manner m = 0; m < CONSUMER_MANNERS; m++) {
		s.manner = m;
		try_setup(&s);
	}
}

static void blocking_cases(void)
{
	for (enum consumer_source source = 0; source < FROM_KINDS; source++) {
		try_manners((struct consumer_setup){ .source = source });
		try_manners((struct consumer_setup){ .source = source, .o_nonblock = true });
	}
}

static void nonblock_cases(void)
{
	for (enum consumer_source source = 0; source < FROM_KINDS; source++)
		try_manners((struct consumer_setup){ .source = source, .flags = GUSH_NONBLOCK });
}

static void waiting_cases(void)
{
	try_manners((struct consumer_setup){ .source = FROM_PIPE, .slow = true });
	try_manners((struct consumer_setup){ .source = FROM_UNIX, .slow = true, .o_nonblock = true });
}

static void halfway_cases(void)
{
	for (enum consumer_source source = 0; source < FROM_MESSAGES; source++)
		try_manners((struct consumer_setup){ .source = source, .halfway = true });
}

static void old_kernel_cases(void)
{
	for (enum consumer_source source = FROM_PIPE; source <= FROM_TCP; source++)
		try_manners((struct consumer_setup){
			.source = source, .flags = GUSH_NONBLOCK, .no_nowait = true });
}

#define IN_CHILD(name, at_least)                                                                             \
	static void name(void)                                                                               \
	{                                                                                                    \
		child_test(name##_cases, at_least, GUARD_MS);                                                \
	}
IN_CHILD(blocking, 3000)
IN_CHILD(nonblock, 1500)
IN_CHILD(waiting, 500)
IN_CHILD(halfway, 1000)
IN_CHILD(old_kernel, 500)

/* Mapping a buffer costs more than the little that it is for. */
static void little_maps_nothing(void)
{
	const void *data;
	size_t bytes;
	struct gush_consumer *c = NULL;
	int p[2];

	memset(&inject, 0, sizeof(inject));
	CHECK_INT(pipe(p), 0);
	CHECK_INT(write(p[1], "a few\nlines\n", 12), 12);
	close(p[1]);
	CHECK_INT(gush_consumer_open(p[0], NULL, &c), 0);
	while (gush_consumer_split(c, '\n', &data, &bytes) > 0)
		;
	gush_consumer_close(c);
	close(p[0]);
	CHECK_INT(inject.seen[INJECT_MMAP], 0);
	CHECK_INT(inject.seen[INJECT_READ] + inject.seen[INJECT_READ_FLAGS], 2);
}

static const struct plant {
	const char *bug;
	struct consumer_setup setup;
	struct inject lie;
} plants[] = {
	{ "bytes of a read lost", { .source = FROM_FILE, .manner = BY_NEXT },
		{ INJECT_DROP, INJECT_READ, .at = 2 } },
	{ "bytes of a read lost before a record's end", { .source = FROM_UNIX, .manner = BY_SPLIT },
		{ INJECT_DROP, INJECT_READ, .at = 3 } },
	{ "bytes handed out twice", { .source = FROM_TCP, .manner = BY_NEXT },
		{ INJECT_TWICE, INJECT_READ, .at = 2 } },
	{ "bytes of a pipe handed out twice", { .source = FROM_PIPE, .manner = BY_PEEK },
		{ INJECT_TWICE, INJECT_READ_FLAGS, .at = 2 } },
	{ "a byte wrong", { .source = FROM_PIPE, .manner = BY_ALL },
		{ INJECT_CORRUPT, INJECT_READ_FLAGS, .at = 1 } },
	{ "a byte wrong where the buffer grows", { .source = FROM_UNIX, .manner = BY_PEEK },
		{ INJECT_CORRUPT, INJECT_READ, .at = 4 } },
	{ "a read counts too many", { .source = FROM_UNIX, .manner = BY_SPLIT },
		{ INJECT_OVERCLAIM, INJECT_READ, .at = 2 } },
	{ "a read's length ignored", { .source = FROM_FILE, .manner = BY_SPLIT },
		{ INJECT_UNDERCLAIM, INJECT_READ, .at = 2 } },
	{ "the last read's length ignored", { .source = FROM_PIPE, .manner = BY_NEXT },
		{ INJECT_UNDERCLAIM, INJECT_READ_FLAGS, .at = 8 } },
	{ "an end where there is none", { .source = FROM_FILE, .manner = BY_PEEK },
		{ INJECT_END, INJECT_READ, .at = 2 } },
	{ "EAGAIN taken for the end", { .source = FROM_PIPE, .manner = BY_NEXT, .flags = GUSH_NONBLOCK },
		{ INJECT_END, INJECT_READ_FLAGS, .at = 3 } },
	{ "a message taken for the end", { .source = FROM_MESSAGES, .manner = BY_NEXT },
		{ INJECT_PRETEND, INJECT_RECV, .at = 5 } },
	{ "the offset not put back", { .source = FROM_FILE, .manner = BY_SPLIT, .halfway = true },
		{ INJECT_PRETEND, INJECT_LSEEK, .at = 1 } },
};

static const char *run_plant(const void *arg)
{
	const struct plant *p = arg;
	struct consumer_outcome o;

	return consumer_case_run(&p->setup, &p->lie, &o);
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
	TEST(waiting);
	TEST(halfway);
	TEST(old_kernel);
	TEST(little_maps_nothing);
	return child_end();
}
