/* SPDX-License-Identifier: MIT */
/* The words for what goes wrong: each says what is missing, and whether that is this machine or a failure. */
#include "reason.h"

#include "support.h"

static const struct {
	const char *failed_at;
	int error;
	enum round_end end;
	const char *fragment;
} cases[] = {
	{ "huge page check", ENODATA, ROUND_NOT_HERE, "no huge pages: /sys/kernel/mm/transparent_hugepage" },
	{ "huge page check", EACCES, ROUND_NOT_HERE, "(Permission denied): is /proc mounted?" },
	{ "buffer", EOPNOTSUPP, ROUND_NOT_HERE, "no transparent huge pages" },
	{ "buffer", EINVAL, ROUND_NOT_HERE, "no transparent huge pages" },
	{ "buffer", EPERM, ROUND_NOT_HERE, "'ulimit -l' (Operation not permitted)" },
	{ "buffer", EAGAIN, ROUND_NOT_HERE, "'ulimit -l' is too low" },
	{ "buffer", ENOMEM, ROUND_NOT_HERE, "not enough memory" },
	{ "pipe size", EPERM, ROUND_NOT_HERE, "pipe-max-size or this user's pipe-user-pages-soft" },
	{ "pipe size", ERANGE, ROUND_NOT_HERE, "pages are too large" },
	{ "master pipe", EPERM, ROUND_NOT_HERE, "pipe-user-pages-soft, or vmsplice is forbidden" },
	{ "pipe to hold bytes in", EPERM, ROUND_NOT_HERE, "pipe-user-pages-soft" },
	{ "copy-on-write barrier", EOPNOTSUPP, ROUND_NOT_HERE, "no clone that fails protects pages" },
	{ "vmsplice", EPERM, ROUND_NOT_HERE,
		"vmsplice: forbidden here (Operation not permitted): a sandbox?" },
	{ "tee", EACCES, ROUND_NOT_HERE, "tee: forbidden here (Permission denied): a sandbox?" },
	{ "vmsplice", ENOSYS, ROUND_NOT_HERE, "vmsplice: not in this kernel, or forbidden by a sandbox" },
	{ "copy-on-write barrier", ENOSYS, ROUND_NOT_HERE, "copy-on-write barrier: not in this kernel" },
	{ "starting the processes", EMFILE, ROUND_NOT_HERE, "raise 'ulimit -n' (Too many open files)" },
	{ "/dev/null", ENFILE, ROUND_NOT_HERE, "or the system's limit (Too many open files in system)" },
	{ "starting the processes", EAGAIN, ROUND_NOT_HERE, "raise 'ulimit -u'" },
	{ "vmsplice", EFAULT, ROUND_FAILED, "vmsplice: Bad address" },
	{ "read", ENODATA, ROUND_FAILED, "read: No data available" },
	{ "splice", EAGAIN, ROUND_FAILED, "splice: Resource temporarily unavailable" },
	{ "pinning to a CPU", EINVAL, ROUND_FAILED, "pinning to a CPU: Invalid argument" },
	{ "", EIO, ROUND_FAILED, "Input/output error" },
};

static void check_one(const char *failed_at, int error, enum round_end end, const char *fragment)
{
	char reason[240] = "untouched";

	CHECK_CASE(reason_of_error(failed_at, error, reason, sizeof(reason)) == end, fragment);
	if (!CHECK(strstr(reason, fragment)))
		printf("  got \"%s\", want \"%s\" in it\n", reason, fragment);
	CHECK_CASE(!strchr(reason, '%') && !strchr(reason, '\n'), reason);
}

static void errors(void)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		check_one(cases[i].failed_at, -cases[i].error, cases[i].end, cases[i].fragment);
		check_one(cases[i].failed_at, cases[i].error, cases[i].end, cases[i].fragment);
	}
}

/* Whatever comes: an answer of one of the two kinds, in words, that fits. */
static void every_error_has_words(void)
{
	static const char *const places[] = { "buffer", "huge page check", "pipe size", "master pipe",
		"vmsplice", "starting the processes", "something else" };

	for (size_t i = 0; i < COUNT(places); i++)
		for (int error = 1; error < 140; error++) {
			char reason[240] = "";
			enum round_end end = reason_of_error(places[i], -error, reason, sizeof(reason));

			CHECK(end == ROUND_NOT_HERE || end == ROUND_FAILED);
			CHECK_CASE(strlen(reason) > 5 && strlen(reason) < sizeof(reason) - 1, reason);
			CHECK_CASE(!strchr(reason, '%'), reason);
		}
}

static void little_room(void)
{
	char text[12] = "0123456789X";

	reason_of_error("vmsplice", -EPERM, text, 10);
	CHECK_TEXT(text, "vmsplice:");
	CHECK(text[10] == 'X');
	reason_of_signal(SIGKILL, text, 10);
	CHECK_TEXT(text, "an end wa");
	CHECK(text[10] == 'X');
}

static void signals(void)
{
	char reason[240];

	CHECK_INT(reason_of_signal(SIGSYS, reason, sizeof(reason)), ROUND_NOT_HERE);
	CHECK_CASE(strstr(reason, "sandbox") && strstr(reason, "SIGSYS"), reason);
	CHECK_INT(reason_of_signal(SIGKILL, reason, sizeof(reason)), ROUND_FAILED);
	CHECK_TEXT(reason, "an end was killed by signal 9 (Killed): out of memory?");
	CHECK_INT(reason_of_signal(SIGSEGV, reason, sizeof(reason)), ROUND_FAILED);
	CHECK_TEXT(reason, "an end was killed by signal 11 (Segmentation fault)");
}

int main(void)
{
	TEST(errors);
	TEST(every_error_has_words);
	TEST(little_room);
	TEST(signals);
	return test_end();
}
