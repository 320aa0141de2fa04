/* SPDX-License-Identifier: MIT */
/* Why a step cannot run here, or failed: in words for people, and which of the two it is. */
#ifndef REASON_H
#define REASON_H

#include "round.h"

/* `failed_at` and `error` are what sender, receiver and reference report. Fills ret_reason. */
enum round_end reason_of_error(const char *failed_at, int error, char *ret_reason, size_t room);
/* An end was ended by this signal. */
enum round_end reason_of_signal(int signal_number, char *ret_reason, size_t room);

#endif
