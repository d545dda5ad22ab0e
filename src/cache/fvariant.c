/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs that make forms of files.  A job takes its input from the body in memory, else reads the
 * file piece by piece; its output grows within the memory of the cache and is given up when it
 * stops being worth it.  What the file was when it was read is looked at again at the end.
 */
#include "cache/fvariant.h"

#include "cache/fentry.h"
#include "proto/accept.h"
#include "proto/etag.h"

#include <errno.h>
#include <stdlib.h>

/* Input of one slice: about a millisecond at the default level. */
#define SLICE (32u << 10)
#define READ_SIZE (64u << 10)

/* A form that is held takes at most this share of the cache's memory; neither does its file. */
#define SHARE 8u
#define HELD_MAX (UINT64_C(8) << 20)

#define RETRIES 8

struct fjob {
    struct list link;
    struct list waiters;
    struct fcache *cache;
    struct fentry *source;   /* referenced */
    uint8_t coding, level;
    uint8_t tries;
    bool given_up;           /* frees itself when its read comes back */
    struct fgzip *z;
    struct str in;           /* not yet taken */
    uint64_t off;            /* of what comes behind it */
    char *buf;               /* READ_SIZE; NULL: the source is in memory */
    struct op op;
    char *out;
    size_t out_n, out_room, out_max;
};

struct fgzip_pool *fcache_codecs(struct fcache *c)
{
    return c->variants.codecs;
}

struct str fvariant_suffix(uint8_t coding, uint8_t level, char *to)
{
    struct wbuf w = wbuf_make(to, FVARIANT_SUFFIX);
    wbuf_str(&w, coding == CODING_GZIP ? STR("-gz") : STR("-id"));
    if (coding == CODING_GZIP)
        wbuf_dec(&w, level);
    return str_between(to, w.at);
}

static uint64_t held_max(const struct fcache *c)
{
    uint64_t share = c->conf.memory / SHARE;
    return share < HELD_MAX ? share : HELD_MAX;
}

/* ------------------------------------------------------------------ the output */

static bool out_grow(struct fjob *j)
{
    struct fcache *c = j->cache;
    size_t room = j->out_room == 0 ? j->out_max / 4 + 256 : j->out_room + j->out_room / 2;
    if (room > j->out_max)
        room = j->out_max;
    if (room <= j->out_room || !fcache_reserve(c, room - j->out_room))
        return false;
    char *out = realloc(j->out, room);
    if (out == NULL)
        return false;
    c->stats.memory += room - j->out_room;
    j->out = out;
    j->out_room = room;
    return true;
}

/* All room that would be worth it is used: compressed it is no smaller. */
static bool out_is_whole(const struct fjob *j)
{
    return j->coding != CODING_IDENTITY && j->out_room == j->out_max;
}

static void out_free(struct fjob *j)
{
    j->cache->stats.memory -= j->out_room;
    free(j->out);
    j->out = NULL;
    j->out_room = j->out_n = 0;
}

/* ------------------------------------------------------------------ the end of a job */

static void job_free(struct fjob *j)
{
    out_free(j);
    fgzip_put(j->cache->variants.codecs, j->z);
    free(j->buf);
    list_remove(&j->link);
    fentry_put(j->source);
    free(j);
}

/* Answers all who wait; v NULL: there is no such form, status says why. */
static void job_end(struct fjob *j, enum status status, struct fentry *v)
{
    struct list waiters, *link;
    list_init(&waiters);
    list_splice(&waiters, &j->waiters);
    while ((link = list_pop_front(&waiters)) != NULL) {
        struct fvariant_ask *a = container_of(link, struct fvariant_ask, link);
        a->job = NULL;
        a->status = status;
        a->entry = v != NULL ? fentry_get(v) : NULL;
        a->done(a);
    }
    job_free(j);
}

/* No use trying again, until the file changes. */
static void job_spurned(struct fjob *j, enum status status)
{
    if (status == STATUS_LIMIT)
        j->source->unheld |= CODING_BIT(j->coding);
    else
        j->source->spurned |= CODING_BIT(j->coding);
    job_end(j, status, NULL);
}

static struct fentry *variant_new(struct fjob *j)
{
    const struct fentry *e = j->source;
    struct fentry *v = calloc(1, sizeof(*v));
    char text[FVARIANT_SUFFIX];
    if (v == NULL)
        return NULL;
    *v = (struct fentry){
        .refs = 1, .kind = FENTRY_FILE, .cached = true, .fd = -1, .is_variant = true,
        .size = j->out_n, .mtime_s = e->mtime_s, .mtime_ns = e->mtime_ns, .young = e->young,
        .dev = e->dev, .ino = e->ino, .mode = e->mode, .body = j->out, .coding = j->coding,
        .level = j->level, .cache = j->cache};
    memcpy(v->last_modified, e->last_modified, sizeof(v->last_modified));
    v->etag_n = (uint8_t)etag_write(v->etag, e->mtime_s, e->mtime_ns, e->size,
                                    fvariant_suffix(j->coding, j->level, text), e->young);
    return v;
}

/* The source as it was opened: still that, now that all of it has been read? */
static bool source_holds(const struct fjob *j)
{
    const struct fentry *e = j->source;
    struct stat st;
    if (e->body != NULL)
        return true;
    const struct fitem *it = fitem_of(j->source);
    return fstat(e->fd, &st) == 0 && (uint64_t)st.st_size == e->size &&
           st.st_mtim.tv_sec == e->mtime_s && (uint32_t)st.st_mtim.tv_nsec == e->mtime_ns &&
           st.st_ctim.tv_sec == it->ctime_s && (uint32_t)st.st_ctim.tv_nsec == it->ctime_ns;
}

static void job_done(struct fjob *j)
{
    struct fcache *c = j->cache;
    if (!source_holds(j)) {
        if (!j->source->is_variant)
            fitem_doubt(fitem_of(j->source));
        job_end(j, STATUS_NOTFOUND, NULL);
        return;
    }
    char *tight = realloc(j->out, j->out_n == 0 ? 1 : j->out_n);
    j->out = tight != NULL ? tight : j->out;
    struct fentry *v = variant_new(j);
    if (v == NULL) {
        job_end(j, STATUS_NOTFOUND, NULL);
        return;
    }
    c->stats.memory -= j->out_room - j->out_n;
    c->alive++;
    j->out = NULL;
    j->out_room = 0;
    v->next_variant = j->source->variants;
    j->source->variants = v; /* which has its reference */
    job_end(j, STATUS_OK, v);
}

/* ------------------------------------------------------------------ slices */

static void run_one(struct turn *t);

static void go_on(struct fjob *j)
{
    struct fvariants *vs = &j->cache->variants;
    list_remove(&j->link);
    list_push_back(&vs->jobs, &j->link);
    loop_at_turn_end(j->cache->loop, &vs->turn);
}

static void job_read(struct fjob *j)
{
    struct fentry *e = j->source;
    uint64_t left = e->size - j->off;
    list_remove(&j->link);
    list_push_back(&j->cache->variants.reading, &j->link);
    op_read_file(j->cache->loop, &j->op, e->fd, j->buf, left < READ_SIZE ? left : READ_SIZE,
                 j->off);
}

static void on_read(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct fjob *j = container_of(op, struct fjob, op);
    (void)loop;
    (void)flags;
    if (j->given_up) {
        job_free(j);
        return;
    }
    if ((res == -EINTR || res == -EAGAIN) && j->tries++ < RETRIES) {
        job_read(j);
        return;
    }
    if (res <= 0) { /* an error, or shorter than it was: who sends it will find out */
        job_end(j, STATUS_NOTFOUND, NULL);
        return;
    }
    j->in = str_make(j->buf, (size_t)res);
    j->off += (uint64_t)res;
    go_on(j);
}

/* One slice; the job may be gone behind it. */
static void job_slice(struct fjob *j)
{
    struct str in = str_head(j->in, SLICE);
    size_t n = in.n;
    bool last = n == j->in.n && j->off == j->source->size;
    for (;;) {
        struct wbuf w = wbuf_make(j->out + j->out_n, j->out_room - j->out_n);
        enum fgzip_result result = fgzip_run(j->z, &in, last, &w);
        j->out_n = (size_t)(w.at - j->out);
        switch (result) {
        case FGZIP_FULL:
            if (out_grow(j))
                continue;
            job_spurned(j, out_is_whole(j) ? STATUS_NOTFOUND : STATUS_LIMIT);
            return;
        case FGZIP_MORE:
            j->in = str_skip(j->in, n - in.n);
            if (j->in.n == 0 && j->off < j->source->size)
                job_read(j);
            else
                go_on(j);
            return;
        case FGZIP_END:
            job_done(j);
            return;
        case FGZIP_BAD:
            job_spurned(j, STATUS_NOTFOUND);
            return;
        }
    }
}

/* One slice of one job a turn: with many of them each takes longer, and nobody else does. */
static void run_one(struct turn *t)
{
    struct fvariants *vs = container_of(t, struct fvariants, turn);
    if (list_empty(&vs->jobs))
        return;
    struct fjob *j = container_of(vs->jobs.next, struct fjob, link);
    job_slice(j);
    if (!list_empty(&vs->jobs))
        loop_at_turn_end(vs->cache->loop, &vs->turn);
}

/* ------------------------------------------------------------------ asking */

static struct fjob *find_in(const struct list *jobs, const struct fentry *e,
                            const struct fvariant_ask *a)
{
    LIST_EACH(at, jobs) {
        struct fjob *j = container_of(at, struct fjob, link);
        if (j->source == e && j->coding == a->coding && j->level == a->level && !j->given_up)
            return j;
    }
    return NULL;
}

static struct fjob *job_new(struct fentry *e, const struct fvariant_ask *a)
{
    struct fcache *c = e->cache;
    struct fjob *j = calloc(1, sizeof(*j));
    if (j == NULL)
        return NULL;
    j->cache = c;
    j->source = fentry_get(e);
    j->coding = a->coding;
    j->level = a->level;
    list_init(&j->link);
    list_init(&j->waiters);
    op_init(&j->op, on_read);
    /* Compressed it has to be smaller; unpacked it may be anything. */
    j->out_max = (size_t)(a->coding != CODING_IDENTITY ? e->size - 1 : held_max(c));
    j->z = fgzip_get(c->variants.codecs, a->level);
    if (e->body != NULL) {
        j->in = str_make(e->body, (size_t)e->size);
        j->off = e->size;
    } else {
        j->buf = malloc(READ_SIZE);
    }
    if (j->z != NULL && (e->body != NULL || j->buf != NULL) && out_grow(j))
        return j;
    job_free(j);
    return NULL;
}

enum status fvariant_get(struct fentry *e, struct fvariant_ask *a)
{
    struct fcache *c = e->cache;
    struct fentry *v = fvariant_held(e, a->coding, a->level);
    a->job = NULL;
    a->entry = NULL;
    if (v != NULL) {
        a->entry = fentry_get(v);
        return STATUS_OK;
    }
    if (e->size == 0 || (e->spurned & CODING_BIT(a->coding)) != 0)
        return STATUS_NOTFOUND;
    if (!e->cached || e->size > held_max(c) || (e->unheld & CODING_BIT(a->coding)) != 0 ||
        c->closing)
        return STATUS_LIMIT;
    struct fjob *j = find_in(&c->variants.jobs, e, a);
    if (j == NULL)
        j = find_in(&c->variants.reading, e, a);
    if (j == NULL) {
        j = job_new(e, a);
        if (j == NULL)
            return STATUS_LIMIT;
        if (j->in.n == 0)
            job_read(j);
        else
            go_on(j);
    }
    a->job = j;
    list_push_back(&j->waiters, &a->link);
    return STATUS_AGAIN;
}

void fvariant_cancel(struct fvariant_ask *a)
{
    if (a->job == NULL)
        return;
    list_remove(&a->link);
    a->job = NULL; /* the job goes on: the next one who asks will have it */
}

/* ------------------------------------------------------------------ with the cache */

bool fvariants_init(struct fcache *c)
{
    struct fvariants *vs = &c->variants;
    vs->cache = c;
    list_init(&vs->jobs);
    list_init(&vs->reading);
    turn_init(&vs->turn, run_one);
    vs->codecs = fgzip_pool_new();
    return vs->codecs != NULL;
}

void fvariants_cancel(struct fcache *c)
{
    struct list *link;
    while ((link = list_pop_front(&c->variants.jobs)) != NULL)
        job_end(container_of(link, struct fjob, link), STATUS_CANCELED, NULL);
    LIST_EACH(at, &c->variants.reading) {
        struct fjob *j = container_of(at, struct fjob, link);
        j->given_up = true;
        op_cancel(c->loop, &j->op);
    }
}

bool fvariants_busy(const struct fcache *c)
{
    return !list_empty(&c->variants.reading);
}

void fvariants_fini(struct fcache *c)
{
    list_remove(&c->variants.turn.link);
    fgzip_pool_delete(c->variants.codecs);
    c->variants.codecs = NULL;
}
