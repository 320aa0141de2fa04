/* SPDX-License-Identifier: MIT */
/*
 * One of our tools as producer:
 *
 *	[feeder -> [pipe] ->] tool -> [pipe] -> [tap -> [pipe] ->] middleman ...
 *
 * The tap passes pages on as they are, and knows what the tool has written. It ends yes, and changes files.
 */
#ifndef TOOLS_H
#define TOOLS_H

#include "team.h"
#include "text.h"

struct tool {
	const char *command, *option, *operand; /* NULL: none */
	const char *variable;			/* set to 1 in its environment; NULL: none */
	char name[60];				/* what of that is drawn, to be told */
	size_t operands;			/* so many times the one */
	struct text text;
	size_t line_bytes; /* of yes: its operands are in the text */
	int file;	   /* its descriptor 3; -1: none */
	size_t file_bytes;
	bool by_input; /* the file is standard input, and with operands the first of them is - */
	bool fed;      /* standard input is a pipe of stamps */
	bool tapped;
	bool deaf; /* it ignores SIGPIPE */
};

/* Draws what it has to do, makes the file and the text; all else of `c` must be there. false: it could not.
 */
bool tool_open(struct config *c, struct tool *ret);
void tool_close(struct tool *t);
/* Becomes it. */
role tool_main;
/* tool_run.c: until it ends. */
void produce_by_tool(const struct config *c, int fd, struct board *board);

/* tap.c: passes on total_bytes; its descriptor 3 is the file. */
role tap_main;

#endif
