/* SPDX-License-Identifier: MIT */
/* Which rows a machine gets: by its placements, by what was asked, and with a reason where it has no place.
 */
#include "selection.h"

#include "support.h"

static int cpus_made[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static struct machine one_cpu(void)
{
	static int cpu = 3;

	return (struct machine){ .cpus = &cpu,
		.cpu_count = 1,
		.placements = { { PLACEMENT_SAME_CPU, 3, 3 } },
		.placement_count = 1 };
}

static struct machine two_cores(void)
{
	return (struct machine){ .cpus = cpus_made,
		.cpu_count = 2,
		.placements = { { PLACEMENT_SAME_CPU, 0, 0 }, { PLACEMENT_SHARED_L3, 0, 1 } },
		.placement_count = 2 };
}

static struct machine laptop(void)
{
	return (struct machine){ .cpus = cpus_made,
		.cpu_count = 8,
		.placements = { { PLACEMENT_SAME_CPU, 0, 0 }, { PLACEMENT_SMT, 0, 4 },
			{ PLACEMENT_SHARED_L3, 0, 1 } },
		.placement_count = 3 };
}

static struct machine only_threads(void)
{
	return (struct machine){ .cpus = cpus_made,
		.cpu_count = 2,
		.placements = { { PLACEMENT_SAME_CPU, 0, 0 }, { PLACEMENT_SMT, 0, 1 } },
		.placement_count = 2 };
}

/* The rows as text: "name@where[sender,receiver]" each; an unplaced one "name@-", a skipped one with "!". */
static const char *rows_text(const struct machine *m, const char *only, bool ablations)
{
	static char text[4096];
	struct ladder l = { 0 };
	size_t n = 0;

	text[0] = '\0';
	CHECK_INT(selection_add_rows(&l, m, only, ablations), 0);
	for (size_t i = 0; i < l.row_count; i++) {
		const struct row *row = &l.rows[i];
		const char *where = row_where(row);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s@%s", i ? " " : "", row->step->name,
			where ? where : "-");
		if (row->placed)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "[%d,%d]",
				row->placement.sender_cpu, row->placement.receiver_cpu);
		if (row->status == ROW_SKIPPED)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "!");
		CHECK((row->status == ROW_SKIPPED) == (*row->reason != '\0'));
		CHECK_INT(row->round_count, 0);
	}
	ladder_release(&l);
	return text;
}

static void on_two_cores(void)
{
	struct machine m = two_cores();

	CHECK_TEXT(rows_text(&m, NULL, false),
		"write-read@shared-l3[0,1] write-read-huge@shared-l3[0,1] vmsplice-read@shared-l3[0,1] "
		"vmsplice-splice@shared-l3[0,1] vmsplice-splice-huge@shared-l3[0,1] busy-loop@same-cpu[0,0] "
		"busy-loop@shared-l3[0,1] full-capacity@shared-l3[0,1] one-cpu@same-cpu[0,0] "
		"adaptive@shared-l3[0,1] tee-master@shared-l3[0,1] tee-master@same-cpu[0,0] "
		"fill-write@shared-l3[0,1] fill-write@same-cpu[0,0] fill-unsafe@shared-l3[0,1] "
		"fill-unsafe@same-cpu[0,0] protect@shared-l3[0,1] protect@same-cpu[0,0] limit@alone[0,0] "
		"mem-read@alone[0,0] memcpy@alone[0,0]");
}

static void with_ablations(void)
{
	static const char *const names[] = { "gift@", "same-buffer@", "dont-touch-pages@", "lock-memory@",
		"pipe-64K@same-cpu", "pipe-128K@", "pipe-256K@", "pipe-512K@", "pipe-1M@shared-l3" };
	struct machine m = two_cores();

	for (size_t i = 0; i < COUNT(names); i++) {
		CHECK_CASE(strstr(rows_text(&m, NULL, true), names[i]), names[i]);
		CHECK_CASE(!strstr(rows_text(&m, NULL, false), names[i]), names[i]);
	}
}

static void on_one_cpu(void)
{
	struct machine m = one_cpu();
	struct ladder l = { 0 };

	CHECK_TEXT(rows_text(&m, "write-read,busy-loop,one-cpu,protect,limit", false),
		"write-read@-! busy-loop@same-cpu[3,3] busy-loop@-! one-cpu@same-cpu[3,3] protect@-! "
		"protect@same-cpu[3,3] limit@alone[3,3]");
	CHECK_INT(selection_add_rows(&l, &m, "write-read", false), 0);
	CHECK_TEXT(l.rows[0].reason, "needs two CPUs, and this process may use only CPU 3");
	ladder_release(&l);
}

/* The article's steps run on two cores where there are any; busy-loop is seen on the threads of one, too. */
static void on_a_laptop(void)
{
	struct machine m = laptop();

	CHECK_TEXT(rows_text(&m, "write-read,busy-loop,protect", false),
		"write-read@shared-l3[0,1] busy-loop@same-cpu[0,0] busy-loop@smt[0,4] "
		"busy-loop@shared-l3[0,1] protect@shared-l3[0,1] protect@same-cpu[0,0]");
}

static void on_two_threads_of_one_core(void)
{
	struct machine m = only_threads();

	CHECK_TEXT(rows_text(&m, "write-read,busy-loop", false),
		"write-read@smt[0,1] busy-loop@same-cpu[0,0] busy-loop@smt[0,1]");
}

static void by_hand(void)
{
	struct machine m = laptop();

	CHECK_INT(machine_place_by_hand(&m, "6,2"), 0);
	CHECK_TEXT(rows_text(&m, "write-read,busy-loop,one-cpu,protect,memcpy", false),
		"write-read@by-hand[6,2] busy-loop@by-hand[6,2] one-cpu@same-cpu[6,6] "
		"protect@by-hand[6,2] protect@same-cpu[6,6] memcpy@alone[6,6]");
	m = laptop();
	CHECK_INT(machine_place_by_hand(&m, "5"), 0);
	CHECK_TEXT(
		rows_text(&m, "write-read,one-cpu", false), "write-read@by-hand[5,5] one-cpu@same-cpu[5,5]");
}

static void by_hand_refused(void)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = { { "", -EINVAL }, { "a", -EINVAL }, { "0,", -EINVAL }, { "0,1,2", -EINVAL },
		{ "-1", -EINVAL }, { "0-1", -EINVAL }, { "8", -EPERM }, { "0,8", -EPERM },
		{ "99,0", -EPERM } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine m = laptop();

		CHECK_CASE(machine_place_by_hand(&m, cases[i].text) == cases[i].error, cases[i].text);
		CHECK_CASE(!m.by_hand && m.placement_count == 3, cases[i].text);
		CHECK_CASE(m.placements[0].kind == PLACEMENT_SAME_CPU, cases[i].text);
	}
}

/* In the table's order, once each, however they were asked for; ablations by name need no --all. */
static void only_lists(void)
{
	struct machine m = two_cores();

	CHECK_TEXT(rows_text(&m, "limit,one-cpu,one-cpu", false), "one-cpu@same-cpu[0,0] limit@alone[0,0]");
	CHECK_TEXT(rows_text(&m, "gift", false), "gift@shared-l3[0,1]");
	CHECK_TEXT(rows_text(&m, "memcpy,", false), "memcpy@alone[0,0]");
	CHECK_TEXT(rows_text(&m, "one", false), ""); /* a name, not its beginning */
}

static void unknown_names(void)
{
	static const struct {
		const char *only, *unknown;
	} cases[] = {
		{ "limit", NULL },
		{ "limit,gift,pipe-64K", NULL },
		{ "", "" },
		{ ",", "" },
		{ ",limit", "" },
		{ "limit,,gift", "" },
		{ "limits", "limits" },
		{ "limi", "limi" },
		{ "limit,foo,bar", "foo" },
		{ " limit", " limit" },
		{ "LIMIT", "LIMIT" },
		{ "limit;gift", "limit;gift" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *got = selection_unknown(cases[i].only);

		CHECK_CASE((got == NULL) == (cases[i].unknown == NULL), cases[i].only);
		if (got && cases[i].unknown)
			CHECK_TEXT(got, cases[i].unknown);
	}
}

static void a_very_long_unknown_name(void)
{
	char name[5000];
	const char *got;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	got = selection_unknown(name);
	CHECK(got && strlen(got) > 0 && strlen(got) < 100);
	memcpy(name, "limit", 5); /* cut, it must not become a name that exists */
	CHECK(selection_unknown(name) != NULL);
}

static void this_machine(void)
{
	struct machine m, bare;

	CHECK_INT(machine_read("/sys", &m), 0);
	CHECK(m.cpu_count >= 1 && m.placement_count >= 1 && !m.by_hand);
	CHECK_INT(m.placements[0].sender_cpu, m.cpus[0]);
	CHECK_INT(machine_read("/nonexistent", &bare), 0); /* nothing is known, and all still works */
	CHECK_INT(bare.cpu_count, m.cpu_count);
	CHECK_INT(bare.placement_count, m.cpu_count > 1 ? 2 : 1);
	machine_release(&bare);
	machine_release(&m);
	machine_release(&m);
	CHECK(!m.cpus);
}

int main(void)
{
	TEST(on_two_cores);
	TEST(with_ablations);
	TEST(on_one_cpu);
	TEST(on_a_laptop);
	TEST(on_two_threads_of_one_core);
	TEST(by_hand);
	TEST(by_hand_refused);
	TEST(only_lists);
	TEST(unknown_names);
	TEST(a_very_long_unknown_name);
	TEST(this_machine);
	return test_end();
}
