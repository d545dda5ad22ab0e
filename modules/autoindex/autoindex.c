/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directory listings: what a path that ends in a slash gets when no index file is there.  The file
 * cache says that it is a directory, the work (autoindex_work.h) reads and sorts it, and a stream
 * writes it out, entry by entry (autoindex_view.h).
 */
#include "autoindex_query.h"
#include "autoindex_view.h"
#include "autoindex_work.h"
#include "http/http.h"
#include "http/request.h"

#include <errno.h>
#include <stdlib.h>

#define AUTOINDEX_RANK 500

struct autoindex_conf {
    bool autoindex, exact_size, localtime;
    int format;               /* enum autoindex_format */
};

struct listing {
    struct work work;
    struct view view;
    struct stream stream;
    struct request *r;
};

static unsigned autoindex_slot;

/* ---- failures ---- */

static unsigned status_of_errno(int err)
{
    switch (err) {
    case ENOENT: case ENOTDIR: case ENAMETOOLONG:
        return 404;
    case EACCES: case EPERM: case ELOOP: case EXDEV:
        return 403;
    case EBUSY:
        return 503;
    default:
        return 500;
    }
}

static enum verdict failed(struct request *r, int err)
{
    unsigned status = status_of_errno(err);
    if (err == EBUSY)
        log_error(&r->log, "listings take too much memory: that of \"" STR_FMT STR_FMT
                  "\" is refused", STR_ARG(r->lookup.root), STR_ARG(r->lookup.path));
    else if (status != 404 || r->loc->conf->log_not_found)
        log_errno_at(&r->log, status == 500 ? LEVEL_CRIT : LEVEL_ERROR, err,
                     "reading the directory \"" STR_FMT STR_FMT "\" failed",
                     STR_ARG(r->lookup.root), STR_ARG(r->lookup.path));
    return response_error(r, status);
}

/* ---- the response ---- */

static enum pull pull(struct stream *s, struct request *r, struct wbuf *w)
{
    struct listing *l = container_of(s, struct listing, stream);
    (void)r;
    switch (view_write(&l->view, w)) {
    case VIEW_MORE:
        return PULL_MORE;
    case VIEW_END: /* a slow client has no need of it any more */
        work_drop_list(&l->work);
        view_fini(&l->view);
        return PULL_END;
    case VIEW_NOMEM:
        break;
    }
    return PULL_ERROR;
}

/* The path is the client's; if that is no directory's, links need to know what they belong to. */
static void set_view(struct listing *l)
{
    struct request *r = l->r;
    const struct autoindex_conf *conf = CONF(r->loc->block, autoindex);
    struct str callback = query_callback(r->args);
    bool own = str_ends(r->document_uri0, STR("/"));
    l->view = (struct view){
        .format = view_format((enum autoindex_format)conf->format, callback),
        .list = &l->work.list,
        .order = l->work.order,
        .path = own ? r->document_uri0 : r->uri,
        .base = own ? STR_NONE : r->uri,
        .callback = callback,
        .exact_size = conf->exact_size,
        .localtime = conf->localtime,
        .cut = l->work.cut,
    };
    buf_init(&l->view.piece, 0);
}

static void respond(struct listing *l)
{
    struct request *r = l->r;
    set_view(l);
    response_bytes(r, 200, l->view.format->media_type, STR_NONE);
    r->res.charset = STR("utf-8");
    r->res.body = BODY_STREAM;
    r->res.length = LENGTH_UNKNOWN;
    r->res.stream = &l->stream;
    if (l->work.cut)
        header_add(r, STR("X-Autoindex-Truncated"),
                   arena_printf(&r->mem, "%zu", l->work.list.n));
}

static void done(struct work *w, int err)
{
    struct listing *l = container_of(w, struct listing, work);
    struct request *r = l->r;
    r->pending = false;
    if (err != 0) {
        request_verdict(r, failed(r, err));
        return;
    }
    if (w->cut)
        log_error(&r->log, "the listing of \"" STR_FMT STR_FMT "\" is cut after %zu names",
                  STR_ARG(r->lookup.root), STR_ARG(r->lookup.path), w->list.n);
    if (w->unseen != 0)
        log_errno_at(&r->log, LEVEL_ERROR, w->unseen,
                     "the listing of \"" STR_FMT STR_FMT "\" lacks names that stat() refuses",
                     STR_ARG(r->lookup.root), STR_ARG(r->lookup.path));
    respond(l);
    request_verdict(r, VERDICT_DONE);
}

/* ---- the request ---- */

static void listing_freed(struct work *w)
{
    free(container_of(w, struct listing, work));
}

/* The request has come to its end, whichever. */
static void request_gone(void *arg)
{
    struct listing *l = arg;
    view_fini(&l->view);
    work_leave(&l->work);
}

static enum verdict start(struct request *r)
{
    struct listing *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return failed(r, ENOMEM);
    l->r = r;
    l->stream.pull = pull;
    l->work.done = done;
    l->work.freed = listing_freed;
    l->work.order = query_order(r->args);
    l->work.hidden = r->loc->conf->hidden_files != HTTP_HIDDEN_DENY;
    l->work.only_open = r->line.method == METHOD_HEAD;
    if (!work_start(&l->work, r->worker->module_data[autoindex_slot], r->lookup.root,
                    r->lookup.path, (enum flinks)r->lookup.links)) {
        free(l);
        return failed(r, ENOMEM);
    }
    if (!arena_on_free(&r->mem, request_gone, l)) {
        request_gone(l);
        return failed(r, ENOMEM);
    }
    return VERDICT_PENDING;
}

/* What is no directory is the business of the handler of files. */
static enum verdict found(struct request *r)
{
    bool directory = r->lookup.entry->kind == FENTRY_DIR;
    fentry_put(r->lookup.entry);
    r->lookup.entry = NULL;
    return directory ? start(r) : VERDICT_NEXT;
}

static void looked_up(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    r->looking = false;
    r->pending = false;
    request_verdict(r, found(r));
}

static enum verdict autoindex_content(struct request *r)
{
    if (r->uri.p[r->uri.n - 1] != '/' ||
        (r->line.method != METHOD_GET && r->line.method != METHOD_HEAD))
        return VERDICT_NEXT;
    switch (request_look(r, r->uri, looked_up)) {
    case STATUS_OK:
        return found(r);
    case STATUS_AGAIN:
        return VERDICT_PENDING;
    case STATUS_NOTFOUND:
        return VERDICT_NEXT;
    default:
        return response_error(r, 500);
    }
}

static bool autoindex_enabled(const void *arg)
{
    return ((const struct autoindex_conf *)arg)->autoindex;
}

/* ---- the module ---- */

static enum status autoindex_init(struct http_worker *w)
{
    struct list_worker *lw = calloc(1, sizeof(*lw));
    if (lw == NULL)
        return STATUS_NOMEM;
    list_worker_init(lw, w->files, w->loop);
    w->module_data[autoindex_slot] = lw;
    return STATUS_OK;
}

static void autoindex_fini(struct http_worker *w)
{
    struct list_worker *lw = w->module_data[autoindex_slot];
    if (lw != NULL)
        list_worker_fini(lw);
    free(lw);
    w->module_data[autoindex_slot] = NULL;
}

static const char *const format_words[] = {"html", "json", "jsonp", "xml", NULL};

static const struct directive autoindex_directives[] = {
    {.name = "autoindex", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct autoindex_conf, autoindex), .dflt = "off",
     .doc = "Lists a directory that has no index file."},
    {.name = "autoindex_exact_size", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct autoindex_conf, exact_size), .dflt = "on",
     .doc = "In HTML: sizes in bytes; off: rounded to KiB, MiB and so on."},
    {.name = "autoindex_format", .type = CTYPE_ENUM, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct autoindex_conf, format), .choices = format_words, .dflt = "html",
     .doc = "What a listing is written in; jsonp takes the argument callback."},
    {.name = "autoindex_localtime", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct autoindex_conf, localtime), .dflt = "off",
     .doc = "In HTML: times of the server's time zone; off: UTC."},
    {.name = NULL},
};

static const struct hook autoindex_hooks[] = {
    {.phase = PHASE_CONTENT, .rank = AUTOINDEX_RANK, .enabled = autoindex_enabled,
     .run = autoindex_content},
    {.run = NULL},
};

const struct module autoindex_module = {
    .magic = MODULE_MAGIC,
    .section = {"autoindex", autoindex_directives, sizeof(struct autoindex_conf),
                &autoindex_slot},
    .worker_init = autoindex_init,
    .worker_fini = autoindex_fini,
    .hooks = autoindex_hooks,
};
