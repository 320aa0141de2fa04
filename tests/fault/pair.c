/* SPDX-License-Identifier: MIT */
/*
 * The two ends of a measured pipe (tools/pair) under faults: each system call they make, failed with each
 * errno and shortened to each awkward length, at the first, second, third and a later call. Either all
 * bytes come through, or an exact prefix of them and the right error; nothing hangs, no descriptor and no
 * mapping is lost. That the checks can see is shown by lies told to them: each must be caught.
 */
#include "child_case.h"
#include "harness.h"
#include "pair_case.h"
#include "receiver.h"
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define GUARD_MS 20000
#define PLANT_GUARD_MS 2000

static const char *const wait_names[] = { "block", "poll", "spin", "poll and spin", "adaptive" };

static void try_fault(const struct setup *s, const struct inject *fault)
{
	struct outcome o;
	const char *wrong;

	snprintf(child_record->current, sizeof(child_record->current), "%s, %s: %s call %u (%u times) %s %ld",
		s->name, wait_names[s->wait], inject_call_name(fault->call), fault->at, fault->times,
		fault->kind == INJECT_ERRNO ? "fails with" : "is cut to", fault->value);
	wrong = case_run(s, fault, &o);
	if (child_judged(wrong, inject.hits))
		printf("  %s: %s (returned %d at %s, %llu bytes claimed, %llu arrived)\n",
			child_record->current, wrong, o.ret, o.failed_at ? o.failed_at : "-",
			(unsigned long long)o.claimed, (unsigned long long)o.arrived);
}

static void try_errors(const struct setup *s, enum inject_call call, unsigned at)
{
	static const int errors[] = { EAGAIN, EPERM, ENOMEM, EINVAL, EIO, EPIPE, ENOSYS, EOPNOTSUPP, EBADF };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct inject fault = { INJECT_ERRNO, call, .at = at, .times = 1, .value = errors[i] };

		if (call == INJECT_CLONE3 && errors[i] == EINVAL)
			continue; /* this is how it says that all is well */
		try_fault(s, &fault);
	}
}

static void try_lengths(const struct setup *s, enum inject_call call, unsigned at, unsigned times)
{
	long page = sysconf(_SC_PAGESIZE), chunk = (long)CASE_CHUNK;
	const long lengths[] = { 1, page - 1, page, page + 1, chunk / 2, chunk - 1 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct inject fault = { INJECT_SHORT, call, .at = at, .times = times, .value = lengths[i] };

		try_fault(s, &fault);
	}
}

/* Without a fault first: it must work, and it tells which calls there are. false: no huge pages here. */
static bool try_setup(const struct setup *s)
{
	const struct inject none = { 0 };
	unsigned seen[INJECT_CALLS];
	struct outcome o;
	const char *wrong = case_run(s, &none, &o);

	if (s->huge && (o.ret == -ENODATA || o.ret == -EOPNOTSUPP)) {
		child_record->not_here = true;
		return false;
	}
	if (wrong) {
		child_record->bad++;
		printf("  %s, %s, no fault: %s (%d at %s)\n", s->name, wait_names[s->wait], wrong, o.ret,
			o.failed_at ? o.failed_at : "-");
		return true;
	}
	memcpy(seen, inject.seen, sizeof(seen));
	for (enum inject_call call = 0; call < INJECT_CALLS; call++) {
		for (unsigned at = 1; at <= 3 && at <= seen[call]; at++) {
			try_errors(s, call, at);
			if (inject_moves_bytes(call))
				try_lengths(s, call, at, 1);
		}
		if (seen[call] > 3)
			try_errors(s, call, 4 + (seen[call] - 4) / 2);
		if (inject_moves_bytes(call) && seen[call])
			try_lengths(s, call, 1, 40);
	}
	return true;
}

static void try_waits(struct setup s)
{
	for (s.wait = GI_WAIT_BLOCK; s.wait <= GI_WAIT_ADAPTIVE; s.wait++)
		try_setup(&s);
}

static void sender_write_cases(void)
{
	try_waits((struct setup){ .name = "sender write", .sends = true, .call = SENDER_WRITE });
}

static void sender_vmsplice_cases(void)
{
	try_waits((struct setup){ .name = "sender vmsplice", .sends = true, .call = SENDER_VMSPLICE });
}

static void sender_tee_cases(void)
{
	try_waits((struct setup){ .name = "sender tee", .sends = true, .call = SENDER_TEE });
}

static void sender_barrier_cases(void)
{
	try_waits((struct setup){ .name = "sender behind the barrier",
		.sends = true,
		.call = SENDER_VMSPLICE,
		.protect = true });
	try_setup(&(struct setup){ .name = "sender behind the barrier, no clone3",
		.sends = true,
		.call = SENDER_VMSPLICE,
		.protect = true,
		.missing = INJECT_CLONE3,
		.missing_errno = ENOSYS });
}

static void receiver_read_cases(void)
{
	try_waits((struct setup){ .name = "receiver read", .sends = false, .call = RECEIVER_READ });
}

static void receiver_splice_cases(void)
{
	try_waits((struct setup){ .name = "receiver splice", .sends = false, .call = RECEIVER_SPLICE });
}

static void receiver_hold_cases(void)
{
	try_waits((struct setup){ .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD });
}

/* GI_RWF_NOWAIT on pipes came with 6.5. */
static void old_kernel_cases(void)
{
	static const enum gi_wait_kind waits[] = { GI_WAIT_SPIN, GI_WAIT_POLL_SPIN, GI_WAIT_ADAPTIVE };

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		try_setup(&(struct setup){ .name = "sender write, old kernel",
			.sends = true,
			.call = SENDER_WRITE,
			.wait = waits[i],
			.missing = INJECT_WRITE_FLAGS,
			.missing_errno = EOPNOTSUPP });
		try_setup(&(struct setup){ .name = "receiver read, old kernel",
			.sends = false,
			.call = RECEIVER_READ,
			.wait = waits[i],
			.missing = INJECT_READ_FLAGS,
			.missing_errno = EOPNOTSUPP });
	}
}

static void huge_page_cases(void)
{
	if (try_setup(&(struct setup){
		    .name = "sender write, huge", .sends = true, .call = SENDER_WRITE, .huge = true }))
		try_setup(&(struct setup){
			.name = "receiver read, huge", .sends = false, .call = RECEIVER_READ, .huge = true });
}

#define IN_CHILD(name, at_least)                                                                             \
	static void name(void)                                                                               \
	{                                                                                                    \
		child_test(name##_cases, at_least, GUARD_MS);                                                \
	}
IN_CHILD(sender_write, 500)
IN_CHILD(sender_vmsplice, 500)
IN_CHILD(sender_tee, 500)
IN_CHILD(sender_barrier, 500)
IN_CHILD(receiver_read, 500)
IN_CHILD(receiver_splice, 500)
IN_CHILD(receiver_hold, 500)
IN_CHILD(old_kernel, 300)
IN_CHILD(huge_page, 200)

static const struct plant {
	struct setup setup;
	enum inject_call call;
	enum inject_kind lie;
} plants[] = {
	{ { .name = "sender write", .sends = true, .call = SENDER_WRITE }, INJECT_WRITE, INJECT_DROP },
	{ { .name = "sender write", .sends = true, .call = SENDER_WRITE }, INJECT_WRITE, INJECT_TWICE },
	{ { .name = "sender write", .sends = true, .call = SENDER_WRITE }, INJECT_WRITE, INJECT_CORRUPT },
	{ { .name = "sender write", .sends = true, .call = SENDER_WRITE }, INJECT_WRITE, INJECT_OVERCLAIM },
	{ { .name = "sender spins", .sends = true, .call = SENDER_WRITE, .wait = GI_WAIT_SPIN },
		INJECT_WRITE_FLAGS, INJECT_DROP },
	{ { .name = "sender spins", .sends = true, .call = SENDER_WRITE, .wait = GI_WAIT_SPIN },
		INJECT_WRITE_FLAGS, INJECT_CORRUPT },
	{ { .name = "sender vmsplice", .sends = true, .call = SENDER_VMSPLICE }, INJECT_VMSPLICE,
		INJECT_DROP },
	{ { .name = "sender vmsplice", .sends = true, .call = SENDER_VMSPLICE }, INJECT_VMSPLICE,
		INJECT_TWICE },
	{ { .name = "sender vmsplice", .sends = true, .call = SENDER_VMSPLICE }, INJECT_VMSPLICE,
		INJECT_CORRUPT },
	{ { .name = "sender vmsplice", .sends = true, .call = SENDER_VMSPLICE }, INJECT_VMSPLICE,
		INJECT_OVERCLAIM },
	{ { .name = "sender tee", .sends = true, .call = SENDER_TEE }, INJECT_TEE, INJECT_DROP },
	{ { .name = "sender tee", .sends = true, .call = SENDER_TEE }, INJECT_TEE, INJECT_TWICE },
	{ { .name = "sender tee", .sends = true, .call = SENDER_TEE }, INJECT_TEE, INJECT_CORRUPT },
	{ { .name = "sender tee", .sends = true, .call = SENDER_TEE }, INJECT_TEE, INJECT_OVERCLAIM },
	{ { .name = "barrier", .sends = true, .call = SENDER_VMSPLICE, .protect = true }, INJECT_CLONE3,
		INJECT_PRETEND },
	{ { .name = "receiver read", .sends = false, .call = RECEIVER_READ }, INJECT_READ, INJECT_DROP },
	{ { .name = "receiver read", .sends = false, .call = RECEIVER_READ }, INJECT_READ, INJECT_TWICE },
	{ { .name = "receiver read", .sends = false, .call = RECEIVER_READ }, INJECT_READ, INJECT_CORRUPT },
	{ { .name = "receiver read", .sends = false, .call = RECEIVER_READ }, INJECT_READ, INJECT_OVERCLAIM },
	{ { .name = "receiver read", .sends = false, .call = RECEIVER_READ }, INJECT_READ, INJECT_END },
	{ { .name = "receiver spins", .sends = false, .call = RECEIVER_READ, .wait = GI_WAIT_SPIN },
		INJECT_READ_FLAGS, INJECT_END },
	{ { .name = "receiver splice", .sends = false, .call = RECEIVER_SPLICE }, INJECT_SPLICE,
		INJECT_DROP },
	{ { .name = "receiver splice", .sends = false, .call = RECEIVER_SPLICE }, INJECT_SPLICE,
		INJECT_TWICE },
	{ { .name = "receiver splice", .sends = false, .call = RECEIVER_SPLICE }, INJECT_SPLICE,
		INJECT_OVERCLAIM },
	{ { .name = "receiver splice", .sends = false, .call = RECEIVER_SPLICE }, INJECT_SPLICE, INJECT_END },
	{ { .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD }, INJECT_SPLICE, INJECT_DROP },
	{ { .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD }, INJECT_SPLICE, INJECT_CORRUPT },
	{ { .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD }, INJECT_SPLICE, INJECT_END },
	{ { .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD }, INJECT_SPLICE,
		INJECT_OVERCLAIM }, /* hangs: the guard */
	{ { .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD }, INJECT_READ, INJECT_CORRUPT },
	{ { .name = "receiver hold", .sends = false, .call = RECEIVER_HOLD }, INJECT_READ, INJECT_TWICE },
};

static const char *run_plant(const void *arg)
{
	const struct plant *p = arg;
	struct inject fault = { p->lie, p->call, .at = p->lie == INJECT_PRETEND ? 1 : 2 };
	struct outcome o;

	return case_run(&p->setup, &fault, &o);
}

static bool is_caught(const struct plant *p)
{
	char bug[200];

	snprintf(bug, sizeof(bug), "%s, lie %d in %s", p->setup.name, (int)p->lie, inject_call_name(p->call));
	return child_catches(run_plant, p, bug, PLANT_GUARD_MS);
}

static void planted_bugs(void)
{
	size_t all = sizeof(plants) / sizeof(*plants), caught = 0;

	for (size_t i = 0; i < all; i++)
		caught += is_caught(&plants[i]);
	child_check_caught(caught, all);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (child_setup() < 0)
		return 1;
	TEST(planted_bugs);
	TEST(sender_write);
	TEST(sender_vmsplice);
	TEST(sender_tee);
	TEST(sender_barrier);
	TEST(receiver_read);
	TEST(receiver_splice);
	TEST(receiver_hold);
	TEST(old_kernel);
	TEST(huge_page);
	return child_end();
}
