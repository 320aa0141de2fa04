/* SPDX-License-Identifier: MIT */
/* gush bench producers: changing contents from memory into a pipe, by write, unsafely, and by each policy. */
#include "bench.h"
#include "crew.h"
#include "gush.h"
#include "pipe.h"
#include "sender.h"
#include "sys.h"
#include "usage.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIPE_BYTES ((size_t)1 << 20)
#define WRITE_CHUNK ((size_t)128 << 10) /* what was best for write: it stays in the level-2 cache */
#define RING_CHUNKS 32			/* of 1 MiB: the ring that GUSH_PROTECT begins with */
#define SLICE_BYTES ((uint64_t)16 << 20)
#define WARM_UP_BYTES ((uint64_t)128 << 20) /* three times round that ring, and past where sharing begins */

enum way { PLAIN, UNSAFE, COPY, PROTECT, PROTECT_HEAP, GIVE, TRUST, WAYS };

static const struct {
	const char *name;
	uint32_t policy;
} ways[WAYS] = {
	[PLAIN] = { "write loop", 0 },
	[UNSAFE] = { "unsafe ring", 0 },
	[COPY] = { "copy", GUSH_COPY },
	[PROTECT] = { "protect", GUSH_PROTECT },
	[PROTECT_HEAP] = { "and a heap", GUSH_PROTECT },
	[GIVE] = { "give", GUSH_GIVE },
	[TRUST] = { "trust", GUSH_TRUST_READER },
};

static const struct {
	const char *name;
	void (*empty)(int fd);
} readers[] = {
	{ "splice", crew_empty_by_splice },
	{ "read", crew_empty_by_read },
};
#define READERS (sizeof(readers) / sizeof(*readers))

/* What a clone must copy the page tables of: as much as a larger program has. */
#define HEAP_BYTES ((size_t)128 << 20)

/* What is being run, in the process that produces. */
struct making {
	enum way way;
	struct sender sender; /* PLAIN, UNSAFE */
	struct gush_producer *producer;
	uint64_t words;
};

static int open_sender(struct making *m, int fd)
{
	struct sender_config config = {
		.call = m->way == PLAIN ? SENDER_WRITE : SENDER_VMSPLICE,
		.chunk_bytes = m->way == PLAIN ? WRITE_CHUNK : PIPE_BYTES,
		.chunks = m->way == PLAIN ? 1 : RING_CHUNKS,
		.one_mapping = true,
		.huge = true,
		.contents = CONTENTS_COUNTER,
	};

	return sender_prepare(&m->sender, fd, &config);
}

static int have_heap(void)
{
	struct gi_hugebuf heap;
	int ret = gi_hugebuf_map(HEAP_BYTES, 0, &heap); /* until the process ends */

	for (size_t at = 0; ret == 0 && at < HEAP_BYTES; at += gi_page_bytes())
		heap.base[at] = 1;
	return ret;
}

static int open_producer(struct making *m, int fd)
{
	struct gush_producer_options options = GUSH_PRODUCER_OPTIONS_INIT;
	int ret = m->way == PROTECT_HEAP ? have_heap() : 0;

	if (ret < 0)
		return ret;
	options.policy = ways[m->way].policy;
	return gush_producer_open(fd, &options, &m->producer);
}

static int make_by_producer(struct making *m, uint64_t bytes)
{
	uint64_t made = 0;

	while (made < bytes) {
		struct gush_region region;
		size_t n;
		int ret = gush_producer_reserve(m->producer, sizeof(uint64_t), SIZE_MAX, &region);

		if (ret < 0)
			return ret;
		n = region.bytes / sizeof(uint64_t) * sizeof(uint64_t);
		contents_count(region.memory, n, m->words);
		m->words += n / sizeof(uint64_t);
		ret = gush_producer_commit(m->producer, &region, n);
		if (ret < 0)
			return ret;
		made += n;
	}
	return 0;
}

static int make(struct making *m, uint64_t bytes)
{
	if (m->way == PLAIN || m->way == UNSAFE)
		return sender_run(&m->sender, m->sender.sent_bytes + bytes);
	return make_by_producer(m, bytes);
}

static void note_method(const struct making *m, struct flow_figures *ret)
{
	struct gush_report_entry e = { .size = sizeof(e) };

	snprintf(ret->method, sizeof(ret->method), "%s", m->way == PLAIN ? "write" : "vmsplice");
	for (size_t i = 0; m->producer && gush_producer_report_entry(m->producer, i, &e) == 0; i++)
		snprintf(ret->method, sizeof(ret->method), "%s", e.method);
}

static void measure(struct making *m, int fd, int64_t time_ns, struct flow_figures *ret)
{
	struct usage start;
	int64_t start_ns;

	ret->error = m->way == PLAIN || m->way == UNSAFE ? open_sender(m, fd) : open_producer(m, fd);
	for (uint64_t done = 0; ret->error == 0 && done < WARM_UP_BYTES; done += SLICE_BYTES)
		ret->error = make(m, SLICE_BYTES);
	start = usage_now();
	start_ns = gi_sys_now_ns();
	while (ret->error == 0 && gi_sys_now_ns() - start_ns < time_ns) {
		ret->error = make(m, SLICE_BYTES);
		ret->bytes += SLICE_BYTES;
	}
	if (ret->error < 0)
		return;
	ret->seconds = (double)(gi_sys_now_ns() - start_ns) * 1e-9;
	ret->mover_cpu_s = usage_since(&start).cpu_s;
	note_method(m, ret);
}

/* ---- processes ---- */

static pid_t start_reader(size_t reader, struct gi_pipe *pipe, int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	gi_pipe_close_write(pipe);
	if (crew_settle_in(parent, cpu) == 0)
		readers[reader].empty(pipe->read_fd);
	_exit(0);
}

static pid_t start_maker(
	enum way way, struct gi_pipe *pipe, int cpu, int64_t time_ns, struct flow_figures *shared)
{
	struct making m = { .way = way };
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	gi_pipe_close_read(pipe);
	shared->error = crew_settle_in(parent, cpu);
	if (shared->error == 0)
		measure(&m, pipe->write_fd, time_ns, shared);
	_exit(0);
}

static void run_processes(
	size_t index, const struct placement *placement, int64_t time_ns, struct flow_figures *shared)
{
	struct gi_pipe pipe = GI_PIPE_NONE;
	pid_t reader = 0, maker = 0;
	size_t capacity;

	shared->error = gi_pipe_open(&pipe);
	if (shared->error == 0)
		shared->error = gi_pipe_grow(pipe.write_fd, PIPE_BYTES, &capacity);
	if (shared->error == 0) {
		shared->error = -ECHILD; /* until the maker says otherwise */
		reader = start_reader(index / WAYS, &pipe, placement->receiver_cpu);
		if (reader > 0)
			maker = start_maker(index % WAYS, &pipe, placement->sender_cpu, time_ns, shared);
	}
	gi_pipe_close(&pipe);
	crew_reap(maker);
	crew_reap(reader);
}

static struct flow_figures run(size_t index, const struct placement *placement, int64_t time_ns)
{
	struct flow_figures *shared, figures;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return (struct flow_figures){ .error = -errno };
	run_processes(index, placement, time_ns, shared);
	figures = *shared;
	munmap(shared, sizeof(*shared));
	return figures;
}

static void describe(size_t index, struct bench_row *ret_row)
{
	*ret_row = (struct bench_row){
		.from = "counter",
		.to = readers[index / WAYS].name,
		.way = ways[index % WAYS].name,
		.unit = BENCH_GIB,
		.base = index / WAYS * WAYS + PLAIN,
	};
}

static size_t count(void)
{
	return READERS * WAYS;
}

const struct bench_subject bench_producers = {
	.name = "producers",
	.usage = "gush bench producers [OPTION]...",
	.summary = "Measure how fast changing contents (64-bit words, each counted up) go from memory\n"
		   "into a pipe, under each policy of the library, beside a plain loop of write with\n"
		   "128 KiB and a ring of 32 MiB that is sent by vmsplice and not protected. The\n"
		   "reader splices to /dev/null, or reads. FILE may be '-' for standard output.",
	.base = "the write loop",
	.count = count,
	.describe = describe,
	.run = run,
};
