/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zlib behind fgzip.h.  A deflate state is a quarter of a megabyte, of which reuse saves the
 * allocation and clearing; another level is set by deflateParams on the fresh state.
 */
#include "cache/fgzip.h"

#include "config.h"

#include <stdlib.h>

bool fgzip_magic(struct str first)
{
    return str_starts(first, STR("\x1f\x8b\x08"));
}

size_t fgzip_bound(size_t n)
{
    /* deflateBound of zlib's defaults: stored blocks at worst, and the gzip frame. */
    return n + (n >> 12) + (n >> 14) + (n >> 25) + 13 + 18;
}

#if HAVE_ZLIB

#define ZLIB_CONST
#include <zlib.h>

/* Window of 32 KiB, gzip framing. */
#define GZIP_BITS (15 + 16)
#define MEM_LEVEL 8
#define KEPT_MAX 4u

struct fgzip {
    z_stream z;
    struct fgzip *next;
    int level;
    bool ended;
};

struct fgzip_pool {
    struct fgzip *idle[2]; /* readers, writers */
    unsigned kept[2];
};

struct fgzip_pool *fgzip_pool_new(void)
{
    return calloc(1, sizeof(struct fgzip_pool));
}

static void codec_free(struct fgzip *g)
{
    (void)(g->level == FGZIP_UNZIP ? inflateEnd(&g->z) : deflateEnd(&g->z));
    free(g);
}

void fgzip_pool_delete(struct fgzip_pool *pool)
{
    for (int i = 0; pool != NULL && i < 2; i++)
        for (struct fgzip *g = pool->idle[i], *next; g != NULL; g = next) {
            next = g->next;
            codec_free(g);
        }
    free(pool);
}

static struct fgzip *codec_new(int level)
{
    struct fgzip *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return NULL;
    int rc = level == FGZIP_UNZIP
                 ? inflateInit2(&g->z, GZIP_BITS)
                 : deflateInit2(&g->z, level, Z_DEFLATED, GZIP_BITS, MEM_LEVEL,
                                Z_DEFAULT_STRATEGY);
    if (rc != Z_OK) {
        free(g);
        return NULL;
    }
    g->level = level;
    return g;
}

static bool codec_reset(struct fgzip *g, int level)
{
    g->ended = false;
    if (level == FGZIP_UNZIP)
        return inflateReset(&g->z) == Z_OK;
    if (deflateReset(&g->z) != Z_OK)
        return false;
    if (g->level == level)
        return true;
    g->level = level;
    return deflateParams(&g->z, level, Z_DEFAULT_STRATEGY) == Z_OK;
}

struct fgzip *fgzip_get(struct fgzip_pool *pool, int level)
{
    int kind = level != FGZIP_UNZIP;
    struct fgzip *g = pool->idle[kind];
    if (g == NULL)
        return codec_new(level);
    pool->idle[kind] = g->next;
    pool->kept[kind]--;
    if (codec_reset(g, level))
        return g;
    codec_free(g);
    return NULL;
}

void fgzip_put(struct fgzip_pool *pool, struct fgzip *g)
{
    if (g == NULL)
        return;
    int kind = g->level != FGZIP_UNZIP;
    if (pool->kept[kind] >= KEPT_MAX) {
        codec_free(g);
        return;
    }
    g->next = pool->idle[kind];
    pool->idle[kind] = g;
    pool->kept[kind]++;
}

static enum fgzip_result write_some(struct fgzip *g, bool last)
{
    int rc = deflate(&g->z, last ? Z_FINISH : Z_NO_FLUSH);
    if (rc == Z_STREAM_END) {
        g->ended = true;
        return FGZIP_END;
    }
    CHECK(rc == Z_OK || rc == Z_BUF_ERROR);
    return g->z.avail_out == 0 ? FGZIP_FULL : FGZIP_MORE;
}

static enum fgzip_result read_some(struct fgzip *g, bool last)
{
    for (;;) {
        if (g->ended && g->z.avail_in > 0) { /* another member */
            g->ended = false;
            if (inflateReset(&g->z) != Z_OK)
                return FGZIP_BAD;
        }
        if (g->ended)
            return last ? FGZIP_END : FGZIP_MORE;
        int rc = inflate(&g->z, Z_NO_FLUSH);
        g->ended = rc == Z_STREAM_END;
        if (g->ended)
            continue;
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return FGZIP_BAD;
        if (g->z.avail_out == 0)
            return FGZIP_FULL;
        return last ? FGZIP_BAD : FGZIP_MORE;
    }
}

enum fgzip_result fgzip_run(struct fgzip *g, struct str *in, bool last, struct wbuf *w)
{
    size_t room = (size_t)(w->end - w->at);
    CHECK(in->n <= UINT32_MAX && room <= UINT32_MAX);
    if (room == 0)
        return FGZIP_FULL;
    g->z.next_in = (const Bytef *)in->p;
    g->z.avail_in = (uInt)in->n;
    g->z.next_out = (Bytef *)w->at;
    g->z.avail_out = (uInt)room;
    enum fgzip_result result = g->level == FGZIP_UNZIP ? read_some(g, last) : write_some(g, last);
    *in = str_skip(*in, in->n - g->z.avail_in);
    w->at += room - g->z.avail_out;
    return result;
}

#else /* without zlib nothing is ever encoded */

struct fgzip_pool {
    char unused;
};

struct fgzip_pool *fgzip_pool_new(void)
{
    return calloc(1, sizeof(struct fgzip_pool));
}

void fgzip_pool_delete(struct fgzip_pool *pool)
{
    free(pool);
}

struct fgzip *fgzip_get(struct fgzip_pool *pool, int level)
{
    (void)pool;
    (void)level;
    return NULL;
}

void fgzip_put(struct fgzip_pool *pool, struct fgzip *z)
{
    (void)pool;
    CHECK(z == NULL);
}

enum fgzip_result fgzip_run(struct fgzip *z, struct str *in, bool last, struct wbuf *w)
{
    (void)in;
    (void)last;
    (void)w;
    CHECK(z == NULL);
    return FGZIP_BAD;
}

#endif
