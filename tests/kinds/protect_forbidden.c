/* SPDX-License-Identifier: MIT */
/*
 * GUSH_PROTECT where what it relies on is forbidden, from the start or later on: bytes that a reader holds
 * stay as they were, and the report says by which way.
 */
#include "../unit/support.h"
#include "forbid.h"
#include "words.h"

#include <sched.h>

#define RING (4 * MIB)
#define BEFORE (20 * MIB)
#define AFTER (28 * MIB)

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

static const char *useless; /* why none of this can be tried */

/* ---- each kind of holder can fail ---- */

static enum hold_kind control_kind;

static void control_body(void)
{
	struct holding h;
	struct words w;

	hold_start(&h, &(struct hold){ .kind = control_kind });
	words_open(&w, h.fd, GUSH_TRUST_READER, 1, 0);
	words_write(&w, 40 * MIB);
	words_close(&w);
	hold_end(&h);
	CHECK_INT(h.held->bytes, 40 * MIB);
	CHECK(h.held->bad > 1000);
	CHECK(control_kind == HOLD_SPARSE || h.held->most > RING);
}

static void control(enum hold_kind kind)
{
	if (useless)
		SKIP(useless);
	control_kind = kind;
	in_child(control_body);
}

static void control_pipes(void)
{
	control(HOLD_PIPES);
}
static void control_tee(void)
{
	control(HOLD_TEE);
}
static void control_tcp(void)
{
	control(HOLD_TCP);
}
static void control_sparse(void)
{
	control(HOLD_SPARSE);
}

/* ---- places ---- */

#define CANARY "it protects no longer, the canary says"
#define CANNOT "it cannot run any longer"
#define CLONE3(error)                                                                                        \
	{                                                                                                    \
		SYS_clone3, error, BAN_ALWAYS, 0, 0                                                          \
	}
#define CLONE(error)                                                                                         \
	{                                                                                                    \
		SYS_clone, error, BAN_ALWAYS, 0, 0                                                           \
	}
#define CLONE_WITH_PIDFD(error)                                                                              \
	{                                                                                                    \
		SYS_clone, error, BAN_FLAG, 0, CLONE_PIDFD                                                   \
	}
#define DONTNEED(error)                                                                                      \
	{                                                                                                    \
		SYS_madvise, error, BAN_VALUE, 2, MADV_DONTNEED                                              \
	}
#ifdef SYS_fork
#define FORKS(error)                                                                                         \
	{ SYS_fork, error, BAN_ALWAYS, 0, 0 },                                                               \
	{                                                                                                    \
		SYS_vfork, error, BAN_ALWAYS, 0, 0                                                           \
	}
#else
#define FORKS(error)                                                                                         \
	{                                                                                                    \
		0                                                                                            \
	}
#endif

static const struct place {
	const char *name;
	struct ban bans[BANS_MOST];
	const char *early, *late;    /* ways, from the start and afterwards; NULL: any */
	const char *failed, *reason; /* late: what becomes of the way that was in use; NULL: it stays */
} places[] = {
	{ "clone3_EPERM", { CLONE3(EPERM) }, "barrier-clone", "barrier-clone", "barrier-clone3", CANNOT },
	{ "clone3_ENOSYS", { CLONE3(ENOSYS) }, "barrier-clone", "barrier-clone", "barrier-clone3", CANNOT },
	{ "clone3_EAGAIN", { CLONE3(EAGAIN) }, "barrier-clone", "barrier-clone", "barrier-clone3", CANNOT },
	{ "clone3_ENOMEM", { CLONE3(ENOMEM) }, "barrier-clone", "barrier-clone", "barrier-clone3", CANNOT },
	/* The error that success has: only the bytes tell. */
	{ "clone3_EINVAL", { CLONE3(EINVAL) }, "barrier-clone", "barrier-clone", "barrier-clone3", CANARY },
	{ "clone_EPERM", { CLONE(EPERM) }, "barrier-clone3", "barrier-clone3", NULL, NULL },
	{ "clone3_and_pidfd_EPERM", { CLONE3(EPERM), CLONE_WITH_PIDFD(EPERM) }, "barrier-child",
		"barrier-child", "barrier-clone3", CANNOT },
	{ "clone3_ENOSYS_and_pidfd_EFAULT", { CLONE3(ENOSYS), CLONE_WITH_PIDFD(EFAULT) }, "barrier-child",
		"barrier-child", "barrier-clone3", CANNOT },
	{ "both_EPERM", { CLONE3(EPERM), CLONE(EPERM) }, "fresh-pages", "fresh-pages", "barrier-clone3",
		CANNOT },
	{ "both_EAGAIN", { CLONE3(EAGAIN), CLONE(EAGAIN) }, "fresh-pages", "fresh-pages", "barrier-clone3",
		CANNOT },
	{ "both_as_success", { CLONE3(EINVAL), CLONE(EFAULT) }, "fresh-pages", "fresh-pages",
		"barrier-clone3", CANARY },
	{ "no_children_ENOMEM", { CLONE3(ENOMEM), CLONE(ENOMEM), FORKS(ENOMEM) }, "fresh-pages",
		"fresh-pages", "barrier-clone3", CANNOT },
	{ "vmsplice_EPERM", { { SYS_vmsplice, EPERM, BAN_ALWAYS, 0, 0 } }, "write", "write", NULL, NULL },
	{ "vmsplice_ENOSYS", { { SYS_vmsplice, ENOSYS, BAN_ALWAYS, 0, 0 } }, "write", "write", NULL, NULL },
	{ "madvise_EPERM", { { SYS_madvise, EPERM, BAN_ALWAYS, 0, 0 } }, "write", NULL, NULL, NULL },
	{ "dontneed_EPERM", { DONTNEED(EPERM) }, NULL, "write", "barrier-clone3",
		"the kernel does not take its pages back" },
	/* As for locked memory; then the other advice is tried. */
	{ "dontneed_EINVAL", { DONTNEED(EINVAL) }, "barrier-clone3", "barrier-clone3", NULL, NULL },
	{ "no_children_no_dontneed", { CLONE3(EPERM), CLONE(EPERM), DONTNEED(EPERM) }, "write", "write",
		"fresh-pages", "the kernel does not take its pages back" },
	{ "pipe2_EPERM", { { SYS_pipe2, EPERM, BAN_ALWAYS, 0, 0 } }, "write", "barrier-clone3", NULL, NULL },
	{ "pipe2_and_clone3", { { SYS_pipe2, EMFILE, BAN_ALWAYS, 0, 0 }, CLONE3(EINVAL) }, "write",
		"fresh-pages", "barrier-clone3", CANARY },
	/* Then nobody can say whether a page is huge still. */
	{ "ioctl_EPERM", { { SYS_ioctl, EPERM, BAN_ALWAYS, 0, 0 } }, NULL, NULL, NULL, NULL },
};

static const struct place *place;
static enum hold_kind kind;
static uint64_t ring_bytes;

/* By trial, before a byte was sent by it. */
static void check_refused(const struct words *w)
{
	struct gush_report_entry e = { .bytes = 1 };

	if (place->failed && words_way(w, place->failed, &e)) {
		CHECK_INT(e.outcome, GUSH_TRIED_FAILED);
		CHECK_INT(e.bytes, 0);
		CHECK(!e.reason || strcmp(e.reason, CANARY) != 0);
	}
}

static void early(void)
{
	struct holding h;
	struct words w;
	const char *why;

	hold_start(&h, &(struct hold){ .kind = kind });
	why = forbid_all(place->bans);
	words_open(&w, h.fd, GUSH_PROTECT, ring_bytes, 0);
	words_write(&w, AFTER);
	if (!why && place->early)
		check_way(&w, place->early);
	if (!why && place->early)
		check_refused(&w);
	words_close(&w);
	hold_end_good(&h, AFTER);
	if (why)
		SKIP(why);
}

static void check_failed(const struct words *w)
{
	struct gush_report_entry e = { .reason = "none" };

	if (place->failed && !words_dear(w) && CHECK(words_way(w, place->failed, &e))) {
		CHECK_INT(e.outcome, GUSH_TRIED_FAILED);
		CHECK_TEXT(e.reason ? e.reason : "", place->reason);
		CHECK(e.error < 0);
	}
}

static void late(void)
{
	struct holding h;
	struct words w;
	const char *why;

	hold_start(&h, &(struct hold){ .kind = kind });
	words_open(&w, h.fd, GUSH_PROTECT, ring_bytes, 0);
	words_write(&w, BEFORE);
	check_way(&w, "barrier-clone3");
	why = forbid_all(place->bans);
	words_write(&w, AFTER);
	if (!why && place->late)
		check_way(&w, place->late);
	if (!why)
		check_failed(&w);
	words_close(&w);
	hold_end_good(&h, BEFORE + AFTER);
	if (why)
		SKIP(why);
}

/* GUSH_GIVE knows no barrier: what it cannot do without is the kernel's taking pages back. */
static void give(void)
{
	struct holding h;
	struct words w;
	const char *why;

	hold_start(&h, &(struct hold){ .kind = kind });
	words_open(&w, h.fd, GUSH_GIVE, ring_bytes, 0);
	words_write(&w, BEFORE);
	check_way(&w, "fresh-pages");
	why = forbid_all(place->bans);
	words_write(&w, AFTER);
	words_close(&w);
	hold_end_good(&h, BEFORE + AFTER);
	if (why)
		SKIP(why);
}

static void try_place(void)
{
	if (useless)
		SKIP(useless);
	in_child(early);
	if (!test_bad && !test_skip_reason)
		in_child(late);
	if (!test_bad && !test_skip_reason && place->bans[0].number != SYS_clone3)
		in_child(give);
}

/* ---- advice ---- */

static int advice;

static bool mapping_of(const void *memory, char **ret_base, size_t *ret_bytes)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx ", &start, &end) != 2)
			continue;
		found = (uintptr_t)memory >= start && (uintptr_t)memory < end;
		*ret_base = (char *)start;
		*ret_bytes = end - start;
	}
	if (maps)
		fclose(maps);
	return found;
}

static void advised(void)
{
	struct gush_report_entry e = { .reason = "none" };
	struct holding h;
	struct words w;
	char *base = NULL;
	size_t bytes = 0;

	hold_start(&h, &(struct hold){ .kind = kind });
	words_open(&w, h.fd, GUSH_PROTECT, RING, 0);
	words_write(&w, BEFORE);
	CHECK(mapping_of(w.region, &base, &bytes) && bytes >= RING);
	CHECK_INT(madvise(base, bytes, advice), 0);
	words_write(&w, AFTER);
	check_way(&w, "fresh-pages");
	if (!words_dear(&w) && CHECK(words_way(&w, "barrier-clone3", &e))) {
		CHECK_INT(e.outcome, GUSH_TRIED_FAILED);
		CHECK_INT(e.error, -EOPNOTSUPP);
		CHECK_TEXT(e.reason ? e.reason : "", CANARY);
	}
	words_close(&w);
	hold_end_good(&h, BEFORE + AFTER);
}

static void advice_dontfork(void)
{
	if (useless)
		SKIP(useless);
	advice = MADV_DONTFORK;
	in_child(advised);
}

static void advice_wipeonfork(void)
{
	if (useless)
		SKIP(useless);
	advice = MADV_WIPEONFORK;
	in_child(advised);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	useless = cannot_protect();
	TEST(control_pipes);
	TEST(control_tee);
	TEST(control_tcp);
	TEST(control_sparse);
	for (size_t i = 0; i < COUNT(places); i++) {
		place = &places[i];
		kind = (enum hold_kind)(i % HOLD_KINDS);
		ring_bytes = i % 3 ? RING : RING / 2;
		test_run(place->name, try_place);
	}
	TEST(advice_dontfork);
	TEST(advice_wipeonfork);
	return test_end();
}
