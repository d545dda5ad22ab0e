/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice of a server: exact name, longest leading wildcard, longest trailing wildcard, first regex
 * in file order, else the default of the address.  A wildcard covers whole labels, so the tables
 * are asked once per dot of the host, never once per server.
 */
#include "http/vhost.h"

#include "core/vec.h"
#include "http/regex.h"
#include "http/request.h"

#include <unistd.h>

/* ---- search ---- */

static struct vhost *find_wildcard(const struct sites *s, struct str host)
{
    for (size_t i = 1; i < host.n; i++) { /* the longest suffix first; no label is empty */
        struct vhost *v = host.p[i] == '.' ? map_get(&s->leading, str_skip(host, i)) : NULL;
        if (v != NULL)
            return v;
    }
    for (size_t n = host.n; n > 1; n--) { /* the longest prefix first, its dot included */
        struct vhost *v =
            host.p[n - 1] == '.' && n < host.n ? map_get(&s->trailing, str_head(host, n)) : NULL;
        if (v != NULL)
            return v;
    }
    return NULL;
}

struct vhost *sites_find(const struct sites *s, struct str host, struct request *r)
{
    struct vhost *v = map_get(&s->exact, host);
    if (v == NULL && s->has_wildcards)
        v = find_wildcard(s, host);
    for (size_t i = 0; v == NULL && i < s->regex_count; i++) {
        enum regex_result m = regex_match(s->regexes[i].regex, host, r);
        if (m == REGEX_YES)
            v = s->regexes[i].vhost;
        else if (m == REGEX_FAILED && r != NULL)
            r->match_failed = true;
    }
    return v != NULL ? v : s->dflt;
}

/* ---- names ---- */

static bool bad(struct cycle_http *cy, const struct vhost *v, const struct arg *arg,
                const char *why)
{
    diag_error(cy->diag, arg->pos, v->block->path, "server_name: \"" STR_FMT "\": %s",
               STR_ARG(arg->text), why);
    return false;
}

static const char *fault_of(struct str s)
{
    bool label = false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x80)
            return "write international names in their ASCII form (xn--...)";
        if (c == '/' || c == '@' || c <= ' ' || c == 0x7f)
            return "expected a host name, without scheme, path and blanks";
        if (c == ':')
            return "expected a host name without port; the port belongs into listen";
        if (c == '*')
            return "a \"*\" stands for whole labels at the beginning or at the end only, as in "
                   "*.example.org or www.*";
        if (c == '.' && !label)
            return "a label between two dots is empty";
        label = c != '.';
    }
    return NULL;
}

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_strz(a, s);
    for (size_t i = 0; p != NULL && i < s.n; i++)
        p[i] = (char)ascii_lower((unsigned char)p[i]);
    return p != NULL ? str_make(p, s.n) : STR_NONE;
}

typedef VEC(struct server_name) name_list;

static bool push(struct cycle_http *cy, name_list *list, enum server_name_kind kind,
                 struct str text, struct regex *regex, struct pos pos)
{
    struct server_name *n = vec_push(list, cy->arena);
    if (n != NULL)
        *n = (struct server_name){kind, text, regex, pos};
    return n != NULL;
}

static bool push_regex(struct cycle_http *cy, const struct vhost *v, name_list *list,
                       const struct arg *arg)
{
    struct regex_source src = {str_skip(arg->text, 1), true, arg->pos, v->block->path};
    if (src.pattern.n == 0)
        return bad(cy, v, arg, "expected a regular expression behind \"~\"");
    struct regex *re = regex_compile(&cy->vars, cy->arena, cy->diag, &src);
    return re != NULL && push(cy, list, SERVER_NAME_REGEX, arg->text, re, arg->pos);
}

/* "[::1]": what a client sends that was given an address. */
static bool is_v6_literal(struct str s)
{
    struct addr a;
    return s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']' &&
           addr_from_ip(&a, str_between(s.p + 1, s.p + s.n - 1), 0);
}

static bool push_plain(struct cycle_http *cy, const struct vhost *v, name_list *list,
                       const struct arg *arg, struct str text)
{
    enum server_name_kind kind = SERVER_NAME_EXACT;
    struct str rest = text;
    bool dot = false;
    if (is_v6_literal(text))
        return push(cy, list, kind, text, NULL, arg->pos);
    if (str_starts(text, STR("*."))) {
        kind = SERVER_NAME_LEADING;
        text = str_skip(text, 1);
        rest = str_skip(text, 1);
    } else if (text.n > 2 && str_ends(text, STR(".*"))) {
        kind = SERVER_NAME_TRAILING;
        text = str_head(text, text.n - 1);
        rest = str_head(text, text.n - 1);
    } else if (text.n > 1 && text.p[0] == '.') { /* .example.org: itself and all below it */
        dot = true;
        rest = str_skip(text, 1);
    }
    if (rest.n == 0 && kind != SERVER_NAME_EXACT)
        return bad(cy, v, arg, "expected a name beside the \"*\"");
    const char *why = fault_of(rest);
    if (why != NULL)
        return bad(cy, v, arg, why);
    if (dot)
        return push(cy, list, SERVER_NAME_EXACT, rest, NULL, arg->pos) &&
               push(cy, list, SERVER_NAME_LEADING, text, NULL, arg->pos);
    return push(cy, list, kind, text, NULL, arg->pos);
}

static bool read_name(struct cycle_http *cy, const struct vhost *v, name_list *list,
                      const struct arg *arg)
{
    if (arg->text.n != 0 && arg->text.p[0] == '~')
        return push_regex(cy, v, list, arg);
    struct str text = lower(cy->arena, arg->text);
    if (str_eq(text, STR("$hostname"))) {
        char host[256] = "";
        if (gethostname(host, sizeof(host) - 1) != 0)
            return bad(cy, v, arg, "this host has no name");
        text = lower(cy->arena, str_z(host));
    }
    if (text.n > 1 && text.p[text.n - 1] == '.') /* as it is taken off the Host field */
        text.n--;
    return text.p != NULL && push_plain(cy, v, list, arg, text);
}

bool vhost_names_compile(struct cycle_http *cy, struct vhost *v)
{
    const struct instances *in = &v->conf->server_name;
    name_list list = {0};
    bool good = true;
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->v[i].n; k++)
            good = read_name(cy, v, &list, &in->v[i].v[k]) && good;
    v->name = STR("");
    if (list.n != 0 && list.v[0].kind == SERVER_NAME_EXACT)
        v->name = list.v[0].text;
    else if (list.n != 0 && list.v[0].kind == SERVER_NAME_REGEX)
        v->name = in->v[0].v[0].text;
    else if (list.n != 0)
        v->name = lower(cy->arena, in->v[0].v[0].text);
    /* Without a name it is for requests that name no host. */
    if (list.n == 0 && good)
        good = push(cy, &list, SERVER_NAME_EXACT, STR(""), NULL, v->block->pos);
    v->names = list.v;
    v->name_count = list.n;
    return good;
}

/* ---- tables ---- */

struct tables {
    struct cycle_http *cy;
    const char *address;
    struct sites *sites;
    size_t room;
};

static bool add_name(struct tables *t, struct vhost *v, const struct server_name *n)
{
    struct sites *s = t->sites;
    if (n->kind == SERVER_NAME_REGEX) {
        s->regexes[s->regex_count++] = (struct vhost_regex){n->regex, v};
        return true;
    }
    struct map *m = n->kind == SERVER_NAME_LEADING    ? &s->leading
                    : n->kind == SERVER_NAME_TRAILING ? &s->trailing
                                                      : &s->exact;
    s->has_wildcards = s->has_wildcards || n->kind != SERVER_NAME_EXACT;
    enum status st = map_add(m, n->text, v);
    if (st == STATUS_EXISTS && map_get(m, n->text) != v)
        diag_warn(t->cy->diag, n->pos, v->block->path,
                  n->text.n == 0 ? "server_name: another server without a name has %s already, "
                                   "this one is never chosen by name"
                                 : "server_name: an earlier server has this name on %s already, "
                                   "it is ignored here",
                  t->address);
    return st == STATUS_OK || st == STATUS_EXISTS;
}

struct sites *sites_compile(struct cycle_http *cy, const char *address,
                            struct vhost *const *vhosts, size_t count, struct vhost *dflt)
{
    struct tables t = {.cy = cy, .address = address};
    struct sites *s = t.sites = ARENA_NEW(cy->arena, struct sites);
    size_t regexes = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < vhosts[i]->name_count; k++)
            regexes += vhosts[i]->names[k].kind == SERVER_NAME_REGEX;
    if (s == NULL)
        return NULL;
    map_init(&s->exact, cy->arena, false);
    map_init(&s->leading, cy->arena, false);
    map_init(&s->trailing, cy->arena, false);
    s->dflt = dflt;
    s->regexes = arena_array(cy->arena, regexes, sizeof(*s->regexes));
    if (s->regexes == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < vhosts[i]->name_count; k++)
            if (!add_name(&t, vhosts[i], &vhosts[i]->names[k]))
                return NULL;
    return s;
}
