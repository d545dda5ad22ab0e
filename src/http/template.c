/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Templates.  A text is cut into literal pieces and variables once; evaluation asks each variable
 * once, adds up the lengths of what came back and copies: nothing is computed twice, so a length
 * cannot go stale.
 */
#include "http/template.h"

#include "core/vec.h"
#include "http/request.h"
#include "proto/escape.h"

#define PARTS_ON_STACK 16

struct compiler {
    const struct vars *vs;
    struct arena *a;
    struct diag *d;
    struct pos pos;
    struct str path;
    struct str text;
    VEC(struct template_part) parts;
};

static bool name_byte(char c)
{
    unsigned char l = ascii_lower((unsigned char)c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name behind the '$' at text[at]; *end is behind all of it. Empty: there is none. */
static struct str take_name(struct str text, size_t at, size_t *end)
{
    bool brace = at + 1 < text.n && text.p[at + 1] == '{';
    size_t from = at + 1 + brace, to = from;
    bool digit = from < text.n && text.p[from] >= '0' && text.p[from] <= '9';
    while (to < text.n && name_byte(text.p[to]) && !(digit && !brace && to > from))
        to++; /* "$10" is $1 and a zero, as in nginx */
    *end = to;
    if (brace && (to == text.n || text.p[to] != '}'))
        return STR_NONE;
    *end += brace;
    return str_between(text.p + from, text.p + to);
}

static bool no_name(const struct compiler *c, size_t at)
{
    diag_error(c->d, c->pos, c->path,
               "\"" STR_FMT "\": no name of a variable follows the \"$\" at offset %zu",
               STR_ARG(diag_excerpt(c->d, c->text)), at);
    return false;
}

static bool unknown(const struct compiler *c, struct str name)
{
    const char *near = vars_suggest(c->vs, name);
    if (near != NULL)
        diag_error(c->d, c->pos, c->path, "unknown variable $" STR_FMT ", did you mean $%s?",
                   STR_ARG(diag_excerpt(c->d, name)), near);
    else
        diag_error(c->d, c->pos, c->path, "unknown variable $" STR_FMT,
                   STR_ARG(diag_excerpt(c->d, name)));
    return false;
}

static bool add_literal(struct compiler *c, size_t from, size_t to)
{
    if (from == to)
        return true;
    struct template_part *p = vec_push(&c->parts, c->a);
    if (p == NULL)
        return false;
    p->literal = arena_str(c->a, str_between(c->text.p + from, c->text.p + to));
    return p->literal.p != NULL;
}

static bool add_variable(struct compiler *c, struct str name)
{
    struct var_ref ref;
    if (!vars_find(c->vs, name, &ref))
        return unknown(c, name);
    struct template_part *p = vec_push(&c->parts, c->a);
    if (p == NULL)
        return false;
    if (ref.arg.n != 0)
        ref.arg = arena_str(c->a, ref.arg); /* a view of the text until now */
    p->var = ref;
    return ref.arg.n == 0 || ref.arg.p != NULL;
}

bool template_compile(struct template *t, const struct vars *vs, struct arena *a, struct diag *d,
                      struct pos pos, struct str path, struct str text)
{
    struct compiler c = {.vs = vs, .a = a, .d = d, .pos = pos, .path = path, .text = text};
    size_t literal = 0, at = 0;
    bool good = true;
    while (at < text.n) {
        if (text.p[at] != '$') {
            at++;
            continue;
        }
        size_t end;
        struct str name = take_name(text, at, &end);
        good = name.n == 0 ? no_name(&c, at)
                           : add_literal(&c, literal, at) && add_variable(&c, name) && good;
        if (!good && (arena_overflowed(a) || name.n == 0))
            return false;
        literal = at = end;
    }
    if (!good || !add_literal(&c, literal, text.n))
        return false;
    *t = (struct template){.parts = c.parts.v, .count = c.parts.n, .constant = true,
                           .literal = true};
    for (size_t i = 0; i < t->count; i++) {
        const struct var *v = t->parts[i].var.var;
        t->literal = t->literal && v == NULL;
        t->constant = t->constant && (v == NULL || v->constant);
    }
    return true;
}

static struct str part_value(const struct template_part *p, struct request *r)
{
    struct str value = STR_NONE;
    if (p->var.var == NULL)
        return p->literal;
    return var_value(r, &p->var, &value) ? value : STR_NONE;
}

struct str template_eval(const struct template *t, struct request *r)
{
    struct str few[PARTS_ON_STACK];
    if (t->count == 0)
        return STR("");
    if (t->count == 1)
        return part_value(&t->parts[0], r);
    struct str *values =
        t->count <= PARTS_ON_STACK ? few : arena_array(&r->mem, t->count, sizeof(*values));
    if (values == NULL)
        return STR_NONE;
    for (size_t i = 0; i < t->count; i++)
        values[i] = part_value(&t->parts[i], r);
    return arena_cat(&r->mem, values, t->count);
}

void template_write(const struct template *t, struct request *r, struct wbuf *w,
                    enum template_escape escape, struct str absent)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct template_part *p = &t->parts[i];
        struct str value;
        if (p->var.var == NULL)
            wbuf_str(w, p->literal);
        else if (!var_value(r, &p->var, &value))
            wbuf_str(w, absent);
        else if (escape == TEMPLATE_LOG)
            escape_log(w, value);
        else if (escape == TEMPLATE_JSON)
            escape_json(w, value);
        else
            wbuf_str(w, value);
    }
}
