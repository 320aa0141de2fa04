/* SPDX-License-Identifier: MIT */
/* src/errclass.c: rules that hold for every call and every error, and lines worth a name. */
#include "errclass.h"

#include "gush.h"
#include "support.h"

#define LAST_ERROR 133

static const enum gi_call clever[] = { GI_CALL_SPLICE, GI_CALL_SPLICE_IN, GI_CALL_SPLICE_OUT,
	GI_CALL_SENDFILE, GI_CALL_COPY_FILE_RANGE, GI_CALL_TEE };

static bool is_verdict(enum gi_call call, int error, enum gi_class class, int side)
{
	struct gi_verdict v = gi_errclass(call, error);

	return v.class == class && (class == GI_CLASS_WAIT || class == GI_CLASS_NEXT || v.side == side);
}

static void either_sign(void)
{
	for (int call = GI_CALL_READ; call <= GI_CALL_POLL; call++)
		for (int error = 1; error <= LAST_ERROR; error++) {
			struct gi_verdict a = gi_errclass((enum gi_call)call, error);
			struct gi_verdict b = gi_errclass((enum gi_call)call, -error);

			CHECK(a.class == b.class && a.side == b.side);
		}
}

static void waiting(void)
{
	for (int call = GI_CALL_READ; call <= GI_CALL_POLL; call++)
		for (int error = 1; error <= LAST_ERROR; error++)
			CHECK_INT(gi_errclass((enum gi_call)call, -error).class == GI_CLASS_WAIT,
				error == EAGAIN);
}

/* read and write have the last word: there is no next way behind them, and they know the side. */
static void last_word(void)
{
	for (int error = 1; error <= LAST_ERROR; error++) {
		if (error == EAGAIN)
			continue;
		CHECK(is_verdict(GI_CALL_READ, -error, GI_CLASS_FATAL, GUSH_SIDE_SOURCE));
		CHECK(is_verdict(GI_CALL_WRITE, -error, GI_CLASS_FATAL, GUSH_SIDE_SINK));
		CHECK(is_verdict(GI_CALL_POLL, -error, GI_CLASS_FATAL, GUSH_SIDE_NONE));
	}
}

/* What an old kernel, a sandbox or an odd file answers to a clever call must never end a transfer. */
static void refusals(void)
{
	static const int errors[] = { EINVAL, ENOSYS, EPERM, EACCES, EOPNOTSUPP, EXDEV, EBADF, ESPIPE,
		ETXTBSY, EIO, ENOMEM, EISDIR, EOVERFLOW };

	for (size_t i = 0; i < COUNT(clever); i++)
		for (size_t k = 0; k < COUNT(errors); k++)
			CHECK_CASE(is_verdict(clever[i], -errors[k], GI_CLASS_NEXT, 0), strerror(errors[k]));
}

/* Asked again, the kernel would raise SIGPIPE or SIGXFSZ a second time, or fill the disk further. */
static void of_the_sink(void)
{
	static const int errors[] = { EPIPE, EFBIG, ENOSPC, EDQUOT };

	for (size_t i = 0; i < COUNT(clever); i++)
		for (size_t k = 0; k < COUNT(errors); k++)
			if (clever[i] != GI_CALL_SPLICE_IN) /* the sink has no part in it */
				CHECK_CASE(is_verdict(clever[i], -errors[k], GI_CLASS_FATAL, GUSH_SIDE_SINK),
					strerror(errors[k]));
}

static void resets(void)
{
	CHECK(is_verdict(GI_CALL_SPLICE_IN, -ECONNRESET, GI_CLASS_FATAL, GUSH_SIDE_SOURCE));
	CHECK(is_verdict(GI_CALL_SPLICE_OUT, -ECONNRESET, GI_CLASS_FATAL, GUSH_SIDE_SINK));
}

int main(void)
{
	TEST(either_sign);
	TEST(waiting);
	TEST(last_word);
	TEST(refusals);
	TEST(of_the_sink);
	TEST(resets);
	return test_end();
}
