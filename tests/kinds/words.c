/* SPDX-License-Identifier: MIT */
#include "words.h"

#include "../unit/support.h"

void words_open(struct words *w, int fd, uint32_t policy, uint64_t ring_bytes, uint64_t limit_bytes)
{
	struct gush_producer_options o = GUSH_PRODUCER_OPTIONS_INIT;

	*w = (struct words){ 0 };
	o.policy = policy;
	o.ring_bytes = ring_bytes;
	o.ring_limit_bytes = limit_bytes ? limit_bytes : ring_bytes;
	CHECK_INT(gush_producer_open(fd, &o, &w->p), 0);
}

void words_write(struct words *w, uint64_t bytes)
{
	uint64_t end = w->at + bytes;

	while (w->at < end) {
		struct gush_region region;
		size_t n;

		if (!CHECK_INT(gush_producer_reserve(w->p, 8, SIZE_MAX, &region), 0))
			return;
		n = region.bytes / 8 < (end - w->at) / 8 ? region.bytes / 8 : (size_t)((end - w->at) / 8);
		for (size_t i = 0; i < n; i++)
			((uint64_t *)region.memory)[i] = hold_word(w->at + 8 * i);
		w->region = region.memory;
		w->at += 8 * n;
		if (!CHECK_INT(gush_producer_commit(w->p, &region, 8 * n), 0))
			return;
	}
	CHECK_INT(gush_producer_flush(w->p), 0);
}

void words_close(struct words *w)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	uint64_t bytes = 0;

	for (size_t i = 0; gush_producer_report_entry(w->p, i, &e) == 0; i++)
		bytes += e.bytes;
	CHECK_INT(bytes, w->at);
	if (test_bad)
		show_ways(w);
	gush_producer_close(w->p);
}

bool words_way(const struct words *w, const char *name, struct gush_report_entry *ret_entry)
{
	bool found = false;

	for (size_t i = 0;; i++) {
		struct gush_report_entry e = { .size = sizeof(e) };

		if (gush_producer_report_entry(w->p, i, &e) < 0)
			return found;
		if (name ? strcmp(e.method, name) == 0 : e.outcome == GUSH_TRIED_USED) {
			*ret_entry = e;
			found = true;
		}
	}
}

bool words_dear(const struct words *w)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	bool dear = false;

	for (size_t i = 0; gush_producer_report_entry(w->p, i, &e) == 0; i++)
		dear |= e.outcome == GUSH_TRIED_USED && e.reason;
	return dear;
}

void check_way(const struct words *w, const char *name)
{
	struct gush_report_entry e = { .method = "none" };

	words_way(w, NULL, &e);
	if (!words_dear(w))
		CHECK_TEXT(e.method, name);
}

void check_shared(const struct words *w)
{
	struct gush_report_entry e = { .method = "none" };

	words_way(w, NULL, &e);
	CHECK_CASE(strncmp(e.method, "barrier-", 8) == 0 || strcmp(e.method, "fresh-pages") == 0, e.method);
}

void show_ways(const struct words *w)
{
	struct gush_report_entry e = { .size = sizeof(e) };

	for (size_t i = 0; gush_producer_report_entry(w->p, i, &e) == 0; i++)
		printf("  %s: outcome %d, error %d, %llu bytes, %s\n", e.method, e.outcome, e.error,
			(unsigned long long)e.bytes, e.reason ? e.reason : "");
}

const char *cannot_protect(void)
{
	struct gush_report_entry e = { .size = sizeof(e) };
	struct gush_region region;
	struct words w;
	bool protects;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return "no pipes";
	words_open(&w, fds[1], GUSH_PROTECT, 4 * MIB, 0);
	protects = gush_producer_reserve(w.p, 8, 8, &region) == 0 && words_way(&w, NULL, &e) &&
		   strcmp(e.method, "barrier-clone3") == 0;
	gush_producer_close(w.p);
	close(fds[0]);
	close(fds[1]);
	return protects ? NULL : "no barrier protects here: no huge pages, an old kernel, or a sandbox";
}
