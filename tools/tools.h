/* SPDX-License-Identifier: MIT */
/* The sub-commands of gush: each in a file of its name. */
#ifndef TOOLS_H
#define TOOLS_H

int cat_main(int argc, char **argv);
int yes_main(int argc, char **argv);
int tee_main(int argc, char **argv);
int install_links_main(int argc, char **argv);
int write_main(int argc, char **argv);
int read_main(int argc, char **argv);
int probe_main(int argc, char **argv);

#endif
