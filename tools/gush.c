/* SPDX-License-Identifier: MIT */
/*
 * gush: one binary, many tools. `gush NAME ...` runs one; so does a link called NAME. The laboratory is a
 * program of its own, gush-lab, so that gush itself stays small and starts fast.
 */
#include "command.h"
#include "diag.h"
#include "tools.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
	{ "cat", "cat", "files, pipes and what not, one after another, as cat(1)", cat_main },
	{ "yes", "yes", "a line for ever, as yes(1)", yes_main },
	{ "tee", "tee", "standard input to several outputs, as tee(1)", tee_main },
	{ "write", "gush write", "send bytes down a pipe, in the article's ways", write_main },
	{ "read", "gush read", "take bytes from a pipe and say how fast they came", read_main },
	{ "probe", "gush probe", "what this kernel allows, and which way moves bytes", probe_main },
	{ "ladder", "gush ladder", "how fast are pipes on this machine, and why", NULL },
	{ "bench", "gush bench", "how fast the library moves bytes, beside a plain loop", NULL },
	{ "install-links", "gush install-links", "links named as the tools that gush replaces",
		install_links_main },
	{ 0 },
};

static int print_help(void)
{
	printf("Usage: gush COMMAND [OPTION]...\nLinux pipes at the speed the kernel allows.\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-13s %s\n", c->name, c->summary);
	printf("\n'gush COMMAND --help' tells more, and so does 'man gush-COMMAND'.\n");
	return diag_close_stdout() < 0 ? 1 : 0;
}

/* "gush-lab" in the folder of this very binary; 0 or -errno. */
static int lab_beside_us(char *ret_path, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", ret_path, room - 1);
	char *slash;

	if (n < 0)
		return -errno;
	ret_path[n] = '\0';
	slash = strrchr(ret_path, '/');
	if (!slash)
		return -ENOENT;
	room -= (size_t)(slash - ret_path);
	return (size_t)snprintf(slash, room, "/gush-lab") < room ? 0 : -ENAMETOOLONG;
}

/* Replaces this process by gush-lab, found beside gush or in libexec. Returns only when there is none. */
static int run_lab(const struct command *command, char **argv)
{
	char path[4096];

	argv[0] =
		(char *)(uintptr_t)command->name; /* gush-lab knows by it what to do; it was perhaps a path */
	if (lab_beside_us(path, sizeof(path)) == 0)
		execv(path, argv);
	execv(GUSH_LIBEXECDIR "/gush-lab", argv);
	diag_errno(errno, "'%s' needs gush-lab, which is neither beside gush nor in %s", argv[0],
		GUSH_LIBEXECDIR);
	return 127;
}

static int run(const struct command *command, int argc, char **argv)
{
	return command->run ? command_run(command, argc, argv) : run_lab(command, argv);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 0 ? command_find(commands, base_name(argv[0])) : NULL;

	diag_hold_standard_descriptors();
	if (command)
		return run(command, argc, argv);
	if (argc < 2) {
		diag("no command; see 'gush --help'");
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0) {
		printf("gush %s\n", GUSH_VERSION);
		return diag_close_stdout() < 0 ? 1 : 0;
	}
	command = command_find(commands, argv[1]);
	if (!command) {
		diag("'%s' is no command; see 'gush --help'", argv[1]);
		return 2;
	}
	return run(command, argc - 1, argv + 1);
}
