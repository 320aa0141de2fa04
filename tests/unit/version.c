/* SPDX-License-Identifier: MIT */
#include "gush.h"
#include "support.h"

static void version(void)
{
	unsigned major, minor, patch;
	char behind;

	CHECK_TEXT(gush_version(), GUSH_VERSION);
	CHECK(gush_version() == gush_version());
	CHECK_INT(sscanf(gush_version(), "%u.%u.%u%c", &major, &minor, &patch, &behind), 3);
}

int main(void)
{
	TEST(version);
	return test_end();
}
