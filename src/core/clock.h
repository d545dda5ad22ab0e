/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time, read once per loop turn and cached.  Timers use the monotonic clock; the wall clock is for
 * people and for HTTP dates, and may jump.
 */
#ifndef SLUICE_CORE_CLOCK_H
#define SLUICE_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_mono_ns(void);  /* CLOCK_MONOTONIC, a fresh reading */
uint64_t clock_mono_ms(void);
struct timespec clock_wall(void); /* CLOCK_REALTIME, a fresh reading */

#endif
