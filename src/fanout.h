/* SPDX-License-Identifier: MIT */
/* A fan-out from the inside: its hub, and a leg for each sink. */
#ifndef GI_FANOUT_H
#define GI_FANOUT_H

#include "gush.h"
#include "transfer.h"
#include "transit.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gi_leg {
	struct gi_transit transit;
	struct gush_transfer *transfer; /* from the pipe to the sink; NULL: the sink is out */
	uint64_t queued_bytes;		/* put into the pipe and meant for the sink */
	uint64_t direct_bytes;		/* delivered from the hub, past the pipe */
	bool not_direct;		/* tried, and refused */
	uint64_t delivered_bytes;	/* of a sink that is out */
	size_t ahead_bytes;		/* of the hub, that this sink has already */
	int64_t waiting_since_ns;	/* 0: not waiting */
	int error;
};

struct gush_fanout {
	struct gush_fanout_options options;
	struct gi_transit hub;
	size_t hub_bytes;
	struct gush_transfer *input; /* from the source to the hub */
	struct gi_leg *legs;
	size_t leg_count;
	int null_fd;
	uint64_t taken_bytes, told_bytes; /* told: by the returns of steps */
	bool input_ended, grown;
	bool copying; /* tee does not work here */
	char *copy;   /* then: what the hub held */
	size_t copy_bytes;
	int broken; /* the hub's error: what it holds cannot be handed out any more */
	int error;  /* of the source: everything taken before it is delivered first */
};

/* fanout_leg.c: 0 or -errno; to be ended by gi_leg_close in both cases */
int gi_leg_open(struct gi_leg *leg, int sink, uint32_t flags);
void gi_leg_close(struct gi_leg *leg);
/* The sink gets nothing more. */
void gi_leg_out(struct gi_leg *leg, int error);
bool gi_leg_works(const struct gi_leg *leg);
/* In the pipe, and meant for the sink. */
uint64_t gi_leg_pending(const struct gi_leg *leg);
uint64_t gi_leg_delivered(const struct gi_leg *leg);
/* Whether the sink takes everything and does nothing with it. */
bool gi_leg_is_null(const struct gi_leg *leg);

/*
 * From the head of the hub, a pipe that holds so many bytes, into the sink without the leg's pipe between,
 * and without waiting; take_out: they leave the hub. Returns the bytes given, 0 where that is not possible
 * now, or an error of the sink that must not be asked for twice.
 */
ssize_t gi_leg_direct(struct gi_leg *leg, int hub_fd, size_t bytes, bool take_out);

#endif
