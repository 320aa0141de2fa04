/* SPDX-License-Identifier: MIT */
/* The sub-commands of gush-lab: each in a file of its name. */
#ifndef LAB_H
#define LAB_H

int ladder_main(int argc, char **argv);
int bench_main(int argc, char **argv);

#endif
