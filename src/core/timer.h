/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hierarchical timer wheel: arm, disarm and advance in constant time.  Time is monotonic
 * milliseconds, resolution TIMER_TICK_MS; a timer never fires early and at most one tick late
 * (besides the lateness of timer_advance itself).
 *
 * Deadlines that move on every request use struct deadline: moving one later costs one store, the
 * wheel entry is corrected when it comes due (a "lazy" timer).
 */
#ifndef SLUICE_CORE_TIMER_H
#define SLUICE_CORE_TIMER_H

#include "core/list.h"

#include <stdint.h>

#define TIMER_TICK_MS 4
#define TIMER_NEVER UINT64_MAX

struct timer;
typedef void timer_f(struct timer *t, uint64_t now_ms);

struct timer {
    struct list link;
    uint64_t when;     /* tick it is due at, 0 when not armed */
    timer_f *fire;     /* may arm or disarm any timer, itself too */
};

#define TIMER_LEVELS 5
#define TIMER_SLOTS 64
struct timer_wheel {
    uint64_t tick;                                  /* the last tick that was run */
    uint64_t occupied[TIMER_LEVELS];                /* one bit per slot */
    struct list slots[TIMER_LEVELS][TIMER_SLOTS];
    size_t count;
};

void timer_wheel_init(struct timer_wheel *w, uint64_t now_ms);
void timer_init(struct timer *t, timer_f *fire);
/* Re-arms if armed; a time that has passed means the next tick, TIMER_NEVER only disarms. */
void timer_arm(struct timer_wheel *w, struct timer *t, uint64_t at_ms);
void timer_disarm(struct timer_wheel *w, struct timer *t);              /* fine if not armed */
static inline bool timer_armed(const struct timer *t)
{
    return t->when != 0;
}

/* Runs everything due at now_ms, in order of tick. */
void timer_advance(struct timer_wheel *w, uint64_t now_ms);

/* When timer_advance has to be called next (ms; may be early, never late); TIMER_NEVER if empty. */
uint64_t timer_next(const struct timer_wheel *w);

struct deadline {
    struct timer timer;
    uint64_t at;                 /* ms; TIMER_NEVER when there is none */
    struct timer_wheel *wheel;
    void (*expired)(struct deadline *d, uint64_t now_ms);
};

void deadline_init(struct deadline *d, struct timer_wheel *w,
                   void (*expired)(struct deadline *, uint64_t));
void deadline_fini(struct deadline *d);   /* must be called before its memory goes */

void deadline_arm(struct deadline *d, uint64_t at_ms); /* slow path of deadline_set */

/* Sets or moves the deadline. Later than the armed timer: a store; sooner: re-arms. */
static inline void deadline_set(struct deadline *d, uint64_t at_ms)
{
    d->at = at_ms;
    if (!timer_armed(&d->timer) || d->timer.when * TIMER_TICK_MS > at_ms)
        deadline_arm(d, at_ms);
}

static inline void deadline_clear(struct deadline *d)
{
    d->at = TIMER_NEVER; /* the wheel entry dies when it comes due */
}

#endif
