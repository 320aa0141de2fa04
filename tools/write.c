/* SPDX-License-Identifier: MIT */
/* gush write: sends the same bytes for ever, as the article's `write` does. */
#include "diag.h"
#include "pair_options.h"
#include "sender.h"
#include "tools.h"
#include "usage.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const struct option_table table = {
	.usage = "gush write [OPTION]... | gush read [OPTION]...",
	.summary = "Write X to standard output until the reader has gone.\n"
		   "'_' may stand for '-' in options.",
	.options = pair_option_specs,
	.usage_status = 2,
};

static int check_options(const struct pair_options *o)
{
	const struct pair_unused unused[] = {
		{ o->read_with_splice, "read-with-splice" },
		{ o->gift && !o->write_with_vmsplice, "gift" },
		{ o->same_buffer && !o->write_with_vmsplice, "same-buffer" },
	};

	if (o->write_with_vmsplice && o->pipe_bytes)
		return option_usage_error(&table, "--pipe-size and --write-with-vmsplice contradict: the "
						  "pipe is half of --buf-size then");
	if (o->write_with_vmsplice && o->buf_bytes % 2)
		return option_usage_error(&table, "--write-with-vmsplice needs an even --buf-size");
	pair_note_unused(o, unused, sizeof(unused) / sizeof(*unused));
	return OPTION_DONE;
}

static struct sender_config configure(const struct pair_options *o)
{
	struct sender_config c = {
		.call = SENDER_WRITE,
		.chunk_bytes = o->buf_bytes,
		.chunks = 1,
		.pipe_bytes = o->pipe_bytes,
		.huge = o->huge_page,
		.check_huge = o->check_huge_page,
		.lock = o->lock_memory,
		.untouched = o->dont_touch_pages,
		.gift = o->gift,
		.wait = pair_wait_kind(o),
	};

	if (o->write_with_vmsplice) {
		c.call = SENDER_VMSPLICE;
		c.chunks = 2;
		c.pipe_bytes = o->buf_bytes / 2;
		c.one_mapping = o->same_buffer;
		if (o->same_buffer)
			c.chunk_bytes = o->buf_bytes / 2;
	}
	return c;
}

static int finish(const struct sender *s, int error, uint64_t limit_bytes)
{
	if (error == 0 || (error == -EPIPE && limit_bytes == 0))
		return 0;
	if (error == -EPIPE)
		diag("the reader has gone after %llu of %llu bytes", (unsigned long long)s->sent_bytes,
			(unsigned long long)limit_bytes);
	else
		diag_errno(error, "%s to standard output (%s)", s->failed_at, gi_kind_name(s->endpoint.kind));
	return 1;
}

int write_main(int argc, char **argv)
{
	struct usage start = usage_now();
	struct pair_options o;
	struct sender_config config;
	struct sender s;
	int ret = pair_options_parse(&table, argc, argv, &o);

	if (ret == OPTION_DONE)
		ret = check_options(&o);
	if (ret != OPTION_DONE)
		return ret;
	if (diag_came_closed(STDOUT_FILENO)) {
		diag("standard output is closed");
		return 1;
	}
	if (o.verbose)
		pair_print_options(&o);
	signal(SIGPIPE, SIG_IGN); /* a reader that goes is the usual end, not a crash */
	config = configure(&o);
	ret = sender_prepare(&s, STDOUT_FILENO, &config);
	if (ret < 0) {
		pair_explain_failure(s.failed_at, ret, &o);
		ret = 1;
	} else {
		ret = finish(&s, sender_run(&s, o.bytes_to_pipe), o.bytes_to_pipe);
	}
	sender_release(&s);
	if (o.verbose) {
		struct usage used = usage_since(&start);

		pair_print_usage(&used);
	}
	return ret;
}
