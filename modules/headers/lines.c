/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines added to responses: names checked, values compiled, merged down the tree of blocks, so that
 * each location has one finished list.
 */
#include "lines.h"

#include "proto/token.h"

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

/* What is compiled at the moment. */
struct compiler {
    struct cycle_http *cy;
    struct block *b;
    const char *directive;
    const struct refused_name *refused;
};

static bool check_name(const struct compiler *c, const struct arg *name)
{
    if (!token_is_token(name->text))
        return REFUSE(c->cy, c->b, name->pos, "%s: \"" STR_FMT "\" is not the name of a header",
                      c->directive, STR_ARG(diag_excerpt(c->cy->diag, name->text)));
    for (const struct refused_name *r = c->refused; r->name != NULL; r++)
        if (str_eq_nocase(name->text, str_z(r->name)))
            return REFUSE(c->cy, c->b, name->pos, "%s: \"" STR_FMT "\" cannot be set here, %s",
                          c->directive, STR_ARG(name->text), r->hint);
    return true;
}

static bool clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!token_is_value_byte((unsigned char)s.p[i]))
            return false;
    return true;
}

static bool compile_line(const struct compiler *c, const struct args *in, struct added_line *line)
{
    struct cycle_http *cy = c->cy;
    const struct arg *value = &in->v[1];
    if (!check_name(c, &in->v[0]))
        return false;
    if (!clean(value->text))
        return REFUSE(cy, c->b, value->pos, "%s: a control byte in the value", c->directive);
    line->name = in->v[0].text;
    line->empty = value->text.n == 0;
    line->always = in->n > 2;
    if (line->always && !str_eq(in->v[2].text, STR("always")))
        return REFUSE(cy, c->b, in->v[2].pos,
                      "%s: \"" STR_FMT "\" is not valid, expected always; a value with blanks goes "
                      "into quotes", c->directive, STR_ARG(diag_excerpt(cy->diag, in->v[2].text)));
    return template_compile(&line->value, &cy->vars, cy->arena, cy->diag, value->pos, c->b->path,
                            value->text);
}

/* Last-Modified and ETag of a file are not lines: an empty value must be kept to take them away. */
static bool is_validator(struct str name)
{
    return str_eq_nocase(name, STR("last-modified")) || str_eq_nocase(name, STR("etag"));
}

static bool names_it(const struct added_line *lines, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(lines[i].name, name))
            return true;
    return false;
}

/* The parent's lines of names that this block does not mention, then its own. */
static bool merge(struct arena *a, const struct added_lines *above, const struct added_line *own,
                  size_t n, struct added_lines *to)
{
    size_t room = n + (above != NULL ? above->count : 0);
    *to = (struct added_lines){.v = arena_array(a, room, sizeof(*to->v)), .constant = true};
    if (to->v == NULL)
        return false;
    for (size_t i = 0; above != NULL && i < above->count; i++)
        if (!names_it(own, n, above->v[i].name))
            to->v[to->count++] = above->v[i];
    for (size_t i = 0; i < n; i++)
        if (!own[i].empty || is_validator(own[i].name))
            to->v[to->count++] = own[i];
    for (size_t i = 0; i < to->count; i++)
        to->constant = to->constant && to->v[i].value.constant;
    return true;
}

bool lines_freeze(struct cycle_http *cy, struct block *b, const char *directive,
                  const struct instances *in, const struct refused_name *refused,
                  const struct added_lines *above, struct added_lines *to)
{
    const struct compiler c = {cy, b, directive, refused};
    if (in->n == 0) {
        *to = above != NULL ? *above : (struct added_lines){.constant = true};
        return true;
    }
    struct added_line *own = arena_array(cy->arena, in->n, sizeof(*own));
    bool good = own != NULL;
    for (size_t i = 0; i < in->n && own != NULL; i++)
        good = compile_line(&c, &in->v[i], &own[i]) && good;
    return good && merge(cy->arena, above, own, in->n, to);
}

bool lines_good_status(unsigned status)
{
    switch (status) {
    case 200: case 201: case 204: case 206:
    case 301: case 302: case 303: case 304: case 307: case 308:
        return true;
    default:
        return false;
    }
}
