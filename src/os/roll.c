/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The roll of workers.  A seat that was left is given away again with the next term, which makes
 * its former holder a stranger; the seats in use are few, so that the pages in use are, too.
 */
#include "os/roll.h"

#include "core/check.h"
#include "os/shm.h"

#include <stdlib.h>

bool roll_open(struct roll *r)
{
    *r = (struct roll){.shared = shm_alloc(sizeof(*r->shared)),
                       .term = calloc(ROLL_SEATS, sizeof(*r->term)),
                       .vacant = calloc(ROLL_SEATS, sizeof(*r->vacant)),
                       .used = 1};
    if (r->shared != NULL && r->term != NULL && r->vacant != NULL) {
        atomic_store(&r->shared->term[0], 1); /* nobody is never present */
        return true;
    }
    roll_close(r);
    return false;
}

void roll_close(struct roll *r)
{
    shm_free(r->shared, sizeof(*r->shared));
    free(r->term);
    free(r->vacant);
    *r = (struct roll){.shared = NULL};
}

bool roll_enter(struct roll *r, struct roll_entry *e)
{
    *e = (struct roll_entry){0, 0};
    if (r->vacant_count == 0 && r->used == ROLL_SEATS)
        return false;
    e->seat = r->vacant_count > 0 ? r->vacant[--r->vacant_count] : r->used++;
    e->term = r->term[e->seat];
    return true;
}

void roll_leave(struct roll *r, struct roll_entry *e)
{
    if (e->seat == 0)
        return;
    CHECK(r->term[e->seat] == e->term);
    r->term[e->seat]++;
    atomic_store_explicit(&r->shared->term[e->seat], r->term[e->seat], memory_order_release);
    atomic_fetch_add_explicit(&r->shared->departures, 1, memory_order_release);
    r->vacant[r->vacant_count++] = e->seat;
    *e = (struct roll_entry){0, 0};
}
