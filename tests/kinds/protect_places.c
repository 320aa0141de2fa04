/* SPDX-License-Identifier: MIT */
/*
 * GUSH_PROTECT where processes or descriptors are scarce, or the reader is late: bytes that a reader holds
 * stay as they were. The holders' controls are in protect_forbidden.c.
 */
#include "../unit/support.h"
#include "words.h"

#include <sys/resource.h>

#define RING (4 * MIB)
#define AFTER (28 * MIB)

static const char *useless; /* why none of this can be tried */

/* ---- no more processes ---- */

static void no_processes_body(void)
{
	struct rlimit one = { 1, 1 };
	struct holding h;
	struct words w;

	hold_start(&h, &(struct hold){ .kind = HOLD_PIPES });
	CHECK_INT(setrlimit(RLIMIT_NPROC, &one), 0);
	words_open(&w, h.fd, GUSH_PROTECT, RING, 0);
	words_write(&w, AFTER);
	check_way(&w, "fresh-pages");
	words_close(&w);
	hold_end_good(&h, AFTER);
}

static void no_processes(void)
{
	if (useless)
		SKIP(useless);
	if (geteuid() != 0)
		SKIP("only root can give up rights");
	as_ordinary_user(no_processes_body);
}

/* ---- descriptors ---- */

static int descriptors_left;

static void few_descriptors_body(void)
{
	struct fds before;
	struct rlimit limit;
	struct holding h;
	struct words w;
	int top;

	hold_start(&h, &(struct hold){ .kind = HOLD_PIPES });
	while ((top = dup(0)) < h.fd)
		; /* all below are in use then */
	for (int fd = top; fd < FDS_MAX; fd++)
		close(fd);
	before = fds_now();
	limit = (struct rlimit){ (rlim_t)(top + descriptors_left), (rlim_t)(top + descriptors_left) };
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
	words_open(&w, h.fd, GUSH_PROTECT, RING, 0);
	words_write(&w, AFTER);
	if (descriptors_left >= 5) /* the canary's two, one to ask about pages, and two to try the barrier */
		check_way(&w, "barrier-clone3");
	words_close(&w);
	CHECK_INT(fds_opened_since(&before), 0);
	hold_end_good(&h, AFTER);
}

static void few_descriptors(void)
{
	if (useless)
		SKIP(useless);
	for (descriptors_left = 0; descriptors_left <= 7 && !test_bad; descriptors_left++)
		in_child(few_descriptors_body);
}

/* ---- a reader that lags, and catches up ---- */

/* The ring's mappings lie side by side and may be one; the canary's block is in small pages. */
static long small_kib_around(const void *memory)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	char line[512];
	bool inside = false;
	long rss = 0, huge = -1, kib;

	while (smaps && huge < 0 && fgets(line, sizeof(line), smaps)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = (uintptr_t)memory >= start && (uintptr_t)memory < end;
		else if (inside && sscanf(line, "Rss: %ld kB", &kib) == 1)
			rss = kib;
		else if (inside && sscanf(line, "AnonHugePages: %ld kB", &kib) == 1)
			huge = kib;
	}
	if (smaps)
		fclose(smaps);
	return huge < 0 ? -1 : rss - huge;
}

static uint64_t lag_limit;

static void lagging_reader_body(void)
{
	struct holding h;
	struct words w;
	long small;

	hold_start(
		&h, &(struct hold){
			    .kind = HOLD_PIPES, .lag_mib = 12, .until_bytes = 100 * MIB, .pause_ms = 1000 });
	words_open(&w, h.fd, GUSH_PROTECT, RING, lag_limit);
	words_write(&w, 100 * MIB);
	words_write(&w, 150 * MIB);
	check_shared(&w);
	small = small_kib_around(w.region);
	if (!CHECK(small >= 0 && small <= 2048))
		printf("  %ld KiB in small pages\n", small);
	words_close(&w);
	CHECK(h.held->most >= 11 * MIB);
	hold_end_good(&h, 250 * MIB);
}

static void lagging_reader(void)
{
	if (useless)
		SKIP(useless);
	lag_limit = RING;
	in_child(lagging_reader_body);
	lag_limit = 64 * MIB;
	in_child(lagging_reader_body);
}

int main(void)
{
	alarm(HANG_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	useless = cannot_protect();
	TEST(no_processes);
	TEST(few_descriptors);
	TEST(lagging_reader);
	return test_end();
}
