/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fresh readings of the two clocks (both from the vDSO).  They cannot fail on Linux with these
 * clock ids; a failure is a broken build or sandbox and must not pass as time zero.
 */
#include "core/clock.h"

#include "core/check.h"

static struct timespec clock_read(clockid_t id)
{
    struct timespec ts;

    CHECK(clock_gettime(id, &ts) == 0);
    return ts;
}

uint64_t clock_mono_ns(void)
{
    struct timespec ts = clock_read(CLOCK_MONOTONIC);

    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000u;
}

struct timespec clock_wall(void)
{
    return clock_read(CLOCK_REALTIME);
}
