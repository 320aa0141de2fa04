/* SPDX-License-Identifier: MIT */
/* A FUSE file system which the test serves itself: two files, whose contents are what is wanted. */
#ifndef FUSE_H
#define FUSE_H

#include "ends.h"

#define FUSE_SIZED "sized"     /* tells its size, and goes through the page cache */
#define FUSE_UNSIZED "unsized" /* says it has 0 bytes, and every read reaches the server */

/*
 * Opens one of them for reading and writing (a write changes `want`). Its server is e->child, which ends when
 * the descriptor is closed, and with this process at the latest; the mount is gone when this returns. Call it
 * in a child: its mounts are its own from then on. NULL, or why it cannot be had here.
 */
const char *fuse_open(struct end *e, const char *file);

#endif
