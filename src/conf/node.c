/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking into nodes. What makes them is yaml.c; nothing changes them afterwards. */
#include "conf/node.h"

#include "core/check.h"

struct node *node_get(const struct node *map, struct str key)
{
    if (map == NULL || map->kind != NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (str_eq(map->entries[i].key, key))
            return map->entries[i].value;
    return NULL;
}

const char *node_kind_text(enum node_kind kind)
{
    static const char *const texts[] = {
        [NODE_NULL] = "nothing",
        [NODE_SCALAR] = "a single value",
        [NODE_LIST] = "a list",
        [NODE_MAP] = "a map",
    };
    CHECK((size_t)kind < ARRAY_LEN(texts));
    return texts[kind];
}
