/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single-page sites.  The usual "try_files $uri /index.html" answers a missing script with a 200
 * and the shell, which caches then keep in its place; here only navigations get the shell.
 */
#include "http/http.h"
#include "http/request.h"
#include "proto/token.h"
#include "proto/uri.h"

#include <errno.h>

#define SPA_RANK 200
#define SPA_FILTER_RANK 300 /* behind add_header: a Cache-Control of the configuration wins */

struct spa_conf {
    struct arg spa;
    struct str shell;   /* derived: as a path */
};

static unsigned spa_slot;

static bool spa_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct spa_conf *conf = arg;
    struct str file = conf->spa.text;
    if (file.n == 0 || str_eq(file, STR("off"))) {
        conf->shell = STR_NONE;
        return true;
    }
    conf->shell = file.p[0] == '/' ? file
                                   : arena_cat(cy->arena, (struct str[]){STR("/"), file}, 2);
    if (uri_is_plain(conf->shell) && !str_ends(conf->shell, STR("/")))
        return true;
    diag_error(cy->diag, conf->spa.pos, b->path,
               "spa: \"" STR_FMT "\" is not valid, expected the name of a file",
               STR_ARG(diag_excerpt(cy->diag, file)));
    return false;
}

/* Does the client want a page to show, and not a part of one? */
static bool navigates(struct request *r)
{
    struct str value;
    if (r->extension.n != 0)
        return false;
    if (request_field(r, FIELD_SEC_FETCH_MODE, &value))
        return str_eq_nocase(value, STR("navigate"));
    struct str member;
    if (!request_field(r, FIELD_ACCEPT, &value))
        return false;
    while (token_list_next(&value, &member)) {
        ssize_t semicolon = str_chr(member, ';');
        struct str type = semicolon < 0 ? member : str_trim(str_head(member, (size_t)semicolon));
        if (str_eq_nocase(type, STR("text/html")))
            return true;
    }
    return false;
}

static bool missing(const struct fentry *e)
{
    return e->kind == FENTRY_ERROR && (e->err == ENOENT || e->err == ENOTDIR);
}

static enum verdict decide(struct request *r)
{
    const struct spa_conf *conf = CONF(r->loc->block, spa);
    bool gone = missing(r->lookup.entry);
    fentry_put(r->lookup.entry);
    r->lookup.entry = NULL;
    if (!gone)
        return VERDICT_NEXT;
    return navigates(r) ? request_redirect(r, conf->shell, r->args) : response_error(r, 404);
}

static void looked_up(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    r->looking = false;
    r->pending = false;
    request_verdict(r, decide(r));
}

static enum verdict spa_run(struct request *r)
{
    const struct spa_conf *conf = CONF(r->loc->block, spa);
    if ((r->line.method != METHOD_GET && r->line.method != METHOD_HEAD) || r->error_page ||
        str_eq(r->uri, conf->shell))
        return VERDICT_NEXT;
    switch (request_look(r, r->uri, looked_up)) {
    case STATUS_OK:
        return decide(r);
    case STATUS_AGAIN:
        return VERDICT_PENDING;
    case STATUS_NOTFOUND:
        return VERDICT_NEXT;
    default:
        return response_error(r, 500);
    }
}

/* The shell is asked for anew each time; a missing asset is not remembered at all. */
static void spa_filter(struct request *r, struct response *res)
{
    const struct spa_conf *conf = CONF(r->loc->block, spa);
    if (header_find(res, STR("Cache-Control")) != NULL)
        return;
    if (res->status == 404)
        header_add(r, STR("Cache-Control"), STR("no-store"));
    else if (res->entry != NULL && str_eq(r->uri, conf->shell))
        header_add(r, STR("Cache-Control"), STR("no-cache"));
}

static bool spa_enabled(const void *arg)
{
    const struct spa_conf *conf = arg;
    return conf->shell.n != 0;
}

static const struct directive spa_directives[] = {
    {.name = "spa", .type = CTYPE_TEXT, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct spa_conf, spa), .args_doc = "file | off",
     .doc = "The answer to navigations that match no file; what else is missing is a 404 that "
            "is not cached."},
    {.name = NULL},
};

static const struct hook spa_hooks[] = {
    {.phase = PHASE_PRECONTENT, .rank = SPA_RANK, .enabled = spa_enabled, .run = spa_run},
    {.run = NULL},
};

static const struct filter spa_filter_ = {
    .rank = SPA_FILTER_RANK, .enabled = spa_enabled, .run = spa_filter};

const struct module spa_module = {
    .magic = MODULE_MAGIC,
    .section = {"spa", spa_directives, sizeof(struct spa_conf), &spa_slot},
    .freeze = spa_freeze,
    .hooks = spa_hooks,
    .filter = &spa_filter_,
};
