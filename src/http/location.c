/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice of a location, by nginx's rules: exact, longest prefix ("^~" ends the search), regexes in
 * file order, else that longest prefix; locations inside the chosen one are searched in the same
 * way before the regexes beside it.
 *
 * Prefixes are sorted by name.  All names that begin a path P are at or before P in that order,
 * and the last name not behind P begins with each of them; so one binary search finds a name from
 * which the links to the longest other prefix lead to the answer.  No list is walked.
 */
#include "http/location.h"

#include "core/vec.h"
#include "http/regex.h"
#include "http/request.h"

#include <stdlib.h>

/* ---- search ---- */

/* The number of names that are not behind the path. */
static size_t not_behind(const struct locations *ls, struct str path)
{
    size_t lo = 0, hi = ls->prefix_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(ls->prefixes[mid]->name, path) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool begins(const struct location *l, struct str path)
{
    if (!str_starts(path, l->name))
        return false;
    return !l->whole_segments || l->name.n == path.n || path.p[l->name.n] == '/' ||
           l->name.p[l->name.n - 1] == '/';
}

/* name against path + "/" */
static int compare_slashed(struct str name, struct str path)
{
    int c = str_cmp(str_head(name, path.n), path);
    return c != 0 ? c : str_cmp(str_skip(name, path.n), STR("/"));
}

/* The prefix that is the path with a slash behind it; names before `from` are before the path. */
static struct location *find_slashed(const struct locations *ls, struct str path, size_t from)
{
    size_t lo = from, hi = ls->prefix_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = compare_slashed(ls->prefixes[mid]->name, path);
        if (c == 0)
            return ls->prefixes[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

struct search {
    struct str path;
    struct request *r;
    bool slash;
    bool final;   /* what was found is the answer, whatever stands beside it */
};

static struct location *find_in(struct search *s, const struct locations *ls);

static struct location *find_regex(struct search *s, const struct locations *ls)
{
    for (size_t i = 0; i < ls->regex_count; i++) {
        struct location *l = ls->regexes[i];
        enum regex_result m = regex_match(l->regex, s->path, s->r);
        if (m == REGEX_NO)
            continue;
        if (m == REGEX_FAILED && s->r != NULL)
            s->r->match_failed = true;
        struct location *inner = l->nested != NULL && m == REGEX_YES ? find_in(s, l->nested) : NULL;
        s->final = true;
        return inner != NULL ? inner : l;
    }
    return NULL;
}

static struct location *find_in(struct search *s, const struct locations *ls)
{
    struct location *l = map_get(&ls->exact, s->path);
    if (l != NULL) {
        s->final = true;
        return l;
    }
    size_t n = not_behind(ls, s->path);
    struct location *best = n > 0 ? ls->prefixes[n - 1] : NULL;
    while (best != NULL && !begins(best, s->path))
        best = best->parent;
    if (best == NULL || best->name.n != s->path.n) {
        l = find_slashed(ls, s->path, n);
        if (l != NULL) {
            s->slash = s->final = true;
            return l;
        }
    }
    struct location *inner = best != NULL && best->nested != NULL ? find_in(s, best->nested) : NULL;
    if (s->final)
        return inner;
    if (best == NULL || best->kind != LOCATION_STOP) {
        l = find_regex(s, ls);
        if (l != NULL)
            return l;
    }
    return inner != NULL ? inner : best;
}

struct location *location_find(struct vhost *v, struct str path, struct request *r, bool *slash)
{
    struct search s = {.path = path, .r = r};
    struct location *l = find_in(&s, &v->locations);
    *slash = s.slash;
    return l != NULL ? l : &v->own;
}

struct location *location_named(struct vhost *v, struct str name)
{
    return map_get(&v->locations.named, name);
}

/* ---- compilation ---- */

static const struct {
    struct str mark;
    enum location_kind kind;
} marks[] = {
    {STR_INIT("^~"), LOCATION_STOP},
    {STR_INIT("~*"), LOCATION_REGEX_NOCASE},
    {STR_INIT("~"), LOCATION_REGEX},
    {STR_INIT("="), LOCATION_EXACT},
};

static bool is_regex(const struct location *l)
{
    return l->kind == LOCATION_REGEX || l->kind == LOCATION_REGEX_NOCASE;
}

/* "= /x" and "=/x" are the same, as in nginx. Returns how many words of the key were used. */
static size_t parse_key(const struct block *b, enum location_kind *kind, struct arg *name)
{
    CHECK(b->key.n > 0);
    *name = b->key.v[0];
    *kind = LOCATION_PREFIX;
    if (name->text.n > 1 && name->text.p[0] == '@') {
        *kind = LOCATION_NAMED;
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (!str_starts(name->text, marks[i].mark))
            continue;
        *kind = marks[i].kind;
        name->text = str_skip(name->text, marks[i].mark.n);
        break;
    }
    if (*kind == LOCATION_PREFIX || name->text.n != 0 || b->key.n == 1)
        return 1;
    *name = b->key.v[1];
    return 2;
}

bool location_key(const struct block *b, enum location_kind *kind, struct str *name)
{
    struct arg arg;
    bool good = parse_key(b, kind, &arg) == b->key.n;
    *name = arg.text;
    return good;
}

static bool read_key(struct cycle_http *cy, struct location *l, struct arg *name)
{
    const struct args *key = &l->block->key;
    size_t words = parse_key(l->block, &l->kind, name);
    l->name = name->text;
    if (words == key->n)
        return true;
    if (l->kind == LOCATION_PREFIX)
        diag_error(cy->diag, key->v[0].pos, l->block->path,
                   "\"" STR_FMT "\" is not a kind of location, expected =, ^~, ~ or ~*",
                   STR_ARG(key->v[0].text));
    else
        diag_error(cy->diag, key->v[words].pos, l->block->path,
                   "\"" STR_FMT "\" is one word too many; quote a name that has blanks",
                   STR_ARG(key->v[words].text));
    return false;
}

static bool check_name(struct cycle_http *cy, const struct location *l, const struct arg *name)
{
    if (l->kind == LOCATION_NAMED)
        return true;
    if (is_regex(l)) {
        if (name->text.n == 0)
            diag_error(cy->diag, name->pos, l->block->path,
                       "a regular expression is expected behind the mark");
        return name->text.n != 0;
    }
    if (name->text.n == 0 || name->text.p[0] != '/') {
        diag_error(cy->diag, name->pos, l->block->path,
                   "\"" STR_FMT "\" can never match, expected a path that begins with \"/\", "
                   "a regular expression behind ~ or ~*, or @name",
                   STR_ARG(name->text));
        return false;
    }
    return true;
}

/* What may stand in what. */
static bool check_outer(struct cycle_http *cy, const struct location *l,
                        const struct location *outer, struct pos pos)
{
    if (outer == NULL)
        return true;
    const char *why = NULL;
    if (l->kind == LOCATION_NAMED)
        why = "a named location stands in a server, not in another location";
    else if (outer->kind == LOCATION_EXACT || outer->kind == LOCATION_NAMED)
        why = "no location can be inside an exact or a named one";
    else if (!is_regex(l) && !is_regex(outer) && !str_starts(l->name, outer->name))
        why = "can never match: it does not begin with the name of the location around it";
    if (why != NULL)
        diag_error(cy->diag, pos, l->block->path, "%s", why);
    return why == NULL;
}

static bool check_alias(struct cycle_http *cy, struct location *l)
{
    struct block *b = l->block;
    if (!block_is_set(b, &http_section, "alias"))
        return true;
    struct pos pos = HTTP(b)->alias.pos;
    if (l->kind == LOCATION_NAMED) {
        diag_error(cy->diag, pos, b->path, "alias has no meaning in a named location, use root");
        return false;
    }
    if (block_is_set(b, &http_section, "root")) {
        diag_error(cy->diag, pos, b->path, "alias and root contradict each other here");
        return false;
    }
    l->whole_segments = !is_regex(l);
    return true;
}

struct lists {
    VEC(struct location *) prefixes;
    VEC(struct location *) regexes;
};

static bool duplicate(struct cycle_http *cy, const struct location *l)
{
    diag_error(cy->diag, l->block->pos, l->block->path,
               "there is a location of this kind and name already");
    return false;
}

static bool add_regex(struct cycle_http *cy, struct location *l, struct lists *lists,
                      struct pos pos)
{
    struct regex_source src = {l->name, l->kind == LOCATION_REGEX_NOCASE, pos, l->block->path};
    l->regex = regex_compile(&cy->vars, cy->arena, cy->diag, &src);
    struct location **slot = l->regex != NULL ? vec_push(&lists->regexes, cy->arena) : NULL;
    if (slot != NULL)
        *slot = l;
    return slot != NULL;
}

static bool add(struct cycle_http *cy, struct location *l, struct locations *ls,
                struct lists *lists, struct pos pos)
{
    if (is_regex(l))
        return add_regex(cy, l, lists, pos);
    if (l->kind == LOCATION_EXACT || l->kind == LOCATION_NAMED) {
        struct map *m = l->kind == LOCATION_EXACT ? &ls->exact : &ls->named;
        enum status st = map_add(m, l->name, l);
        return st == STATUS_EXISTS ? duplicate(cy, l) : st == STATUS_OK;
    }
    struct location **slot = vec_push(&lists->prefixes, cy->arena);
    if (slot != NULL)
        *slot = l;
    return slot != NULL;
}

static bool compile_one(struct cycle_http *cy, struct vhost *v, struct block *b,
                        const struct location *outer, struct locations *ls, struct lists *lists)
{
    struct arg name;
    struct location *l = ARENA_NEW(cy->arena, struct location);
    if (l == NULL)
        return false;
    l->block = b;
    l->conf = HTTP(b);
    l->vhost = v;
    if (!read_key(cy, l, &name) || !check_name(cy, l, &name) ||
        !check_outer(cy, l, outer, name.pos) || !check_alias(cy, l) ||
        !add(cy, l, ls, lists, name.pos))
        return false;
    if (b->child_count == 0)
        return true;
    l->nested = ARENA_NEW(cy->arena, struct locations);
    return l->nested != NULL && locations_compile(cy, v, b, l, l->nested);
}

static int by_name(const void *a, const void *b)
{
    const struct location *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

/* Each prefix's longest other prefix; the one before in order begins with it or leads to it. */
static bool link_prefixes(struct cycle_http *cy, struct locations *ls)
{
    bool good = true;
    if (ls->prefix_count > 1)
        qsort(ls->prefixes, ls->prefix_count, sizeof(struct location *), by_name);
    for (size_t i = 1; i < ls->prefix_count; i++) {
        struct location *l = ls->prefixes[i], *up = ls->prefixes[i - 1];
        if (str_eq(l->name, up->name)) {
            good = duplicate(cy, l->block->pos.line < up->block->pos.line ? up : l);
            continue;
        }
        while (up != NULL && !str_starts(l->name, up->name))
            up = up->parent;
        l->parent = up;
    }
    return good;
}

bool locations_compile(struct cycle_http *cy, struct vhost *v, const struct block *b,
                       const struct location *outer, struct locations *out)
{
    struct lists lists = {0};
    bool good = true;
    map_init(&out->exact, cy->arena, false);
    map_init(&out->named, cy->arena, false);
    for (size_t i = 0; i < b->child_count; i++)
        if (b->children[i]->scope == SCOPE_LOCATION)
            good = compile_one(cy, v, b->children[i], outer, out, &lists) && good;
    out->prefixes = lists.prefixes.v;
    out->prefix_count = lists.prefixes.n;
    out->regexes = lists.regexes.v;
    out->regex_count = lists.regexes.n;
    return link_prefixes(cy, out) && good;
}

static bool each_of(struct location *l, location_each_f *fn, void *arg)
{
    return fn(l, arg) && (l->nested == NULL || locations_each(l->nested, fn, arg));
}

static bool each_in_map(const struct map *m, location_each_f *fn, void *arg)
{
    for (size_t i = 0; i < m->room; i++)
        if (m->slots[i].value != NULL && !each_of(m->slots[i].value, fn, arg))
            return false;
    return true;
}

bool locations_each(const struct locations *ls, location_each_f *fn, void *arg)
{
    for (size_t i = 0; i < ls->prefix_count; i++)
        if (!each_of(ls->prefixes[i], fn, arg))
            return false;
    for (size_t i = 0; i < ls->regex_count; i++)
        if (!each_of(ls->regexes[i], fn, arg))
            return false;
    return each_in_map(&ls->exact, fn, arg) && each_in_map(&ls->named, fn, arg);
}
