/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast output may leave: an average rate from the start of a response on. Pure arithmetic; the
 * clock is passed in, and what the bytes are does not matter.
 *
 * Offsets are of the connection's output, as output.h counts them.  Bytes go in steps of some
 * PACE_STEP_MS, so that a slow download costs a few sends in a second and not one per byte.
 */
#ifndef SLUICE_NET_PACE_H
#define SLUICE_NET_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_STEP_MS 50u
#define PACE_RATE_MAX (UINT64_C(1) << 40) /* bytes per second; what is faster is not limited */

struct pace {
    uint64_t lead;       /* where the response begins: when output gets there, time begins */
    uint64_t from;       /* the first byte that counts */
    uint64_t rate;       /* bytes per second, 1 to PACE_RATE_MAX */
    uint64_t began_ms;
    bool begun;
};

/* Output may go up to this offset now, which is one step ahead of the rate. */
uint64_t pace_limit(struct pace *p, uint64_t sent, uint64_t now_ms);

/* When a whole step may go, or the `pending` bytes that are left if they are fewer. */
uint64_t pace_next_ms(const struct pace *p, uint64_t sent, uint64_t pending);

/* Is it time to send some of the pending bytes? Then *limit says up to where. */
bool pace_due(struct pace *p, uint64_t sent, uint64_t pending, uint64_t now_ms, uint64_t *limit);

/* A body of that many bytes is not worth it: a step is all of it. */
static inline bool pace_is_moot(uint64_t rate, uint64_t bytes)
{
    return bytes <= rate / (1000 / PACE_STEP_MS);
}

#endif
