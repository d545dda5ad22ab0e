/* SPDX-License-Identifier: BSD-2-Clause */
/* add_header, add_trailer and expires: a filter that adds lines to responses. */
#include "expires.h"
#include "lines.h"
#include "trailers.h"

#include "http/http.h"
#include "http/request.h"

/* Before what looks at the finished headers of a response (charset, gzip, ranges). */
#define HEADERS_RANK 100

struct headers_conf {
    struct instances add_header, add_trailer, expires;
    /* derived */
    struct added_lines lines;
    struct trailer_lines trailers;
    struct expires when;
    const struct template *when_text; /* with variables: read at each request; NULL: `when` */
    bool when_modified;
};

static unsigned headers_slot;
extern const struct module headers_module;

/* ---- configuration ---- */

/* What the server must say itself, because it depends on how the response is sent. */
static const struct refused_name refused[] = {
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
    {NULL, NULL},
};

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

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
    bool good = lines_freeze(cy, b, "add_header", &conf->add_header, refused,
                             above != NULL ? &above->lines : NULL, &conf->lines);
    good = trailers_freeze(cy, b, &conf->add_trailer, above != NULL ? &above->trailers : NULL,
                           &conf->trailers) && good;
    return freeze_expires(cy, b, conf, above) && good;
}

/* ---- responses ---- */

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
    bool good = lines_good_status(res->status);
    for (size_t i = 0; i < conf->lines.count; i++) {
        const struct added_line *line = &conf->lines.v[i];
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
    bool expires = conf->when_text != NULL || conf->when.kind != EXPIRES_OFF;
    if (expires && lines_good_status(res->status))
        add_expires(r, res, conf);
    add_lines(r, res, conf);
    if (conf->trailers.lines.count > 0)
        trailers_announce(r, res, &conf->trailers);
}

static bool headers_enabled(const void *arg)
{
    const struct headers_conf *conf = arg;
    return conf->lines.count > 0 || conf->trailers.lines.count > 0 || conf->when_text != NULL ||
           conf->when.kind != EXPIRES_OFF;
}

/* A head with a time in it that moves on cannot be kept with the file. */
static bool headers_constant(const void *arg)
{
    const struct headers_conf *conf = arg;
    return conf->lines.constant && conf->trailers.lines.count == 0 && conf->when_text == NULL &&
           (conf->when.kind == EXPIRES_OFF || conf->when.kind == EXPIRES_EPOCH ||
            conf->when.kind == EXPIRES_MAX);
}

/* ---- the module ---- */

static const struct directive headers_directives[] = {
    {.name = "add_header", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct headers_conf, add_header), .min = 2, .max = 3,
     .flags = ROW_REPEATABLE | ROW_NO_INHERIT, .args_doc = "name value [always]",
     .doc = "A line in responses; merged by name down the tree, \"\" takes a name away."},
    {.name = "add_trailer", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct headers_conf, add_trailer), .min = 2, .max = 3,
     .flags = ROW_REPEATABLE | ROW_NO_INHERIT, .args_doc = "name value [always]",
     .doc = "A line behind the body of responses, which are sent in chunks then (HTTP/1.1 only); "
            "merged as add_header."},
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
