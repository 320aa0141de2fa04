/* SPDX-License-Identifier: MIT */
/* gush-lab: the laboratory. Run through gush: `gush ladder` becomes `gush-lab` called with the name "ladder".
 */
#include "command.h"
#include "diag.h"
#include "lab.h"
#include "sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
	{ "ladder", "gush ladder", "how fast are pipes on this machine, and why", ladder_main },
	{ 0 },
};

/*
 * A standard descriptor that came closed stays unusable, but its number is taken: else a result file or a
 * pipe that is measured would get it, and what is meant for people would end up in there.
 */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			gi_sys_open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY, 0);
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 0 ? command_find(commands, argv[0]) : NULL;

	hold_standard_descriptors();
	if (command)
		return command_run(command, argc, argv);
	diag_set_program("gush-lab");
	command = argc > 1 ? command_find(commands, argv[1]) : NULL;
	if (command)
		return command_run(command, argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("gush-lab %s\n", GUSH_VERSION);
		return diag_close_stdout() < 0 ? 1 : 0;
	}
	diag("run it through gush, such as 'gush ladder'; see 'gush --help'");
	return 2;
}
