/* SPDX-License-Identifier: MIT */
/* A made-up tree of files, such as a /proc or a /sys, in a folder of its own named `root`. */
#ifndef TREE_H
#define TREE_H

#include "harness.h"

#include <err.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static inline void tree_begin(void)
{
	strcpy(root, "/tmp/gush-tree-XXXXXX");
	if (!mkdtemp(root))
		err(1, "%s", root);
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_end(void)
{
	CHECK(nftw(root, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* The folders on the way are made. */
static inline void put_bytes(const char *path, const char *bytes, size_t count)
{
	char name[PATH_MAX];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	f = fopen(name, "w");
	if (!f || fwrite(bytes, 1, count, f) != count || fclose(f) != 0)
		err(1, "%s", name);
}

static inline void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

#endif
