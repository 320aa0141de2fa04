/* SPDX-License-Identifier: MIT */
/* src/record.c: what a transfer remembers of the ways it tried, and how much of it a caller sees. */
#include "record.h"

#include "gush.h"
#include "support.h"
#include "transfer.h"

static struct gush_transfer t; /* only its record is looked at */

static struct gush_report_entry entry(size_t index, int want)
{
	struct gush_report_entry e = { .size = sizeof(e) };

	CHECK_INT(gush_report_entry(&t, index, &e), want);
	return e;
}

static void nothing_tried(void)
{
	memset(&t.record, 0, sizeof(t.record));
	gi_record_bytes(&t.record, 7);
	gi_record_outcome(&t.record, GUSH_TRIED_FAILED, -EIO, "never");
	CHECK_INT(t.record.count, 0);
	entry(0, -ENOENT);
}

static void in_order(void)
{
	struct gush_report_entry e;

	memset(&t.record, 0, sizeof(t.record));
	gi_record_add(&t.record, "first", GUSH_TRIED_UNFIT, 0, "no pipe");
	gi_record_add(&t.record, "second", GUSH_TRIED_USED, 0, NULL);
	gi_record_bytes(&t.record, 5);
	gi_record_bytes(&t.record, 1);
	gi_record_outcome(&t.record, GUSH_TRIED_FAILED, -EINVAL, NULL);
	gi_record_add(&t.record, "third", GUSH_TRIED_USED, 0, NULL);
	gi_record_bytes(&t.record, UINT64_C(1) << 40);

	e = entry(0, 0);
	CHECK_TEXT(e.method, "first");
	CHECK_TEXT(e.reason, "no pipe");
	CHECK(e.outcome == GUSH_TRIED_UNFIT && e.error == 0 && e.bytes == 0);
	e = entry(1, 0);
	CHECK_TEXT(e.method, "second");
	CHECK(e.reason == NULL);
	CHECK(e.outcome == GUSH_TRIED_FAILED && e.error == -EINVAL && e.bytes == 6);
	e = entry(2, 0);
	CHECK(e.outcome == GUSH_TRIED_USED && e.bytes == UINT64_C(1) << 40);
	entry(3, -ENOENT);
	entry(SIZE_MAX, -ENOENT);
}

/* More than there is room for: the first ones are kept, and nothing is overwritten behind them. */
static void full(void)
{
	memset(&t, 0, sizeof(t));
	for (int i = 0; i < 2 * GI_RECORD_ENTRIES; i++)
		gi_record_add(&t.record, i ? "later" : "first", GUSH_TRIED_UNFIT, -i, NULL);
	CHECK_INT(t.record.count, GI_RECORD_ENTRIES);
	CHECK_TEXT(entry(0, 0).method, "first");
	CHECK_INT(entry(GI_RECORD_ENTRIES - 1, 0).error, 1 - GI_RECORD_ENTRIES);
	entry(GI_RECORD_ENTRIES, -ENOENT);
}

static void room_for_every_way(void)
{
	size_t ways = 0;

	while (gush_method_name(ways))
		ways++;
	CHECK(ways > 0 && ways <= GI_RECORD_ENTRIES);
}

static void sizes(void)
{
	struct {
		struct gush_report_entry e;
		char behind[16];
	} larger = { .e = { .size = sizeof(larger) }, .behind = "untouched" };
	struct gush_report_entry small = { .size = sizeof(small) - 1, .bytes = 77, .error = 77 };

	memset(&t.record, 0, sizeof(t.record));
	gi_record_add(&t.record, "way", GUSH_TRIED_USED, 0, NULL);
	CHECK_INT(gush_report_entry(&t, 0, &small), -EINVAL);
	small.size = 0;
	CHECK_INT(gush_report_entry(&t, 0, &small), -EINVAL);
	CHECK(small.bytes == 77 && small.error == 77 && small.size == 0 && !small.method);
	CHECK_INT(gush_report_entry(&t, 0, &larger.e), 0);
	CHECK_INT(larger.e.size, sizeof(larger));
	CHECK_TEXT(larger.behind, "untouched");
	larger.e.bytes = 77;
	CHECK_INT(gush_report_entry(&t, 1, &larger.e), -ENOENT);
	CHECK_INT(larger.e.bytes, 77);
}

int main(void)
{
	TEST(nothing_tried);
	TEST(in_order);
	TEST(full);
	TEST(room_for_every_way);
	TEST(sizes);
	return test_end();
}
