/* SPDX-License-Identifier: MIT */
#ifndef GI_ENV_H
#define GI_ENV_H

#include <stdlib.h>
#include <sys/auxv.h>

/* NULL: not set, or not to be trusted, since the program has more rights than whoever set it. */
static inline const char *gi_environment(const char *name)
{
	return getauxval(AT_SECURE) ? NULL : getenv(name);
}

#endif
