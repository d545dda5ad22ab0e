/* SPDX-License-Identifier: BSD-2-Clause */
/* The leaky bucket. Products stay below 2^64 because rate, burst and the times used are bounded. */
#include "bucket.h"

/* So much has leaked away in ms; no more than `excess`, which is all there is. */
static uint64_t leaked(uint64_t excess, uint64_t rate, uint64_t ms)
{
    if (ms > bucket_wait(excess, 0, rate))
        return excess;
    uint64_t n = ms / 1000 * rate + ms % 1000 * rate / 1000;
    return n < excess ? n : excess;
}

uint64_t bucket_excess(const struct bucket *b, uint64_t rate, uint64_t now_ms)
{
    if (b->last_ms == 0)
        return 0;
    uint64_t now = now_ms + 1;
    uint64_t ms = now > b->last_ms ? now - b->last_ms : 0;
    uint64_t all = b->excess + BUCKET_REQUEST;
    return all - leaked(all, rate, ms);
}

void bucket_count(struct bucket *b, uint64_t excess, uint64_t now_ms)
{
    uint64_t now = now_ms + 1;
    b->excess = excess; /* first: a moment with an older time is the stricter one */
    if (now > b->last_ms)
        b->last_ms = now;
}

uint64_t bucket_wait(uint64_t excess, uint64_t allowed, uint64_t rate)
{
    if (excess <= allowed)
        return 0;
    uint64_t over = excess - allowed;
    return over / rate * 1000 + (over % rate * 1000 + rate - 1) / rate;
}
