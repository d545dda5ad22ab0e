/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each worker says of itself, in shared memory: one slot per worker, on cache lines of its
 * own, written by the worker alone and read by anyone.  The master uses it to see that a worker
 * still turns (heartbeat) and to show it; whom to signal it knows from its own tables (see shm.h).
 */
#ifndef SLUICE_OS_SCOREBOARD_H
#define SLUICE_OS_SCOREBOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCOREBOARD_LINE 64

enum score_state { SCORE_EMPTY, SCORE_STARTING, SCORE_SERVING, SCORE_DRAINING, SCORE_GONE };

struct score_slot {
    _Alignas(SCOREBOARD_LINE) _Atomic int32_t pid;
    _Atomic uint32_t state;         /* enum score_state, as the worker says */
    _Atomic uint64_t generation;    /* of the configuration it serves */
    _Atomic uint64_t heartbeat_ms;  /* monotonic time of its last loop turn */
    _Atomic uint64_t connections;   /* open now */
    _Atomic uint64_t accepted;      /* since it started */
};

struct scoreboard {
    size_t slots;
    struct score_slot *v;   /* shared */
};

/* All slots SCORE_EMPTY. False when there is no memory. */
bool scoreboard_open(struct scoreboard *s, size_t slots);
void scoreboard_close(struct scoreboard *s);   /* unmaps; fine on a zeroed one */

/* The worker's own; relaxed stores, because each field stands for itself. */
void score_begin(struct score_slot *s, int32_t pid, uint64_t generation, uint64_t now_ms);
void score_state_set(struct score_slot *s, enum score_state state);
static inline void score_beat(struct score_slot *s, uint64_t now_ms, uint64_t connections)
{
    atomic_store_explicit(&s->heartbeat_ms, now_ms, memory_order_relaxed);
    atomic_store_explicit(&s->connections, connections, memory_order_relaxed);
}

/* A copy of a slot's fields at about one moment, for the reader. */
struct score {
    int32_t pid;
    enum score_state state;         /* SCORE_GONE for a number that is none */
    uint64_t generation, heartbeat_ms, connections, accepted;
};
struct score score_read(const struct score_slot *s);

const char *score_state_name(enum score_state state);

#endif
