/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting in a zone. The states of workers that are gone are removed where they are met. */
#include "hold.h"

/* In the zone: what one worker has of one key. */
struct counted {
    struct roll_entry owner;
    uint32_t count;
    uint32_t unused;          /* states are multiples of 8 bytes */
};

const struct zone_kind limit_conn_kind = {"limit_conn", sizeof(struct counted)};

static bool gone(const void *state, void *arg)
{
    const struct counted *c = state;
    const struct holder *h = arg;
    return !roll_has(h->roll, c->owner);
}

/* The sum of a key over all workers; *own is this one's part, NULL for none. */
static uint32_t sum(struct holder *h, struct zone *z, struct sip id, struct counted **own)
{
    uint32_t n = 0;
    *own = NULL;
    for (struct counted *c = zone_get(z, id), *next; c != NULL; c = next) {
        next = zone_next(z, c);
        if (gone(c, h)) {
            zone_remove(z, c);
            continue;
        }
        n += c->count;
        if (roll_same(c->owner, h->self))
            *own = c;
    }
    return n;
}

/* A full zone may be full of the dead. */
static struct counted *add(struct holder *h, struct zone *z, struct sip id)
{
    struct counted *c = zone_add(z, id);
    uint32_t departures = roll_departures(h->roll);
    if (c == NULL && departures != h->departures) {
        h->departures = departures;
        zone_sweep(z, gone, h);
        c = zone_add(z, id);
    }
    if (c != NULL)
        c->owner = h->self;
    return c;
}

static enum hold_result count(struct holder *h, struct zone *z, struct sip id, uint32_t most)
{
    struct counted *own;
    if (sum(h, z, id, &own) >= most)
        return HOLD_TOO_MANY;
    if (own == NULL)
        own = add(h, z, id);
    if (own == NULL)
        return HOLD_FULL;
    own->count++;
    return HOLD_OK;
}

enum hold_result hold_take(struct holder *h, struct zone *z, struct sip id, uint32_t most,
                           struct hold **out)
{
    struct hold *k = slab_get(&h->holds);
    if (k == NULL)
        return HOLD_NO_MEMORY;
    zone_lock(z);
    enum hold_result res = count(h, z, id, most);
    zone_unlock(z);
    if (res != HOLD_OK) {
        slab_put(&h->holds, k);
        return res;
    }
    *k = (struct hold){.zone = z, .id = id, .refs = 1};
    *out = k;
    return HOLD_OK;
}

void hold_put(struct holder *h, struct hold *k)
{
    if (--k->refs > 0)
        return;
    struct counted *c;
    zone_lock(k->zone);
    for (c = zone_get(k->zone, k->id); c != NULL; c = zone_next(k->zone, c))
        if (roll_same(c->owner, h->self))
            break;
    CHECK(c != NULL && c->count > 0);
    if (c->count == 1)
        zone_remove(k->zone, c);
    else
        c->count--;
    zone_unlock(k->zone);
    slab_put(&h->holds, k);
}
