/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map: {"$source $variable": {default: …, hostnames: , word: …, ~regex: …}}.  Words are compared
 * without case, then come wildcards (with `hostnames`), then regexes in order, then the default,
 * else the value is empty.  Values are looked up anew each time they are asked for, so nginx's
 * `volatile` is what always happens.  Groups $1… of a regex here are seen by its own value only.
 */
#include "http/map.h"

#include "conf/args.h"
#include "core/vec.h"
#include "http/regex.h"
#include "http/request.h"

struct map_entry {
    struct template value;
    struct regex *regex;         /* NULL: a word */
    const struct node_entry *source;
};

enum visit { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

struct http_map {
    struct var var;
    struct template source;
    bool hostnames;
    size_t index;                /* among the maps of the configuration */
    struct map exact, leading, trailing;
    struct map_entry *entries;
    size_t count;
    struct map_entry **regexes;
    size_t regex_count;
    const struct template *dflt; /* NULL: empty */
    const struct keyed_entry *conf;
};

/* ---- in a request ---- */

static const struct map_entry *find_host(const struct http_map *m, struct str host)
{
    for (size_t i = 1; i < host.n; i++) {
        const struct map_entry *e =
            host.p[i] == '.' ? map_get(&m->leading, str_skip(host, i)) : NULL;
        if (e != NULL)
            return e;
    }
    for (size_t n = host.n; n > 1; n--) {
        const struct map_entry *e =
            host.p[n - 1] == '.' && n < host.n ? map_get(&m->trailing, str_head(host, n)) : NULL;
        if (e != NULL)
            return e;
    }
    return NULL;
}

static const struct template *find(const struct http_map *m, struct str value, struct request *r)
{
    if (m->hostnames && value.n > 1 && value.p[value.n - 1] == '.')
        value.n--;
    const struct map_entry *e = map_get(&m->exact, value);
    if (e == NULL && m->hostnames)
        e = find_host(m, value);
    if (e != NULL)
        return &e->value;
    for (size_t i = 0; i < m->regex_count; i++)
        if (regex_match(m->regexes[i]->regex, value, r) == REGEX_YES)
            return &m->regexes[i]->value;
    return m->dflt;
}

static bool get_mapped(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    const struct http_map *m = v->data;
    struct str captures[REQUEST_CAPTURES];
    uint8_t count = r->capture_count;
    (void)arg;
    memcpy(captures, r->captures, sizeof(captures));
    const struct template *t = find(m, template_eval(&m->source, r), r);
    *out = t != NULL ? template_eval(t, r) : STR("");
    memcpy(r->captures, captures, sizeof(captures));
    r->capture_count = count;
    return true;
}

/* ---- at load ---- */

static struct str entry_path(struct cycle_http *cy, struct str key)
{
    struct place at = PLACE(cy->http->path, STR("map"));
    at.key = key;
    return place_text(cy->arena, &at);
}

static bool add_word(struct cycle_http *cy, struct map_entry *e, struct map *to, struct str word)
{
    enum status st = map_add(to, word, e);
    if (st == STATUS_EXISTS)
        diag_error(cy->diag, e->source->key_pos, entry_path(cy, e->source->key),
                   "stands here twice (words are compared without case)");
    return st == STATUS_OK;
}

static bool add_host(struct cycle_http *cy, struct http_map *m, struct map_entry *e,
                     struct str word)
{
    if (str_starts(word, STR("*.")))
        return add_word(cy, e, &m->leading, str_skip(word, 1));
    if (word.n > 2 && str_ends(word, STR(".*")))
        return add_word(cy, e, &m->trailing, str_head(word, word.n - 1));
    if (word.n > 1 && word.p[0] == '.')
        return add_word(cy, e, &m->exact, str_skip(word, 1)) && add_word(cy, e, &m->leading, word);
    return add_word(cy, e, &m->exact, word);
}

static bool add_regex(struct cycle_http *cy, struct http_map *m, struct map_entry *e,
                      struct str key)
{
    bool nocase = key.n > 1 && key.p[1] == '*';
    struct regex_source src = {str_skip(key, nocase ? 2 : 1), nocase, e->source->key_pos,
                               entry_path(cy, key)};
    e->regex = regex_compile(&cy->vars, cy->arena, cy->diag, &src);
    m->regexes[m->regex_count++] = e;
    return e->regex != NULL;
}

/* The two words that take no value. */
static bool is_flag(struct str key)
{
    return str_eq(key, STR("hostnames")) || str_eq(key, STR("volatile"));
}

static bool add_entry(struct cycle_http *cy, struct http_map *m, const struct node_entry *n)
{
    struct str key = n->key;
    bool null = n->value->kind == NODE_NULL;
    if (is_flag(key) && null)
        return true;
    if (str_eq(key, STR("include"))) {
        diag_error(cy->diag, n->key_pos, entry_path(cy, key),
                   "a map cannot include; write \\include for the word itself");
        return false;
    }
    if (n->value->kind != NODE_SCALAR && !null) {
        diag_error(cy->diag, n->value->pos, entry_path(cy, key), "expected a value, found %s",
                   node_kind_text(n->value->kind));
        return false;
    }
    struct map_entry *e = &m->entries[m->count++];
    e->source = n;
    if (str_eq(key, STR("default"))) {
        m->dflt = &e->value;
        return true;
    }
    if (key.n != 0 && key.p[0] == '~')
        return add_regex(cy, m, e, key);
    if (key.n != 0 && key.p[0] == '\\')
        key = str_skip(key, 1);
    return m->hostnames ? add_host(cy, m, e, key) : add_word(cy, e, &m->exact, key);
}

static bool check_entry(struct cycle_http *cy, const struct keyed_entry *k)
{
    const char *why = NULL;
    if (k->key.n != 2)
        why = "expected a source and a variable in the key, as in \"$host $name\"";
    else if (k->key.v[1].text.n < 2 || k->key.v[1].text.p[0] != '$')
        why = "expected a variable to define as the second word of the key, as $name";
    else if (k->node->kind != NODE_MAP)
        why = "expected a map of values";
    if (why != NULL)
        diag_error(cy->diag, k->pos, cy->http->path, "map: %s", why);
    return why == NULL;
}

static struct http_map *new_map(struct cycle_http *cy, const struct keyed_entry *k)
{
    struct arena *a = cy->arena;
    struct http_map *m = ARENA_NEW(a, struct http_map);
    if (m == NULL)
        return NULL;
    map_init(&m->exact, a, true);
    map_init(&m->leading, a, true);
    map_init(&m->trailing, a, true);
    m->conf = k;
    m->entries = arena_array(a, k->node->count, sizeof(*m->entries));
    m->regexes = arena_array(a, k->node->count, sizeof(*m->regexes));
    m->var = (struct var){.name = arena_strz(a, str_skip(k->key.v[1].text, 1)),
                          .get = get_mapped, .data = m};
    return m->entries != NULL && m->regexes != NULL && m->var.name != NULL ? m : NULL;
}

static bool define(struct cycle_http *cy, const struct keyed_entry *k)
{
    if (!check_entry(cy, k))
        return false;
    struct http_map *m = new_map(cy, k);
    if (m == NULL)
        return false;
    if (!vars_define(&cy->vars, &m->var)) {
        diag_error(cy->diag, k->key.v[1].pos, cy->http->path,
                   "map: $%s cannot be defined: the name is taken, or not made of a-z, 0-9 and _",
                   m->var.name);
        return false;
    }
    const struct node *hostnames = node_get(k->node, STR("hostnames"));
    m->hostnames = hostnames != NULL && hostnames->kind == NODE_NULL;
    bool good = true;
    for (size_t i = 0; i < k->node->count; i++)
        good = add_entry(cy, m, &k->node->entries[i]) && good;
    return good;
}

bool maps_define(struct cycle_http *cy)
{
    const struct keyed *maps = &HTTP(cy->http)->map;
    bool good = true;
    for (size_t i = 0; i < maps->n; i++)
        good = define(cy, &maps->v[i]) && good;
    return good;
}

static bool compile_value(struct cycle_http *cy, struct map_entry *e)
{
    const struct node *n = e->source->value;
    struct str text = n->kind == NODE_SCALAR ? n->text : STR("");
    return template_compile(&e->value, &cy->vars, cy->arena, cy->diag, n->pos,
                            entry_path(cy, e->source->key), text);
}

/* The map that a row of the configuration has defined, NULL if it could not be. */
static struct http_map *map_of(const struct cycle_http *cy, const struct keyed_entry *k)
{
    struct str name = k->key.n == 2 ? str_skip(k->key.v[1].text, 1) : STR_NONE;
    struct var *v = map_get(&cy->vars.exact, name);
    if (v == NULL || v->get != get_mapped)
        return NULL;
    struct http_map *m = container_of(v, struct http_map, var);
    return m->conf == k ? m : NULL;
}

static bool compile(struct cycle_http *cy, struct http_map *m)
{
    const struct arg *source = &m->conf->key.v[0];
    bool good = template_compile(&m->source, &cy->vars, cy->arena, cy->diag, source->pos,
                                 cy->http->path, source->text);
    bool constant = m->source.constant;
    for (size_t i = 0; i < m->count; i++) {
        good = compile_value(cy, &m->entries[i]) && good;
        constant = constant && m->entries[i].value.constant;
    }
    m->var.constant = good && constant;
    return good;
}

/* Search for maps that lead back to themselves; visits has one element for each map. */
static bool leads_back(const struct http_map *m, enum visit *visits);

static bool template_leads_back(const struct template *t, enum visit *visits)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct var *v = t->parts[i].var.var;
        if (v != NULL && v->get == get_mapped && leads_back(v->data, visits))
            return true;
    }
    return false;
}

static bool leads_back(const struct http_map *m, enum visit *visits)
{
    if (visits[m->index] != VISIT_NEW)
        return visits[m->index] == VISIT_OPEN;
    visits[m->index] = VISIT_OPEN;
    bool back = template_leads_back(&m->source, visits);
    for (size_t i = 0; i < m->count && !back; i++)
        back = template_leads_back(&m->entries[i].value, visits);
    visits[m->index] = VISIT_DONE;
    return back;
}

bool maps_compile(struct cycle_http *cy)
{
    const struct keyed *maps = &HTTP(cy->http)->map;
    enum visit *visits = arena_array(cy->arena, maps->n, sizeof(*visits));
    bool good = visits != NULL;
    for (size_t i = 0; i < maps->n; i++) {
        struct http_map *m = map_of(cy, &maps->v[i]);
        if (m != NULL)
            m->index = i;
        good = m != NULL && compile(cy, m) && good;
    }
    for (size_t i = 0; i < maps->n && good; i++) {
        const struct http_map *m = map_of(cy, &maps->v[i]);
        if (!leads_back(m, visits))
            continue;
        diag_error(cy->diag, maps->v[i].pos, cy->http->path,
                   "map: the value of $%s depends on itself", m->var.name);
        good = false;
    }
    return good;
}
