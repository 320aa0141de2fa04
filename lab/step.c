/* SPDX-License-Identifier: MIT */
#include "step.h"

#include <string.h>

#define KIB(n) ((size_t)(n) << 10)
#define MIB(n) ((size_t)(n) << 20)

/* The article's settings: 256 KiB buffers, the pipe Linux gives unasked, half a buffer of pipe with vmsplice.
 */
#define ARTICLE_BUF KIB(256)
#define ARTICLE_PIPE KIB(64)
#define ARTICLE_VMSPLICE_PIPE (ARTICLE_BUF / 2)

/* clang-format off */
#define ARTICLE_WRITE .call = SENDER_WRITE, .chunk_bytes = ARTICLE_BUF, .chunks = 1, .pipe_bytes = ARTICLE_PIPE
#define ARTICLE_VMSPLICE .call = SENDER_VMSPLICE, .chunk_bytes = ARTICLE_BUF, .chunks = 2, \
	.pipe_bytes = ARTICLE_VMSPLICE_PIPE
#define ARTICLE_READ .call = RECEIVER_READ, .chunk_bytes = ARTICLE_BUF
#define ARTICLE_SPLICE .call = RECEIVER_SPLICE, .chunk_bytes = ARTICLE_BUF
#define HUGE .huge = true, .check_huge = true

/*
 * One call fills or empties the whole pipe, the largest that an unprivileged user gets. The pipe's lock is held
 * through a call, so fewer and longer calls mean fewer hand-overs.
 */
#define FULL_VMSPLICE HUGE, .call = SENDER_VMSPLICE, .chunk_bytes = MIB(1), .chunks = 2, .pipe_bytes = MIB(1)
#define FULL_SPLICE .call = RECEIVER_SPLICE, .chunk_bytes = MIB(1)

#define ABLATION_PIPE(size_name, size)                                                                       \
	{                                                                                                    \
		.name = "pipe-" size_name, .group = STEP_ABLATION, .where = STEP_BOTH,                       \
		.summary = "full-capacity with a pipe of " size_name "iB",                                   \
		.why = "How much of the gain comes from the pipe's size alone: calls as large as the pipe.", \
		.sender = { HUGE, .call = SENDER_VMSPLICE, .chunk_bytes = (size), .chunks = 2, .pipe_bytes = (size) }, \
		.receiver = { .call = RECEIVER_SPLICE, .chunk_bytes = (size) },                              \
	}

const struct step steps[] = {
	{
		.name = "write-read", .group = STEP_ARTICLE, .where = STEP_NEAR, .article_gib_per_s = 3.7,
		.summary = "write and read: each byte is copied into the pipe and out again",
		.why = "The kernel takes a page for each 4 KiB, copies in, hands over, copies out, frees the page. "
		       "Only 64 KiB are in flight, so the ends wait for each other all the time.",
		.sender = { ARTICLE_WRITE },
		.receiver = { ARTICLE_READ },
	},
	{
		.name = "write-read-huge", .group = STEP_ARTICLE, .where = STEP_NEAR,
		.summary = "the same with both buffers in huge pages",
		.why = "copy_from_user and copy_to_user walk no page tables, so huge pages save TLB misses at most.",
		.sender = { ARTICLE_WRITE, HUGE },
		.receiver = { ARTICLE_READ, HUGE },
	},
	{
		.name = "vmsplice-read", .group = STEP_ARTICLE, .where = STEP_NEAR, .article_gib_per_s = 12.7,
		.summary = "vmsplice and read: the sender's pages go into the pipe, one copy out",
		.why = "vmsplice puts references to the sender's pages into the pipe's slots (get_user_pages_fast); the "
		       "one copy left is the reader's.",
		.sender = { ARTICLE_VMSPLICE },
		.receiver = { ARTICLE_READ },
	},
	{
		.name = "vmsplice-splice", .group = STEP_ARTICLE, .where = STEP_NEAR, .article_gib_per_s = 32.8,
		.summary = "vmsplice and splice to /dev/null: no copy at all",
		.why = "Nothing is copied; what is left is finding each 4 KiB page in the page tables, and two atomic "
		       "counts per page.",
		.sender = { ARTICLE_VMSPLICE },
		.receiver = { ARTICLE_SPLICE },
	},
	{
		.name = "vmsplice-splice-huge", .group = STEP_ARTICLE, .where = STEP_NEAR, .article_gib_per_s = 51.0,
		.summary = "the same from huge pages",
		.why = "One page-table entry covers 512 pages, and references to one huge page are taken in bulk.",
		.sender = { ARTICLE_VMSPLICE, HUGE },
		.receiver = { ARTICLE_SPLICE },
	},
	{
		.name = "busy-loop", .group = STEP_ARTICLE, .where = STEP_EVERYWHERE, .article_gib_per_s = 62.5,
		.summary = "the same, both ends calling again at once instead of waiting",
		.why = "No sleep and no wake-up; both CPUs are fully used however little there is to do. Both ends on "
		       "one CPU must starve each other: each spins its time slice away while the other could work.",
		.sender = { ARTICLE_VMSPLICE, HUGE, .wait = GI_WAIT_SPIN },
		.receiver = { ARTICLE_SPLICE, .wait = GI_WAIT_SPIN },
	},
	{
		.name = "full-capacity", .group = STEP_OURS, .where = STEP_NEAR,
		.summary = "vmsplice and splice of 1 MiB at a time through a pipe of 1 MiB",
		.why = "The pipe's lock is held during a whole call, so the two ends never work at once; fewer, longer "
		       "calls mean fewer hand-overs of the lock and its cache lines.",
		.sender = { FULL_VMSPLICE },
		.receiver = { FULL_SPLICE },
	},
	{
		.name = "one-cpu", .group = STEP_OURS, .where = STEP_SAME,
		.summary = "full-capacity with both ends on one CPU",
		.why = "Since the ends cannot work at once anyway, one CPU loses nothing: the slots, the lock and the "
		       "page counts stay in its cache, and a switch each MiB costs less than a wake-up elsewhere.",
		.sender = { FULL_VMSPLICE },
		.receiver = { FULL_SPLICE },
	},
	{
		.name = "adaptive", .group = STEP_OURS, .where = STEP_NEAR,
		.summary = "full-capacity, spinning for about one wake-up and then sleeping",
		.why = "Saves the wake-up when the peer is about to be ready, and the CPU when it is not.",
		.sender = { FULL_VMSPLICE, .wait = GI_WAIT_ADAPTIVE },
		.receiver = { FULL_SPLICE, .wait = GI_WAIT_ADAPTIVE },
	},
	{
		.name = "tee-master", .group = STEP_OURS, .where = STEP_BOTH,
		.summary = "tee from a pipe filled once, splice to /dev/null",
		.why = "tee copies slots, not pages, and walks no page tables: for bytes that never change.",
		.sender = { HUGE, .call = SENDER_TEE, .chunk_bytes = MIB(1), .chunks = 1, .pipe_bytes = MIB(1) },
		.receiver = { FULL_SPLICE },
	},
	{
		.name = "fill-write", .group = STEP_CHANGING, .where = STEP_BOTH,
		.summary = "new contents each time, sent by write: always right",
		.why = "The copy into the pipe is what makes the buffer free again. Chunks of 128 KiB stay in the "
		       "level-2 cache between filling and copying.",
		.sender = { .call = SENDER_WRITE, .chunk_bytes = KIB(128), .chunks = 1, .pipe_bytes = MIB(1),
			.contents = CONTENTS_COUNTER },
		.receiver = { FULL_SPLICE, .contents = CONTENTS_COUNTER },
	},
	{
		.name = "fill-unsafe", .group = STEP_CHANGING, .where = STEP_BOTH,
		.summary = "new contents each time, vmsplice and double buffering: WRONG behind a splicing reader",
		.why = "A full pipe of the other buffer is taken as proof that the reader is done with this one. It is "
		       "not when the reader passes pages on: those still in flight change. --verify shows it.",
		.sender = { FULL_VMSPLICE, .contents = CONTENTS_COUNTER },
		.receiver = { FULL_SPLICE, .contents = CONTENTS_COUNTER },
	},
	{
		.name = "protect", .group = STEP_CHANGING, .where = STEP_BOTH,
		.summary = "new contents each time, vmsplice behind the copy-on-write barrier: always right",
		.why = "Once per 32 MiB ring the address space is copied by a clone that fails; from then on a write to "
		       "a page still in flight gets a fresh page. The price is one page fault per huge page and pass.",
		.sender = { HUGE, .call = SENDER_VMSPLICE, .chunk_bytes = MIB(1), .chunks = 32, .one_mapping = true,
			.pipe_bytes = MIB(1), .contents = CONTENTS_COUNTER, .protect = true },
		.receiver = { FULL_SPLICE, .contents = CONTENTS_COUNTER },
	},
	{
		.name = "limit", .group = STEP_REFERENCE, .where = STEP_ALONE, .reference = &reference_limit,
		.summary = "the calls of one-cpu in one process: no switch, no wake-up, no other end",
		.why = "What the calls themselves cost; no pair of processes that makes them can be faster on one CPU.",
	},
	{
		.name = "mem-read", .group = STEP_REFERENCE, .where = STEP_ALONE, .reference = &reference_mem_read,
		.article_gib_per_s = 16,
		.summary = "one core reads memory larger than its caches",
		.why = "A pipe can be faster than this: pages are passed on, and nobody looks at the bytes.",
	},
	{
		.name = "memcpy", .group = STEP_REFERENCE, .where = STEP_ALONE, .reference = &reference_memcpy,
		.summary = "one core copies memory larger than its caches",
		.why = "What one of the two copies of write and read would cost with cold caches.",
	},
	{
		.name = "gift", .group = STEP_ABLATION, .where = STEP_NEAR,
		.summary = "vmsplice-splice-huge with SPLICE_F_GIFT and SPLICE_F_MOVE",
		.why = "The flags promise the pages to the kernel; /dev/null and pipes make no use of that.",
		.sender = { ARTICLE_VMSPLICE, HUGE, .gift = true },
		.receiver = { ARTICLE_SPLICE, .move = true },
	},
	{
		.name = "same-buffer", .group = STEP_ABLATION, .where = STEP_NEAR,
		.summary = "vmsplice-splice-huge from the halves of one buffer",
		.why = "All slots refer to one huge page: both ends count on one cache line.",
		.sender = { HUGE, .call = SENDER_VMSPLICE, .chunk_bytes = ARTICLE_BUF / 2, .chunks = 2,
			.one_mapping = true, .pipe_bytes = ARTICLE_VMSPLICE_PIPE },
		.receiver = { ARTICLE_SPLICE },
	},
	{
		.name = "dont-touch-pages", .group = STEP_ABLATION, .where = STEP_NEAR, .article_gib_per_s = 25.0,
		.summary = "vmsplice-splice from pages that were never written",
		.why = "Every page is the zero page, one page for all: its count is contended, and get_user_pages takes "
		       "its slow way.",
		.sender = { ARTICLE_VMSPLICE, .untouched = true, .contents = CONTENTS_ZERO },
		.receiver = { ARTICLE_SPLICE, .contents = CONTENTS_ZERO },
	},
	{
		.name = "lock-memory", .group = STEP_ABLATION, .where = STEP_NEAR,
		.summary = "vmsplice-splice from locked pages",
		.why = "Locked pages cannot be reclaimed; there is no other difference to pages in use.",
		.sender = { ARTICLE_VMSPLICE, .lock = true },
		.receiver = { ARTICLE_SPLICE },
	},
	ABLATION_PIPE("64K", KIB(64)),
	ABLATION_PIPE("128K", KIB(128)),
	ABLATION_PIPE("256K", KIB(256)),
	ABLATION_PIPE("512K", KIB(512)),
	ABLATION_PIPE("1M", MIB(1)),
};
/* clang-format on */

const size_t step_count = sizeof(steps) / sizeof(*steps);

const struct step *step_find(const char *name)
{
	for (size_t i = 0; i < step_count; i++)
		if (strcmp(steps[i].name, name) == 0)
			return &steps[i];
	return NULL;
}

const char *step_group_title(enum step_group group)
{
	static const char *const titles[] = {
		[STEP_ARTICLE] = "The article's steps",
		[STEP_OURS] = "Further steps",
		[STEP_CHANGING] = "Contents rewritten before each send",
		[STEP_REFERENCE] = "To compare with: one process, one CPU",
		[STEP_ABLATION] = "One thing changed at a time",
	};

	return titles[group];
}

uint64_t step_warm_up_bytes(const struct step *step)
{
	uint64_t ring = (uint64_t)step->sender.chunk_bytes * step->sender.chunks;

	/* Twice round the ring: only then does the barrier's cost recur. 16 MiB fill the largest pipe 16
	 * times. */
	return 2 * ring > MIB(16) ? 2 * ring : MIB(16);
}
