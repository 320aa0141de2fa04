/* SPDX-License-Identifier: MIT */
/* Runs one transfer in one of the manners a program may, and checks what must hold for each. */
#ifndef DRIVE_H
#define DRIVE_H

#include "ends.h"

enum manner {
	MANNER_BLOCK,	 /* the library waits */
	MANNER_FDS,	 /* the same, with O_NONBLOCK descriptors */
	MANNER_LOOP,	 /* GUSH_NONBLOCK and poll, with blocking descriptors */
	MANNER_LOOP_FDS, /* both */
	MANNERS,
};

struct outcome {
	int error, side;
	uint64_t bytes, pending;
	unsigned steps, waits;
};

/* Until it is over. With a loop: polls for what the library names, 10 s at most. */
struct outcome drive(int source, int sink, enum manner manner, const struct gush_transfer_options *options);

/* A whole case: both ends, the transfer, and everything about it checked. Call it in a child. */
void drive_pair(const struct end_kind *source, const struct end_kind *sink, enum manner manner, size_t bytes);

extern enum pace drive_source_pace, drive_sink_pace;
extern void (*drive_before)(void); /* called when the ends are there, before the transfer */

#endif
