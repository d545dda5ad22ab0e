/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files beside the original that hold it encoded: used if they are no older than it and begin as
 * such a file does.  The file cache answers both questions, so that one is not there costs a look
 * into its table.
 */
#include "gzip.h"

static bool begins_right(const struct fentry *e, enum coding c)
{
    struct str first = fentry_first(e);
    if (c == CODING_GZIP)
        return fgzip_magic(first);
    if (c == CODING_ZSTD)
        return str_starts(first, STR("\x28\xb5\x2f\xfd"));
    return e->size > 0; /* br has no mark */
}

static bool older(const struct fentry *e, const struct fentry *original)
{
    return e->mtime_s != original->mtime_s ? e->mtime_s < original->mtime_s
                                           : e->mtime_ns < original->mtime_ns;
}

/* Said once for each state of the file, else the log would fill. */
static void refused(struct request *r, struct fentry *e, enum coding c, const char *why)
{
    if ((e->spurned & CODING_BIT(c)) != 0)
        return;
    e->spurned |= CODING_BIT(c);
    log_warn(&r->log, "\"" STR_FMT STR_FMT "\" %s and is not used", STR_ARG(r->lookup.root),
             STR_ARG(r->lookup.path), why);
}

static bool usable(struct request *r, struct fentry *e, enum coding c)
{
    const struct fentry *original = r->selected.file;
    if (e->kind != FENTRY_FILE)
        return false;
    if (original != NULL && older(e, original))
        refused(r, e, c, "is older than the file it stands for");
    else if (!begins_right(e, c))
        refused(r, e, c, "is not what its name says");
    else
        return true;
    return false;
}

static struct str path_of(struct request *r, enum coding c)
{
    return arena_cat(&r->mem, (struct str[]){r->uri, coding_suffix(c)}, 2);
}

/* The entry of the look-up, if it can be used; referenced. */
static struct fentry *looked(struct request *r, enum coding c)
{
    struct fentry *e = r->lookup.entry;
    r->lookup.entry = NULL;
    if (usable(r, e, c))
        return e;
    fentry_put(e);
    return NULL;
}

/* ---- beside a file that was found ---- */

static void done(struct flookup *l);

static enum verdict look_on(struct request *r, struct gzip_state *s)
{
    unsigned wanted = GZIP(r)->sidecars;
    for (; s->coding < CODING_COUNT; s->coding++) {
        enum coding c = (enum coding)s->coding;
        if ((wanted & CODING_BIT(c)) == 0)
            continue;
        struct str path = path_of(r, c);
        enum status st = path.p == NULL ? STATUS_NOMEM : request_look(r, path, done);
        if (st == STATUS_AGAIN)
            return VERDICT_PENDING;
        if (st == STATUS_OK && (s->sidecar[c] = looked(r, c)) != NULL)
            s->available |= CODING_BIT(c);
    }
    return gzip_offer(r, s->available);
}

static void done(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    struct gzip_state *s = gzip_state(r);
    enum coding c = (enum coding)s->coding++;
    r->looking = false;
    r->pending = false;
    s->sidecar[c] = looked(r, c);
    if (s->sidecar[c] != NULL)
        s->available |= CODING_BIT(c);
    request_verdict(r, look_on(r, s));
}

enum verdict sidecar_select(struct request *r)
{
    struct gzip_state *s = gzip_state(r);
    if (s == NULL)
        return VERDICT_NEXT;
    return look_on(r, s);
}

/* The tag says which bytes: the original's state, the coding, and the state of the encoded file. */
void sidecar_take(struct request *r, enum coding c)
{
    struct gzip_state *s = gzip_state(r);
    struct selected *sel = &r->selected;
    struct fentry *e = s->sidecar[c];
    size_t lead = e->young ? 3 : 1; /* W/" or " */
    sel->form = fentry_get(e);
    sel->coding = (uint8_t)c;
    struct str own = arena_printf(&r->mem, "-" STR_FMT "-%.*s", STR_ARG(coding_name(c)),
                                  (int)(e->etag_n - lead - 1), e->etag + lead);
    sel->etag = response_make_tag(r, own, e->young);
}

/* ---- gzip_static: always ---- */

static void unzip_asked(struct fvariant_ask *a);

static enum verdict unzipped(struct request *r, enum status st, struct fentry *form)
{
    struct selected *sel = &r->selected;
    if (st == STATUS_LIMIT) {
        sel->streamed = true;
        sel->etag = response_make_tag(r, STR("-id"), true);
    } else if (st == STATUS_OK) {
        sel->form = form;
    } else { /* damaged: what is there is sent, and says what it is */
        sel->coding = CODING_GZIP;
    }
    return VERDICT_NEXT;
}

static enum verdict unzip(struct request *r)
{
    struct gzip_state *s = gzip_state(r);
    if (s == NULL)
        return response_error(r, 500);
    s->ask.coding = CODING_IDENTITY;
    s->ask.level = FGZIP_UNZIP;
    s->ask.done = unzip_asked;
    enum status st = fvariant_get(r->selected.file, &s->ask);
    return st == STATUS_AGAIN ? VERDICT_PENDING : unzipped(r, st, s->ask.entry);
}

static void unzip_asked(struct fvariant_ask *a)
{
    struct request *r = container_of(a, struct gzip_state, ask)->r;
    r->pending = false;
    request_verdict(r, unzipped(r, a->status, a->entry));
}

/* The gzip file is the only one there is, or the only one that counts. */
static enum verdict take_always(struct request *r)
{
    const struct gzip_conf *conf = GZIP(r);
    struct selected *sel = &r->selected;
    struct fentry *e = looked(r, CODING_GZIP);
    if (e == NULL)
        return VERDICT_NEXT;
    sel->file = e;
    sel->negotiated = conf->gunzip && conf->gzip_vary;
    if (conf->gunzip &&
        (!gzip_may(r, conf) || accept_quality(gzip_accept(r), CODING_GZIP) == 0))
        return unzip(r);
    sel->coding = CODING_GZIP;
    sel->etag = response_make_tag(r, STR("-gz"), false);
    return VERDICT_NEXT;
}

static void done_always(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    r->looking = false;
    r->pending = false;
    request_verdict(r, take_always(r));
}

enum verdict sidecar_always(struct request *r)
{
    if (r->selected.file != NULL || r->uri.p[r->uri.n - 1] == '/' ||
        (r->line.method != METHOD_GET && r->line.method != METHOD_HEAD))
        return VERDICT_NEXT;
    struct str path = path_of(r, CODING_GZIP);
    enum status st = path.p == NULL ? STATUS_NOMEM : request_look(r, path, done_always);
    if (st == STATUS_AGAIN)
        return VERDICT_PENDING;
    return st == STATUS_OK ? take_always(r) : VERDICT_NEXT;
}
