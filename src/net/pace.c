/* SPDX-License-Identifier: BSD-2-Clause */
/* The arithmetic of rates. Seconds and the rest are multiplied apart, which keeps it in 64 bits. */
#include "net/pace.h"

static uint64_t bytes_in(uint64_t rate, uint64_t ms)
{
    return ms / 1000 * rate + ms % 1000 * rate / 1000;
}

/* Rounded up. */
static uint64_t ms_for(uint64_t rate, uint64_t bytes)
{
    return bytes / rate * 1000 + (bytes % rate * 1000 + rate - 1) / rate;
}

static uint64_t step(const struct pace *p)
{
    uint64_t n = bytes_in(p->rate, PACE_STEP_MS);
    return n == 0 ? 1 : n;
}

uint64_t pace_limit(struct pace *p, uint64_t sent, uint64_t now_ms)
{
    if (!p->begun && sent < p->lead)
        return p->from;
    if (!p->begun) {
        p->begun = true;
        p->began_ms = now_ms;
    }
    return p->from + bytes_in(p->rate, now_ms - p->began_ms + PACE_STEP_MS);
}

uint64_t pace_next_ms(const struct pace *p, uint64_t sent, uint64_t pending)
{
    uint64_t want = sent + (pending < step(p) ? pending : step(p));
    if (want <= p->from)
        return p->began_ms;
    uint64_t ms = ms_for(p->rate, want - p->from);
    return ms <= PACE_STEP_MS ? p->began_ms : p->began_ms + ms - PACE_STEP_MS;
}

bool pace_due(struct pace *p, uint64_t sent, uint64_t pending, uint64_t now_ms, uint64_t *limit)
{
    *limit = pace_limit(p, sent, now_ms);
    uint64_t room = *limit > sent ? *limit - sent : 0;
    return room >= pending || room >= step(p) || sent < p->from;
}
