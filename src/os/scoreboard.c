/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared table of workers.  Relaxed atomics throughout: no field says anything about another,
 * and a reader that sees one a moment earlier than the next is not misled.
 */
#include "os/scoreboard.h"
#include "core/check.h"
#include "os/shm.h"

bool scoreboard_open(struct scoreboard *s, size_t slots)
{
    s->v = shm_alloc(slots * sizeof(*s->v));
    s->slots = s->v == NULL ? 0 : slots;
    return s->v != NULL;
}

void scoreboard_close(struct scoreboard *s)
{
    shm_free(s->v, s->slots * sizeof(*s->v));
    *s = (struct scoreboard){0, NULL};
}

void score_begin(struct score_slot *s, int32_t pid, uint64_t generation, uint64_t now_ms)
{
    atomic_store_explicit(&s->generation, generation, memory_order_relaxed);
    atomic_store_explicit(&s->accepted, 0, memory_order_relaxed);
    score_beat(s, now_ms, 0);
    score_state_set(s, SCORE_STARTING);
    atomic_store_explicit(&s->pid, pid, memory_order_relaxed);
}

void score_state_set(struct score_slot *s, enum score_state state)
{
    atomic_store_explicit(&s->state, state, memory_order_relaxed);
}

struct score score_read(const struct score_slot *s)
{
    uint32_t state = atomic_load_explicit(&s->state, memory_order_relaxed);
    struct score out = {
        .pid = atomic_load_explicit(&s->pid, memory_order_relaxed),
        .state = state <= SCORE_GONE ? (enum score_state)state : SCORE_GONE,
        .generation = atomic_load_explicit(&s->generation, memory_order_relaxed),
        .heartbeat_ms = atomic_load_explicit(&s->heartbeat_ms, memory_order_relaxed),
        .connections = atomic_load_explicit(&s->connections, memory_order_relaxed),
        .accepted = atomic_load_explicit(&s->accepted, memory_order_relaxed),
    };

    return out;
}

const char *score_state_name(enum score_state state)
{
    static const char *const names[] = {"empty", "starting", "serving", "draining", "gone"};

    return (unsigned)state < ARRAY_LEN(names) ? names[state] : "unknown";
}
