/* SPDX-License-Identifier: MIT */
/* The processes of one measured flow: each pinned to a CPU, and gone when its parent is. */
#ifndef CREW_H
#define CREW_H

#include <sys/types.h>

/* In a new process: bound to the life of `parent`, on one CPU, without SIGPIPE. 0 or -errno. */
int crew_settle_in(pid_t parent, int cpu);

/* Waits for a process that ends by itself; 0 and less: there is none. */
void crew_reap(pid_t pid);

/* Readers of pipes that are faster than what they measure, until the end. */
void crew_empty_by_splice(int fd); /* to /dev/null */
void crew_empty_by_read(int fd);

/* Feeds a pipe, from huge pages that never change, until nobody reads. */
void crew_feed_by_vmsplice(int fd);

#endif
