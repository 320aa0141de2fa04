/* SPDX-License-Identifier: MIT */
/* Every kind of source with every kind of sink, in every manner: the same bytes, or the right error. */
#include "drive.h"

#define BYTES ((3u << 20) + 4321) /* more than all buffers on the way; no multiple of a page */
#define BYTES_TERMINAL 200001u	  /* they are slow */

static const struct end_kind *source, *sink;
static enum manner manner;

static void pair(void)
{
	bool slow = strcmp(source->name, "terminal") == 0 || strcmp(sink->name, "terminal") == 0;

	drive_pair(source, sink, manner, slow ? BYTES_TERMINAL : BYTES);
}

static void pair_in_child(void)
{
	in_child(pair);
}

static void run_pairs(void)
{
	static const char *const manners[] = { "block", "fds", "loop", "loop_fds" };
	char name[100];

	for (size_t k = 0; k < sink_kind_count; k++)
		for (int m = 0; m < MANNERS; m++) {
			sink = &sink_kinds[k];
			manner = (enum manner)m;
			snprintf(name, sizeof(name), "%s_to_%s_%s", source->name, sink->name, manners[m]);
			test_run(name, pair_in_child);
		}
}

static void open_source(void)
{
	struct end e = { .fd = -1 };
	const char *why;

	signal(SIGPIPE, SIG_IGN);
	want_stamp(BYTES_TERMINAL);
	why = source->open(&e);
	if (why)
		SKIP(why);
	CHECK(e.fd >= 0);
	end_close(&e);
}

static void open_source_in_child(void)
{
	in_child(open_source);
}

/* One that cannot be had here is one skip, not one for each of its pairs. */
int main(void)
{
	char name[100];

	for (size_t i = 0; i < source_kind_count; i++) {
		source = &source_kinds[i];
		snprintf(name, sizeof(name), "open_%s", source->name);
		test_run(name, open_source_in_child);
		if (!test_skip_reason)
			run_pairs();
	}
	return test_end();
}
