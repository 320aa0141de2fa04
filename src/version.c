/* SPDX-License-Identifier: MIT */
#include "gush.h"

const char *gush_version(void)
{
	return GUSH_VERSION;
}
