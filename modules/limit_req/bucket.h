/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The leaky bucket of limit_req, in 1/1000 of a request. Pure: the clock is passed in.
 *
 * A bucket holds how far requests are ahead of the rate.  A request would bring it to
 * bucket_excess(); up to `burst` it may pass, and above `delay` it has to wait for as long as the
 * bucket takes to leak down to that.
 */
#ifndef SLUICE_LIMIT_REQ_BUCKET_H
#define SLUICE_LIMIT_REQ_BUCKET_H

#include <stdint.h>

#define BUCKET_REQUEST 1000u                        /* one request */
#define BUCKET_RATE_MAX UINT64_C(1000000000000)     /* 1/1000 requests per second */
#define BUCKET_BURST_MAX UINT64_C(1000000000000)

/* As it lies in shared memory. All zero: no request has been counted yet. */
struct bucket {
    uint64_t last_ms;   /* when it was looked at last, plus 1; 0: never */
    uint64_t excess;    /* at that time */
};

/* What the bucket would hold with a request more. The very first one is free. */
uint64_t bucket_excess(const struct bucket *b, uint64_t rate, uint64_t now_ms);

/* Counts a request that brings the bucket to `excess`. A clock that went back stands still. */
void bucket_count(struct bucket *b, uint64_t excess, uint64_t now_ms);

/* Milliseconds until what exceeds `allowed` has leaked away, rounded up; 0: it does not. */
uint64_t bucket_wait(uint64_t excess, uint64_t allowed, uint64_t rate);

#endif
