/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The derived part of struct http_conf.  A block that inherits a value inherits what was made of
 * it too: an inherited field points to the very arguments of the enclosing block, which tells the
 * two apart without asking for the directive by name, and reports each fault once.
 */
#include "http/http_freeze.h"

#include "conf/bind.h"
#include "conf/value.h"
#include "http/errors.h"
#include "http/location.h"
#include "http/media_types.h"
#include "proto/token.h"

#include <errno.h>
#include <sys/stat.h>

struct freezer {
    struct cycle_http *cy;
    struct block *b;
    struct http_conf *conf;
    const struct http_conf *up;   /* of the enclosing block, NULL in http */
};

#define INHERITED(f, field) ((f)->up != NULL && (f)->conf->field.v == (f)->up->field.v)
#define INHERITED_ARG(f, field) \
    ((f)->up != NULL && (f)->conf->field.text.p == (f)->up->field.text.p)

static bool bad(const struct freezer *f, const struct arg *arg, const char *name,
                const char *expected)
{
    diag_error(f->cy->diag, arg->pos, f->b->path, "%s: \"" STR_FMT "\" is not valid, expected %s",
               name, STR_ARG(diag_excerpt(f->cy->diag, arg->text)), expected);
    return false;
}

/* ---- root and alias ---- */

static struct str without_slash(struct str s)
{
    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

/* What is at a literal path now, 0 for nothing; that is worth a warning, no more. */
static mode_t look_at(const struct freezer *f, const struct arg *arg, const char *path,
                      const char *name)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return st.st_mode;
    if (arg->pos.file != NULL) /* the built-in default is nobody's mistake */
        diag_warn(f->cy->diag, arg->pos, f->b->path, "%s: \"%s\" cannot be reached: %s", name, path,
                  strerror(errno));
    return 0;
}

/* Variables that are made of root and alias themselves. */
static bool check_variables(const struct freezer *f, const struct arg *arg, const char *name,
                            const struct template *t)
{
    static const char *const own[] = {"document_root", "realpath_root", "request_filename"};
    for (size_t i = 0; i < t->count; i++) {
        const struct var *v = t->parts[i].var.var;
        for (size_t k = 0; v != NULL && k < ARRAY_LEN(own); k++) {
            if (strcmp(v->name, own[k]) != 0)
                continue;
            diag_error(f->cy->diag, arg->pos, f->b->path, "%s: $%s is made of %s itself", name,
                       own[k], name);
            return false;
        }
    }
    return true;
}

/* Puts the prefix in front of a template that does not begin with "/" or a variable. */
static bool prepend_prefix(struct cycle_http *cy, struct template *t)
{
    struct template_part *parts = arena_array(cy->arena, t->count + 1, sizeof(*parts));
    if (parts == NULL)
        return false;
    parts[0].literal = conf_path(cy->arena, cy->prefix, STR(""));
    memcpy(parts + 1, t->parts, t->count * sizeof(*parts));
    t->parts = parts;
    t->count++;
    return parts[0].literal.p != NULL;
}

/* A literal path goes to *path, absolute; one with variables to *t, *path is empty then. */
static bool compile_path(const struct freezer *f, const struct arg *arg, const char *name,
                         struct template *t, struct str *path)
{
    struct cycle_http *cy = f->cy;
    struct str text = arg->text;
    *path = STR_NONE;
    if (text.n == 0)
        return bad(f, arg, name, "a path");
    if (!template_compile(t, &cy->vars, cy->arena, cy->diag, arg->pos, f->b->path, text))
        return false;
    if (t->literal) {
        *path = conf_path(cy->arena, cy->prefix, text);
        return path->p != NULL;
    }
    return check_variables(f, arg, name, t) &&
           (text.p[0] == '/' || text.p[0] == '$' || prepend_prefix(cy, t));
}

static bool freeze_root(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    if (f->up != NULL && !block_is_set(f->b, &http_section, "root")) {
        c->root = f->up->root;
        c->root_t = f->up->root_t;
        c->root_path = f->up->root_path;
        return true;
    }
    if (!compile_path(f, &c->root, "root", &c->root_t, &c->root_path))
        return false;
    if (c->root_path.n != 0)
        (void)look_at(f, &c->root, c->root_path.p, "root");
    c->root_path = without_slash(c->root_path);
    return true;
}

static bool own_alias(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    enum location_kind kind;
    mode_t now = 0;
    if (!location_key(f->b, &kind, &c->alias_name))
        return true; /* reported by location.c */
    if (!compile_path(f, &c->alias, "alias", &c->alias_t, &c->alias_path))
        return false;
    c->alias_whole = kind == LOCATION_REGEX || kind == LOCATION_REGEX_NOCASE;
    if (c->alias_path.n != 0)
        now = look_at(f, &c->alias, c->alias_path.p, "alias");
    if (c->alias_path.n != 0) /* what is not there yet may become a file */
        c->alias_file = !str_ends(c->alias_path, STR("/")) && !S_ISDIR(now);
    else
        c->alias_file = kind == LOCATION_EXACT && !str_ends(c->alias_name, STR("/"));
    c->alias_path = without_slash(c->alias_path);
    return true;
}

static bool freeze_alias(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    if (block_is_set(f->b, &http_section, "alias"))
        return own_alias(f);
    if (f->up == NULL || block_is_set(f->b, &http_section, "root")) {
        c->alias.text = STR_NONE;
        return true;
    }
    c->alias = f->up->alias;
    c->alias_t = f->up->alias_t;
    c->alias_path = f->up->alias_path;
    c->alias_name = f->up->alias_name;
    c->alias_file = f->up->alias_file;
    c->alias_whole = f->up->alias_whole;
    return true;
}

/* ---- media types ---- */

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_strz(a, s);
    for (size_t i = 0; p != NULL && i < s.n; i++)
        p[i] = (char)ascii_lower((unsigned char)p[i]);
    return p != NULL ? str_make(p, s.n) : STR_NONE;
}

static bool add_extension(const struct freezer *f, struct map *own, struct map *all,
                          const struct arg *arg, struct str *type)
{
    struct arena *a = f->cy->arena;
    if (arg->text.n == 0 || str_chr(arg->text, '.') >= 0 || str_chr(arg->text, '/') >= 0)
        return bad(f, arg, "types", "an extension: what stands behind the last dot of a name");
    struct str ext = lower(a, arg->text);
    const struct str *before = map_get(own, ext);
    if (before != NULL && !str_eq(*before, *type))
        diag_warn(f->cy->diag, arg->pos, f->b->path,
                  "types: the extension \"" STR_FMT "\" is " STR_FMT " above, now " STR_FMT,
                  STR_ARG(ext), STR_ARG(*before), STR_ARG(*type));
    return ext.p != NULL && map_set(own, ext, type) == STATUS_OK &&
           map_set(all, ext, type) == STATUS_OK;
}

static bool add_type(const struct freezer *f, struct map *own, struct map *all,
                     const struct keyed_entry *e)
{
    struct arg key = {e->key.v[0].text, e->pos};
    if (e->key.n != 1 || !media_types_is_type(key.text))
        return bad(f, &key, "types", "a media type, as text/html");
    if (e->node->kind == NODE_MAP) {
        diag_error(f->cy->diag, e->pos, f->b->path, "types: expected extensions, found a map");
        return false;
    }
    struct str *type = ARENA_NEW(f->cy->arena, struct str);
    if (type == NULL)
        return false;
    *type = lower(f->cy->arena, key.text);
    bool good = type->p != NULL;
    for (size_t i = 0; i < e->values.n; i++)
        for (size_t k = 0; k < e->values.v[i].n; k++)
            good = add_extension(f, own, all, &e->values.v[i].v[k], type) && good;
    return good;
}

static bool freeze_types(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    struct arena *a = f->cy->arena;
    struct map own;
    if (c->types.n == 0 || INHERITED(f, types)) {
        c->types_map = f->up != NULL ? f->up->types_map : NULL;
        return true;
    }
    c->types_map = ARENA_NEW(a, struct http_types);
    if (c->types_map == NULL)
        return false;
    struct map *all = &c->types_map->by_extension;
    map_init(&own, a, false);
    map_init(all, a, false);
    if (f->up != NULL && f->up->types_map != NULL) {
        const struct map *m = &f->up->types_map->by_extension;
        for (size_t i = 0; i < m->room; i++)
            if (m->slots[i].value != NULL &&
                map_set(all, m->slots[i].key, m->slots[i].value) != STATUS_OK)
                return false;
    }
    bool good = true;
    for (size_t i = 0; i < c->types.n; i++)
        good = add_type(f, &own, all, &c->types.v[i]) && good;
    return good;
}

static bool freeze_default_type(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    c->default_type_s = c->default_type.text;
    if (c->default_type.text.n == 0 || INHERITED_ARG(f, default_type))
        return true; /* empty: no Content-Type */
    ssize_t semicolon = str_chr(c->default_type.text, ';');
    struct str type = semicolon < 0 ? c->default_type.text
                                    : str_head(c->default_type.text, (size_t)semicolon);
    if (!media_types_is_type(str_trim(type)))
        return bad(f, &c->default_type, "default_type", "a media type, as text/plain");
    return true;
}

static bool freeze_charset(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    bool off = str_eq(c->charset.text, STR("off"));
    c->charset_s = off ? STR_NONE : c->charset.text;
    if (!off && !INHERITED_ARG(f, charset) && !token_is_token(c->charset.text))
        return bad(f, &c->charset, "charset", "the name of a character set, or off");
    if (INHERITED(f, charset_types)) {
        c->charset_for = f->up->charset_for;
        return true;
    }
    c->charset_for = ARENA_NEW(f->cy->arena, struct media_types);
    return c->charset_for != NULL && media_types_compile(c->charset_for, f->cy, f->b,
                                                         "charset_types", &c->charset_types);
}

struct str http_charset(const struct http_conf *conf, struct str media_type)
{
    if (conf->charset_s.n == 0 || str_find(media_type, STR("charset=")) >= 0 ||
        !media_types_has(conf->charset_for, media_type))
        return STR_NONE;
    return conf->charset_s;
}

/* ---- cache ---- */

static const char *const links_words[] = {"off", "on", "if_not_owner", "beneath", NULL};

static bool cache_option(const struct freezer *f, const struct arg *arg)
{
    struct http_conf *c = f->conf;
    struct str value;
    const char *why = NULL;
    int64_t v;
    if (value_option(arg->text, STR("max"), &value)) {
        if (!value_int(value, &v, &why) || v < 1 || v > 100000000)
            return bad(f, arg, "open_file_cache", "max= and a number from 1 to 100000000");
        c->cache_max = (uint32_t)v;
        return true;
    }
    if (value_option(arg->text, STR("inactive"), &value)) {
        if (!value_time(value, &v, &why) || v < 1)
            return bad(f, arg, "open_file_cache", "inactive= and a time");
        c->cache_inactive_ms = v;
        return true;
    }
    return bad(f, arg, "open_file_cache", "max=N, inactive=TIME or off");
}

/* What lies above the root is never looked at, so from= can only say that. */
static bool freeze_links(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    const struct args *args = &c->disable_symlinks.v[0];
    if (!value_enum(args->v[0].text, links_words, &c->links, NULL))
        return bad(f, &args->v[0], "disable_symlinks", "off, on, if_not_owner or beneath");
    if (args->n > 1 && !str_eq(args->v[1].text, STR("from=$document_root")))
        return bad(f, &args->v[1], "disable_symlinks", "from=$document_root");
    return true;
}

/* The cache is the worker's: its size is said once, what does without it anywhere. */
static bool freeze_cache(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    if (f->up != NULL) {
        c->cache_off = f->up->cache_off;
        c->cache_max = f->up->cache_max;
        c->cache_inactive_ms = f->up->cache_inactive_ms;
        if (INHERITED(f, open_file_cache))
            return true;
        const struct arg *arg = &c->open_file_cache.v[0].v[0];
        if (!str_eq(arg->text, STR("off")))
            return bad(f, arg, "open_file_cache", "off (sizes are for http)");
        c->cache_off = true;
        return true;
    }
    c->cache_max = 10000;
    c->cache_inactive_ms = 60000;
    const struct args *args = &c->open_file_cache.v[0];
    c->cache_off = args->n == 1 && str_eq(args->v[0].text, STR("off"));
    if (c->cache_off)
        return true;
    bool good = true, max = false;
    for (size_t i = 0; i < args->n; i++) {
        good = cache_option(f, &args->v[i]) && good;
        max = max || str_starts(args->v[i].text, STR("max="));
    }
    if (good && !max)
        return bad(f, &args->v[0], "open_file_cache", "max=N beside it");
    return good;
}

/* ---- connections ---- */

static bool freeze_keepalive(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    if (INHERITED(f, keepalive_timeout)) {
        c->keepalive_ms = f->up->keepalive_ms;
        c->keepalive_header_s = f->up->keepalive_header_s;
        return true;
    }
    const struct args *args = &c->keepalive_timeout.v[0];
    const char *why;
    int64_t header = 0;
    if (!value_time(args->v[0].text, &c->keepalive_ms, &why))
        return bad(f, &args->v[0], "keepalive_timeout", why);
    if (args->n > 1 && !value_time(args->v[1].text, &header, &why))
        return bad(f, &args->v[1], "keepalive_timeout", why);
    c->keepalive_header_s = header / 1000;
    return true;
}

static bool freeze_disable(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    const struct args *args = &c->keepalive_disable.v[0];
    c->keepalive_not_msie6 = c->keepalive_not_safari = false;
    for (size_t i = 0; i < args->n; i++) {
        struct str word = args->v[i].text;
        if (str_eq(word, STR("msie6")))
            c->keepalive_not_msie6 = true;
        else if (str_eq(word, STR("safari")))
            c->keepalive_not_safari = true;
        else if (!str_eq(word, STR("none")) || args->n > 1)
            return INHERITED(f, keepalive_disable) ||
                   bad(f, &args->v[i], "keepalive_disable", "msie6, safari, or none alone");
    }
    return true;
}

static bool freeze_rate(const struct freezer *f)
{
    return rate_freeze(f->cy, f->b, f->conf, f->up);
}

static bool freeze_buffers(const struct freezer *f)
{
    struct http_conf *c = f->conf;
    if (INHERITED(f, large_client_header_buffers)) {
        c->head_max = f->up->head_max;
        c->line_max = c->field_max = f->up->line_max;
        return true;
    }
    const struct args *args = &c->large_client_header_buffers.v[0];
    int64_t number, size;
    if (!value_int(args->v[0].text, &number, NULL) || number < 1 || number > 1024)
        return bad(f, &args->v[0], "large_client_header_buffers", "a number from 1 to 1024");
    if (!value_size(args->v[1].text, &size, NULL) || size < 512 || size > 1 << 20)
        return bad(f, &args->v[1], "large_client_header_buffers", "a size from 512 to 1m");
    if (number * size > HTTP_HEAD_MAX)
        return bad(f, &args->v[1], "large_client_header_buffers", "number times size up to 1m");
    c->line_max = c->field_max = (uint32_t)size;
    c->head_max = (uint32_t)(number * size);
    return true;
}

static bool freeze_errors(const struct freezer *f)
{
    if (!INHERITED(f, error_page))
        return errors_freeze(f->cy, f->b, f->conf);
    f->conf->error_pages = f->up->error_pages;
    return true;
}

bool http_freeze(struct cycle_http *cy, struct block *b)
{
    struct freezer f = {.cy = cy, .b = b, .conf = HTTP(b)};
    static bool (*const parts[])(const struct freezer *f) = {
        freeze_root,    freeze_alias, freeze_types,     freeze_default_type, freeze_charset,
        freeze_links,   freeze_cache,     freeze_keepalive, freeze_buffers,      freeze_errors,
        freeze_rate,    freeze_disable,
    };
    bool good = true;
    if (b->scope != SCOPE_HTTP)
        f.up = HTTP(b->parent);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        good = parts[i](&f) && good;
    return good;
}
