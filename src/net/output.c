/* SPDX-License-Identifier: BSD-2-Clause */
/* The output queue: a list of buffers from the worker's slab. */
#include "net/output.h"

#define BUFS_PER_BLOCK 16
#define GATHERS_PER_BLOCK 8

void out_pool_init(struct out_pool *p)
{
    slab_init(&p->bufs, OUT_BUF_BYTES, BUFS_PER_BLOCK);
    slab_init(&p->gathers, sizeof(struct out_gather), GATHERS_PER_BLOCK);
}

void out_pool_fini(struct out_pool *p)
{
    slab_fini(&p->bufs);
    slab_fini(&p->gathers);
}

static struct out_buf *buf_add(struct output *o, struct out_pool *p)
{
    struct out_buf *b = slab_get(&p->bufs);
    if (b == NULL)
        return NULL;
    b->next = NULL;
    b->used = 0;
    b->iov_n = b->iov_at = 0;
    b->has_file = false;
    if (o->last == NULL)
        o->first = b;
    else
        o->last->next = b;
    o->last = b;
    return b;
}

static void buf_pop(struct output *o, struct out_pool *p)
{
    struct out_buf *b = o->first;
    o->first = b->next;
    if (o->first == NULL)
        o->last = NULL;
    slab_put(&p->bufs, b);
}

static void release(struct out_ref *r)
{
    if (r->release != NULL)
        r->release(r->arg);
    r->release = NULL;
}

/* The last buffer if another piece fits, else a new one. */
static struct out_buf *buf_for_piece(struct output *o, struct out_pool *p)
{
    struct out_buf *b = o->last;
    if (b != NULL && !b->has_file && b->iov_n < OUT_IOV)
        return b;
    return buf_add(o, p);
}

static void piece_add(struct out_buf *b, const void *bytes, size_t n, struct out_ref ref)
{
    b->iov[b->iov_n] = (struct iovec){(void *)(uintptr_t)bytes, n}; /* read from only */
    b->refs[b->iov_n] = ref;
    b->iov_n++;
}

char *out_room(struct output *o, struct out_pool *p, size_t n)
{
    CHECK(n <= OUT_MEM);
    struct out_buf *b = o->last;
    if (b == NULL || b->has_file || OUT_MEM - b->used < n || b->iov_n == OUT_IOV)
        b = buf_add(o, p);
    return b == NULL ? NULL : b->mem + b->used;
}

/*
 * Bytes behind the last copied piece extend it.  A piece that is in flight may be extended too: a
 * send has its own count, and what it did not cover is still there when it is done.
 */
void out_commit(struct output *o, size_t n)
{
    struct out_buf *b = o->last;
    char *at = b->mem + b->used;
    struct iovec *last = b->iov_n > 0 ? &b->iov[b->iov_n - 1] : NULL;
    if (n == 0)
        return;
    if (last != NULL && b->iov_at < b->iov_n && (char *)last->iov_base + last->iov_len == at)
        last->iov_len += n;
    else
        piece_add(b, at, n, (struct out_ref){NULL, NULL});
    b->used += (uint32_t)n;
    o->queued += n;
}

bool out_copy(struct output *o, struct out_pool *p, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0) {
        size_t take = n < OUT_MEM ? n : OUT_MEM;
        char *to = out_room(o, p, take);
        if (to == NULL)
            return false;
        memcpy(to, from, take);
        out_commit(o, take);
        from += take;
        n -= take;
    }
    return true;
}

bool out_ref(struct output *o, struct out_pool *p, const void *bytes, size_t n, struct out_ref ref)
{
    struct out_buf *b = buf_for_piece(o, p);
    if (b == NULL)
        return false;
    piece_add(b, bytes, n, ref);
    o->queued += n;
    return true;
}

bool out_file(struct output *o, struct out_pool *p, int fd, uint64_t off, uint64_t n,
              bool use_splice, struct out_ref ref)
{
    struct out_buf *b = o->last;
    if (b == NULL || b->has_file)
        b = buf_add(o, p);
    if (b == NULL)
        return false;
    send_file_init(&b->file, fd, off, n, use_splice);
    b->has_file = true;
    b->file_ref = ref;
    o->queued += n;
    return true;
}

size_t out_front(const struct output *o, struct iovec *to, size_t room, uint64_t most, bool *more)
{
    size_t n = 0;
    for (const struct out_buf *b = o->first; b != NULL; b = b->next) {
        for (uint8_t i = b->iov_at; i < b->iov_n && most > 0; i++) {
            if (n == room) {
                *more = true;
                return n;
            }
            to[n] = b->iov[i];
            if (to[n].iov_len > most)
                to[n].iov_len = (size_t)most;
            most -= to[n++].iov_len;
        }
        if (b->has_file || most == 0) {
            *more = most > 0;
            return n;
        }
    }
    *more = false;
    return n;
}

struct send_file *out_front_file(const struct output *o)
{
    struct out_buf *b = o->first;
    return b != NULL && b->iov_at == b->iov_n && b->has_file ? &b->file : NULL;
}

/* A buffer all of whose pieces are gone is given back, unless a file range keeps it. */
void out_advance(struct output *o, struct out_pool *p, size_t n)
{
    o->sent += n;
    while (o->first != NULL) {
        struct out_buf *b = o->first;
        while (b->iov_at < b->iov_n && n >= b->iov[b->iov_at].iov_len) {
            n -= b->iov[b->iov_at].iov_len;
            release(&b->refs[b->iov_at]);
            b->iov_at++;
        }
        if (b->iov_at < b->iov_n) {
            b->iov[b->iov_at].iov_base = (char *)b->iov[b->iov_at].iov_base + n;
            b->iov[b->iov_at].iov_len -= n;
            return;
        }
        if (b->has_file)
            return;
        buf_pop(o, p);
        if (n == 0)
            return;
    }
    CHECK(n == 0);
}

void out_file_done(struct output *o, struct out_pool *p, struct loop *loop)
{
    struct out_buf *b = o->first;
    CHECK(b != NULL && b->has_file);
    send_file_fini(loop, &b->file);
    b->has_file = false;
    release(&b->file_ref);
    buf_pop(o, p);
}

void out_clear(struct output *o, struct out_pool *p, struct loop *loop)
{
    while (o->first != NULL) {
        struct out_buf *b = o->first;
        while (b->iov_at < b->iov_n)
            release(&b->refs[b->iov_at++]);
        if (b->has_file)
            out_file_done(o, p, loop);
        else
            buf_pop(o, p);
    }
}
