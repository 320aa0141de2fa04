/* SPDX-License-Identifier: MIT */
/*
 * Far ends that are fast, slow, give or take a byte at a time, or stop early. The library must neither lose
 * bytes, nor hang, nor use the CPU while it waits.
 */
#include "drive.h"

#define BYTES 300003u
#define BYTES_SINGLE 1501u /* a byte at a time */

static const char *source, *sink;
static enum pace source_pace, sink_pace;
static enum manner manner;

static void pair(void)
{
	bool single = source_pace == PACE_BYTES || sink_pace == PACE_BYTES;

	drive_source_pace = source_pace;
	drive_sink_pace = sink_pace;
	/* To be noticed, a reader that goes must leave more than what waits in between. */
	drive_pair(SOURCE(source), SINK(sink), manner,
		single			 ? BYTES_SINGLE
		: sink_pace == PACE_STOP ? WANT_MOST - 77
					 : BYTES);
}

static void pair_in_child(void)
{
	in_child(pair);
}

/* One that stops need not be met by one that is slow too; two fast ones are another program's; half of the
 * manners. */
static bool worth_it(unsigned c)
{
	bool stops = source_pace == PACE_STOP || sink_pace == PACE_STOP;
	bool both = source_pace != PACE_FAST && sink_pace != PACE_FAST;
	bool neither = source_pace == PACE_FAST && sink_pace == PACE_FAST;

	return !(stops && both) && !neither && (c / 4 + c / 64 + c) % 2 == 0;
}

int main(void)
{
	static const char *const kinds[] = { "pipe", "tcp", "unix", "seqpacket", "terminal" };
	static const char *const paces[] = { "fast", "slow", "bytes", "stop" };
	static const char *const manners[] = { "block", "fds", "loop", "loop_fds" };
	char name[100];

	for (unsigned c = 0; c < COUNT(kinds) * COUNT(kinds) * 64; c++) {
		source = kinds[c / 64 / COUNT(kinds)];
		sink = kinds[c / 64 % COUNT(kinds)];
		source_pace = (enum pace)(c / 16 % 4);
		sink_pace = (enum pace)(c / 4 % 4);
		manner = (enum manner)(c % 4);
		if (!worth_it(c))
			continue;
		snprintf(name, sizeof(name), "%s_%s_to_%s_%s_%s", paces[source_pace], source,
			paces[sink_pace], sink, manners[manner]);
		test_run(name, pair_in_child);
	}
	return test_end();
}
