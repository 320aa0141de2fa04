/* SPDX-License-Identifier: MIT */
/* A program that includes the header twice, refers to every function, and copies: in C and in C++ alike. */
#include <gush.h>

#include <stdio.h>

#define F(name) ((void (*)(void))(name))

static void (*volatile const every[])(void) = {
	F(gush_transfer_open),
	F(gush_transfer_step),
	F(gush_transfer_wait_for),
	F(gush_transfer_delivered),
	F(gush_transfer_pending),
	F(gush_transfer_side),
	F(gush_transfer_close),
	F(gush_method_name),
	F(gush_report_entry),
	F(gush_fanout_open),
	F(gush_fanout_step),
	F(gush_fanout_error),
	F(gush_fanout_delivered),
	F(gush_fanout_drop),
	F(gush_fanout_wait_for),
	F(gush_fanout_close),
	F(gush_producer_open),
	F(gush_producer_reserve),
	F(gush_producer_commit),
	F(gush_producer_send),
	F(gush_producer_repeat),
	F(gush_producer_flush),
	F(gush_producer_delivered),
	F(gush_producer_pending),
	F(gush_producer_report_entry),
	F(gush_producer_close),
	F(gush_consumer_open),
	F(gush_consumer_next),
	F(gush_consumer_peek),
	F(gush_consumer_consume),
	F(gush_consumer_split),
	F(gush_consumer_close),
	F(gush_copy),
	F(gush_version),
};

int main(void)
{
	struct gush_transfer_options options = GUSH_TRANSFER_OPTIONS_INIT;
	struct gush_fanout_options fanout = GUSH_FANOUT_OPTIONS_INIT;
	struct gush_producer_options producer = GUSH_PRODUCER_OPTIONS_INIT;
	struct gush_consumer_options consumer = GUSH_CONSUMER_OPTIONS_INIT;
	unsigned there = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++)
		there += every[i] != NULL;
	options.flags |= GUSH_STABLE | GUSH_SPARSE;
	options.limit_bytes = GUSH_NO_LIMIT;
	options.wait = GUSH_WAIT_ADAPTIVE;
	if (gush_copy(0, 1, &options, &bytes) < 0)
		return 1;
	fprintf(stderr, "%s %u %u %u %u %u\n", gush_version(), there, (unsigned)bytes, (unsigned)fanout.size,
		(unsigned)producer.size, (unsigned)consumer.size);
	return 0;
}
