/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grammar of config.md section 1: a scalar is split as nginx would, list items are arguments
 * as they stand, and for a repeatable directive each list item is one instance.
 */
#include "conf/args.h"

#include "conf/value.h"
#include "core/check.h"
#include "core/vec.h"

struct str place_text(struct arena *a, const struct place *p)
{
    struct str s = p->block;
    if (p->name.n != 0)
        s = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(s), s.n != 0 ? "." : "",
                         STR_ARG(p->name));
    if (p->key.p != NULL)
        s = arena_printf(a, STR_FMT "[\"" STR_FMT "\"]", STR_ARG(s),
                         STR_ARG(str_head(p->key, 60)));
    if (p->index >= 0)
        s = arena_printf(a, STR_FMT "[%lld]", STR_ARG(s), (long long)p->index);
    return s;
}

/* The place of a byte of a scalar; without a byte-by-byte copy in the file, that of the scalar. */
static struct pos inside(const struct node *n, size_t offset)
{
    struct pos pos = n->pos;
    if (n->exact)
        pos.column += (uint32_t)(offset + n->quoted);
    return pos;
}

static bool single(const struct args_reader *r, struct str text, struct pos pos, struct args *out)
{
    out->v = arena_array(r->a, 1, sizeof(*out->v));
    if (out->v == NULL)
        return false;
    out->v[0] = (struct arg){text, pos};
    out->n = 1;
    out->pos = pos;
    return true;
}

bool args_of_text(const struct args_reader *r, const struct node *scalar, const struct place *at,
                  struct args *out)
{
    if ((r->flags & ROW_VERBATIM) != 0)
        return single(r, scalar->text, scalar->pos, out);
    struct value_words words;
    size_t fault;
    const char *why;
    if (!value_split(r->a, scalar->text, &words, &fault, &why)) {
        diag_error(r->d, inside(scalar, fault), place_text(r->a, at),
                   "cannot be split into words, expected %s", why);
        return false;
    }
    out->v = arena_array(r->a, words.n, sizeof(*out->v));
    if (out->v == NULL)
        return false;
    out->n = words.n;
    out->pos = scalar->pos;
    for (size_t i = 0; i < words.n; i++)
        out->v[i] = (struct arg){words.v[i], inside(scalar, words.offset[i])};
    return true;
}

bool args_of_key(const struct args_reader *r, const struct node_entry *e, const struct place *at,
                 struct args *out)
{
    struct node key = {.kind = NODE_SCALAR, .pos = e->key_pos, .text = e->key};
    struct args_reader plain = {r->a, r->d, 0};
    return args_of_text(&plain, &key, at, out);
}

static bool expected(const struct args_reader *r, const struct node *n, const struct place *at,
                     const char *what)
{
    diag_error(r->d, n->pos, place_text(r->a, at), "expected %s, found %s", what,
               node_kind_text(n->kind));
    return false;
}

/* A list whose items are the arguments of one instance, or parts of one argument. */
static bool args_of_list(const struct args_reader *r, const struct node *list,
                         const struct place *at, struct args *out)
{
    struct str *parts = arena_array(r->a, list->count, sizeof(*parts));
    out->v = arena_array(r->a, list->count, sizeof(*out->v));
    out->n = list->count;
    out->pos = list->pos;
    if (out->v == NULL || parts == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct node *item = list->items[i];
        if (item->bad)
            return false;
        if (item->kind != NODE_SCALAR)
            return expected(r, item, at, "a single value in the list of arguments");
        out->v[i] = (struct arg){item->text, item->pos};
        parts[i] = item->text;
    }
    if ((r->flags & ROW_VERBATIM) != 0 && list->count > 0) {
        struct str joined = arena_cat(r->a, parts, list->count);
        return joined.p != NULL && single(r, joined, list->pos, out);
    }
    return true;
}

/* One instance: a scalar, a list of arguments, or nothing at all. */
static bool one_instance(const struct args_reader *r, const struct node *n,
                         const struct place *at, bool item, struct args *out)
{
    switch (n->kind) {
    case NODE_SCALAR:
        return args_of_text(r, n, at, out);
    case NODE_LIST:
        return args_of_list(r, n, at, out);
    case NODE_NULL:
        if (item)
            return expected(r, n, at, "a value in the list");
        *out = (struct args){.pos = n->pos};
        return true;
    default:
        return expected(r, n, at, "a value or a list");
    }
}

/* Room is always the next power of two: many files may each add one. */
static size_t room_for(size_t n)
{
    size_t room = 1;
    while (room < n)
        room *= 2;
    return room;
}

static bool reserve(struct arena *a, struct instances *all, size_t more)
{
    if (all->n != 0 && all->n + more <= room_for(all->n))
        return true;
    struct args *v = arena_array(a, room_for(all->n + more), sizeof(*v));
    if (v == NULL)
        return false;
    if (all->n != 0)
        memcpy(v, all->v, all->n * sizeof(*v));
    all->v = v;
    return true;
}

bool args_append(const struct args_reader *r, const struct node *value, const struct place *at,
                 struct instances *out)
{
    bool many = (r->flags & ROW_REPEATABLE) != 0 && value->kind == NODE_LIST;
    size_t more = many ? value->count : 1;
    if (value->bad || !reserve(r->a, out, more))
        return false;
    struct args *v = out->v;
    if (!many) {
        struct args *only = &v[out->n++];
        if (one_instance(r, value, at, false, only))
            return true;
        *only = (struct args){0};
        return false;
    }
    bool ok = true;
    for (size_t i = 0; i < value->count; i++) {
        struct place item = *at;
        item.index = (int64_t)out->n;
        if (value->items[i]->bad ||
            !one_instance(r, value->items[i], &item, true, &v[out->n])) {
            v[out->n] = (struct args){0};
            ok = false;
        }
        out->n++;
    }
    return ok;
}

bool args_equal(const struct args *a, const struct args *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i].text, b->v[i].text))
            return false;
    return true;
}
