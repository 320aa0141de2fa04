/* SPDX-License-Identifier: MIT */
/* gush-lab: the laboratory. Run through gush: `gush ladder` becomes `gush-lab` called with the name "ladder".
 */
#include "command.h"
#include "diag.h"
#include "lab.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{ "ladder", "gush ladder", "how fast are pipes on this machine, and why", ladder_main },
	{ "bench", "gush bench", "how fast the library moves bytes, beside a plain loop", bench_main },
	{ 0 },
};

int main(int argc, char **argv)
{
	const struct command *command = argc > 0 ? command_find(commands, argv[0]) : NULL;

	diag_hold_standard_descriptors();
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
