/* SPDX-License-Identifier: MIT */
/*
 * The fault matrix of transfers: each way, and the library's own choice, between all kinds of ends it serves;
 * each system call it makes, failed with each errno, at the first, second, third and last time, and cut
 * short. Either the sink gets all, or an exact prefix, and the counts, the side at fault and the record are
 * right; nothing hangs. That the judgement sees is shown by planted bugs: each must be caught by it.
 */
#include "child_case.h"
#include "gush.h"
#include "harness.h"
#include "transfer_case.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define GUARD_MS 15000
#define PLANT_GUARD_MS 1000
#define SPARE_FDS 12 /* the pool keeps four pipes */

static const char *describe(const struct setup *s)
{
	static char text[120];

	snprintf(text, sizeof(text), "%s: %s to %s, flags %x%s%s%s, holes %x, broken from %u",
		s->method ? s->method : "any", end_names[s->source], end_names[s->sink], (unsigned)s->flags,
		s->limited ? ", limit" : "", s->offsets ? ", offsets" : "", s->old_data ? ", old data" : "",
		s->holes, s->broken_from);
	return text;
}

static void try_fault(const struct setup *s, const struct inject *fault)
{
	static const char *const kinds[] = { [INJECT_NOTHING] = "no fault",
		[INJECT_ERRNO] = "fails with",
		[INJECT_SHORT] = "is cut to",
		[INJECT_END] = "says end" };
	struct outcome o;
	const char *wrong;

	snprintf(child_record->current, sizeof(child_record->current), "%s; call %u of %s %s %ld",
		describe(s), fault->at, inject_call_name(fault->call), kinds[fault->kind], fault->value);
	wrong = transfer_case_run(s, fault, &o);
	if (child_judged(wrong, inject.hits))
		printf("  %s: %s (returned %lld, side %d, delivered %llu, pending %llu)\n",
			child_record->current, wrong, (long long)o.ret, o.side,
			(unsigned long long)o.delivered, (unsigned long long)o.pending);
}

static const int errors[] = { EAGAIN, EPERM, ENOSYS, EINVAL, EIO, ENOSPC, EDQUOT, EFBIG, EPIPE, ECONNRESET,
	ENOMEM, EXDEV, EBADF, EOPNOTSUPP, ESPIPE, EMSGSIZE, ETXTBSY };

static void try_errors(const struct setup *s, enum inject_call call, unsigned at)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct inject fault = { INJECT_ERRNO, call, .at = at, .times = 1, .value = errors[i] };

		if (errors[i] != EAGAIN ||
			(call != INJECT_POLL && call != INJECT_LSEEK)) /* they know no such thing */
			try_fault(s, &fault);
	}
}

static void try_lengths(const struct setup *s, enum inject_call call, unsigned at, unsigned times)
{
	long page = sysconf(_SC_PAGESIZE), n = (long)CASE_CAP;
	const long lengths[] = { 1, page - 1, page, page + 1, n / 2, n - 1 };

	for (size_t i = times > 1; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct inject fault = { INJECT_SHORT, call, .at = at, .times = times, .value = lengths[i] };

		try_fault(s, &fault);
	}
}

static void try_call(const struct setup *s, enum inject_call call, unsigned at)
{
	struct inject end = { INJECT_END, call, .at = at };

	try_errors(s, call, at);
	if (!inject_moves_bytes(call))
		return;
	try_lengths(s, call, at, 1);
	if (call >= INJECT_SPLICE_AT && call <= INJECT_COPY_FILE_RANGE)
		try_fault(s, &end);
}

/* Without a fault first: it must work, and it tells which calls there are. */
static void try_setup(const struct setup *s)
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
			try_lengths(s, call, 1, 100);
	}
}

static bool serves(const char *method, enum end_kind source, enum end_kind to)
{
	bool pipe = source == END_PIPE || to == END_PIPE;

	if (!method || strcmp(method, "read-write") == 0)
		return true;
	if (to == END_APPEND)
		return false;
	if (strcmp(method, "copy_file_range") == 0)
		return source == END_FILE && to == END_FILE;
	if (strcmp(method, "splice") == 0)
		return pipe;
	return !pipe && (strcmp(method, "relay") == 0 || source == END_FILE);
}

/* A socket that is not O_NONBLOCK itself is left to read-write. */
static bool serves_nonblock(const char *method, enum end_kind to)
{
	return !method || strcmp(method, "read-write") == 0 || (to != END_UNIX && to != END_TCP);
}

static void try_options(struct setup s)
{
	s.limited = true;
	try_setup(&s);
	s.limited = false;
	if (s.source == END_FILE && !(s.method && strcmp(s.method, "sendfile") == 0 && s.sink == END_FILE)) {
		s.offsets = true;
		try_setup(&s);
		s.offsets = false;
	}
	if (s.sink == END_FILE) {
		s.old_data = true;
		try_setup(&s);
	}
}

static void try_pair(struct setup s)
{
	try_setup(&s);
	if (s.sink != END_TCP && s.source != END_TCP) /* its ends take their time */
		try_options(s);
	if (serves_nonblock(s.method, s.sink)) {
		s.flags = GUSH_NONBLOCK;
		try_setup(&s);
	}
}

static void try_method(const char *method)
{
	for (enum end_kind source = END_FILE; source <= END_TCP; source++)
		for (enum end_kind to = END_FILE; to <= END_APPEND; to++)
			if (serves(method, source, to))
				try_pair((struct setup){ .method = method, .source = source, .sink = to });
}

static void by_copy_file_range_cases(void)
{
	try_method("copy_file_range");
}

static void by_splice_cases(void)
{
	try_method("splice");
}

static void by_sendfile_cases(void)
{
	try_method("sendfile");
}

static void by_relay_cases(void)
{
	try_method("relay");
}

static void by_read_write_cases(void)
{
	try_method("read-write");
}

static void by_any_method_cases(void)
{
	try_method(NULL);
}

/* What is in a pipe of ours goes out by write, when splice turns out not to work. */
static void drained_cases(void)
{
	for (unsigned from = 2; from <= 4; from += 2) {
		try_setup(&(struct setup){ .method = "relay",
			.source = END_FILE,
			.sink = END_UNIX,
			.broken_from = from,
			.broken = INJECT_SPLICE_AT,
			.broken_errno = ENODEV });
		try_setup(&(struct setup){ .method = "relay",
			.source = END_UNIX,
			.sink = END_FILE,
			.broken_from = from,
			.broken = INJECT_SPLICE_AT,
			.broken_errno = ENODEV });
		try_setup(&(struct setup){ .method = NULL,
			.source = END_TCP,
			.sink = END_UNIX,
			.broken_from = from,
			.broken = INJECT_SPLICE_AT,
			.broken_errno = ENODEV });
		try_setup(&(struct setup){ .method = NULL,
			.source = END_UNIX,
			.sink = END_FILE,
			.flags = GUSH_NONBLOCK,
			.broken_from = from,
			.broken = INJECT_SPLICE_AT,
			.broken_errno = ENODEV });
	}
}

static void sparse_cases(void)
{
	static const unsigned holes[] = { 1, 2, 8, 1 | 2 | 8, 0xf };

	for (size_t i = 0; i < sizeof(holes) / sizeof(*holes); i++) {
		struct setup s = { .method = NULL,
			.source = END_FILE,
			.sink = END_FILE,
			.flags = GUSH_SPARSE,
			.holes = holes[i] };

		try_setup(&s);
		s.old_data = true;
		try_setup(&s);
		s.offsets = true;
		try_setup(&s);
		s = (struct setup){ .method = "read-write",
			.source = END_FILE,
			.sink = END_FILE,
			.flags = GUSH_SPARSE,
			.limited = true,
			.holes = holes[i] };
		try_setup(&s);
	}
}

static void stable_cases(void)
{
	try_setup(&(struct setup){
		.method = NULL, .source = END_FILE, .sink = END_PIPE, .flags = GUSH_STABLE });
	try_setup(&(struct setup){
		.method = NULL, .source = END_FILE, .sink = END_UNIX, .flags = GUSH_STABLE });
	try_setup(&(struct setup){
		.method = NULL, .source = END_FILE, .sink = END_PIPE, .flags = GUSH_STABLE | GUSH_NONBLOCK });
}

/* ---- running them ---- */

static void (*cases_to_run)(void);

static void run_cases(void)
{
	unsigned before = child_open_descriptors(), after;

	cases_to_run();
	after = child_open_descriptors();
	if (after > before + SPARE_FDS) {
		child_record->bad++;
		printf("  descriptors were left open: %u before, %u after\n", before, after);
	}
}

static void in_child(void (*cases)(void), unsigned at_least)
{
	cases_to_run = cases;
	child_test(run_cases, at_least, GUARD_MS);
}

#define IN_CHILD(name, at_least)                                                                             \
	static void name(void)                                                                               \
	{                                                                                                    \
		in_child(name##_cases, at_least);                                                            \
	}
IN_CHILD(by_copy_file_range, 500)
IN_CHILD(by_splice, 500)
IN_CHILD(by_sendfile, 500)
IN_CHILD(by_relay, 500)
IN_CHILD(by_read_write, 500)
IN_CHILD(by_any_method, 500)
IN_CHILD(drained, 500)
IN_CHILD(sparse, 500)
IN_CHILD(stable, 300)

/* A connection tells of its reset once: who asks a second way after the first hears of an end. */
static void try_reset(const char *method, enum end_kind to)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	static const unsigned char bytes[20000];
	static struct sink sink;
	struct gush_transfer *t = NULL;
	struct source from;

	options.method = method;
	options.limit_bytes = 20000;
	CHECK_INT(source_open(&from, END_TCP, bytes, 20000, 0), 0);
	CHECK_INT(sink_open(&sink, to, false, 0, 0), 0);
	CHECK_INT(gush_transfer_open(from.fd, sink.fd, &options, &t), 0);
	source_reset(&from);
	CHECK_INT(gush_transfer_step(t), -ECONNRESET);
	CHECK_INT(gush_transfer_side(t), GUSH_SIDE_SOURCE);
	gush_transfer_close(t);
	source_close(&from);
	sink_close(&sink);
}

static void reset_is_no_end(void)
{
	static const enum end_kind kinds[] = { END_PIPE, END_FILE, END_UNIX };

	memset(&inject, 0, sizeof(inject));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		try_reset(NULL, kinds[i]);
		try_reset("read-write", kinds[i]);
		try_reset(kinds[i] == END_PIPE ? "splice" : "relay", kinds[i]);
	}
}

/* Mapping a buffer costs more than such a copy: also where a read has the last word on the end. */
static void little_maps_nothing(void)
{
	static const unsigned char bytes[200];
	static const enum end_kind kinds[] = { END_PIPE, END_FILE, END_UNIX };
	static struct sink sink;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct source from;
		uint64_t n = 0;

		memset(&inject, 0, sizeof(inject));
		CHECK_INT(source_open(&from, END_FILE, bytes, sizeof(bytes), sizeof(bytes)), 0);
		CHECK_INT(sink_open(&sink, kinds[i], false, 0, 0), 0);
		CHECK_INT(gush_copy(from.fd, sink.fd, NULL, &n), 0);
		CHECK_INT(n, sizeof(bytes));
		CHECK(inject.seen[INJECT_READ] > 0);
		CHECK_INT(inject.seen[INJECT_MMAP], 0);
		source_close(&from);
		sink_close(&sink);
	}
}

/* ---- planted bugs ---- */

#define BROKEN(call, from, error) .broken = (call), .broken_from = (from), .broken_errno = (error)

static const struct plant {
	const char *bug;
	struct setup setup;
	struct inject lie;
} plants[] = {
	{ "bytes in transit dropped", { .method = "relay", .source = END_UNIX, .sink = END_FILE },
		{ INJECT_DROP, INJECT_SPLICE_AT, .at = 2 } },
	{ "bytes in transit dropped while draining",
		{ .method = "relay",
			.source = END_UNIX,
			.sink = END_FILE,
			BROKEN(INJECT_SPLICE_AT, 2, ENODEV) },
		{ INJECT_DROP, INJECT_READ, .at = 1 } },
	{ "bytes dropped by splice", { .method = "splice", .source = END_PIPE, .sink = END_FILE },
		{ INJECT_DROP, INJECT_SPLICE_AT, .at = 3 } },
	{ "read's bytes replaced", { .method = "read-write", .source = END_UNIX, .sink = END_APPEND },
		{ INJECT_CORRUPT, INJECT_READ, .at = 2 } },
	{ "write's length ignored", { .method = "read-write", .source = END_TCP, .sink = END_UNIX },
		{ INJECT_UNDERCLAIM, INJECT_WRITE, .at = 2 } },
	{ "write counts too many", { .method = "read-write", .source = END_FILE, .sink = END_UNIX },
		{ INJECT_OVERCLAIM, INJECT_WRITE, .at = 5 } },
	{ "sendfile counts too many", { .method = "sendfile", .source = END_FILE, .sink = END_TCP },
		{ INJECT_OVERCLAIM, INJECT_SENDFILE, .at = 5 } },
	{ "copy_file_range's length ignored", { .method = "copy_file_range" },
		{ INJECT_UNDERCLAIM, INJECT_COPY_FILE_RANGE, .at = 5 } },
	{ "the wrong side of a read",
		{ .method = "read-write", .source = END_PIPE, .sink = END_UNIX, BROKEN(INJECT_READ, 3, EIO) },
		{ INJECT_PRETEND, INJECT_ERRCLASS, .at = 1 } },
	{ "the wrong side of a write",
		{ .source = END_UNIX, .sink = END_APPEND, BROKEN(INJECT_WRITE, 2, ENOSPC) },
		{ INJECT_PRETEND, INJECT_ERRCLASS, .at = 1 } },
	{ "the wrong side of a splice out of transit",
		{ .method = "relay",
			.source = END_UNIX,
			.sink = END_TCP,
			BROKEN(INJECT_SPLICE_AT, 2, ECONNRESET) },
		{ INJECT_PRETEND, INJECT_ERRCLASS, .at = 1 } },
	{ "residue pooled",
		{ .method = "relay",
			.source = END_UNIX,
			.sink = END_TCP,
			BROKEN(INJECT_SPLICE_AT, 4, EPIPE) },
		{ INJECT_PRETEND, INJECT_TRANSIT_PUT, .at = 1 } },
	{ "offset not put back",
		{ .method = "relay",
			.source = END_FILE,
			.sink = END_TCP,
			BROKEN(INJECT_SPLICE_AT, 4, EPIPE) },
		{ INJECT_PRETEND, INJECT_LSEEK, .at = 1 } },
	{ "EAGAIN taken for the end",
		{ .method = "read-write", .source = END_PIPE, .sink = END_FILE, .flags = GUSH_NONBLOCK },
		{ INJECT_END, INJECT_READ_FLAGS, .at = 2 } },
	{ "EAGAIN of a socket taken for the end",
		{ .method = "read-write", .source = END_TCP, .sink = END_PIPE, .flags = GUSH_NONBLOCK },
		{ INJECT_END, INJECT_READ_FLAGS, .at = 3 } },
	{ "hole not punched", { .flags = GUSH_SPARSE, .holes = 2, .old_data = true },
		{ INJECT_PRETEND, INJECT_FALLOCATE, .at = 1 } },
	{ "hole at the end not made", { .flags = GUSH_SPARSE, .holes = 8 },
		{ INJECT_PRETEND, INJECT_FTRUNCATE, .at = 1 } },
};

static const char *run_plant(const void *arg)
{
	const struct plant *p = arg;
	struct outcome o;

	return transfer_case_run(&p->setup, &p->lie, &o);
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
	TEST(by_copy_file_range);
	TEST(by_splice);
	TEST(by_sendfile);
	TEST(by_relay);
	TEST(by_read_write);
	TEST(by_any_method);
	TEST(drained);
	TEST(sparse);
	TEST(stable);
	TEST(reset_is_no_end);
	TEST(little_maps_nothing);
	return child_end();
}
