/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of a block: plain and repeatable directives, and those that are a map. */
#include "conf/bind_priv.h"

static bool read_keyed_entry(struct binder *b, const struct directive *row,
                             const struct node_entry *e, const struct place *at,
                             struct keyed_entry *out)
{
    struct args_reader reader = {b->a, b->d, row->flags};
    if (!bind_read_key(b, e, at, &out->key))
        return false;
    out->node = e->value;
    out->pos = e->key_pos;
    if (e->value->kind == NODE_MAP)
        return !e->value->bad;
    return args_append(&reader, e->value, at, &out->values);
}

/* A keyed value while its entries come together, from one map or several. */
struct building {
    const struct directive *row;
    struct keyed all;
    struct map known;    /* bind_key_text -> its entry in all.v */
    void *conf;          /* the section's struct */
};

static void add_entry(struct binder *b, struct building *to, const struct node_entry *e,
                      struct place at, bool override)
{
    struct keyed_entry fresh = {0};
    at.key = e->key;
    if (!read_keyed_entry(b, to->row, e, &at, &fresh))
        return;
    struct str text = bind_key_text(&b->scratch, &fresh.key);
    struct keyed_entry *old = map_get(&to->known, text);
    if (old != NULL && !override) {
        bind_given_twice(b, e, old->pos, &at);
        return;
    }
    (void)convert_keyed_entry(&b->conv, to->row, &fresh, &at, to->conf); /* it reports */
    if (old == NULL) {
        old = &to->all.v[to->all.n++];
        (void)map_add(&to->known, text, old);
    }
    *old = fresh;
}

/* types, map, log_format: the entries of all maps of that name, in order. */
static void bind_keyed(struct binder *b, struct block *block, const struct group *g)
{
    struct building to = {.row = g->row->d, .conf = block->conf[g->row->section]};
    struct place at = PLACE(block->path, str_z(to.row->name));
    size_t most = 0;
    for (const struct item *it = g->first; it != NULL; it = it->next)
        most += it->e->value->kind == NODE_MAP ? it->e->value->count : 0;
    to.all.v = arena_array(b->a, most, sizeof(*to.all.v));
    map_init(&to.known, &b->scratch, false);
    if (to.all.v == NULL)
        return;
    for (const struct item *it = g->first; it != NULL; it = it->next) {
        const struct node *v = it->e->value;
        if (v->bad)
            continue;
        if (v->kind != NODE_MAP)
            diag_error(b->d, v->pos, place_text(b->a, &at),
                       "expected a map, as in {KEY: value}, found %s", node_kind_text(v->kind));
        for (size_t i = 0; i < v->count && v->kind == NODE_MAP; i++)
            add_entry(b, &to, &v->entries[i], at, it->override);
    }
    memcpy((char *)to.conf + to.row->offset, &to.all, sizeof(to.all));
}

static void bind_plain(struct binder *b, struct block *block, const struct group *g,
                       const struct item *from)
{
    const struct directive *row = g->row->d;
    struct place at = PLACE(block->path, str_z(row->name));
    struct args_reader reader = {b->a, b->d, row->flags};
    struct instances values = {0};
    bool ok = true;
    for (const struct item *it = from; it != NULL; it = it->next) {
        if (it != from && (row->flags & ROW_REPEATABLE) == 0) {
            bind_given_twice(b, it->e, from->e->key_pos, &at);
            continue;
        }
        ok = args_append(&reader, it->e->value, &at, &values) && ok;
    }
    if (ok)
        (void)convert_values(&b->conv, row, &values, &at, block->conf[g->row->section]);
}

void bind_values(struct binder *b, struct block *block, const struct group *g,
                 const struct item *from)
{
    if (g->row->d->type == CTYPE_KEYED)
        bind_keyed(b, block, g); /* -g adds to it */
    else
        bind_plain(b, block, g, from);
}
