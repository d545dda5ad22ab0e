/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks inside of a block: one made of all maps of its name (http), one for each map (server),
 * or one for each key (location).
 */
#include "conf/bind_priv.h"

/* One child of a keyed block while it is gathered. */
struct child {
    struct args key;
    const struct node_entry *e;
    struct input *inputs;
    struct child *next;
};

struct block *bind_new_block(struct binder *b, struct block *parent, enum scope scope,
                             struct pos pos, struct str path)
{
    struct block *block = ARENA_NEW(b->a, struct block);
    size_t n = b->rows.section_count;
    if (block == NULL)
        return NULL;
    *block = (struct block){.scope = scope, .parent = parent, .pos = pos, .path = path};
    block->conf = arena_array(b->a, n, sizeof(*block->conf));
    block->set = arena_array(b->a, n, sizeof(*block->set));
    if (block->conf == NULL || block->set == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const struct section *s = b->rows.sections[i];
        size_t count = 0;
        if (!rows_section_in(s, scope))
            continue;
        while (s->directives[count].name != NULL)
            count++;
        block->conf[i] = arena_zalloc(b->a, s->conf_size);
        block->set[i] = arena_array(b->a, count / 64 + 1, sizeof(uint64_t));
        if (block->conf[i] == NULL || block->set[i] == NULL)
            return NULL;
    }
    return block;
}

static bool add_child(struct binder *b, struct block *parent, struct block *child)
{
    size_t n = parent->child_count;
    if ((n & (n - 1)) == 0) { /* full at each power of two: double */
        struct block **v = arena_array(b->a, n == 0 ? 1 : 2 * n, sizeof(struct block *));
        if (v == NULL)
            return false;
        if (n != 0)
            memcpy(v, parent->children, n * sizeof(struct block *));
        parent->children = v;
    }
    parent->children[parent->child_count++] = child;
    return true;
}

void bind_child(struct binder *b, struct block *parent, const struct row *row, struct pos pos,
                const struct place *at, struct args key, const struct input *inputs)
{
    struct block *child = bind_new_block(b, parent, row->d->block, pos, place_text(b->a, at));
    if (child == NULL || !add_child(b, parent, child))
        return;
    child->key = key;
    bind_block(b, child, inputs);
}

static bool is_map(struct binder *b, const struct node *n, const struct place *at)
{
    if (n->bad)
        return false;
    if (n->kind == NODE_MAP)
        return true;
    diag_error(b->d, n->pos, place_text(b->a, at),
               "expected a map of directives ({} for none), found %s", node_kind_text(n->kind));
    return false;
}

/* events, http: all maps of that name make one block. */
static void bind_plain_block(struct binder *b, struct block *block, const struct group *g)
{
    struct place at = PLACE(block->path, str_z(g->row->d->name));
    struct input *first = NULL, **tail = &first;
    for (const struct item *it = g->first; it != NULL; it = it->next) {
        if (!is_map(b, it->e->value, &at))
            continue;
        struct input *in = ARENA_NEW(&b->scratch, struct input);
        if (in == NULL)
            return;
        *in = (struct input){it->e->value, it->chain, it->override, NULL};
        *tail = in;
        tail = &in->next;
    }
    if (first != NULL)
        bind_child(b, block, g->row, g->first->e->key_pos, &at, (struct args){0}, first);
}

/* server: each map is a block of its own. */
static void bind_block_list(struct binder *b, struct block *block, const struct group *g,
                            const struct item *from)
{
    struct place at = PLACE(block->path, str_z(g->row->d->name));
    at.index = 0;
    for (const struct item *it = from; it != NULL; it = it->next) {
        const struct node *v = it->e->value;
        bool list = v->kind == NODE_LIST;
        for (size_t i = 0; i < (list ? v->count : 1) && !v->bad; i++) {
            const struct node *n = list ? v->items[i] : v;
            struct input in = {n, it->chain, it->override, NULL};
            if (is_map(b, n, &at))
                bind_child(b, block, g->row, list ? n->pos : it->e->key_pos, &at,
                           (struct args){0}, &in);
            at.index++;
        }
        if (list && v->count == 0) {
            at.index = -1;
            diag_error(b->d, v->pos, place_text(b->a, &at), "an empty list, expected a map");
        }
    }
}

struct str bind_key_text(struct arena *a, const struct args *key)
{
    struct str s = key->n == 0 ? STR("") : key->v[0].text;
    for (size_t i = 1; i < key->n; i++)
        s = arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(s), STR_ARG(key->v[i].text));
    return s;
}

bool bind_read_key(struct binder *b, const struct node_entry *e, const struct place *at,
                   struct args *key)
{
    struct args_reader reader = {b->a, b->d, 0};
    if (!args_of_key(&reader, e, at, key))
        return false;
    if (key->n == 0)
        diag_error(b->d, e->key_pos, place_text(b->a, at), "an empty key, expected a name");
    return key->n != 0;
}

void bind_given_twice(struct binder *b, const struct node_entry *again, struct pos first,
                      const struct place *at)
{
    if (first.file == again->key_pos.file)
        diag_error(b->d, again->key_pos, place_text(b->a, at),
                   "given twice, the first time in line %u", first.line);
    else
        diag_error(b->d, again->key_pos, place_text(b->a, at),
                   "given twice, the first time in %s:%u", first.file, first.line);
}

/* Adds one entry to the children of a keyed block. */
static void gather_child(struct binder *b, const struct item *it, const struct node_entry *e,
                         const struct place *at, struct map *known, struct child ***tail)
{
    struct args key = {0};
    if (!bind_read_key(b, e, at, &key) || !is_map(b, e->value, at))
        return;
    struct input *in = ARENA_NEW(&b->scratch, struct input);
    struct str text = bind_key_text(&b->scratch, &key);
    struct child *old = map_get(known, text);
    if (in == NULL)
        return;
    *in = (struct input){e->value, it->chain, it->override, NULL};
    if (old != NULL && it->override) {
        struct input *last = old->inputs;
        while (last->next != NULL)
            last = last->next;
        last->next = in;
    } else if (old != NULL) {
        bind_given_twice(b, e, old->e->key_pos, at);
    } else {
        struct child *c = ARENA_NEW(&b->scratch, struct child);
        if (c == NULL)
            return;
        *c = (struct child){key, e, in, NULL};
        **tail = c;
        *tail = &c->next;
        (void)map_add(known, text, c);
    }
}

/* location: a map of key to block. */
static void bind_block_keyed(struct binder *b, struct block *block, const struct group *g)
{
    struct place at = PLACE(block->path, str_z(g->row->d->name));
    struct map known;
    struct child *first = NULL, **tail = &first;
    map_init(&known, &b->scratch, false);
    for (const struct item *it = g->first; it != NULL; it = it->next) {
        at.key = STR_NONE;
        if (!is_map(b, it->e->value, &at))
            continue;
        for (size_t i = 0; i < it->e->value->count; i++) {
            at.key = it->e->value->entries[i].key;
            gather_child(b, it, &it->e->value->entries[i], &at, &known, &tail);
        }
    }
    for (const struct child *c = first; c != NULL; c = c->next) {
        at.key = c->e->key;
        bind_child(b, block, g->row, c->e->key_pos, &at, c->key, c->inputs);
    }
}

void bind_blocks(struct binder *b, struct block *block, const struct group *g,
                 const struct item *from)
{
    unsigned flags = g->row->d->flags;
    if ((flags & ROW_BLOCK_LIST) != 0)
        bind_block_list(b, block, g, from);
    else if ((flags & ROW_BLOCK_KEYED) != 0)
        bind_block_keyed(b, block, g);
    else
        bind_plain_block(b, block, g);
}
