/* SPDX-License-Identifier: MIT */
#include "protect.h"

#include "gush.h"
#include "memory_room.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>

#define FRESH_NAME "fresh-pages"

/*
 * A pass over 32 MiB takes about 2 ms, a barrier with its canary 0.17 of them. Fresh pages cost 0.3 to 1 ms a
 * pass more than pages used again (6.18, virtual machine): dearer barriers than this do not pay.
 */
#define PASS_SHARE 4
#define DEAR_PASSES 4 /* in a row: one may have met something else */

#define SLOW_PACE 4
#define SLOW_PASSES 2

/* A ring is doubled when more than a quarter of its blocks were in flight still, and were renewed. */
#define RENEWED_SHARE 4
#define FRESH_BLOCKS 4
/* A huge page may have to be copied in small ones, twice, before it is noticed. */
#define LEAST_ROOM_BLOCKS 4
#define SMALL_SHARE 4 /* nor used when more than a quarter of them cannot be had */

/* ---- ways ---- */

static int give_up(struct gi_protect *protect, int error, const char *reason, struct gi_record *record)
{
	gi_record_use(record, gi_protect_way(protect));
	gi_record_outcome(record, GUSH_TRIED_FAILED, error, reason);
	protect->way = GI_PROTECT_NONE;
	return -EOPNOTSUPP;
}

static int try_barrier(struct gi_protect *protect, size_t index, struct gi_record *record)
{
	const struct gi_barrier *barrier = gi_barrier_at(index);
	int ret = gi_barrier_try(barrier, GI_HUGEBUF_HUGE);

	protect->barrier_index = index;
	protect->way = GI_PROTECT_BARRIER;
	if (ret == 0)
		gi_record_add(record, barrier->name, GUSH_TRIED_USED, 0, NULL);
	else
		gi_record_add(record, barrier->name, GUSH_TRIED_FAILED, ret,
			ret == -EOPNOTSUPP ? "tried: it does not keep bytes in flight from changing" : NULL);
	return ret;
}

/* A page of the canary's given back, and another one written: what was sent must read as it was sent. */
static int check_fresh(struct gi_protect *protect)
{
	int ret = gi_canary_send(&protect->canary);

	if (ret == 0)
		ret = gi_hugebuf_renew((void *)(uintptr_t)protect->canary.page, gi_page_bytes());
	return ret == 0 ? gi_canary_check(&protect->canary) : ret;
}

static void use_fresh(struct gi_protect *protect, struct gi_record *record)
{
	int ret = check_fresh(protect);

	protect->way = ret == 0 ? GI_PROTECT_FRESH : GI_PROTECT_NONE;
	gi_record_add(record, FRESH_NAME, ret == 0 ? GUSH_TRIED_USED : GUSH_TRIED_FAILED, ret,
		ret == -EOPNOTSUPP ? "tried: it does not keep bytes in flight from changing" : NULL);
}

/* From this barrier on, the first that protects; else fresh pages. */
static void choose(struct gi_protect *protect, size_t index, struct gi_record *record)
{
	for (; gi_barrier_at(index); index++)
		if (try_barrier(protect, index, record) == 0)
			return;
	use_fresh(protect, record);
}

/* ---- opening and closing ---- */

/* With small pages a barrier costs more than copying: 0.23 GiB/s on 6.18. */
static bool gives_huge_pages(void)
{
	struct gi_hugebuf buf;
	bool huge;

	if (gi_hugebuf_map(gi_huge_page_bytes(), GI_HUGEBUF_HUGE, &buf) < 0)
		return false;
	*(volatile char *)buf.base = 0;
	huge = gi_hugebuf_is_huge(&buf) == 1;
	gi_hugebuf_unmap(&buf);
	return huge;
}

int gi_protect_open(struct gi_protect *protect, struct gi_ring *ring, bool fresh, struct gi_record *record)
{
	const char *first = fresh ? FRESH_NAME : gi_barrier_at(0)->name;
	int ret;

	if (!gives_huge_pages()) {
		gi_record_add(record, first, GUSH_TRIED_UNFIT, 0, "the kernel gives no huge pages");
		return -EOPNOTSUPP;
	}
	ret = gi_canary_open(&protect->canary, ring->spare);
	if (ret < 0) {
		gi_record_add(record, first, GUSH_TRIED_FAILED, ret, "no pipe for the canary");
		return ret;
	}
	protect->pagemap = gi_sys_open("/proc/self/pagemap", O_RDONLY, 0);
	protect->pass_began_ns = gi_sys_now_ns();
	if (fresh)
		use_fresh(protect, record);
	else
		choose(protect, 0, record);
	return protect->way == GI_PROTECT_NONE ? -EOPNOTSUPP : 0;
}

const char *gi_protect_way(const struct gi_protect *protect)
{
	if (protect->way == GI_PROTECT_BARRIER)
		return gi_barrier_at(protect->barrier_index)->name;
	return FRESH_NAME;
}

void gi_protect_init(struct gi_protect *protect)
{
	*protect = (struct gi_protect){ .pagemap = -1, .canary.pipe = GI_PIPE_NONE };
}

void gi_protect_close(struct gi_protect *protect)
{
	gi_canary_close(&protect->canary);
	if (protect->pagemap >= 0)
		gi_sys_close(protect->pagemap);
	protect->pagemap = -1;
}

int gi_protect_forked(struct gi_protect *protect, struct gi_ring *ring)
{
	gi_protect_close(protect);
	protect->pagemap = gi_sys_open("/proc/self/pagemap", O_RDONLY, 0);
	protect->returned = ++protect->started;
	return gi_canary_open(&protect->canary, ring->spare);
}

/* ---- the barrier ---- */

bool gi_protect_needs_barrier(const struct gi_protect *protect, const struct gi_block *block)
{
	return protect->way == GI_PROTECT_BARRIER && block->in_flight &&
	       protect->returned <= block->sent_count;
}

static int run_barrier(struct gi_protect *protect)
{
	int64_t began = gi_sys_now_ns();
	int heard, ret = gi_canary_send(&protect->canary);
	uint64_t number;

	if (ret < 0)
		return ret;
	number = ++protect->started;
	ret = gi_barrier_run(gi_barrier_at(protect->barrier_index));
	heard = gi_canary_check(&protect->canary);
	if (ret == 0)
		ret = heard;
	if (ret == 0)
		protect->returned = number;
	protect->barrier_ns += gi_sys_now_ns() - began;
	return ret;
}

static int renew_canary(struct gi_protect *protect)
{
	void *page = (void *)(uintptr_t)protect->canary.page;

	gi_canary_close(&protect->canary);
	return gi_canary_open(&protect->canary, page);
}

static void protect_by_barrier(struct gi_protect *protect, struct gi_record *record)
{
	int ret = run_barrier(protect);

	if (ret == 0)
		return;
	gi_record_use(record, gi_protect_way(protect));
	gi_record_outcome(record, GUSH_TRIED_FAILED, ret,
		ret == -EOPNOTSUPP ? "it protects no longer, the canary says" : "it cannot run any longer");
	ret = protect->canary.singing ? renew_canary(protect) : 0;
	if (ret == 0)
		choose(protect, protect->barrier_index + 1, record);
	else
		give_up(protect, ret, "no pipe for the canary", record);
}

/* ---- huge pages ---- */

/* One word written: the kernel gives the page back, or a copy of it, or a fresh one. */
static void touch(struct gi_block *block)
{
	*(volatile char *)block->base = 0;
}

/* 1, 0, or -errno: cannot be asked. */
static int is_huge(const struct gi_protect *protect, const struct gi_ring *ring, const struct gi_block *block)
{
	if (protect->pagemap < 0)
		return protect->pagemap;
	return gi_hugebuf_scan_huge(protect->pagemap, block->base, ring->block_bytes);
}

static int renew(struct gi_protect *protect, const struct gi_ring *ring, struct gi_block *block)
{
	int ret = gi_hugebuf_renew(block->base, ring->block_bytes);

	if (ret < 0)
		return ret;
	touch(block);
	if (is_huge(protect, ring, block) == 0)
		protect->still_small++;
	return 0;
}

/*
 * One slot in flight makes the kernel split the huge page at the next write, and from then on each of its
 * small pages faults for itself: 13 GiB/s became 0.16, and did not recover (6.18).
 */
static int mend(struct gi_protect *protect, const struct gi_ring *ring, struct gi_block *block)
{
	touch(block);
	if (is_huge(protect, ring, block) != 0)
		return 0;
	protect->renewed++;
	return renew(protect, ring, block);
}

/* ---- once a pass ---- */

/* It works, but fresh pages are better here. */
static void leave_barrier(struct gi_protect *protect, const char *reason, struct gi_record *record)
{
	gi_record_use(record, gi_protect_way(protect));
	gi_record_outcome(record, GUSH_TRIED_USED, 0, reason);
	use_fresh(protect, record);
}

static void judge_cost(struct gi_protect *protect, int64_t pass_ns, struct gi_record *record)
{
	bool dear = protect->barrier_ns * PASS_SHARE > pass_ns;

	protect->dear = dear ? protect->dear + 1 : 0;
	if (protect->way == GI_PROTECT_BARRIER && protect->dear >= DEAR_PASSES)
		leave_barrier(
			protect, "copying this process's page tables took too much of each pass", record);
}

/*
 * Before 6.7 a block cannot be asked whether it is huge still. But split ones make a pass ten times as long,
 * and fresh pages do not split. A slow reader makes long passes too; behind one it matters little.
 */
static void judge_pace(
	struct gi_protect *protect, const struct gi_ring *ring, int64_t pass_ns, struct gi_record *record)
{
	double pace = (double)pass_ns / (double)(ring->count * ring->block_bytes);

	if (protect->way != GI_PROTECT_BARRIER || is_huge(protect, ring, ring->blocks[0]) >= 0)
		return;
	if (protect->best_pace == 0 || pace < protect->best_pace)
		protect->best_pace = pace;
	protect->slow = pace > SLOW_PACE * protect->best_pace ? protect->slow + 1 : 0;
	if (protect->slow >= SLOW_PASSES)
		leave_barrier(protect,
			"passes became slow, and whether huge pages were split cannot be asked here", record);
}

static void grow(struct gi_protect *protect, struct gi_ring *ring)
{
	uint64_t more = ring->count * ring->block_bytes;

	if (protect->renewed * RENEWED_SHARE <= ring->count || 2 * more > protect->ring_limit_bytes ||
		gi_memory_room() / GI_MEMORY_SHARE < more)
		return;
	gi_ring_double(ring); /* refused: it stays as it is */
}

/*
 * Fresh pages need no ring: what was sent is given away. Few blocks, so that the kernel clears memory that is
 * in the cache still: 5.4 GiB/s with 8 MiB, 3.8 with 32, to a splicing reader on two CPUs.
 */
static void use_few(struct gi_ring *ring)
{
	for (size_t i = FRESH_BLOCKS; i < ring->turn; i++)
		if (gi_block_idle(ring->blocks[i]))
			gi_hugebuf_renew(ring->blocks[i]->base, ring->block_bytes);
	if (ring->turn > FRESH_BLOCKS)
		ring->turn = FRESH_BLOCKS;
}

/* A reader that keeps one page of each huge page makes this process own all of them. */
static bool short_of_memory(const struct gi_protect *protect, const struct gi_ring *ring)
{
	return protect->renewed > 0 && gi_memory_room() < LEAST_ROOM_BLOCKS * ring->block_bytes;
}

static void begin_pass(struct gi_protect *protect, struct gi_ring *ring, struct gi_record *record)
{
	int64_t now = gi_sys_now_ns(), pass_ns = now - protect->pass_began_ns;

	judge_cost(protect, pass_ns, record);
	judge_pace(protect, ring, pass_ns, record);
	grow(protect, ring);
	if (protect->way == GI_PROTECT_FRESH)
		use_few(ring);
	if (short_of_memory(protect, ring))
		give_up(protect, -ENOMEM, "readers keep pages of this process, and memory is short", record);
	if (protect->way == GI_PROTECT_FRESH && check_fresh(protect) < 0)
		give_up(protect, -EOPNOTSUPP, "it protects no longer, the canary says", record);
	protect->pass_began_ns = now;
	protect->barrier_ns = 0;
	protect->renewed = protect->still_small = 0;
}

/* ---- a block ---- */

static int make_writable(struct gi_protect *protect, const struct gi_ring *ring, struct gi_block *block,
	struct gi_record *record)
{
	int ret;

	while (gi_protect_needs_barrier(protect, block))
		protect_by_barrier(protect, record);
	if (protect->way == GI_PROTECT_BARRIER && block->in_flight)
		ret = mend(protect, ring, block);
	else
		ret = renew(protect, ring, block);
	if (ret < 0)
		return give_up(protect, ret, "the kernel does not take its pages back", record);
	if (protect->still_small * SMALL_SHARE > ring->count)
		return give_up(protect, 0, "the kernel gives no huge pages any more", record);
	return 0;
}

int gi_protect_block(struct gi_protect *protect, struct gi_ring *ring, struct gi_block *block, bool pass,
	struct gi_record *record)
{
	if (pass)
		begin_pass(protect, ring, record);
	if (protect->way == GI_PROTECT_NONE)
		return -EOPNOTSUPP;
	return make_writable(protect, ring, block, record);
}

void gi_protect_sent(const struct gi_protect *protect, struct gi_block *block)
{
	block->sent_count = protect->started;
}
