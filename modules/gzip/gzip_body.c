/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies encoded while they are sent: files too large to be held, answers made of bytes, streams of
 * other modules.  A stream gives way after SLICE bytes of input in one turn, so that a fast client
 * with a large file does not keep others waiting.
 */
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>

#define READ_SIZE (64u << 10)
#define SLICE (64u << 10)
#define PIECE 4096u

struct body {
    struct stream stream;
    struct list link;         /* of the worker's */
    struct request *r;        /* NULL: the request is gone, a read is still out */
    struct loop *loop;
    struct fgzip_pool *codecs;
    struct fgzip *z;
    struct str in;            /* not yet taken */
    bool last;                /* nothing comes behind it */
    bool failed;
    uint64_t turn_seen;       /* …in which `taken` bytes were taken */
    size_t taken;
    struct turn turn;
    /* where more comes from: a file, or another stream; neither for bytes */
    struct fentry *file;      /* referenced */
    uint64_t off;
    struct op op;
    struct stream *inner;
    char buf[];
};

/* ---- pulling ---- */

static void body_free(struct body *b)
{
    list_remove(&b->turn.link);
    list_remove(&b->link);
    fgzip_put(b->codecs, b->z);
    fentry_put(b->file);
    free(b);
}

static void on_turn(struct turn *t)
{
    response_resume(container_of(t, struct body, turn)->r);
}

static void on_read(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct body *b = container_of(op, struct body, op);
    (void)loop;
    (void)flags;
    if (b->r == NULL) {
        body_free(b);
        return;
    }
    if (res == -EINTR || res == -EAGAIN)
        res = 0;
    else if (res <= 0) /* shorter than was said */
        b->failed = true;
    if (res > 0) {
        b->in = str_make(b->buf, (size_t)res);
        b->off += (uint64_t)res;
        b->last = b->off >= b->file->size;
    }
    response_resume(b->r);
}

/* Gets more input. PULL_MORE: it is there. */
static enum pull fetch(struct body *b)
{
    if (b->inner != NULL) {
        struct wbuf w = wbuf_make(b->buf, PIECE);
        enum pull p = b->inner->pull(b->inner, b->r, &w);
        b->in = str_between(b->buf, w.at);
        b->last = p == PULL_END;
        return p == PULL_END || b->in.n > 0 ? PULL_MORE : p;
    }
    if (!op_busy(&b->op)) {
        uint64_t left = b->file->size - b->off;
        op_read_file(b->loop, &b->op, b->file->fd, b->buf, left < READ_SIZE ? left : READ_SIZE,
                     b->off);
    }
    return PULL_WAIT;
}

/* Has this turn had its share? Then the next one goes on. */
static bool slice_over(struct body *b)
{
    if (b->turn_seen != b->loop->stats.waits) {
        b->turn_seen = b->loop->stats.waits;
        b->taken = 0;
    }
    if (b->taken < SLICE)
        return false;
    loop_at_turn_end(b->loop, &b->turn);
    return true;
}

static enum pull body_pull(struct stream *s, struct request *r, struct wbuf *w)
{
    struct body *b = container_of(s, struct body, stream);
    char *from = w->at;
    (void)r;
    while (!b->failed && w->at == from) {
        if (slice_over(b))
            return PULL_WAIT;
        if (b->in.n == 0 && !b->last) {
            enum pull p = fetch(b);
            if (p != PULL_MORE)
                return p;
        }
        size_t n = b->in.n;
        enum fgzip_result result = fgzip_run(b->z, &b->in, b->last, w);
        b->taken += n - b->in.n;
        if (result == FGZIP_END) {
            list_remove(&b->turn.link); /* it may have been asked before the turn came */
            return PULL_END;
        }
        b->failed = result == FGZIP_BAD;
    }
    return b->failed ? PULL_ERROR : PULL_MORE;
}

static void body_fini(struct stream *s, struct request *r)
{
    struct body *b = container_of(s, struct body, stream);
    if (b->inner != NULL && b->inner->fini != NULL)
        b->inner->fini(b->inner, r);
    if (!op_busy(&b->op)) {
        body_free(b);
        return;
    }
    b->r = NULL;
    list_remove(&b->turn.link);
    list_push_back(&gzip_worker(r->worker)->reading, &b->link);
    op_cancel(b->loop, &b->op);
}

/* ---- making ---- */

static struct body *body_new(struct request *r, int level, size_t room)
{
    struct body *b = calloc(1, sizeof(*b) + room);
    if (b == NULL)
        return NULL;
    b->stream = (struct stream){body_pull, body_fini};
    b->r = r;
    b->loop = r->worker->loop;
    b->codecs = fcache_codecs(r->worker->files);
    list_init(&b->link);
    turn_init(&b->turn, on_turn);
    op_init(&b->op, on_read);
    b->z = fgzip_get(b->codecs, level);
    if (b->z != NULL)
        return b;
    free(b);
    return NULL;
}

static void put_stream(struct response *res, struct body *b)
{
    res->body = BODY_STREAM;
    res->stream = &b->stream;
    res->length = LENGTH_UNKNOWN;
    res->accept_ranges = false;
}

/* A file too large to be held; the length is unknown, of a HEAD as well. */
static void encode_file(struct request *r, struct response *res)
{
    const struct selected *sel = &r->selected;
    int level = sel->coding == CODING_GZIP ? (int)GZIP(r)->gzip_comp_level : FGZIP_UNZIP;
    struct fentry *e = sel->file;
    struct body *b = body_new(r, level, e->body != NULL ? 0 : READ_SIZE);
    if (b == NULL) { /* sent as it is */
        res->coding = sel->coding == CODING_GZIP ? CODING_IDENTITY : CODING_GZIP;
        res->etag = str_make(e->etag, e->etag_n);
        return;
    }
    b->file = fentry_get(e);
    if (e->body != NULL) {
        b->in = str_make(e->body, (size_t)e->size);
        b->last = true;
    }
    put_stream(res, b);
}

static void free_bytes(void *arg)
{
    free(arg);
}

/* All of it at once: it is short. */
static bool encode_bytes(struct request *r, struct response *res, int level)
{
    size_t room = fgzip_bound(res->bytes.n);
    struct fgzip_pool *codecs = fcache_codecs(r->worker->files);
    struct fgzip *z = fgzip_get(codecs, level);
    char *out = malloc(room);
    struct wbuf w = wbuf_make(out, out != NULL ? room : 0);
    struct str in = res->bytes;
    bool good = z != NULL && out != NULL && fgzip_run(z, &in, true, &w) == FGZIP_END &&
                (size_t)(w.at - out) < res->bytes.n && arena_on_free(&r->mem, free_bytes, out);
    fgzip_put(codecs, z);
    if (!good) {
        free(out);
        return false;
    }
    res->bytes = str_between(out, w.at);
    res->length = res->bytes.n;
    return true;
}

static bool encode_stream(struct request *r, struct response *res, int level)
{
    struct body *b = body_new(r, level, PIECE);
    if (b == NULL)
        return false;
    b->inner = res->stream;
    put_stream(res, b);
    return true;
}

/* Longer ones go the way of streams. */
#define BYTES_MAX (64u << 10)

static bool encode_long_bytes(struct request *r, struct response *res, int level)
{
    struct body *b = body_new(r, level, 0);
    if (b == NULL)
        return false;
    b->in = res->bytes;
    b->last = true;
    put_stream(res, b);
    return true;
}

static bool encode(struct request *r, struct response *res)
{
    int level = (int)GZIP(r)->gzip_comp_level;
    if (res->body == BODY_STREAM)
        return encode_stream(r, res, level);
    return res->bytes.n <= BYTES_MAX ? encode_bytes(r, res, level)
                                     : encode_long_bytes(r, res, level);
}

/* What other modules have answered. */
static void encode_answer(struct request *r, struct response *res)
{
    const struct gzip_conf *conf = GZIP(r);
    if (res->status < 200 || res->status == 204 || res->status == 206 || res->status == 304 ||
        !gzip_wanted(conf, res->length, res->content_type) || res->coding != CODING_IDENTITY ||
        header_find(res, STR("content-encoding")) != NULL)
        return;
    res->vary = conf->gzip_vary;
    if (r->meta.first[FIELD_ACCEPT_ENCODING] == 0 || !gzip_may(r, conf) ||
        accept_best(gzip_accept(r), CODING_BIT(CODING_GZIP)) != CODING_GZIP || !encode(r, res))
        return;
    res->coding = CODING_GZIP;
    res->etag_weak = res->etag.n != 0 && !str_starts(res->etag, STR("W/"));
}

void gzip_filter_run(struct request *r, struct response *res)
{
    if (res->body == BODY_FILE && r->selected.streamed && res->entry == r->selected.file)
        encode_file(r, res);
    else if (res->body == BODY_BYTES || res->body == BODY_STREAM)
        encode_answer(r, res);
}
