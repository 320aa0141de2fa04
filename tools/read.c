/* SPDX-License-Identifier: MIT */
/* gush read: takes bytes in and says how fast they came, as the article's `read` does. */
#include "diag.h"
#include "pair_options.h"
#include "receiver.h"
#include "sys.h"
#include "tools.h"
#include "units.h"
#include "usage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct option_table table = {
	.usage = "gush write [OPTION]... | gush read [OPTION]...",
	.summary = "Read standard input and print how fast it came.\n"
		   "'_' may stand for '-' in options.",
	.options = pair_option_specs,
	.usage_status = 2,
};

static void note_unused(const struct pair_options *o)
{
	bool no_buffer = o->read_with_splice;
	const struct pair_unused unused[] = {
		{ o->write_with_vmsplice, "write-with-vmsplice" },
		{ o->same_buffer, "same-buffer" },
		{ o->pipe_bytes, "pipe-size" },
		{ o->gift && !o->read_with_splice, "gift" },
		{ o->huge_page && no_buffer, "huge-page" },
		{ o->check_huge_page && no_buffer, "check-huge-page" },
		{ o->lock_memory && no_buffer, "lock-memory" },
		{ o->dont_touch_pages && (no_buffer || o->lock_memory), "dont-touch-pages" },
	};

	pair_note_unused(o, unused, sizeof(unused) / sizeof(*unused));
}

/* The article's 14 columns, in his order. */
static void print_csv(const struct pair_options *o, double gib_per_s)
{
	printf("%f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", gib_per_s,
		o->bytes_to_pipe, o->buf_bytes, o->pipe_bytes, o->busy_loop, o->poll, o->huge_page,
		o->check_huge_page, o->write_with_vmsplice, o->read_with_splice, o->gift, o->lock_memory,
		o->dont_touch_pages, o->same_buffer);
}

static void print_line(const struct pair_options *o, double gib_per_s)
{
	char buf[UNITS_TEXT], piped[UNITS_TEXT];

	printf("%.1fGiB/s, %s buffer, %" PRIu64 " iterations (%s piped)\n", gib_per_s,
		format_size(o->buf_bytes, buf), o->bytes_to_pipe / o->buf_bytes,
		format_size(o->bytes_to_pipe, piped));
}

static int explain_end(const struct receiver *r, int error, uint64_t wanted_bytes)
{
	if (error == -ENODATA)
		diag("the input ended after %" PRIu64 " of %" PRIu64
		     " bytes: the writer has died or stopped early",
			r->received_bytes, wanted_bytes);
	else if (error == -EINVAL && r->config.call == RECEIVER_SPLICE)
		diag("splice from standard input (%s) is not possible; leave out --read-with-splice",
			gi_kind_name(r->endpoint.kind));
	else
		diag_errno(
			error, "%s from standard input (%s)", r->failed_at, gi_kind_name(r->endpoint.kind));
	return 1;
}

static int measure(struct receiver *r, const struct pair_options *o)
{
	int64_t start_ns = gi_sys_now_ns();
	int ret = receiver_run(r, o->bytes_to_pipe);
	double seconds = (double)(gi_sys_now_ns() - start_ns) * 1e-9;
	double gib_per_s = (double)r->received_bytes / (1 << 30) / seconds;

	if (ret < 0)
		return explain_end(r, ret, o->bytes_to_pipe);
	if (o->csv)
		print_csv(o, gib_per_s);
	else
		print_line(o, gib_per_s);
	return diag_close_stdout() < 0 ? 1 : 0;
}

int read_main(int argc, char **argv)
{
	struct usage start = usage_now();
	struct receiver_config config;
	struct pair_options o;
	struct receiver r;
	int ret = pair_options_parse(&table, argc, argv, &o);

	if (ret != OPTION_DONE)
		return ret;
	if (o.bytes_to_pipe == 0)
		o.bytes_to_pipe = PAIR_DEFAULT_BYTES_TO_PIPE;
	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
		if (diag_came_closed(fd)) {
			diag("standard %s is closed", fd == STDIN_FILENO ? "input" : "output");
			return 1;
		}
	}
	note_unused(&o);
	if (o.verbose)
		pair_print_options(&o);
	config = (struct receiver_config){
		.call = o.read_with_splice ? RECEIVER_SPLICE : RECEIVER_READ,
		.chunk_bytes = o.buf_bytes,
		.huge = o.huge_page,
		.check_huge = o.check_huge_page,
		.lock = o.lock_memory,
		.untouched = o.dont_touch_pages,
		.move = o.gift,
		.wait = pair_wait_kind(&o),
	};
	ret = receiver_prepare(&r, STDIN_FILENO, &config);
	if (ret < 0) {
		pair_explain_failure(r.failed_at, ret, &o);
		ret = 1;
	} else {
		ret = measure(&r, &o);
	}
	receiver_release(&r);
	if (o.verbose) {
		struct usage used = usage_since(&start);

		pair_print_usage(&used);
	}
	return ret;
}
