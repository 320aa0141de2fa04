/* SPDX-License-Identifier: MIT */
#include "usage.h"

#include "support.h"

static void cpu_time(void)
{
	struct usage start = usage_now(), used;
	int64_t begin = thread_cpu_ns();

	while (thread_cpu_ns() - begin < 30000000)
		;
	used = usage_since(&start);
	CHECK(used.cpu_s >= 0.02); /* getrusage may lag by a tick */
	CHECK(used.cpu_s < HANG_SECONDS);
}

static void sleeping_is_no_cpu_time(void)
{
	struct usage start = usage_now(), used;

	sleep_ms(100);
	used = usage_since(&start);
	CHECK(used.cpu_s >= 0 && used.cpu_s < 0.05);
	CHECK(used.waits >= 1);
}

static void faults(void)
{
	size_t page = (size_t)getpagesize(), pages = 200;
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct usage start, used;

	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	start = usage_now();
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	used = usage_since(&start);
	CHECK(used.faults >= pages);
	munmap(memory, pages * page);
}

static void waits(void)
{
	struct usage start = usage_now(), used;

	for (int i = 0; i < 20; i++)
		sleep_ms(1);
	used = usage_since(&start);
	CHECK(used.waits >= 20);
}

static void never_goes_back(void)
{
	struct usage last = usage_now();

	for (int i = 0; i < 1000; i++) {
		struct usage now = usage_now();

		CHECK(now.cpu_s >= last.cpu_s && now.faults >= last.faults && now.waits >= last.waits &&
			now.preemptions >= last.preemptions);
		last = now;
	}
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(cpu_time);
	TEST(sleeping_is_no_cpu_time);
	TEST(faults);
	TEST(waits);
	TEST(never_goes_back);
	return test_end();
}
