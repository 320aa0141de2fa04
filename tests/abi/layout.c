/* SPDX-License-Identifier: MIT */
/* The layout of the public structs and the values of the public constants, as programs have them compiled in.
 */
#include <gush.h>

#include <assert.h>

#define FIELD(type, field, at, bytes)                                                                        \
	static_assert(offsetof(struct type, field) == (at), #type "." #field " has moved");                  \
	static_assert(sizeof(((struct type *)0)->field) == (bytes), #type "." #field " has another size")
#define VALUE(name, number) static_assert((name) == (number), #name " has another value")

/* Every 64-bit Linux that gush is built for (x86-64, arm64, POWER, RISC-V, ...) lays structs out alike. */
static_assert(sizeof(void *) == 8 && sizeof(long) == 8 && sizeof(int) == 4, "not LP64: see tests/abi/abi.sh");

FIELD(gush_transfer_options, size, 0, 8);
FIELD(gush_transfer_options, limit_bytes, 8, 8);
FIELD(gush_transfer_options, source_offset, 16, 8);
FIELD(gush_transfer_options, sink_offset, 24, 8);
FIELD(gush_transfer_options, method, 32, 8);
FIELD(gush_transfer_options, flags, 40, 4);
FIELD(gush_transfer_options, wait, 44, 4);
static_assert(sizeof(struct gush_transfer_options) == 48, "gush_transfer_options has another size");

FIELD(gush_report_entry, size, 0, 8);
FIELD(gush_report_entry, method, 8, 8);
FIELD(gush_report_entry, reason, 16, 8);
FIELD(gush_report_entry, bytes, 24, 8);
FIELD(gush_report_entry, outcome, 32, 4);
FIELD(gush_report_entry, error, 36, 4);
static_assert(sizeof(struct gush_report_entry) == 40, "gush_report_entry has another size");

FIELD(gush_fanout_options, size, 0, 8);
FIELD(gush_fanout_options, limit_bytes, 8, 8);
FIELD(gush_fanout_options, drop_after_ns, 16, 8);
FIELD(gush_fanout_options, flags, 24, 4);
FIELD(gush_fanout_options, policy, 28, 4);
static_assert(sizeof(struct gush_fanout_options) == 32, "gush_fanout_options has another size");

FIELD(gush_consumer_options, size, 0, 8);
FIELD(gush_consumer_options, buffer_bytes, 8, 8);
FIELD(gush_consumer_options, buffer_limit_bytes, 16, 8);
FIELD(gush_consumer_options, flags, 24, 4);
FIELD(gush_consumer_options, wait, 28, 4);
static_assert(sizeof(struct gush_consumer_options) == 32, "gush_consumer_options has another size");

FIELD(gush_producer_options, size, 0, 8);
FIELD(gush_producer_options, ring_bytes, 8, 8);
FIELD(gush_producer_options, ring_limit_bytes, 16, 8);
FIELD(gush_producer_options, policy, 24, 4);
FIELD(gush_producer_options, flags, 28, 4);
FIELD(gush_producer_options, wait, 32, 4);
FIELD(gush_producer_options, reserved, 36, 4);
static_assert(sizeof(struct gush_producer_options) == 40, "gush_producer_options has another size");

FIELD(gush_region, memory, 0, 8);
FIELD(gush_region, bytes, 8, 8);
FIELD(gush_region, reserved, 16, 8);
static_assert(sizeof(struct gush_region) == 24, "gush_region has another size");

VALUE(GUSH_COPY, 0);
VALUE(GUSH_CONSTANT, 1);
VALUE(GUSH_PROTECT, 2);
VALUE(GUSH_TRUST_READER, 3);
VALUE(GUSH_GIVE, 4);
VALUE(GUSH_REGION_MOST, 1048576);
VALUE(GUSH_STABLE, 1);
VALUE(GUSH_SPARSE, 2);
VALUE(GUSH_NONBLOCK, 4);
VALUE(GUSH_WAIT_DEFAULT, 0);
VALUE(GUSH_WAIT_ADAPTIVE, 1);
VALUE(GUSH_WAIT_SPIN, 2);
VALUE(GUSH_WAIT_BLOCK, 3);
VALUE(GUSH_NO_LIMIT, 0xffffffffffffffffu);
VALUE(GUSH_OWN_OFFSET, -1);
VALUE(GUSH_SIDE_NONE, 0);
VALUE(GUSH_SIDE_SOURCE, 1);
VALUE(GUSH_SIDE_SINK, 2);
VALUE(GUSH_TRIED_UNFIT, 0);
VALUE(GUSH_TRIED_FAILED, 1);
VALUE(GUSH_TRIED_USED, 2);
VALUE(GUSH_FANOUT_WAIT, 0);
VALUE(GUSH_FANOUT_DROP, 1);
