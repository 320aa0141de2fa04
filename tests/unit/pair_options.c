/* SPDX-License-Identifier: MIT */
#include "pair_options.h"

#include "diag.h"
#include "support.h"
#include "usage.h"

#define STATUS 42
#define HINT "; see 'gush --help'\n"

static const struct option_table table = {
	.usage = "usage", .summary = "summary", .options = pair_option_specs, .usage_status = STATUS
};

static struct captured got;

static int parse(const char *const *args, struct pair_options *ret)
{
	static char program[] = "read";
	char *argv[20] = { program };
	int argc = 1;

	for (; *args; args++)
		argv[argc++] = (char *)(uintptr_t)*args;
	return pair_options_parse(&table, argc, argv, ret);
}

static void defaults(void)
{
	static const char *const none[] = { NULL };
	struct pair_options o, want = { .buf_bytes = 256 << 10 };

	memset(&o, 0xff, sizeof(o));
	CHECK_INT(parse(none, &o), OPTION_DONE);
	CHECK(!o.busy_loop && !o.poll && !o.huge_page && !o.check_huge_page && !o.write_with_vmsplice);
	CHECK(!o.read_with_splice && !o.gift && !o.lock_memory && !o.dont_touch_pages && !o.same_buffer);
	CHECK(!o.csv && !o.verbose);
	CHECK_INT(o.buf_bytes, want.buf_bytes);
	CHECK_INT(o.bytes_to_pipe, 0);
	CHECK_INT(o.pipe_bytes, 0);
	CHECK(PAIR_DEFAULT_BYTES_TO_PIPE == 10ull << 30);
}

/* Every flag sets its own member and no other; the article writes them with '_'. */
static void flags(void)
{
	static const struct {
		const char *dash, *underscore;
		size_t at;
	} cases[] = {
		{ "--busy-loop", "--busy_loop", offsetof(struct pair_options, busy_loop) },
		{ "--poll", "--poll", offsetof(struct pair_options, poll) },
		{ "--huge-page", "--huge_page", offsetof(struct pair_options, huge_page) },
		{ "--write-with-vmsplice", "--write_with_vmsplice",
			offsetof(struct pair_options, write_with_vmsplice) },
		{ "--read-with-splice", "--read_with_splice",
			offsetof(struct pair_options, read_with_splice) },
		{ "--gift", "--gift", offsetof(struct pair_options, gift) },
		{ "--lock-memory", "--lock_memory", offsetof(struct pair_options, lock_memory) },
		{ "--dont-touch-pages", "--dont_touch_pages",
			offsetof(struct pair_options, dont_touch_pages) },
		{ "--same-buffer", "--same_buffer", offsetof(struct pair_options, same_buffer) },
		{ "--csv", "--csv", offsetof(struct pair_options, csv) },
		{ "--verbose", "-v", offsetof(struct pair_options, verbose) },
	};

	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		const char *name = i % 2 ? cases[i / 2].underscore : cases[i / 2].dash;
		const char *args[] = { name, NULL };
		struct pair_options o;
		unsigned char bytes[sizeof(o)];
		int set = 0;

		CHECK_CASE(parse(args, &o) == OPTION_DONE, name);
		memcpy(bytes, &o, sizeof(o));
		for (size_t at = 0; at < offsetof(struct pair_options, buf_bytes); at++)
			set += at <= offsetof(struct pair_options, verbose) && bytes[at];
		CHECK_CASE(set == 1 && bytes[cases[i / 2].at] == 1, name);
	}
}

static void sizes(void)
{
	static const char *const args[] = { "--buf_size=1M", "--bytes_to_pipe", "2GiB", "--pipe-size=64K",
		NULL };
	static const char *const largest[] = { "--buf-size=2305843009213693951", NULL };
	struct pair_options o;

	CHECK_INT(parse(args, &o), OPTION_DONE);
	CHECK_INT(o.buf_bytes, 1 << 20);
	CHECK_INT(o.bytes_to_pipe, 2ll << 30);
	CHECK_INT(o.pipe_bytes, 65536);
	CHECK_INT(parse(largest, &o), OPTION_DONE);
	CHECK_INT(o.buf_bytes, SIZE_MAX / 8);
}

static int parse_captured(const void *args)
{
	struct pair_options o;

	return parse(args, &o);
}

static void refused(void)
{
	static const struct {
		const char *args[4];
		const char *message;
	} cases[] = {
		{ { "operand" }, "'operand': takes no operands" },
		{ { "--gift", "-" }, "'-': takes no operands" },
		{ { "", "b" }, "'': takes no operands" },
		{ { "--check-huge-page" }, "--check-huge-page needs --huge-page" },
		{ { "--huge-page", "--check-huge-page", "--dont-touch-pages" },
			"--check-huge-page and --dont-touch-pages contradict: a page is huge or not only "
			"once touched" },
		{ { "--buf-size=2305843009213693952" }, "--buf-size is too large" },
		{ { "--buf-size=7E" }, "--buf-size is too large" },
		{ { "--buf-size=9999999E" }, "--buf-size: '9999999E' is too large" },
		{ { "--pipe-size=0" }, "--pipe-size: '0' is not a size such as 4096, 64K, 1M or 2GiB" },
		{ { "--nonsense" }, "unknown option '--nonsense'" },
	};
	char want[300];

	for (size_t i = 0; i < COUNT(cases); i++) {
		capture(parse_captured, cases[i].args, &got);
		CHECK_INT(captured_exit(&got), STATUS);
		snprintf(want, sizeof(want), "gush: %s" HINT, cases[i].message);
		CHECK_TEXT(got.err, want);
	}
}

static void wait_kinds(void)
{
	static const struct {
		struct pair_options options;
		enum gi_wait_kind kind;
	} cases[] = {
		{ { 0 }, GI_WAIT_BLOCK },
		{ { .poll = true }, GI_WAIT_POLL },
		{ { .busy_loop = true }, GI_WAIT_SPIN },
		{ { .poll = true, .busy_loop = true }, GI_WAIT_POLL_SPIN },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_INT(pair_wait_kind(&cases[i].options), cases[i].kind);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(defaults);
	TEST(flags);
	TEST(sizes);
	TEST(refused);
	TEST(wait_kinds);
	return test_end();
}
