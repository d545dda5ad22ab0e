/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of all rows.  For a name that has none the report tries, in this order: a directive
 * of other blocks, one that this build has not (reference.c), the nearest name.
 */
#include "conf/rows.h"

#include "conf/reference.h"
#include "core/check.h"
#include "core/vec.h"

static const struct {
    enum scope scope;
    const char *name;
} scopes[] = {
    {SCOPE_MAIN, "main"},     {SCOPE_EVENTS, "events"},     {SCOPE_HTTP, "http"},
    {SCOPE_SERVER, "server"}, {SCOPE_LOCATION, "location"},
};

struct str scope_text(struct arena *a, unsigned bits)
{
    struct str s = STR_NONE;
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
        if ((bits & scopes[i].scope) != 0)
            s = arena_printf(a, STR_FMT "%s%s", STR_ARG(s), s.n != 0 ? ", " : "", scopes[i].name);
    return s;
}

bool rows_section_in(const struct section *s, enum scope scope)
{
    /* inside http a section is in every block, so that values can be handed down */
    unsigned reach = (scope & SCOPE_ANY_HTTP) != 0 ? SCOPE_ANY_HTTP : scope;
    for (const struct directive *row = s->directives; row->name != NULL; row++)
        if ((row->scopes & reach) != 0)
            return true;
    return false;
}

static enum status add_row(struct rows *rows, struct diag *d, struct row *r)
{
    struct str name = str_z(r->d->name);
    struct row *first = map_get(&rows->by_name, name);
    for (struct row *o = first; o != NULL; o = o->same_name) {
        if ((o->d->scopes & r->d->scopes) == 0)
            continue;
        diag_error(d, (struct pos){0}, STR_NONE, "the directive %s is defined by %s and by %s",
                   r->d->name, rows->sections[o->section]->name,
                   rows->sections[r->section]->name);
        return STATUS_INVALID;
    }
    if (first == NULL)
        return map_add(&rows->by_name, name, r);
    while (first->same_name != NULL)
        first = first->same_name;
    first->same_name = r;
    return STATUS_OK;
}

enum status rows_init(struct rows *rows, struct arena *a, struct diag *d,
                      const struct section *const *sections)
{
    *rows = (struct rows){.sections = sections};
    map_init(&rows->by_name, a, false);
    size_t most = 0;
    for (; sections[rows->section_count] != NULL; rows->section_count++)
        for (const struct directive *r = sections[rows->section_count]->directives;
             r->name != NULL; r++)
            most++;
    rows->v = arena_array(a, most, sizeof(*rows->v));
    if (rows->v == NULL)
        return STATUS_NOMEM;
    for (size_t s = 0; s < rows->section_count; s++) {
        *sections[s]->slot = (unsigned)s;
        const struct directive *table = sections[s]->directives;
        for (size_t i = 0; table[i].name != NULL; i++) {
            struct row *r = &rows->v[rows->n++];
            *r = (struct row){.d = &table[i], .section = s, .index = i};
            enum status st = add_row(rows, d, r);
            if (st != STATUS_OK)
                return st;
        }
    }
    return STATUS_OK;
}

struct row *rows_find(const struct rows *rows, struct str name, enum scope scope)
{
    struct row *r = map_get(&rows->by_name, name);
    while (r != NULL && (r->d->scopes & scope) == 0)
        r = r->same_name;
    return r;
}

/* The nearest name among the rows that `bits` allow. */
static const char *nearest(const struct rows *rows, struct arena *a, struct str name,
                           unsigned bits)
{
    VEC(const char *) names = {0};
    const char **slot = vec_push(&names, a);
    if (slot != NULL)
        *slot = "include";
    for (size_t i = 0; i < rows->n; i++) {
        if ((rows->v[i].d->scopes & bits) == 0)
            continue;
        slot = vec_push(&names, a);
        if (slot == NULL)
            return NULL;
        *slot = rows->v[i].d->name;
    }
    return diag_suggest(name, names.v, names.n);
}

void rows_refuse(const struct rows *rows, struct arena *a, struct diag *d,
                 const struct node_entry *e, struct str block, enum scope scope)
{
    struct str shown = diag_excerpt(d, e->key);
    struct place at = PLACE(block, shown);
    struct str path = place_text(a, &at);

    if (e->key.n == 0) {
        diag_error(d, e->key_pos, path, "an empty key, expected a name");
        return;
    }
    unsigned allowed = 0;
    for (const struct row *r = map_get(&rows->by_name, e->key); r != NULL; r = r->same_name)
        allowed |= r->d->scopes;
    if (allowed != 0) {
        struct str here = scope_text(a, scope), there = scope_text(a, allowed);
        diag_error(d, e->key_pos, path, "not allowed in " STR_FMT ", expected in " STR_FMT,
                   STR_ARG(here), STR_ARG(there));
        return;
    }
    const char *hint = NULL;
    if (reference_unbuilt(e->key, &hint)) {
        diag_error(d, e->key_pos, path, "\"" STR_FMT "\" is not built in%s%s", STR_ARG(shown),
                   hint != NULL ? "; " : "", hint != NULL ? hint : "");
        return;
    }
    const char *near = nearest(rows, a, e->key, scope);
    if (near != NULL) {
        diag_error(d, e->key_pos, path, "unknown directive, did you mean \"%s\"?", near);
        return;
    }
    near = nearest(rows, a, e->key, ~0u);
    allowed = 0;
    for (const struct row *r = near == NULL ? NULL : map_get(&rows->by_name, str_z(near));
         r != NULL; r = r->same_name)
        allowed |= r->d->scopes;
    struct str there = scope_text(a, allowed), here = scope_text(a, scope);
    if (near != NULL)
        diag_error(d, e->key_pos, path, "unknown directive, did you mean \"%s\" (in " STR_FMT ")?",
                   near, STR_ARG(there));
    else
        diag_error(d, e->key_pos, path, "unknown directive, nothing in " STR_FMT " is called so",
                   STR_ARG(here));
}
