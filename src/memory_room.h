/* SPDX-License-Identifier: MIT */
/* How much more memory this process may use before something is killed for it. */
#ifndef GI_MEMORY_ROOM_H
#define GI_MEMORY_ROOM_H

#include <stdint.h>

/*
 * The least of what the machine has to give (MemAvailable) and what each memory cgroup above this process
 * does (its limit, less what it uses and could not drop). Where neither can be read: UINT64_MAX.
 */
uint64_t gi_memory_room(void);

#define GI_MEMORY_SHARE 4 /* nothing optional takes more than this part of it */

/* Of one group, by its directory; UINT64_MAX: it has no limit, or is none. */
uint64_t gi_memory_room_of_group(const char *directory);

#endif
