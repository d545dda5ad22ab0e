/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inheritance by the set bitmap.  It runs once, from the top down, when all blocks are bound, so
 * that the order of directives in a file does not matter.
 */
#include "conf/inherit.h"

static bool read_default(const struct converter *c, const struct directive *row, void *conf)
{
    struct node n = {.kind = NODE_SCALAR, .text = str_z(row->dflt)};
    struct args_reader r = {c->a, c->d, row->flags};
    struct place at = PLACE(STR("(default)"), str_z(row->name));
    struct directive plain = *row;
    plain.check = NULL; /* a check may look at fields that are not there yet */
    struct instances values = {0};
    return args_append(&r, &n, &at, &values) && convert_values(c, &plain, &values, &at, conf);
}

void **inherit_defaults(const struct converter *c, const struct rows *rows)
{
    void **defaults = arena_array(c->a, rows->section_count, sizeof(*defaults));
    for (size_t s = 0; s < rows->section_count && defaults != NULL; s++) {
        defaults[s] = arena_zalloc(c->a, rows->sections[s]->conf_size);
        if (defaults[s] == NULL)
            return NULL;
        for (const struct directive *row = rows->sections[s]->directives; row->name != NULL;
             row++)
            if (row->dflt != NULL && !read_default(c, row, defaults[s]))
                return NULL;
    }
    return defaults;
}

/* Entries of the parent that the child has not, then the child's. */
static bool join_keyed(struct arena *a, const struct keyed *parent, struct keyed *child)
{
    struct keyed all = {.v = arena_array(a, parent->n + child->n, sizeof(*all.v))};
    if (all.v == NULL)
        return false;
    for (size_t i = 0; i < parent->n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < child->n && !replaced; k++)
            replaced = args_equal(&parent->v[i].key, &child->v[k].key);
        if (!replaced)
            all.v[all.n++] = parent->v[i];
    }
    if (child->n != 0)
        memcpy(all.v + all.n, child->v, child->n * sizeof(*all.v));
    all.n += child->n;
    *child = all;
    return true;
}

static bool fill_row(struct arena *a, const struct directive *row, bool set, const void *from,
                     void *to)
{
    size_t size = convert_field_size(row);
    if (size == 0)
        return true;
    const char *source = (const char *)from + row->offset;
    char *field = (char *)to + row->offset;
    if (!set) {
        memcpy(field, source, size);
        return true;
    }
    if (row->type != CTYPE_KEYED || (row->flags & ROW_MERGE) == 0)
        return true;
    struct keyed parent, child;
    memcpy(&parent, source, sizeof(parent));
    memcpy(&child, field, sizeof(child));
    bool ok = join_keyed(a, &parent, &child);
    memcpy(field, &child, sizeof(child));
    return ok;
}

static bool fill_block(struct arena *a, const struct rows *rows, void *const *defaults,
                       struct block *b)
{
    for (size_t s = 0; s < rows->section_count; s++) {
        if (b->conf[s] == NULL)
            continue;
        const void *above = b->parent != NULL && b->parent->conf[s] != NULL ? b->parent->conf[s]
                                                                            : defaults[s];
        const struct directive *table = rows->sections[s]->directives;
        for (size_t i = 0; table[i].name != NULL; i++) {
            const void *from = (table[i].flags & ROW_NO_INHERIT) != 0 ? defaults[s] : above;
            bool set = (b->set[s][i / 64] >> (i % 64) & 1) != 0;
            if (!fill_row(a, &table[i], set, from, b->conf[s]))
                return false;
        }
    }
    return true;
}

bool inherit_fill(struct arena *a, const struct rows *rows, void *const *defaults,
                  struct block *top)
{
    if (!fill_block(a, rows, defaults, top))
        return false;
    for (size_t i = 0; i < top->child_count; i++) /* as deep as the blocks are: bounded */
        if (!inherit_fill(a, rows, defaults, top->children[i]))
            return false;
    return true;
}
