/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hierarchical timer wheel.  A timer sits on the level of the highest group of six bits in which
 * its tick differs from the current one, in the slot that group names.  Seen from the current tick
 * every slot lies ahead, and the first occupied slot of the lowest occupied level comes first.
 * When the tick reaches a slot of a higher level, its timers move down; nothing else moves.
 *
 * The top level is a ring: timers beyond its 2^30 ticks sit there too, and are put in again each
 * time their slot comes by.
 */
#include "core/timer.h"

#define SLOT_BITS 6
#define SLOT_MASK (TIMER_SLOTS - 1)
#define TOP (TIMER_LEVELS - 1)

_Static_assert(1 << SLOT_BITS == TIMER_SLOTS, "a slot index is one group of bits");

void timer_wheel_init(struct timer_wheel *w, uint64_t now_ms)
{
    w->tick = now_ms / TIMER_TICK_MS;
    w->count = 0;
    for (unsigned level = 0; level < TIMER_LEVELS; level++) {
        w->occupied[level] = 0;
        for (unsigned slot = 0; slot < TIMER_SLOTS; slot++)
            list_init(&w->slots[level][slot]);
    }
}

void timer_init(struct timer *t, timer_f *fire)
{
    list_init(&t->link);
    t->when = 0;
    t->fire = fire;
}

static unsigned slot_of(uint64_t tick, unsigned level)
{
    return (unsigned)(tick >> level * SLOT_BITS) & SLOT_MASK;
}

static void timer_place(struct timer_wheel *w, struct timer *t)
{
    uint64_t diff = t->when ^ w->tick;
    unsigned level = diff == 0 ? 0 : (63 - (unsigned)__builtin_clzll(diff)) / SLOT_BITS;

    if (level > TOP)
        level = TOP;
    unsigned slot = slot_of(t->when, level);
    list_push_back(&w->slots[level][slot], &t->link);
    w->occupied[level] |= (uint64_t)1 << slot;
}

/* Takes t out of its list and clears the slot's bit if it was the last one there. */
static void timer_unplace(struct timer_wheel *w, struct timer *t)
{
    struct list *rest = t->link.next;

    list_remove(&t->link);
    if (list_empty(rest)) { /* then rest is the head itself */
        size_t index = (size_t)(rest - &w->slots[0][0]);
        w->occupied[index / TIMER_SLOTS] &= ~((uint64_t)1 << index % TIMER_SLOTS);
    }
}

/* Rounded up: a timer is never early. */
static uint64_t tick_of(uint64_t at_ms)
{
    return at_ms / TIMER_TICK_MS + (at_ms % TIMER_TICK_MS != 0);
}

void timer_arm(struct timer_wheel *w, struct timer *t, uint64_t at_ms)
{
    uint64_t tick = tick_of(at_ms);

    timer_disarm(w, t);
    if (at_ms == TIMER_NEVER)
        return;
    t->when = tick > w->tick ? tick : w->tick + 1;
    timer_place(w, t);
    w->count++;
}

void timer_disarm(struct timer_wheel *w, struct timer *t)
{
    if (!timer_armed(t))
        return;
    timer_unplace(w, t);
    t->when = 0;
    w->count--;
}

/* The tick at which the first occupied slot of the wheel comes up; the wheel is not empty. */
static uint64_t next_tick(const struct timer_wheel *w)
{
    unsigned level = 0;

    while (w->occupied[level] == 0)
        level++;
    /* Slots are counted from the one behind the current; only on the top level that wraps. */
    unsigned first = (slot_of(w->tick, level) + 1) & SLOT_MASK;
    uint64_t bits = w->occupied[level];
    bits = bits >> first | bits << ((TIMER_SLOTS - first) & SLOT_MASK);
    uint64_t ahead = (uint64_t)__builtin_ctzll(bits) + 1;
    unsigned shift = level * SLOT_BITS;
    return ((w->tick >> shift) + ahead) << shift;
}

/* The current tick has just reached these slots: what is in them moves to where it now belongs. */
static void move_down(struct timer_wheel *w)
{
    for (unsigned level = TOP; level != 0; level--) {
        unsigned slot = slot_of(w->tick, level);
        if ((w->occupied[level] >> slot & 1) == 0 || w->tick << (64 - level * SLOT_BITS) != 0)
            continue;
        struct list moving;
        list_init(&moving);
        list_splice(&moving, &w->slots[level][slot]);
        w->occupied[level] &= ~((uint64_t)1 << slot);
        for (struct list *l; (l = list_pop_front(&moving)) != NULL;)
            timer_place(w, container_of(l, struct timer, link));
    }
}

void timer_advance(struct timer_wheel *w, uint64_t now_ms)
{
    uint64_t target = now_ms / TIMER_TICK_MS;

    while (w->count != 0) {
        uint64_t tick = next_tick(w);
        if (tick > target)
            break;
        w->tick = tick;
        move_down(w);
        /* Whatever is armed from here on is due at tick + 1 or later, so this list only shrinks. */
        struct list *due = &w->slots[0][slot_of(tick, 0)];
        while (!list_empty(due)) {
            struct timer *t = container_of(due->next, struct timer, link);
            timer_disarm(w, t);
            t->fire(t, now_ms);
        }
    }
    if (target > w->tick)
        w->tick = target;
}

uint64_t timer_next(const struct timer_wheel *w)
{
    return w->count == 0 ? TIMER_NEVER : next_tick(w) * TIMER_TICK_MS;
}

static void deadline_fire(struct timer *t, uint64_t now_ms)
{
    struct deadline *d = container_of(t, struct deadline, timer);

    if (d->at > now_ms) {
        timer_arm(d->wheel, t, d->at); /* it was moved meanwhile; not armed when it was cleared */
        return;
    }
    d->at = TIMER_NEVER;
    d->expired(d, now_ms); /* may free d */
}

void deadline_init(struct deadline *d, struct timer_wheel *w,
                   void (*expired)(struct deadline *, uint64_t))
{
    timer_init(&d->timer, deadline_fire);
    d->at = TIMER_NEVER;
    d->wheel = w;
    d->expired = expired;
}

void deadline_fini(struct deadline *d)
{
    timer_disarm(d->wheel, &d->timer);
    d->at = TIMER_NEVER;
}

void deadline_arm(struct deadline *d, uint64_t at_ms)
{
    d->at = at_ms;
    if (timer_armed(&d->timer) && d->timer.when == tick_of(at_ms))
        return;
    timer_arm(d->wheel, &d->timer, at_ms);
}
