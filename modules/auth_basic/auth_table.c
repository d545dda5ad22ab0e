/* SPDX-License-Identifier: BSD-2-Clause */
/* Password files as tables. */
#include "auth_table.h"

#include "core/rand.h"

#include <stdlib.h>

#define CHUNK (16u << 10)

static void wipe(char *text, size_t n)
{
    if (text != NULL)
        explicit_bzero(text, n);
    free(text);
}

static bool add_entry(struct auth_table *t, const struct htpasswd_entry *from)
{
    struct htpasswd_entry *e = arena_alloc(t->arena, sizeof(*e));
    if (e == NULL)
        return false;
    *e = *from;
    enum status st = map_add(&t->users, e->user, e);
    if (st == STATUS_EXISTS)
        return true;
    if (e->kind != HTPASSWD_UNKNOWN)
        t->usable[t->usable_count++] = e;
    else if (t->unknown++ == 0)
        t->first_unknown = e->line;
    return st == STATUS_OK;
}

static size_t count_lines(const struct auth_table *t)
{
    size_t n = 1;
    for (size_t i = 0; i < t->text_n; i++)
        n += t->text[i] == '\n';
    return n;
}

static bool fill(struct auth_table *t, bool *too_many)
{
    struct str rest = str_make(t->text, t->text_n);
    struct htpasswd_entry e;
    enum htpasswd_result res;
    uint32_t line = 0;
    size_t lines = count_lines(t);
    *too_many = lines > AUTH_LINES_MAX + 1; /* the last one ends in LF too */
    if (*too_many)
        return false;
    t->usable = arena_array(t->arena, lines, sizeof(struct htpasswd_entry *));
    if (t->usable == NULL)
        return false;
    while ((res = htpasswd_next(&rest, &line, &e)) != HTPASSWD_END) {
        if (res == HTPASSWD_BAD && t->bad++ == 0)
            t->first_bad = line;
        if (res == HTPASSWD_ENTRY && !add_entry(t, &e))
            return false;
    }
    return true;
}

struct auth_table *auth_table_new(char *text, size_t n, bool *too_many)
{
    struct arena *a = arena_new(CHUNK, 0);
    struct auth_table *t = a != NULL ? ARENA_NEW(a, struct auth_table) : NULL;
    *too_many = false;
    if (t == NULL) {
        arena_delete(a);
        wipe(text, n);
        return NULL;
    }
    t->arena = a;
    t->text = text;
    t->text_n = n;
    map_init(&t->users, a, false);
    if (fill(t, too_many))
        return t;
    auth_table_delete(t);
    return NULL;
}

void auth_table_delete(struct auth_table *t)
{
    if (t == NULL)
        return;
    wipe(t->text, t->text_n);
    arena_delete(t->arena);
}

const struct htpasswd_entry *auth_table_find(const struct auth_table *t, struct str user)
{
    const struct htpasswd_entry *e = map_get(&t->users, user);
    return e != NULL && e->kind != HTPASSWD_UNKNOWN ? e : NULL;
}

const struct htpasswd_entry *auth_table_stand_in(const struct auth_table *t, struct str user)
{
    static uint64_t seed; /* nobody outside can tell which entry it is */
    while (seed == 0)
        seed = rand_u64();
    return t->usable_count != 0 ? t->usable[str_hash(user, seed) % t->usable_count] : NULL;
}
