/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "diag.h"

#include <stddef.h>
#include <string.h>

const struct command *command_find(const struct command *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

int command_run(const struct command *command, int argc, char **argv)
{
	diag_set_program(command->full_name);
	return command->run(argc, argv);
}
