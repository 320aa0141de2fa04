/* SPDX-License-Identifier: MIT */
/* tools/common/errno_name.c: names for programs to read. */
#include "diag.h"
#include "support.h"

/* glibc has it since 2.32, musl has not. */
const char *strerrorname_np(int error) __attribute__((weak));

static void some(void)
{
	static const struct {
		int error;
		const char *name;
	} cases[] = { { EINVAL, "EINVAL" }, { EAGAIN, "EAGAIN" }, { EPIPE, "EPIPE" }, { ENOSYS, "ENOSYS" },
		{ EOPNOTSUPP, "EOPNOTSUPP" }, { ECONNRESET, "ECONNRESET" }, { ETIMEDOUT, "ETIMEDOUT" } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		CHECK_TEXT(diag_errno_name(cases[i].error), cases[i].name);
		CHECK_TEXT(diag_errno_name(-cases[i].error), cases[i].name);
	}
}

static void without_a_name(void)
{
	CHECK_TEXT(diag_errno_name(999), "E999");
	CHECK_TEXT(diag_errno_name(-4000), "E4000");
	CHECK_TEXT(diag_errno_name(0), "E0");
}

/* Each is libc's name, or the number. */
static void as_libc(void)
{
	int named = 0;

	if (!strerrorname_np)
		SKIP("libc has no names");
	for (int error = 1; error < 134; error++) {
		const char *ours = diag_errno_name(error), *theirs = strerrorname_np(error);
		char number[16];

		snprintf(number, sizeof(number), "E%d", error);
		if (error == EOPNOTSUPP || strcmp(ours, number) == 0) /* libc says ENOTSUP */
			continue;
		named++;
		CHECK(theirs && strcmp(ours, theirs) == 0);
	}
	CHECK(named > 30);
}

int main(void)
{
	TEST(some);
	TEST(without_a_name);
	TEST(as_libc);
	return test_end();
}
