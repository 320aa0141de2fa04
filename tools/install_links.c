/* SPDX-License-Identifier: MIT */
/* gush install-links: links to gush that are named as the tools it replaces, in a folder for the PATH. */
#include "diag.h"
#include "option.h"
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Never `write` or `read`: those would hide other commands. */
static const char *const names[] = { "cat", "tee", "yes" };
#define NAMES (sizeof(names) / sizeof(*names))

static const struct option_spec no_options[] = { { 0 } };

static const struct option_table table = {
	.usage = "gush install-links DIR",
	.summary = "Make links to this gush in DIR, named as the tools it replaces: cat, tee, yes.\n"
		   "What is there already is left alone, unless it is such a link.",
	.options = no_options,
	.usage_status = 2,
};

static bool leads_to(int dir, const char *name, const char *self)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return strcmp(target, self) == 0;
}

static int make_link(int dir, const char *dir_name, const char *name, const char *self)
{
	int error = symlinkat(self, dir, name) == 0 ? 0 : errno;

	if (error == 0 || (error == EEXIST && leads_to(dir, name, self)))
		return 0;
	if (error == EEXIST)
		diag("%s/%s: is there already, and no link to this gush; remove it first", dir_name, name);
	else
		diag_errno(error, "%s/%s", dir_name, name);
	return 1;
}

int install_links_main(int argc, char **argv)
{
	char self[PATH_MAX];
	int first, failed = 0, ret = option_parse(&table, argc, argv, NULL, &first), dir;
	ssize_t n;

	if (ret != OPTION_DONE)
		return ret;
	if (argc - first != 1)
		return option_usage_error(&table, "one folder is wanted, and %d were given", argc - first);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return diag_errno(errno, "finding out where gush is"), 1;
	self[n] = '\0';
	dir = open(argv[first], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return diag_errno(errno, "%s", argv[first]), 1;
	for (size_t i = 0; i < NAMES; i++)
		failed |= make_link(dir, argv[first], names[i], self);
	close(dir);
	return failed;
}
