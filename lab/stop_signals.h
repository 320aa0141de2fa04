/* SPDX-License-Identifier: MIT */
/* INT, TERM, HUP and QUIT while something is measured: they end it in order, and what there is is kept. */
#ifndef STOP_SIGNALS_H
#define STOP_SIGNALS_H

#include <signal.h>

struct stop_signals {
	int fd; /* readable when one came */
	sigset_t before;
};

/* 0 or -errno. Those that were ignored when we started stay ignored. */
int stop_signals_open(struct stop_signals *s);

/*
 * Back to what they do by default, so that the next one ends us at once, whatever we are writing. Returns the
 * one that came meanwhile, or 0.
 */
int stop_signals_close(struct stop_signals *s);

/* Ends as that signal would have ended us: the shell then knows. */
void stop_signals_die(int signal_number);

#endif
