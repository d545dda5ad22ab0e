/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes to blocks.  A block may be made of several maps: its own, those of files included in it,
 * and the part of -g that concerns it.  First all keys of all of them are gathered by row, in
 * order; then each row is bound once.  Faults are reported and everything goes on, so that one run
 * finds them all.  The recursion follows the blocks, whose depth yaml.c and include.c bound.
 */
#include "conf/bind.h"

#include "conf/bind_priv.h"
#include "conf/inherit.h"

struct grouping {
    struct group *first, *last;
    uint64_t number;
};

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

static void bind_group(struct binder *b, struct block *block, const struct group *g)
{
    const struct item *from = g->first; /* what -g says replaces what the files say */
    while (from != NULL && !from->override)
        from = from->next;
    if (from == NULL)
        from = g->first;
    if (from == NULL) /* no memory for it */
        return;
    block->set[g->row->section][g->row->index / 64] |= UINT64_C(1) << (g->row->index % 64);
    if (g->row->d->type == CTYPE_BLOCK)
        bind_blocks(b, block, g, from);
    else
        bind_values(b, block, g, from);
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

void bind_block(struct binder *b, struct block *block, const struct input *inputs)
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
    struct block *block = bind_new_block(b, NULL, SCOPE_MAIN, top, STR(""));
    if (block != NULL)
        bind_block(b, block, &in);
    return block;
}

struct str conf_directory(struct str path)
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
    struct str dir = arena_str(a, conf_directory(str_z(src->path)));
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
