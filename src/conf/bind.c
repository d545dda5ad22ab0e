/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes to blocks.  A block may be made of several maps: its own, those of files included in it,
 * and the part of -g that concerns it.  First all keys of all of them are gathered by row, in
 * order; then each row is bound once.  Faults are reported and everything goes on, so that one run
 * finds them all.  The recursion follows the blocks, whose depth yaml.c and include.c bound.
 */
#include "conf/bind.h"

#include "conf/include.h"
#include "conf/inherit.h"

struct binder {
    struct arena *a;
    struct arena scratch;       /* what is needed only while loading */
    struct diag *d;
    struct includes *inc;
    struct rows rows;
    struct converter conv;
    VEC(const struct row *) required;
    uint64_t blocks;            /* numbers the blocks, for row->seen_in */
};

/* One map that a block is made of. */
struct input {
    const struct node *map;
    const struct include_chain *chain; /* the file it stands in */
    bool override;                     /* from -g */
    struct input *next;
};

/* One place where a directive stands. */
struct item {
    const struct node_entry *e;
    const struct include_chain *chain;
    bool override;
    struct item *next;
};

/* All places where one directive of a block stands. */
struct group {
    struct row *row;
    struct item *first, *last;
    struct group *next;
};

struct grouping {
    struct group *first, *last;
    uint64_t number;
};

/* One child of a keyed block while it is gathered. */
struct child {
    struct args key;
    const struct node_entry *e;
    struct input *inputs;
    struct child *next;
};

static void bind_block(struct binder *b, struct block *block, const struct input *inputs);

struct str conf_path(struct arena *a, struct str dir, struct str path)
{
    if (path.n != 0 && path.p[0] == '/')
        return arena_str(a, path);
    bool slash = dir.n == 0 || dir.p[dir.n - 1] != '/';
    return arena_cat(a, (struct str[]){dir, slash ? STR("/") : STR(""), path}, 3);
}

/* ---- gathering ---- */

static void gather_item(struct binder *b, struct block *block, struct grouping *g,
                        const struct node_entry *e, const struct input *in)
{
    struct row *row = rows_find(&b->rows, e->key, block->scope);
    if (row == NULL) {
        rows_refuse(&b->rows, b->a, b->d, e, block->path, block->scope);
        return;
    }
    if (row->seen_in != g->number) {
        struct group *fresh = ARENA_NEW(&b->scratch, struct group);
        if (fresh == NULL)
            return;
        fresh->row = row;
        *(g->last == NULL ? &g->first : &g->last->next) = fresh;
        g->last = fresh;
        row->seen_in = g->number;
        row->group = fresh;
    }
    struct group *group = row->group;
    struct item *item = ARENA_NEW(&b->scratch, struct item);
    if (item == NULL)
        return;
    *item = (struct item){e, in->chain, in->override, NULL};
    *(group->last == NULL ? &group->first : &group->last->next) = item;
    group->last = item;
}

static void gather(struct binder *b, struct block *block, struct grouping *g,
                   const struct input *in);

static void gather_files(struct binder *b, struct block *block, struct grouping *g,
                         const struct args *names, const struct place *at,
                         const struct input *in)
{
    struct include_list list = {0};
    if (names->n != 1) {
        diag_error(b->d, names->n > 1 ? names->v[1].pos : names->pos, place_text(b->a, at),
                   "takes 1 argument, found %zu%s", names->n,
                   names->n > 1 ? "; several files go into a list" : "");
        return;
    }
    (void)include_expand(b->inc, &names->v[0], at, in->chain, &list); /* it reports */
    for (size_t i = 0; i < list.files.n; i++) {
        const struct include_file *f = list.files.v[i]->file;
        if (f->root == NULL)
            continue;
        if (f->root->kind != NODE_MAP) {
            diag_error(b->d, f->root->pos, STR_NONE, "expected a map of directives, found %s",
                       node_kind_text(f->root->kind));
            continue;
        }
        struct input file = {f->root, list.files.v[i], in->override, NULL};
        gather(b, block, g, &file);
    }
}

static void gather_include(struct binder *b, struct block *block, struct grouping *g,
                           const struct node_entry *e, const struct input *in)
{
    struct args_reader reader = {b->a, b->d, ROW_REPEATABLE};
    struct place at = PLACE(block->path, e->key);
    struct instances names = {0};
    (void)args_append(&reader, e->value, &at, &names); /* it reports */
    for (size_t i = 0; i < names.n; i++) {
        at.index = names.n > 1 ? (int64_t)i : -1;
        if (names.v[i].pos.file != NULL)
            gather_files(b, block, g, &names.v[i], &at, in);
    }
}

static void gather(struct binder *b, struct block *block, struct grouping *g,
                   const struct input *in)
{
    for (size_t i = 0; i < in->map->count; i++) {
        const struct node_entry *e = &in->map->entries[i];
        if (str_eq(e->key, STR("include")))
            gather_include(b, block, g, e, in);
        else
            gather_item(b, block, g, e, in);
    }
}

/* ---- blocks ---- */

static struct block *new_block(struct binder *b, struct block *parent, enum scope scope,
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

static void bind_child(struct binder *b, struct block *parent, const struct row *row,
                       struct pos pos, const struct place *at, struct args key,
                       const struct input *inputs)
{
    struct block *child = new_block(b, parent, row->d->block, pos, place_text(b->a, at));
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

/* The words of a key with single blanks: what makes two keys the same. */
static struct str key_text(struct arena *a, const struct args *key)
{
    struct str s = key->n == 0 ? STR("") : key->v[0].text;
    for (size_t i = 1; i < key->n; i++)
        s = arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(s), STR_ARG(key->v[i].text));
    return s;
}

/* Splits the key of an entry; false when that was reported. */
static bool read_key(struct binder *b, const struct node_entry *e, const struct place *at,
                     struct args *key)
{
    struct args_reader reader = {b->a, b->d, 0};
    if (!args_of_key(&reader, e, at, key))
        return false;
    if (key->n == 0)
        diag_error(b->d, e->key_pos, place_text(b->a, at), "an empty key, expected a name");
    return key->n != 0;
}

static void given_twice(struct binder *b, const struct node_entry *again, struct pos first,
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
    if (!read_key(b, e, at, &key) || !is_map(b, e->value, at))
        return;
    struct input *in = ARENA_NEW(&b->scratch, struct input);
    struct str text = key_text(&b->scratch, &key);
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
        given_twice(b, e, old->e->key_pos, at);
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

/* ---- values ---- */

static bool read_keyed_entry(struct binder *b, const struct directive *row,
                             const struct node_entry *e, const struct place *at,
                             struct keyed_entry *out)
{
    struct args_reader reader = {b->a, b->d, row->flags};
    if (!read_key(b, e, at, &out->key))
        return false;
    out->node = e->value;
    out->pos = e->key_pos;
    if (e->value->kind == NODE_MAP)
        return !e->value->bad;
    return args_append(&reader, e->value, at, &out->values);
}

/* types, map, log_format: the entries of all maps of that name, in order. */
static bool bind_keyed(struct binder *b, struct block *block, const struct group *g)
{
    const struct directive *row = g->row->d;
    struct place at = PLACE(block->path, str_z(row->name));
    struct keyed all = {0};
    size_t most = 0;
    for (const struct item *it = g->first; it != NULL; it = it->next)
        most += it->e->value->kind == NODE_MAP ? it->e->value->count : 0;
    all.v = arena_array(b->a, most, sizeof(*all.v));
    struct map known;
    map_init(&known, &b->scratch, false);
    bool ok = all.v != NULL;
    for (const struct item *it = g->first; it != NULL && all.v != NULL; it = it->next) {
        const struct node *v = it->e->value;
        if (v->kind != NODE_MAP || v->bad) {
            if (!v->bad)
                diag_error(b->d, v->pos, place_text(b->a, &at),
                           "expected a map, as in {KEY: value}, found %s",
                           node_kind_text(v->kind));
            ok = false;
            continue;
        }
        for (size_t i = 0; i < v->count; i++) {
            struct place entry_at = at;
            struct keyed_entry e = {0};
            entry_at.key = v->entries[i].key;
            if (!read_keyed_entry(b, row, &v->entries[i], &entry_at, &e)) {
                ok = false;
                continue;
            }
            struct str text = key_text(&b->scratch, &e.key);
            struct keyed_entry *old = map_get(&known, text);
            if (old != NULL && !it->override) {
                given_twice(b, &v->entries[i], old->pos, &entry_at);
                ok = false;
                continue;
            }
            ok = convert_keyed_entry(&b->conv, row, &e, &entry_at,
                                     block->conf[g->row->section]) && ok;
            if (old == NULL) {
                old = &all.v[all.n++];
                (void)map_add(&known, text, old);
            }
            *old = e;
        }
    }
    memcpy((char *)block->conf[g->row->section] + row->offset, &all, sizeof(all));
    return ok;
}

static void bind_values(struct binder *b, struct block *block, const struct group *g,
                        const struct item *from)
{
    const struct directive *row = g->row->d;
    struct place at = PLACE(block->path, str_z(row->name));
    struct args_reader reader = {b->a, b->d, row->flags};
    struct instances values = {0};
    bool ok = true;
    for (const struct item *it = from; it != NULL; it = it->next) {
        if (it != from && (row->flags & ROW_REPEATABLE) == 0) {
            given_twice(b, it->e, from->e->key_pos, &at);
            continue;
        }
        ok = args_append(&reader, it->e->value, &at, &values) && ok;
    }
    if (ok)
        (void)convert_values(&b->conv, row, &values, &at, block->conf[g->row->section]);
}

static void bind_group(struct binder *b, struct block *block, const struct group *g)
{
    const struct item *from = g->first; /* what -g says replaces what the files say */
    while (from != NULL && !from->override)
        from = from->next;
    if (from == NULL)
        from = g->first;
    block->set[g->row->section][g->row->index / 64] |= UINT64_C(1) << (g->row->index % 64);
    unsigned flags = g->row->d->flags;
    if (g->row->d->type == CTYPE_KEYED)
        (void)bind_keyed(b, block, g);
    else if (g->row->d->type != CTYPE_BLOCK)
        bind_values(b, block, g, from);
    else if ((flags & ROW_BLOCK_LIST) != 0)
        bind_block_list(b, block, g, from);
    else if ((flags & ROW_BLOCK_KEYED) != 0)
        bind_block_keyed(b, block, g);
    else
        bind_plain_block(b, block, g);
}

/* Rows that must be there, and blocks that are there even if no file has them. */
static void complete(struct binder *b, struct block *block, uint64_t number)
{
    for (size_t i = 0; i < b->required.n; i++) {
        const struct row *row = b->required.v[i];
        if ((row->d->scopes & block->scope) == 0 || row->seen_in == number)
            continue;
        if ((row->d->flags & ROW_REQUIRED) == 0) {
            struct place at = PLACE(block->path, str_z(row->d->name));
            bind_child(b, block, row, block->pos, &at, (struct args){0}, NULL);
        } else if (!b->inc->broken) {
            struct str name = str_z(row->d->name), here = scope_text(b->a, block->scope);
            diag_error(b->d, block->pos, block->path, "\"" STR_FMT "\" is missing, every " STR_FMT
                       " block needs it", STR_ARG(name), STR_ARG(here));
        }
    }
}

static void bind_block(struct binder *b, struct block *block, const struct input *inputs)
{
    struct grouping g = {.number = ++b->blocks};
    for (const struct input *in = inputs; in != NULL; in = in->next)
        gather(b, block, &g, in);
    /* before the children, which use the same marks */
    complete(b, block, g.number);
    for (const struct group *group = g.first; group != NULL; group = group->next)
        bind_group(b, block, group);
}

/* ---- loading ---- */

/* Notes the rows that complete() looks after. */
static bool note_required(struct binder *b)
{
    for (size_t i = 0; i < b->rows.n; i++) {
        const struct directive *d = b->rows.v[i].d;
        bool implied = d->type == CTYPE_BLOCK &&
                       (d->flags & (ROW_BLOCK_LIST | ROW_BLOCK_KEYED)) == 0;
        if ((d->flags & ROW_REQUIRED) == 0 && !implied)
            continue;
        const struct row **slot = vec_push(&b->required, b->a);
        if (slot == NULL)
            return false;
        *slot = &b->rows.v[i];
    }
    return true;
}

/* The map of a file that must have one; reports and gives NULL otherwise. */
static const struct node *main_map(struct binder *b, const struct include_file *f)
{
    if (f == NULL)
        return NULL;
    struct pos top = {f->src->name, 1, 1};
    if (f->root == NULL)
        diag_error(b->d, top, STR_NONE, "there is nothing in it, expected a map of directives");
    else if (f->root->kind != NODE_MAP)
        diag_error(b->d, f->root->pos, STR_NONE, "expected a map of directives, found %s",
                   node_kind_text(f->root->kind));
    return f->root != NULL && f->root->kind == NODE_MAP ? f->root : NULL;
}

static struct block *load(struct binder *b, const struct conf_source *src)
{
    struct pos nowhere = {0};
    const struct include_file *file = include_open(b->inc, src->path, nowhere, STR_NONE);
    struct include_chain chain = {file, NULL, 0}, extra_chain = {NULL, NULL, 0};
    struct input in = {main_map(b, file), &chain, false, NULL};
    struct input extra = {NULL, &extra_chain, true, NULL};
    if (src->overrides != NULL) {
        extra_chain.file = include_text(b->inc, "-g", str_z(src->overrides));
        extra.map = main_map(b, extra_chain.file);
        in.next = extra.map == NULL ? NULL : &extra;
    }
    if (in.map == NULL)
        return NULL;
    struct pos top = {src->path, 1, 1};
    struct block *block = new_block(b, NULL, SCOPE_MAIN, top, STR(""));
    if (block != NULL)
        bind_block(b, block, &in);
    return block;
}

static struct str directory_of(struct str path)
{
    ssize_t slash = str_rchr(path, '/');
    return slash <= 0 ? STR("/") : str_head(path, (size_t)slash);
}

enum status conf_load(struct arena *a, struct diag *d, const struct conf_source *src,
                      const struct section *const *sections, struct block **out)
{
    size_t errors = d->errors;
    struct binder b = {.a = a, .d = d};
    *out = NULL;
    struct str dir = arena_str(a, directory_of(str_z(src->path)));
    b.conv = (struct converter){a, d, str_z(src->prefix), dir};
    b.inc = ARENA_NEW(a, struct includes);
    if (b.inc == NULL)
        return STATUS_NOMEM;
    includes_init(b.inc, a, d, dir);
    enum status st = rows_init(&b.rows, a, d, sections);
    if (st != STATUS_OK)
        return st;

    arena_init(&b.scratch, NULL, 0, 64 * 1024, 0);
    void **defaults = inherit_defaults(&b.conv, &b.rows);
    struct block *block = NULL;
    if (defaults != NULL && note_required(&b))
        block = load(&b, src);
    if (block != NULL && d->errors == errors && inherit_fill(a, &b.rows, defaults, block)) {
        for (size_t s = 0; s < b.rows.section_count; s++)
            if (block->conf[s] == NULL) /* a block that the file leaves out is at its defaults */
                block->conf[s] = defaults[s];
        *out = block;
    }
    bool memory = arena_overflowed(a) || arena_overflowed(&b.scratch);
    arena_fini(&b.scratch);
    if (memory || (*out == NULL && d->errors == errors)) {
        *out = NULL;
        return STATUS_NOMEM;
    }
    return *out != NULL ? STATUS_OK : STATUS_INVALID;
}

bool block_is_set(const struct block *b, const struct section *s, const char *name)
{
    const uint64_t *bits = b->set[*s->slot];
    for (size_t i = 0; bits != NULL && s->directives[i].name != NULL; i++)
        if (strcmp(s->directives[i].name, name) == 0 && (bits[i / 64] >> (i % 64) & 1) != 0)
            return true;
    return false;
}
