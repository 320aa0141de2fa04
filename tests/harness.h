/* SPDX-License-Identifier: MIT */
/*
 * A test program: functions of checks, listed in main. Each prints a line "ok NAME", "not ok NAME", or
 * "skip NAME: reason"; tests/run adds them up. Exit status 0, 1 (a failure), 77 (nothing but skips).
 *
 *	static void sums(void) { CHECK(1 + 1 == 2); CHECK_INT(2 + 2, 4); }
 *	int main(void) { TEST(sums); return test_end(); }
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weak, so that a program of several files has one of each. */
#define TEST_SHARED __attribute__((weak))
TEST_SHARED int test_passed, test_failed, test_skipped;
TEST_SHARED int test_checks, test_bad; /* of the case that runs */
TEST_SHARED const char *test_skip_reason;

#define CHECK(condition) test_check(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(got, want) test_check_int((long long)(got), (long long)(want), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, want) test_check_text((got), (want), __FILE__, __LINE__, #got)
#define CHECK_NEAR(got, want, within) test_check_near((got), (want), (within), __FILE__, __LINE__, #got)
/* Ends the case: what it needs is not here. */
#define SKIP(reason)                                                                                         \
	do {                                                                                                 \
		test_skip_reason = (reason);                                                                 \
		return;                                                                                      \
	} while (0)
#define TEST(function) test_run(#function, function)

static inline int test_check(int good, const char *file, int line, const char *what)
{
	test_checks++;
	if (!good) {
		test_bad++;
		printf("  %s:%d: %s\n", file, line, what);
	}
	return good;
}

static inline int test_check_int(long long got, long long want, const char *file, int line, const char *what)
{
	if (got != want)
		printf("  got %lld, want %lld\n", got, want);
	return test_check(got == want, file, line, what);
}

static inline int test_check_text(
	const char *got, const char *want, const char *file, int line, const char *what)
{
	if (strcmp(got, want) != 0)
		printf("  got  \"%s\"\n  want \"%s\"\n", got, want);
	return test_check(strcmp(got, want) == 0, file, line, what);
}

static inline int test_check_near(
	double got, double want, double within, const char *file, int line, const char *what)
{
	int good = got >= want - within && got <= want + within;

	if (!good)
		printf("  got %g, want %g within %g\n", got, want, within);
	return test_check(good, file, line, what);
}

static inline void test_run(const char *name, void (*function)(void))
{
	test_checks = test_bad = 0;
	test_skip_reason = NULL;
	function();
	if (test_bad) {
		test_failed++;
		printf("not ok %s\n", name);
	} else if (test_skip_reason) {
		test_skipped++;
		printf("skip %s: %s\n", name, test_skip_reason);
	} else if (test_checks == 0) {
		test_failed++; /* a case that checks nothing is a defect of its own */
		printf("not ok %s: it checked nothing\n", name);
	} else {
		test_passed++;
		printf("ok %s\n", name);
	}
	fflush(stdout);
}

static inline int test_end(void)
{
	if (test_failed)
		return 1;
	return test_passed == 0 && test_skipped > 0 ? 77 : 0;
}

#endif
