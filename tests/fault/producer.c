/* SPDX-License-Identifier: MIT */
/*
 * The fault matrix of producers: each policy, fed with lent memory, with the caller's own and by repeating,
 * into pipes, files and sockets; each system call they make, failed with each errno, at the first, second,
 * third and last time, and cut short. A pipe is not read before the end, and a ring is one huge page, used
 * again all the time: what is in flight must stay as it was, whatever fails. That the judgement sees is shown
 * by planted bugs: each must be caught by it.
 */
#include "child_case.h"
#include "errclass.h"
#include "gush.h"
#include "harness.h"
#include "hugebuf.h"
#include "producer_case.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define GUARD_MS 15000
#define PLANT_GUARD_MS 1000

static const char *const policy_names[] = { "copy", "constant", "protect", "trust-reader", "give" };
static const char *const feed_names[] = { "lent", "own", "both", "repeat" };

static const char *describe(const struct producer_setup *s)
{
	static char text[160];

	snprintf(text, sizeof(text), "%s, %s, to %s, flags %x, wait %u%s%s, %s broken from %u (%d)",
		policy_names[s->policy], feed_names[s->feed], end_names[s->sink], (unsigned)s->flags,
		(unsigned)s->wait, s->grows ? ", grows" : "", s->races ? ", races" : "",
		inject_call_name(s->broken), s->broken_from, s->broken_errno);
	return text;
}

static void try_fault(const struct producer_setup *s, const struct inject *fault)
{
	static const char *const kinds[] = { [INJECT_NOTHING] = "no fault",
		[INJECT_ERRNO] = "fails with",
		[INJECT_SHORT] = "is cut to",
		[INJECT_END] = "says nothing",
		[INJECT_PRETEND] = "pretends" };
	struct producer_outcome o;
	const char *wrong;

	snprintf(child_record->current, sizeof(child_record->current), "%s; call %u of %s %s %ld",
		describe(s), fault->at, inject_call_name(fault->call), kinds[fault->kind], fault->value);
	wrong = producer_case_run(s, fault, &o);
	if (child_judged(wrong, inject.hits))
		printf("  %s: %s (returned %lld, then %d, taken %llu, delivered %llu, pending %llu)\n",
			child_record->current, wrong, (long long)o.ret, o.again, (unsigned long long)o.taken,
			(unsigned long long)o.delivered, (unsigned long long)o.pending);
}

/* ---- which faults ---- */

/* The first few are tried everywhere, the others where bytes move to the sink. */
static const int errors[] = { EAGAIN, EPERM, EINVAL, ENOMEM, ENOSYS, EMFILE, EPIPE, ENOSPC, EIO, EFBIG,
	EDQUOT, ECONNRESET, EBADF, EOPNOTSUPP };
#define ERRORS_EVERYWHERE 4

static bool is_no_failure(enum inject_call call, int error)
{
	return (call == INJECT_CLONE3 && error == EINVAL) || (call == INJECT_POLL && error == EAGAIN);
}

static bool moves_to_sink(enum inject_call call)
{
	return call == INJECT_VMSPLICE_PIECES || call == INJECT_WRITE || call == INJECT_WRITEV ||
	       call == INJECT_WRITE_FLAGS;
}

static void try_errors(const struct producer_setup *s, enum inject_call call, unsigned at)
{
	size_t count = moves_to_sink(call) ? sizeof(errors) / sizeof(*errors) : ERRORS_EVERYWHERE;

	for (size_t i = 0; i < count; i++) {
		struct inject fault = { INJECT_ERRNO, call, .at = at, .times = 1, .value = errors[i] };

		if (!is_no_failure(call, errors[i]))
			try_fault(s, &fault);
	}
}

static void try_lengths(const struct producer_setup *s, enum inject_call call, unsigned at, unsigned times)
{
	long page = sysconf(_SC_PAGESIZE), n = (long)CASE_CAP;
	const long lengths[] = { 1, page - 1, page, page + 1, n / 2, n - 1 };

	for (size_t i = 0; i < (moves_to_sink(call) ? sizeof(lengths) / sizeof(*lengths) : 1); i++) {
		struct inject fault = { INJECT_SHORT, call, .at = at, .times = times, .value = lengths[i] };

		try_fault(s, &fault);
	}
}

/* 0 for bytes that were to go. */
static void try_nothing(const struct producer_setup *s, enum inject_call call, unsigned at)
{
	if (moves_to_sink(call))
		try_fault(s, &(struct inject){ INJECT_END, call, .at = at });
}

static void try_call(const struct producer_setup *s, enum inject_call call, unsigned seen)
{
	for (unsigned at = 1; at <= 3 && at <= seen; at++) {
		try_errors(s, call, at);
		try_nothing(s, call, at);
		if (inject_moves_bytes(call))
			try_lengths(s, call, at, 1);
	}
	if (seen > 3)
		try_errors(s, call, seen);
	if (moves_to_sink(call))
		try_lengths(s, call, 1, 100);
}

/* Without a fault first: it must work, and it tells which calls there are. */
static void learn_calls(const struct producer_setup *s, unsigned *ret_seen)
{
	const struct inject none = { 0 };

	try_fault(s, &none);
	memcpy(ret_seen, inject.seen, sizeof(inject.seen));
}

static void try_setup(const struct producer_setup *s)
{
	unsigned seen[INJECT_CALLS];

	learn_calls(s, seen);
	for (enum inject_call call = 0; call < INJECT_ERRCLASS; call++)
		if (seen[call])
			try_call(s, call, seen[call]);
}

/* One call alone. */
static void try_only(const struct producer_setup *s, enum inject_call call)
{
	unsigned seen[INJECT_CALLS];

	learn_calls(s, seen);
	if (seen[call])
		try_call(s, call, seen[call]);
}

/* ---- the cases ---- */

static void try_feeds(struct producer_setup s)
{
	for (s.feed = FEED_LENT; s.feed <= FEED_BOTH; s.feed++)
		try_setup(&s);
}

static void copy_cases(void)
{
	try_feeds((struct producer_setup){ .policy = GUSH_COPY, .sink = END_PIPE });
	try_feeds((struct producer_setup){ .policy = GUSH_COPY, .sink = END_PIPE, .flags = GUSH_NONBLOCK });
}

static void constant_cases(void)
{
	try_feeds((struct producer_setup){ .policy = GUSH_CONSTANT, .sink = END_PIPE });
	try_feeds(
		(struct producer_setup){ .policy = GUSH_CONSTANT, .sink = END_PIPE, .flags = GUSH_NONBLOCK });
}

static void protect_cases(void)
{
	try_setup(&(struct producer_setup){ .policy = GUSH_PROTECT, .sink = END_PIPE });
}

static void protect_nonblock_cases(void)
{
	try_setup(&(struct producer_setup){
		.policy = GUSH_PROTECT, .sink = END_PIPE, .flags = GUSH_NONBLOCK, .feed = FEED_BOTH });
}

/* Where a sandbox forbids some of the barriers, or an old kernel lacks them. */
static void other_barriers_cases(void)
{
	struct producer_setup s = { .policy = GUSH_PROTECT,
		.sink = END_PIPE,
		.broken = INJECT_CLONE3,
		.broken_errno = ENOSYS,
		.broken_from = 1 };

	try_only(&s, INJECT_CLONE_PIDFD);
	s.broken_from = 3; /* a sandbox that comes later */
	try_only(&s, INJECT_CLONE_PIDFD);
	s.broken = INJECT_CLONE_PIDFD;
	s.broken_errno = EPERM;
	s.broken_from = 1;
	try_only(&s, INJECT_CLONE3);
	try_only(&s, INJECT_CLONE_CHILD);
}

/* It does not protect any longer, and says that it does: the canary hears of it, and another way is taken. */
static void canary_cases(void)
{
	struct producer_setup s = { .policy = GUSH_PROTECT, .sink = END_PIPE };

	for (unsigned at = 2; at <= 4; at++)
		try_fault(&s, &(struct inject){ INJECT_PRETEND, INJECT_CLONE3, .at = at });
	s.broken = INJECT_CLONE3;
	s.broken_errno = EINVAL;
	s.broken_from = 2;
	try_only(&s, INJECT_VMSPLICE);
	try_only(&s, INJECT_CLONE_PIDFD);
}

static void trust_cases(void)
{
	try_setup(&(struct producer_setup){ .policy = GUSH_TRUST_READER, .sink = END_PIPE });
	try_setup(&(struct producer_setup){
		.policy = GUSH_TRUST_READER, .sink = END_PIPE, .flags = GUSH_NONBLOCK, .feed = FEED_BOTH });
}

static void give_cases(void)
{
	try_setup(&(struct producer_setup){ .policy = GUSH_GIVE, .sink = END_PIPE });
	try_setup(&(struct producer_setup){
		.policy = GUSH_GIVE, .sink = END_PIPE, .flags = GUSH_NONBLOCK, .feed = FEED_BOTH });
}

static void files_and_sockets_cases(void)
{
	static const enum end_kind kinds[] = { END_FILE, END_UNIX };

	for (uint32_t policy = GUSH_COPY; policy <= GUSH_PROTECT; policy++)
		for (size_t i = 0; i < 2; i++)
			for (uint32_t flags = 0; flags <= GUSH_NONBLOCK; flags += GUSH_NONBLOCK)
				try_setup(&(struct producer_setup){ .policy = policy,
					.sink = kinds[i],
					.flags = flags,
					.feed = policy == GUSH_COPY ? FEED_BOTH : FEED_LENT });
}

/* Calls that come after others: polls after EAGAIN, another way not to wait, a pipe made large. */
static void second_calls_cases(void)
{
	static const uint32_t waits[] = { GUSH_WAIT_DEFAULT, GUSH_WAIT_ADAPTIVE, GUSH_WAIT_SPIN };
	struct producer_setup s = { .sink = END_PIPE, .broken_errno = EAGAIN, .broken_from = 2 };

	for (s.policy = GUSH_COPY; s.policy <= GUSH_GIVE; s.policy++) {
		s.feed = s.policy == GUSH_CONSTANT ? FEED_OWN : FEED_LENT;
		s.broken = s.policy == GUSH_COPY ? INJECT_WRITE : INJECT_VMSPLICE_PIECES;
		for (size_t i = 0; i < 3; i++) {
			s.wait = waits[i];
			s.broken_times = 3;
			try_only(&s, INJECT_POLL);
		}
	}
	for (s.policy = GUSH_COPY; s.policy <= GUSH_GIVE; s.policy++) {
		struct producer_setup old = { .policy = s.policy,
			.sink = END_PIPE,
			.feed = FEED_OWN,
			.flags = GUSH_NONBLOCK,
			.broken = INJECT_WRITE_FLAGS,
			.broken_errno = EOPNOTSUPP,
			.broken_from = 1 };
		struct producer_setup grows = {
			.policy = s.policy, .sink = END_PIPE, .flags = GUSH_NONBLOCK, .grows = true
		};

		try_only(&old, INJECT_OPEN);
		try_only(&old, INJECT_WRITE);
		try_only(&old, INJECT_IOCTL);
		try_only(&old, INJECT_CLOSE);
		try_only(&grows, INJECT_SET_PIPE_SIZE);
		try_only(&grows, INJECT_GET_PIPE_SIZE);
	}
}

/* All goes by another way, whatever is refused for good, and from whenever on. */
static void refused_for_good_cases(void)
{
	static const enum inject_call calls[] = { INJECT_VMSPLICE_PIECES, INJECT_VMSPLICE, INJECT_MADVISE,
		INJECT_PIPE, INJECT_IOCTL, INJECT_READ, INJECT_OPEN };
	static const int refusals[] = { EPERM, ENOSYS, EINVAL, ENOMEM };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		for (size_t k = 0; k < sizeof(refusals) / sizeof(*refusals); k++)
			for (unsigned from = 1; from <= 4; from++)
				for (uint32_t policy = GUSH_CONSTANT; policy <= GUSH_GIVE; policy++)
					try_fault(&(struct producer_setup){ .policy = policy,
							  .sink = END_PIPE,
							  .feed = FEED_BOTH },
						&(struct inject){ INJECT_ERRNO, calls[i], .at = from,
							.times = 1u << 20, .value = refusals[k] });
}

static void repeat_cases(void)
{
	struct producer_setup s = { .policy = GUSH_CONSTANT, .feed = FEED_REPEAT, .sink = END_PIPE };

	try_setup(&s);
	s.policy = GUSH_COPY;
	try_setup(&s);
}

/* Where vmsplice loses the race against tee. */
static void repeat_by_tee_cases(void)
{
	struct producer_setup s = { .policy = GUSH_CONSTANT,
		.feed = FEED_REPEAT,
		.races = true,
		.sink = END_PIPE,
		.broken = INJECT_VMSPLICE,
		.broken_errno = EPERM,
		.broken_from = 2 };
	static const enum inject_call calls[] = { INJECT_PIPE, INJECT_OPEN, INJECT_SET_PIPE_SIZE,
		INJECT_SPLICE, INJECT_VMSPLICE };
	static const int tee_errors[] = { EAGAIN, EPERM, EINVAL, EPIPE };
	unsigned seen[INJECT_CALLS];

	learn_calls(&s, seen);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		try_fault(
			&s, &(struct inject){ INJECT_ERRNO, calls[i], .at = 1, .times = 1, .value = EPERM });
	for (unsigned at = seen[INJECT_TEE] - 1; at <= seen[INJECT_TEE]; at++) {
		for (size_t i = 0; i < sizeof(tee_errors) / sizeof(*tee_errors); i++)
			try_fault(&s, &(struct inject){ INJECT_ERRNO, INJECT_TEE, .at = at, .times = 1,
					      .value = tee_errors[i] });
		for (long cut = 1; cut < 100000; cut = cut * 99 + 1)
			try_fault(&s, &(struct inject){
					      INJECT_SHORT, INJECT_TEE, .at = at, .times = 1, .value = cut });
	}
}

/* ---- running them ---- */

static bool gives_huge_pages(void)
{
	struct gi_hugebuf buf;
	bool huge;

	memset(&inject, 0, sizeof(inject));
	if (gi_huge_page_bytes() == 0 || gi_hugebuf_map(gi_huge_page_bytes(), GI_HUGEBUF_HUGE, &buf) < 0)
		return false;
	memset(buf.base, 1, buf.mapped_bytes);
	huge = gi_hugebuf_is_huge(&buf) == 1;
	gi_hugebuf_unmap(&buf);
	return huge;
}

#define IN_CHILD(name, at_least)                                                                             \
	static void name(void)                                                                               \
	{                                                                                                    \
		child_test(name##_cases, at_least, GUARD_MS);                                                \
	}
/* What comes to nothing but copying without them. */
#define IN_CHILD_HUGE(name, at_least)                                                                        \
	static void name(void)                                                                               \
	{                                                                                                    \
		if (!gives_huge_pages())                                                                     \
			SKIP("no transparent huge pages to be had");                                         \
		child_test(name##_cases, at_least, GUARD_MS);                                                \
	}
IN_CHILD(copy, 500)
IN_CHILD(constant, 700)
IN_CHILD_HUGE(protect, 200)
IN_CHILD_HUGE(protect_nonblock, 200)
IN_CHILD_HUGE(other_barriers, 30)
IN_CHILD_HUGE(canary, 30)
IN_CHILD(trust, 300)
IN_CHILD_HUGE(give, 350)
IN_CHILD(files_and_sockets, 1000)
IN_CHILD(second_calls, 150)
IN_CHILD(refused_for_good, 50)
IN_CHILD(repeat, 200)
IN_CHILD(repeat_by_tee, 15)

/* ---- planted bugs ---- */

#define LENT_PIPE(p) .policy = (p), .sink = END_PIPE
#define TEE_PIPE                                                                                             \
	LENT_PIPE(GUSH_CONSTANT), .feed = FEED_REPEAT, .races = true, .broken = INJECT_VMSPLICE,             \
				  .broken_errno = EPERM, .broken_from = 2
#define FIRST_TEE 9 /* behind those of the race */

static const struct plant {
	const char *bug;
	struct producer_setup setup;
	struct inject lie;
} plants[] = {
	{ "write drops", { LENT_PIPE(GUSH_COPY) }, { INJECT_DROP, INJECT_WRITE, .at = 2 } },
	{ "write sends twice", { LENT_PIPE(GUSH_COPY) }, { INJECT_TWICE, INJECT_WRITE, .at = 2 } },
	{ "write counts too many", { LENT_PIPE(GUSH_COPY) }, { INJECT_OVERCLAIM, INJECT_WRITE, .at = 2 } },
	{ "write's length ignored", { LENT_PIPE(GUSH_COPY) }, { INJECT_UNDERCLAIM, INJECT_WRITE, .at = 2 } },
	{ "a byte wrong in a file", { .sink = END_FILE }, { INJECT_CORRUPT, INJECT_WRITE, .at = 1 } },
	{ "pieces dropped", { LENT_PIPE(GUSH_COPY) }, { INJECT_DROP, INJECT_WRITEV, .at = 2 } },
	{ "pieces sent twice", { LENT_PIPE(GUSH_COPY) }, { INJECT_TWICE, INJECT_WRITEV, .at = 2 } },
	{ "a piece wrong", { LENT_PIPE(GUSH_COPY) }, { INJECT_CORRUPT, INJECT_WRITEV, .at = 2 } },
	{ "pieces count too many", { .sink = END_UNIX }, { INJECT_OVERCLAIM, INJECT_WRITEV, .at = 2 } },
	{ "pieces' length ignored", { .sink = END_UNIX }, { INJECT_UNDERCLAIM, INJECT_WRITEV, .at = 2 } },
	{ "dropped without waiting", { LENT_PIPE(GUSH_COPY), .flags = GUSH_NONBLOCK },
		{ INJECT_DROP, INJECT_WRITE_FLAGS, .at = 2 } },
	{ "EAGAIN taken for success", { LENT_PIPE(GUSH_COPY), .flags = GUSH_NONBLOCK },
		{ INJECT_OVERCLAIM, INJECT_WRITE_FLAGS, .at = 3 } },
	{ "the caller's memory dropped", { LENT_PIPE(GUSH_CONSTANT), .feed = FEED_OWN },
		{ INJECT_DROP, INJECT_VMSPLICE_PIECES, .at = 2 } },
	{ "the caller's memory sent twice", { LENT_PIPE(GUSH_CONSTANT), .feed = FEED_OWN },
		{ INJECT_TWICE, INJECT_VMSPLICE_PIECES, .at = 2 } },
	{ "the caller's memory wrong", { LENT_PIPE(GUSH_CONSTANT), .feed = FEED_OWN },
		{ INJECT_CORRUPT, INJECT_VMSPLICE_PIECES, .at = 3 } },
	{ "too much of the caller's counted", { LENT_PIPE(GUSH_CONSTANT), .feed = FEED_OWN },
		{ INJECT_OVERCLAIM, INJECT_VMSPLICE_PIECES, .at = 2 } },
	{ "too little of the caller's counted", { LENT_PIPE(GUSH_CONSTANT), .feed = FEED_BOTH },
		{ INJECT_UNDERCLAIM, INJECT_VMSPLICE_PIECES, .at = 2 } },
	{ "protected memory dropped", { LENT_PIPE(GUSH_PROTECT) },
		{ INJECT_DROP, INJECT_VMSPLICE_PIECES, .at = 3 } },
	{ "protected memory counted too high", { LENT_PIPE(GUSH_PROTECT) },
		{ INJECT_OVERCLAIM, INJECT_VMSPLICE_PIECES, .at = 3 } },
	{ "a barrier that is none, and the canary sings",
		{ LENT_PIPE(GUSH_PROTECT), .broken = INJECT_CLONE3, .broken_errno = EINVAL,
			.broken_from = 2 },
		{ INJECT_PRETEND, INJECT_CANARY, .at = 1 } },
	{ "pages given are used again", { LENT_PIPE(GUSH_GIVE) },
		{ INJECT_PRETEND, INJECT_MADVISE, .at = 9 } },
	{ "pages in the pipe are used again", { LENT_PIPE(GUSH_TRUST_READER) },
		{ INJECT_PRETEND, INJECT_MADVISE, .at = 5 } },
	{ "a refusal taken for the sink's",
		{ LENT_PIPE(GUSH_PROTECT), .broken = INJECT_VMSPLICE_PIECES, .broken_errno = EPERM,
			.broken_from = 2 },
		{ INJECT_PRETEND, INJECT_ERRCLASS, .at = 1, .value = 1 + GI_CLASS_FATAL } },
	{ "the sink's error taken for a refusal",
		{ LENT_PIPE(GUSH_GIVE), .broken = INJECT_VMSPLICE_PIECES, .broken_errno = EPIPE,
			.broken_from = 2, .broken_times = 1 },
		{ INJECT_PRETEND, INJECT_ERRCLASS, .at = 1, .value = 1 + GI_CLASS_NEXT } },
	{ "a write's error ignored",
		{ LENT_PIPE(GUSH_COPY), .broken = INJECT_WRITE, .broken_errno = ENOSPC, .broken_from = 2,
			.broken_times = 1 },
		{ INJECT_PRETEND, INJECT_ERRCLASS, .at = 1, .value = 1 + GI_CLASS_NEXT } },
	{ "repeated bytes dropped", { TEE_PIPE }, { INJECT_DROP, INJECT_TEE, .at = FIRST_TEE } },
	{ "repeated bytes wrong", { TEE_PIPE }, { INJECT_CORRUPT, INJECT_TEE, .at = FIRST_TEE } },
	{ "tee counts too many", { TEE_PIPE }, { INJECT_OVERCLAIM, INJECT_TEE, .at = FIRST_TEE } },
	{ "tee's length ignored", { TEE_PIPE }, { INJECT_UNDERCLAIM, INJECT_TEE, .at = FIRST_TEE } },
};

static const char *run_plant(const void *arg)
{
	const struct plant *p = arg;
	struct producer_outcome o;

	return producer_case_run(&p->setup, &p->lie, &o);
}

static void planted_bugs(void)
{
	size_t all = 0, caught = 0;
	bool huge = gives_huge_pages();

	for (size_t i = 0; i < sizeof(plants) / sizeof(*plants); i++) {
		uint32_t policy = plants[i].setup.policy;

		if (!huge && (policy == GUSH_PROTECT || policy == GUSH_GIVE))
			continue;
		all++;
		caught += child_catches(run_plant, &plants[i], plants[i].bug, PLANT_GUARD_MS);
	}
	child_check_caught(caught, all);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (child_setup() < 0)
		return 1;
	TEST(planted_bugs);
	TEST(copy);
	TEST(constant);
	TEST(protect);
	TEST(protect_nonblock);
	TEST(other_barriers);
	TEST(canary);
	TEST(trust);
	TEST(give);
	TEST(files_and_sockets);
	TEST(second_calls);
	TEST(refused_for_good);
	TEST(repeat);
	TEST(repeat_by_tee);
	return child_end();
}
