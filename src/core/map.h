/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash table from string to pointer, open addressing, memory from an arena.  Keys are not copied.
 * Built while a configuration is loaded, only read afterwards.
 */
#ifndef SLUICE_CORE_MAP_H
#define SLUICE_CORE_MAP_H

#include "core/arena.h"
#include "core/status.h"

struct map_slot {
    struct str key;
    void *value;
    uint64_t hash;
};

struct map {
    struct map_slot *slots;   /* NULL while empty */
    size_t count, room;       /* room is 0 or a power of two */
    struct arena *arena;
    bool nocase;              /* keys are compared without ASCII case */
};

void map_init(struct map *m, struct arena *a, bool nocase);

/* STATUS_EXISTS leaves the old value; STATUS_NOMEM when the arena overflows. value: not NULL. */
enum status map_add(struct map *m, struct str key, void *value);
enum status map_set(struct map *m, struct str key, void *value); /* replaces */
void *map_get(const struct map *m, struct str key);              /* NULL when absent */

#endif
