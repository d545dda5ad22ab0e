/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The roll of workers: what a worker holds in shared memory is marked with its entry, and is void
 * once the worker has gone, however it went.  The master gives a worker its entry before the fork
 * and strikes it off when it has reaped the process; no worker can forget to, and no process number
 * that has been used again is mistaken for an old one.
 *
 * The master keeps the truth in its own memory and only writes to the shared part (see shm.h);
 * everybody else only reads that.
 */
#ifndef SLUICE_OS_ROLL_H
#define SLUICE_OS_ROLL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROLL_SEATS 65536u /* pages that are not used take no memory */

struct roll_shared {
    _Atomic uint32_t departures;        /* how many have been struck off */
    _Atomic uint32_t term[ROLL_SEATS];  /* of the seat's present or next holder */
};

/* A worker: a seat, and which of its holders in turn. Seat 0 is nobody's. */
struct roll_entry {
    uint32_t seat, term;
};

struct roll {
    struct roll_shared *shared;         /* NULL: there is none, and everybody is present */
    uint32_t *term;                     /* the master's own */
    uint32_t *vacant;                   /* seats that have been left */
    uint32_t vacant_count, used;
};

bool roll_open(struct roll *r);         /* false: no memory */
void roll_close(struct roll *r);        /* in this process only; fine on a zeroed one */

/* The master's. False: no seat is free. */
bool roll_enter(struct roll *r, struct roll_entry *e);
void roll_leave(struct roll *r, struct roll_entry *e); /* e becomes nobody's; fine if it is */

/* Is the worker on the roll? */
static inline bool roll_has(const struct roll *r, struct roll_entry e)
{
    return r->shared == NULL ||
           (e.seat < ROLL_SEATS &&
            atomic_load_explicit(&r->shared->term[e.seat], memory_order_acquire) == e.term);
}

/* Changes whenever somebody leaves. */
static inline uint32_t roll_departures(const struct roll *r)
{
    return r->shared == NULL
               ? 0
               : atomic_load_explicit(&r->shared->departures, memory_order_acquire);
}

static inline bool roll_same(struct roll_entry a, struct roll_entry b)
{
    return a.seat == b.seat && a.term == b.term;
}

#endif
