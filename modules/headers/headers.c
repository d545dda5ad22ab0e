/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_header and expires: a filter that adds lines to responses.  Lines are merged by name down the
 * tree of blocks when the configuration is loaded, so that each location has one finished list.
 */
#include "expires.h"

#include "core/vec.h"
#include "http/http.h"
#include "http/request.h"
#include "proto/token.h"

/* Before what looks at the finished headers of a response (charset, gzip, ranges). */
#define HEADERS_RANK 100

struct header_line {
    struct str name;
    struct template value;
    bool always;
    bool empty;             /* "": takes the lines of this name away */
};

struct headers_conf {
    struct instances add_header, expires;
    /* derived */
    struct header_line *lines; /* those of enclosing blocks and this one's */
    size_t count;
    bool lines_constant;
    struct expires when;
    const struct template *when_text; /* with variables: read at each request; NULL: `when` */
    bool when_modified;
};

static unsigned headers_slot;
extern const struct module headers_module;

/* ---- configuration: add_header ---- */

/* What the server must say itself, because it depends on how the response is sent. */
static const struct {
    const char *name;
    const char *hint;
} refused[] = {
    {"connection", "it is the server's own business"},
    {"content-length", "it follows from the body"},
    {"content-range", "it follows from the request"},
    {"content-type", "types, default_type and charset say it"},
    {"date", "it is the server's own business"},
    {"keep-alive", "keepalive_timeout says it"},
    {"server", "server_tokens says it"},
    {"trailer", "it is the server's own business"},
    {"transfer-encoding", "it is the server's own business"},
    {"upgrade", "it is the server's own business"},
};

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

static bool check_name(struct cycle_http *cy, struct block *b, const struct arg *name)
{
    if (!token_is_token(name->text))
        return REFUSE(cy, b, name->pos, "add_header: \"" STR_FMT "\" is not the name of a header",
                      STR_ARG(diag_excerpt(cy->diag, name->text)));
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (str_eq_nocase(name->text, str_z(refused[i].name)))
            return REFUSE(cy, b, name->pos, "add_header: \"" STR_FMT "\" cannot be set here, %s",
                          STR_ARG(name->text), refused[i].hint);
    return true;
}

static bool clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!token_is_value_byte((unsigned char)s.p[i]))
            return false;
    return true;
}

static bool compile_line(struct cycle_http *cy, struct block *b, const struct args *in,
                         struct header_line *line)
{
    if (!check_name(cy, b, &in->v[0]))
        return false;
    const struct arg *value = &in->v[1];
    if (!clean(value->text))
        return REFUSE(cy, b, value->pos, "add_header: a control byte in the value");
    line->name = in->v[0].text;
    line->empty = value->text.n == 0;
    line->always = in->n > 2;
    if (line->always && !str_eq(in->v[2].text, STR("always")))
        return REFUSE(cy, b, in->v[2].pos,
                      "add_header: \"" STR_FMT "\" is not valid, expected always; a value with "
                      "blanks goes into quotes", STR_ARG(diag_excerpt(cy->diag, in->v[2].text)));
    return template_compile(&line->value, &cy->vars, cy->arena, cy->diag, value->pos, b->path,
                            value->text);
}

/* Last-Modified and ETag of a file are not lines: an empty value must be kept to take them away. */
static bool is_validator(struct str name)
{
    return str_eq_nocase(name, STR("last-modified")) || str_eq_nocase(name, STR("etag"));
}

static bool names_it(const struct header_line *lines, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(lines[i].name, name))
            return true;
    return false;
}

/* The parent's lines of names that this block does not mention, then its own. */
static bool merge_lines(struct cycle_http *cy, struct headers_conf *conf,
                        const struct headers_conf *above, const struct header_line *own, size_t n)
{
    size_t room = n + (above != NULL ? above->count : 0);
    conf->lines = arena_array(cy->arena, room, sizeof(*conf->lines));
    if (conf->lines == NULL)
        return false;
    for (size_t i = 0; above != NULL && i < above->count; i++)
        if (!names_it(own, n, above->lines[i].name))
            conf->lines[conf->count++] = above->lines[i];
    for (size_t i = 0; i < n; i++)
        if (!own[i].empty || is_validator(own[i].name))
            conf->lines[conf->count++] = own[i];
    return true;
}

static bool freeze_lines(struct cycle_http *cy, struct block *b, struct headers_conf *conf,
                         const struct headers_conf *above)
{
    size_t n = conf->add_header.n;
    struct header_line *own = arena_array(cy->arena, n, sizeof(*own));
    bool good = own != NULL;
    for (size_t i = 0; i < n && own != NULL; i++)
        good = compile_line(cy, b, &conf->add_header.v[i], &own[i]) && good;
    if (!good || !merge_lines(cy, conf, above, own, n))
        return false;
    conf->lines_constant = true;
    for (size_t i = 0; i < conf->count; i++)
        conf->lines_constant = conf->lines_constant && conf->lines[i].value.constant;
    return true;
}

/* ---- configuration: expires ---- */

static bool freeze_expires(struct cycle_http *cy, struct block *b, struct headers_conf *conf,
                           const struct headers_conf *above)
{
    if (above != NULL && !block_is_set(b, &headers_module.section, "expires")) {
        conf->when = above->when;
        conf->when_text = above->when_text;
        conf->when_modified = above->when_modified;
        return true;
    }
    const struct args *in = &conf->expires.v[0];
    const struct arg *last = &in->v[in->n - 1];
    conf->when_modified = in->n == 2;
    if (conf->when_modified && !str_eq(in->v[0].text, STR("modified")))
        return REFUSE(cy, b, in->v[0].pos, "expires: \"" STR_FMT "\" is not valid, expected "
                      "modified", STR_ARG(diag_excerpt(cy->diag, in->v[0].text)));
    if (str_chr(last->text, '$') >= 0) {
        struct template *t = ARENA_NEW(cy->arena, struct template);
        conf->when_text = t;
        return t != NULL && template_compile(t, &cy->vars, cy->arena, cy->diag, last->pos, b->path,
                                             last->text);
    }
    const char *why;
    if (expires_parse(last->text, conf->when_modified, &conf->when, &why))
        return true;
    return REFUSE(cy, b, last->pos, "expires: \"" STR_FMT "\" is not valid, expected %s",
                  STR_ARG(diag_excerpt(cy->diag, last->text)), why);
}

static bool headers_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct headers_conf *conf = arg;
    const struct headers_conf *above = b->scope != SCOPE_HTTP ? CONF(b->parent, headers) : NULL;
    bool good = freeze_lines(cy, b, conf, above);
    return freeze_expires(cy, b, conf, above) && good;
}

/* ---- responses ---- */

/* The statuses that lines without `always` are for. */
static bool is_good(unsigned status)
{
    switch (status) {
    case 200: case 201: case 204: case 206:
    case 301: case 302: case 303: case 304: case 307: case 308:
        return true;
    default:
        return false;
    }
}

/* True: the line was the response's own validator, which has been set. */
static bool set_validator(struct response *res, struct str name, struct str value)
{
    if (str_eq_nocase(name, STR("last-modified"))) {
        res->last_modified = value;
        return true;
    }
    if (!str_eq_nocase(name, STR("etag")))
        return false;
    res->etag_weak = false;
    res->etag = value;
    return true;
}

static void add_line(struct request *r, const char *name, struct str value)
{
    if (!header_add(r, str_z(name), value))
        log_error(&r->log, "the header %s could not be added", name);
}

static void add_lines(struct request *r, struct response *res, const struct headers_conf *conf)
{
    bool good = is_good(res->status);
    for (size_t i = 0; i < conf->count; i++) {
        const struct header_line *line = &conf->lines[i];
        if (!good && !line->always)
            continue;
        struct str value = template_eval(&line->value, r);
        if (header_value_ok(value) && set_validator(res, line->name, value))
            continue;
        if (value.n != 0 && !header_add(r, line->name, value))
            log_error(&r->log, "the header " STR_FMT " has a value that cannot be sent",
                      STR_ARG(line->name));
    }
}

static void add_expires(struct request *r, const struct response *res,
                        const struct headers_conf *conf)
{
    struct expires when = conf->when;
    const char *why;
    if (conf->when_text != NULL &&
        !expires_parse(template_eval(conf->when_text, r), conf->when_modified, &when, &why))
        return; /* as nginx: a variable may well come out empty */
    if (when.kind == EXPIRES_OFF)
        return;
    struct expires_values *v = arena_alloc(&r->mem, sizeof(*v));
    if (v == NULL)
        return;
    bool dated = res->entry != NULL && res->last_modified.n != 0;
    expires_values(&when, r->worker->loop->wall.tv_sec, dated ? res->entry->mtime_s : -1, v);
    add_line(r, "Expires", str_make(v->date, v->date_n));
    add_line(r, "Cache-Control", str_make(v->control, v->control_n));
}

static void headers_filter(struct request *r, struct response *res)
{
    const struct headers_conf *conf = CONF(r->loc->block, headers);
    if (is_good(res->status) && (conf->when_text != NULL || conf->when.kind != EXPIRES_OFF))
        add_expires(r, res, conf);
    add_lines(r, res, conf);
}

static bool headers_enabled(const void *arg)
{
    const struct headers_conf *conf = arg;
    return conf->count > 0 || conf->when_text != NULL || conf->when.kind != EXPIRES_OFF;
}

/* A head with a time in it that moves on cannot be kept with the file. */
static bool headers_constant(const void *arg)
{
    const struct headers_conf *conf = arg;
    return conf->lines_constant && conf->when_text == NULL &&
           (conf->when.kind == EXPIRES_OFF || conf->when.kind == EXPIRES_EPOCH ||
            conf->when.kind == EXPIRES_MAX);
}

/* ---- the module ---- */

static const struct directive headers_directives[] = {
    {.name = "add_header", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct headers_conf, add_header), .min = 2, .max = 3,
     .flags = ROW_REPEATABLE | ROW_NO_INHERIT, .args_doc = "name value [always]",
     .doc = "A line in responses; merged by name down the tree, \"\" takes a name away."},
    {.name = "expires", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct headers_conf, expires), .min = 1, .max = 2, .dflt = "off",
     .args_doc = "[modified] time | epoch | max | off",
     .doc = "How long a response may be kept: Expires and Cache-Control."},
    {.name = NULL},
};

static const struct filter headers_filter_row = {
    .rank = HEADERS_RANK,
    .enabled = headers_enabled,
    .run = headers_filter,
    .constant = headers_constant,
};

const struct module headers_module = {
    .magic = MODULE_MAGIC,
    .section = {"headers", headers_directives, sizeof(struct headers_conf), &headers_slot},
    .freeze = headers_freeze,
    .filter = &headers_filter_row,
};
