/* SPDX-License-Identifier: MIT */
#include "pair_options.h"

#include "diag.h"
#include "units.h"
#include "usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct pair_options, member)

const struct option_spec pair_option_specs[] = {
	{ "busy-loop", 0, OPTION_FLAG, AT(busy_loop), NULL, "call again at once instead of waiting" },
	{ "poll", 0, OPTION_FLAG, AT(poll), NULL, "poll before each call" },
	{ "huge-page", 0, OPTION_FLAG, AT(huge_page), NULL, "buffers in huge pages" },
	{ "check-huge-page", 0, OPTION_FLAG, AT(check_huge_page), NULL,
		"fail unless they became huge pages" },
	{ "buf-size", 0, OPTION_SIZE, AT(buf_bytes), "SIZE", "buffer size (256KiB)" },
	{ "write-with-vmsplice", 0, OPTION_FLAG, AT(write_with_vmsplice), NULL,
		"writer: vmsplice; the pipe becomes half a buffer" },
	{ "read-with-splice", 0, OPTION_FLAG, AT(read_with_splice), NULL, "reader: splice to /dev/null" },
	{ "gift", 0, OPTION_FLAG, AT(gift), NULL, "SPLICE_F_GIFT on vmsplice, SPLICE_F_MOVE on splice" },
	{ "lock-memory", 0, OPTION_FLAG, AT(lock_memory), NULL, "mlock the buffers" },
	{ "dont-touch-pages", 0, OPTION_FLAG, AT(dont_touch_pages), NULL,
		"do not fault the buffers in first" },
	{ "same-buffer", 0, OPTION_FLAG, AT(same_buffer), NULL,
		"writer: vmsplice from halves of one buffer" },
	{ "bytes-to-pipe", 0, OPTION_SIZE, AT(bytes_to_pipe), "SIZE",
		"stop after so much (read: 10GiB, write: never)" },
	{ "pipe-size", 0, OPTION_SIZE, AT(pipe_bytes), "SIZE", "writer: set the pipe to this size" },
	{ "csv", 0, OPTION_FLAG, AT(csv), NULL, "reader: print the 14 columns of gush-read(1)" },
	{ "verbose", 'v', OPTION_FLAG, AT(verbose), NULL, "print settings, page faults and CPU time" },
	{ 0 },
};

int pair_options_parse(
	const struct option_table *table, int argc, char **argv, struct pair_options *ret_options)
{
	struct pair_options *o = ret_options;
	int first, ret;

	*o = (struct pair_options){ 0 };
	ret = option_parse(table, argc, argv, o, &first);
	if (ret != OPTION_DONE)
		return ret;
	if (first < argc)
		return option_usage_error(table, "'%s': takes no operands", argv[first]);
	if (o->check_huge_page && !o->huge_page)
		return option_usage_error(table, "--check-huge-page needs --huge-page");
	if (o->check_huge_page && o->dont_touch_pages)
		return option_usage_error(table, "--check-huge-page and --dont-touch-pages contradict: a "
						 "page is huge or not only once touched");
	if (o->buf_bytes == 0)
		o->buf_bytes = PAIR_DEFAULT_BUF_BYTES;
	if (o->buf_bytes > SIZE_MAX / 8)
		return option_usage_error(table, "--buf-size is too large");
	return OPTION_DONE;
}

void pair_note_unused(const struct pair_options *options, const struct pair_unused *list, size_t count)
{
	char names[512] = "";
	size_t at = 0, given = 0;

	if (options->csv)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!list[i].given)
			continue;
		at += (size_t)snprintf(
			names + at, sizeof(names) - at, "%s--%s", at ? ", " : "", list[i].name);
		if (at > sizeof(names) - 1)
			at = sizeof(names) - 1; /* cut */
		given++;
	}
	if (given)
		diag("note: %s %s nothing at this end", names, given == 1 ? "does" : "do");
}

static void print_bool(const char *name, bool value)
{
	fprintf(stderr, "%-20s %s\n", name, value ? "true" : "false");
}

static void print_size(const char *name, uint64_t bytes, const char *if_not_given)
{
	char text[UNITS_TEXT];

	fprintf(stderr, "%-20s %s\n", name, bytes ? format_size(bytes, text) : if_not_given);
}

void pair_print_options(const struct pair_options *o)
{
	print_bool("busy_loop", o->busy_loop);
	print_bool("poll", o->poll);
	print_bool("huge_page", o->huge_page);
	print_bool("check_huge_page", o->check_huge_page);
	print_size("buf_size", o->buf_bytes, "");
	print_bool("write_with_vmsplice", o->write_with_vmsplice);
	print_bool("read_with_splice", o->read_with_splice);
	print_bool("gift", o->gift);
	print_bool("lock_memory", o->lock_memory);
	print_bool("dont_touch_pages", o->dont_touch_pages);
	print_bool("same_buffer", o->same_buffer);
	print_bool("csv", o->csv);
	print_size("bytes_to_pipe", o->bytes_to_pipe, "not given");
	print_size("pipe_size", o->pipe_bytes, "not given");
}

enum gi_wait_kind pair_wait_kind(const struct pair_options *o)
{
	if (o->busy_loop)
		return o->poll ? GI_WAIT_POLL_SPIN : GI_WAIT_SPIN;
	return o->poll ? GI_WAIT_POLL : GI_WAIT_BLOCK;
}

static void explain_pipe_size(int error, const struct pair_options *o)
{
	char size[UNITS_TEXT];
	uint64_t bytes = o->pipe_bytes ? o->pipe_bytes : o->buf_bytes / 2;

	format_size(bytes, size);
	switch (-error) {
	case EBADF:
		diag("standard output is not a pipe, so it has no size to set and takes no vmsplice; try '| "
		     "gush read'");
		break;
	case EPERM:
		diag("a pipe of %s is refused: past /proc/sys/fs/pipe-max-size, or past this user's share "
		     "(pipe-user-pages-soft); ask for less",
			size);
		break;
	case ERANGE:
		diag("the kernel rounds a pipe of %s to another size; ask for a power of two of at least a "
		     "page%s",
			size, o->pipe_bytes ? "" : ", in --buf-size for twice that");
		break;
	case EBUSY:
		diag("the pipe holds more than %s already and cannot shrink", size);
		break;
	default:
		diag_errno(error, "setting the pipe to %s", size);
	}
}

void pair_explain_failure(const char *failed_at, int error, const struct pair_options *o)
{
	char size[UNITS_TEXT];

	if (strcmp(failed_at, "pipe size") == 0)
		explain_pipe_size(error, o);
	else if (strcmp(failed_at, "huge page check") == 0 && error == -ENODATA)
		diag("the buffer did not become huge pages; see /sys/kernel/mm/transparent_hugepage/enabled, "
		     "or leave out "
		     "--check-huge-page");
	else if (strcmp(failed_at, "huge page check") == 0)
		diag_errno(error,
			"cannot tell whether the buffer is in huge pages: neither /proc/self/pagemap nor "
			"/proc/self/smaps can be read; mount /proc, or run as the owner of the process "
			"(root)");
	else if (strcmp(failed_at, "buffer") == 0 && o->lock_memory)
		diag_errno(error, "locking a buffer of %s; raise 'ulimit -l' or leave out --lock-memory",
			format_size(o->buf_bytes, size));
	else if (strcmp(failed_at, "buffer") == 0)
		diag_errno(error, "a buffer of %s%s", format_size(o->buf_bytes, size),
			o->huge_page ? " in huge pages" : "");
	else
		diag_errno(error, "%s", failed_at);
}

void pair_print_usage(const struct usage *u)
{
	fprintf(stderr,
		"page faults: %llu\nCPU seconds: %.3f\ncontext switches: %llu voluntary, %llu involuntary\n",
		(unsigned long long)u->faults, u->cpu_s, (unsigned long long)u->waits,
		(unsigned long long)u->preemptions);
}
