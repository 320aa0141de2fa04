/* SPDX-License-Identifier: MIT */
/* What it costs here to sleep and be woken: what a spin may cost at most. */
#ifndef GI_WAKEUP_H
#define GI_WAKEUP_H

#include <stdint.h>

/*
 * Nanoseconds from a write into a pipe to the end of another thread's read that slept for it: the median of
 * some rounds to and fro. Measured at the first call (about 2 ms, with a thread that lives no longer), then
 * remembered. Where it cannot be measured: 50 us.
 */
int64_t gi_wakeup_ns(void);

#endif
