/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items: their memory, the table that finds them, and what leaves it.  The order of leaving is
 * S3-FIFO: a newcomer waits in a small queue and leaves it unless it is asked for again; what was
 * asked for moves to the main queue, which is a FIFO with second chances.  A scan over any number
 * of files passes through the small queue and leaves the main one alone.  What left the small
 * queue is remembered by its hash for a while, and goes to the main queue if it comes back.
 */
#include "cache/fentry.h"

#include "cache/fwatch.h"

#include <stdlib.h>

/* The small queue's share: one in so many. */
#define SMALL_SHARE 10u

/* A body must not cost more newcomers than this. */
#define RESERVE_TRIES 64

struct fitem *fitem_new(struct fcache *c, struct froot *root, struct str path, uint8_t links)
{
    struct fitem *it = calloc(1, sizeof(*it) + path.n + 1);
    if (it == NULL)
        return NULL;
    it->root = root;
    root->refs++;
    it->links = links;
    it->path_n = (uint32_t)path.n;
    memcpy(it->path, path.p, path.n);
    list_init(&it->link);
    list_init(&it->fd_link);
    list_init(&it->of_place);
    it->dep = (struct fdep){.owner = it, .kind = FDEP_ITEM};
    it->e.refs = 1;
    it->e.fd = -1;
    it->e.cache = c;
    c->alive++;
    return it;
}

static void heads_free(struct fentry *e)
{
    for (struct fhead *h = e->heads, *next; h != NULL; h = next) {
        next = h->next;
        free(h);
    }
}

static void variant_free(struct fentry *v)
{
    struct fcache *c = v->cache;
    c->stats.memory -= v->size;
    free((void *)(uintptr_t)v->body);
    heads_free(v);
    free(v);
    c->alive--;
    if (c->closing)
        fcache_unref(c);
}

static void item_free(struct fitem *it)
{
    struct fcache *c = it->e.cache;
    CHECK(!it->in_table && it->load == NULL);
    fdeps_drop(it);
    if (it->e.fd >= 0) {
        loop_close_fd(c->loop, it->e.fd);
        c->stats.fds--;
    }
    if (it->e.body != NULL)
        c->stats.memory -= it->e.size;
    free((void *)(uintptr_t)it->e.body);
    heads_free(&it->e);
    free(it->e.digest);
    for (struct fentry *v = it->e.variants, *next; v != NULL; v = next) {
        next = v->next_variant;
        fentry_put(v);
    }
    it->root->refs--;
    it->root->used_at = c->loop->now_ms;
    free(it);
    c->alive--;
    if (c->closing)
        fcache_unref(c);
}

void fentry_put(struct fentry *e)
{
    if (e == NULL)
        return;
    CHECK(e->refs > 0);
    if (--e->refs > 0)
        return;
    if (e->is_variant)
        variant_free(e);
    else
        item_free(fitem_of(e));
}

void fentry_head_add(struct fentry *e, const void *owner, uint16_t status, uint16_t coding,
                     struct str bytes)
{
    unsigned count = 0;
    for (const struct fhead *h = e->heads; h != NULL; h = h->next)
        count++;
    if (count >= FHEADS_MAX || bytes.n > UINT32_MAX)
        return;
    struct fhead *h = malloc(sizeof(*h) + bytes.n);
    if (h == NULL)
        return;
    *h = (struct fhead){e->heads, owner, status, coding, (uint32_t)bytes.n};
    memcpy(h->bytes, bytes.p, bytes.n);
    e->heads = h;
}

struct fitem *fitem_find(const struct fcache *c, uint64_t hash, const struct froot *root,
                         struct str path, uint8_t links)
{
    struct fitem *it = c->table[hash & c->mask];
    for (; it != NULL; it = it->next)
        if (it->hash == hash && it->root == root && it->links == links && it->path_n == path.n &&
            memcmp(it->path, path.p, path.n) == 0)
            return it;
    return NULL;
}

static uint32_t *ghost_of(const struct fcache *c, uint64_t hash)
{
    return &c->ghosts[hash & c->ghost_mask];
}

/* 0 means none. */
static uint32_t ghost_mark(uint64_t hash)
{
    return (uint32_t)(hash >> 32) | 1u;
}

static void enqueue(struct fcache *c, struct fitem *it, enum fqueue q)
{
    it->queue = (uint8_t)q;
    list_push_back(&c->queue[q], &it->link);
    c->queued[q]++;
}

void fitem_remove(struct fcache *c, struct fitem *it)
{
    if (!it->in_table)
        return;
    struct fitem **at = &c->table[it->hash & c->mask];
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    it->next = NULL;
    list_remove(&it->link);
    list_remove(&it->fd_link);
    c->queued[it->queue]--;
    c->stats.entries--;
    it->in_table = false;
    it->e.cached = false;
    fdeps_drop(it);
    fentry_put(&it->e);
}

void fitem_doubt(struct fitem *it)
{
    struct fcache *c = it->e.cache;
    it->check_at = 0;
    it->e.cached = false;
    c->stats.invalidated += it->in_table;
}

void fitem_gone(struct fitem *it)
{
    struct fcache *c = it->e.cache;
    if (!it->in_table)
        return;
    c->stats.invalidated++;
    *ghost_of(c, it->hash) = ghost_mark(it->hash); /* its successor is no newcomer */
    fitem_remove(c, it);
}

void fitem_insert(struct fcache *c, struct fitem *it)
{
    struct str path = {it->path, it->path_n};
    struct fitem *old = fitem_find(c, it->hash, it->root, path, it->links);
    enum fqueue q = FQ_SMALL;
    uint32_t *ghost = ghost_of(c, it->hash);
    if (old != NULL) {
        q = (enum fqueue)old->queue;
        it->freq = old->freq;
        fitem_remove(c, old);
    } else if (*ghost == ghost_mark(it->hash)) {
        q = FQ_MAIN;
        *ghost = 0;
    }
    it->e.refs++;
    it->in_table = true;
    it->e.cached = true;
    it->used_at = c->loop->now_ms;
    it->next = c->table[it->hash & c->mask];
    c->table[it->hash & c->mask] = it;
    enqueue(c, it, q);
    if (it->e.fd >= 0)
        list_push_back(&c->fd_items, &it->fd_link);
    c->stats.entries++;
    fcache_trim(c);
}

static void evict(struct fcache *c, struct fitem *it)
{
    c->stats.evicted++;
    fitem_remove(c, it);
}

static struct fitem *oldest(struct fcache *c, enum fqueue q)
{
    struct fitem *it = container_of(c->queue[q].next, struct fitem, link);
    list_remove(&it->link);
    c->queued[q]--;
    return it;
}

/* Puts one item out; false if there is none. */
static bool evict_one(struct fcache *c)
{
    while (c->stats.entries > 0) {
        bool small = c->queued[FQ_MAIN] == 0 ||
                     c->queued[FQ_SMALL] > 1 + c->stats.entries / SMALL_SHARE;
        struct fitem *it = oldest(c, small ? FQ_SMALL : FQ_MAIN);
        bool again = it->freq > 0;
        if (again && !small)
            it->freq--;
        else if (again)
            it->freq = 0;
        enqueue(c, it, small && !again ? FQ_SMALL : FQ_MAIN);
        if (again)
            continue;
        if (small)
            *ghost_of(c, it->hash) = ghost_mark(it->hash);
        evict(c, it);
        return true;
    }
    return false;
}

bool fcache_reserve(struct fcache *c, uint64_t bytes)
{
    if (bytes > c->conf.memory)
        return false;
    /* Bodies in use elsewhere are not given back by putting their items out: do not insist. */
    for (int i = 0; i < RESERVE_TRIES && c->stats.memory > c->conf.memory - bytes; i++)
        if (!evict_one(c))
            break;
    return c->stats.memory <= c->conf.memory - bytes;
}

uint32_t fcache_free_fds(struct fcache *c, uint32_t n)
{
    uint32_t freed = 0;
    while (freed < n && !list_empty(&c->fd_items)) {
        struct fitem *it = container_of(c->fd_items.next, struct fitem, fd_link);
        if (it->freq > 0) {
            it->freq--;
            list_remove(&it->fd_link);
            list_push_back(&c->fd_items, &it->fd_link);
            continue;
        }
        evict(c, it);
        freed++;
    }
    return freed;
}

void fcache_trim(struct fcache *c)
{
    while (c->stats.entries > c->conf.max_entries && evict_one(c))
        ;
    if (c->stats.fds > c->max_fds)
        fcache_free_fds(c, c->stats.fds - c->max_fds);
}
