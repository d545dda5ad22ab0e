/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash table from string to pointer: linear probing, at most three quarters full, never shrinks,
 * nothing is removed.  Keys come from the administrator, so the hash needs no secret seed.
 */
#include "core/map.h"

#define MAP_FIRST 16

void map_init(struct map *m, struct arena *a, bool nocase)
{
    *m = (struct map){.arena = a, .nocase = nocase};
}

static uint64_t map_hash(const struct map *m, struct str key)
{
    return m->nocase ? str_hash_nocase(key, 0) : str_hash(key, 0);
}

/* The slot that holds the key, or the free one where it belongs. room must not be 0. */
static struct map_slot *map_find(const struct map *m, struct str key, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct map_slot *s = &m->slots[i & (m->room - 1)];
        if (s->value == NULL)
            return s;
        if (s->hash == hash && (m->nocase ? str_eq_nocase(s->key, key) : str_eq(s->key, key)))
            return s;
    }
}

static bool map_grow(struct map *m)
{
    struct map wider = *m;

    if (m->room > SIZE_MAX / 2)
        return false;
    wider.room = m->room == 0 ? MAP_FIRST : m->room * 2;
    wider.slots = arena_array(m->arena, wider.room, sizeof *wider.slots);
    if (wider.slots == NULL)
        return false;
    for (size_t i = 0; i < m->room; i++) {
        const struct map_slot *s = &m->slots[i];
        if (s->value != NULL)
            *map_find(&wider, s->key, s->hash) = *s;
    }
    *m = wider;
    return true;
}

static enum status map_put(struct map *m, struct str key, void *value, bool replace)
{
    uint64_t hash = map_hash(m, key);

    CHECK(value != NULL);
    if (m->room != 0) {
        struct map_slot *old = map_find(m, key, hash);
        if (old->value != NULL) {
            if (!replace)
                return STATUS_EXISTS;
            old->value = value;
            return STATUS_OK;
        }
    }
    if (m->count >= m->room / 4 * 3 && !map_grow(m))
        return STATUS_NOMEM;
    *map_find(m, key, hash) = (struct map_slot){key, value, hash};
    m->count++;
    return STATUS_OK;
}

enum status map_add(struct map *m, struct str key, void *value)
{
    return map_put(m, key, value, false);
}

enum status map_set(struct map *m, struct str key, void *value)
{
    return map_put(m, key, value, true);
}

void *map_get(const struct map *m, struct str key)
{
    return m->room == 0 ? NULL : map_find(m, key, map_hash(m, key))->value;
}
