/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files.  Whatever no other content handler has answered is a file, a directory (redirected to its
 * slash, refused behind it) or an error.  One hook finds it, the last of the phase serves it; those
 * in between may select an encoded form.  Preconditions are evaluated here, because only here it is
 * known what a 200 would carry.
 */
#include "cache/fdigest.h"
#include "http/http.h"
#include "http/range.h"
#include "http/request.h"
#include "proto/cond.h"
#include "proto/uri.h"

#include <errno.h>

#define FIND_RANK 1000
#define SERVE_RANK 2000

static unsigned status_of_errno(int err)
{
    switch (err) {
    case ENOENT: case ENOTDIR: case ENAMETOOLONG:
        return 404;
    case EACCES: case EPERM: case ELOOP: case EXDEV:
        return 403;
    default:
        return 500;
    }
}

static enum verdict not_served(struct request *r, const struct fentry *e)
{
    int err = e->kind == FENTRY_OTHER ? 0 : e->err;
    unsigned status = err == 0 ? 403 : status_of_errno(err);
    if (err == 0)
        log_error(&r->log, "\"" STR_FMT STR_FMT "\" is not a regular file",
                  STR_ARG(r->lookup.root), STR_ARG(r->lookup.path));
    else if (status != 404 || r->loc->conf->log_not_found)
        log_errno_at(&r->log, status == 500 ? LEVEL_CRIT : LEVEL_ERROR, err,
                     "open() \"" STR_FMT STR_FMT "\" failed", STR_ARG(r->lookup.root),
                     STR_ARG(r->lookup.path));
    return response_error(r, status);
}

/* "/dir" is "/dir/": said with a redirect that keeps the query. */
static enum verdict directory(struct request *r)
{
    if (r->uri.p[r->uri.n - 1] == '/') {
        log_error(&r->log, "directory index of \"" STR_FMT STR_FMT "\" is forbidden",
                  STR_ARG(r->lookup.root), STR_ARG(r->lookup.path));
        return response_error(r, 403);
    }
    return request_add_slash(r);
}

static enum cond_since since_of(int how)
{
    return how == HTTP_IMS_OFF     ? COND_SINCE_OFF
           : how == HTTP_IMS_EXACT ? COND_SINCE_EXACT
                                   : COND_SINCE_BEFORE;
}

static bool conditional(const struct request *r)
{
    const uint16_t *first = r->meta.first;
    return (first[FIELD_IF_NONE_MATCH] | first[FIELD_IF_MODIFIED_SINCE] | first[FIELD_IF_MATCH] |
            first[FIELD_IF_UNMODIFIED_SINCE]) != 0;
}

static struct etag tag_of(struct str quoted)
{
    struct etag t = {.weak = str_starts(quoted, STR("W/"))};
    t.opaque = str_skip(quoted, t.weak ? 3 : 1);
    t.opaque.n -= t.opaque.n > 0 ? 1 : 0;
    return t;
}

static void target_of(struct request *r, struct cond_target *t)
{
    const struct response *res = &r->res;
    const struct fentry *e = r->selected.file;
    *t = (struct cond_target){
        .mtime = e->mtime_s,
        .has_etag = res->etag.n != 0,
        .has_mtime = res->last_modified.n != 0,
        .get_or_head = true,
        .since = since_of(r->loc->conf->if_modified_since),
        .now_year = date_civil(r->start_wall.tv_sec).year,
    };
    if (t->has_etag) {
        t->etag = tag_of(res->etag);
        t->base = response_base_tag(r);
    }
}

/* What the client has is still good: the tag it has it under is the one to name. */
static enum verdict not_modified(struct request *r, struct etag held)
{
    struct response *res = &r->res;
    res->status = 304;
    res->body = BODY_NONE;
    if (held.opaque.n != 0 && !str_eq(held.opaque, tag_of(res->etag).opaque))
        res->etag = arena_printf(&r->mem, "%s\"" STR_FMT "\"", held.weak ? "W/" : "",
                                 STR_ARG(held.opaque));
    return VERDICT_DONE;
}

/* Preconditions, then ranges (RFC 9110 13.2.2). */
static enum verdict narrow(struct request *r)
{
    struct cond_target t;
    struct etag held;
    target_of(r, &t);
    switch (cond_evaluate(r->fields, r->field_count, r->meta.first, &t, &held)) {
    case COND_NONE:
        break;
    case COND_NOT_MODIFIED:
        return not_modified(r, held);
    case COND_PRECONDITION_FAILED:
        return response_error(r, 412);
    }
    if (!range_asked(r) || r->selected.streamed)
        return VERDICT_DONE;
    return range_apply(r, cond_range_applies(r->fields, r->meta.first, &t));
}

static enum verdict static_serve(struct request *r)
{
    struct response *res = &r->res;
    const struct selected *sel = &r->selected;
    struct fentry *e = sel->form != NULL ? sel->form : sel->file;
    bool plain = !r->error_page && !conditional(r) && !range_asked(r) && !sel->streamed;
    const struct fhead *kept = plain ? fentry_head(e, r->loc, 200, sel->coding) : NULL;
    if (e == NULL)
        return VERDICT_NEXT;
    if (kept != NULL) {
        res->status = 200;
        res->entry = fentry_get(e);
        res->body = BODY_FILE;
        res->off = 0;
        res->length = e->size;
        res->head = kept;
        return VERDICT_DONE;
    }
    response_file(r);
    return r->error_page || plain ? VERDICT_DONE : narrow(r);
}

/* ---- etag: content ---- */

struct digest_state {
    struct request *r;
    struct fdigest_ask ask;
};

static void digest_end(void *arg)
{
    fdigest_cancel(&((struct digest_state *)arg)->ask);
}

static void digest_made(struct fdigest_ask *a)
{
    struct request *r = container_of(a, struct digest_state, ask)->r;
    r->pending = false;
    r->selected.digest = fdigest_text(r->selected.file);
    request_verdict(r, VERDICT_NEXT);
}

/* The tag of the file's content, if the location wants it; without memory there is none. */
static enum verdict digest(struct request *r)
{
    if (r->loc->conf->etag != HTTP_ETAG_CONTENT)
        return VERDICT_NEXT;
    struct digest_state *s = ARENA_NEW(&r->mem, struct digest_state);
    if (s == NULL || !arena_on_free(&r->mem, digest_end, s))
        return VERDICT_NEXT;
    s->r = r;
    s->ask.done = digest_made;
    list_init(&s->ask.link);
    if (fdigest_get(r->selected.file, &s->ask) == STATUS_AGAIN)
        return VERDICT_PENDING;
    r->selected.digest = fdigest_text(r->selected.file);
    return VERDICT_NEXT;
}

/* ---- finding and serving ---- */

/* Takes over the reference to the entry. */
static enum verdict found(struct request *r, struct fentry *e)
{
    enum verdict v;
    switch ((enum fentry_kind)e->kind) {
    case FENTRY_FILE:
        if (r->uri.p[r->uri.n - 1] == '/') { /* "/file/" is not the file */
            v = response_error(r, 404);
            break;
        }
        r->selected.file = e;
        return digest(r);
    case FENTRY_DIR:
        v = directory(r);
        break;
    default:
        v = not_served(r, e);
        break;
    }
    fentry_put(e);
    return v;
}

static void looked_up(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    struct fentry *e = l->entry;
    r->looking = false;
    r->pending = false;
    l->entry = NULL;
    request_verdict(r, found(r, e));
}

static enum verdict options(struct request *r)
{
    response_bytes(r, 204, STR_NONE, STR_NONE);
    r->res.body = BODY_NONE;
    header_add(r, STR("Allow"), STR("GET, HEAD, OPTIONS"));
    return VERDICT_DONE;
}

static enum verdict static_find(struct request *r)
{
    if (r->selected.file != NULL)
        return digest(r);
    if (r->line.method != METHOD_GET && r->line.method != METHOD_HEAD)
        return r->line.method == METHOD_OPTIONS ? options(r) : response_error(r, 405);
    switch (request_look(r, r->uri, looked_up)) {
    case STATUS_OK: {
        struct fentry *e = r->lookup.entry;
        r->lookup.entry = NULL;
        return found(r, e);
    }
    case STATUS_AGAIN:
        return VERDICT_PENDING;
    case STATUS_NOTFOUND:
        return response_error(r, 404);
    default:
        return response_error(r, 500);
    }
}

static const struct hook static_hooks[] = {
    {.phase = PHASE_CONTENT, .rank = FIND_RANK, .run = static_find},
    {.phase = PHASE_CONTENT, .rank = SERVE_RANK, .run = static_serve},
    {.run = NULL},
};

const struct module static_module = {
    .magic = MODULE_MAGIC,
    .section = {.name = "static"},
    .hooks = static_hooks,
};
