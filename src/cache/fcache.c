/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache's face: lookups, limits, the sweep that lets go of what nobody asks for.
 *
 * A hit is one hash of the path, one or two comparisons and four stores.  Everything that could
 * make an item unfit has been turned into its check_at beforehand.
 */
#include "cache/fcache.h"

#include "cache/fentry.h"
#include "cache/fwatch.h"
#include "core/rand.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>

/* The sweep goes through the table in this many steps per `inactive`. */
#define SWEEP_STEPS 16

/* Ghosts that fall on the same place displace each other: so many places for each item. */
#define GHOSTS 4u

/* Open files of the cache: at most this share of the process's limit. */
#define FD_SHARE 4u

void fcache_conf_init(struct fcache_conf *c)
{
    *c = (struct fcache_conf){
        .max_entries = 10000,
        .inactive_ms = 60000,
        .valid_ms = 60000,
        .valid_blind_ms = 1000,
        .events = true,
        .errors = true,
        .memory = 64u << 20,
        .max_body = 64u << 10,
    };
}

/* Half of the descriptors may be in use by responses: soft limit, as it is now. */
static uint32_t fd_bound(const struct fcache_conf *conf)
{
    struct rlimit lim;
    uint64_t max = conf->max_entries;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur / FD_SHARE < max)
        max = lim.rlim_cur / FD_SHARE;
    return (uint32_t)max;
}

static void sweep_arm(struct fcache *c)
{
    int64_t step = c->conf.inactive_ms / SWEEP_STEPS;
    timer_arm(&c->loop->timers, &c->sweep,
              c->loop->now_ms + (uint64_t)(step > TIMER_TICK_MS ? step : TIMER_TICK_MS));
}

static bool inactive(const struct fcache *c, uint64_t used_at)
{
    return c->loop->now_ms - used_at >= (uint64_t)c->conf.inactive_ms;
}

static void sweep_fire(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    struct fcache *c = container_of(t, struct fcache, sweep);
    uint32_t n = (c->mask + 1) / SWEEP_STEPS + 1;
    while (n-- > 0) {
        struct fitem *it = c->table[c->sweep_at];
        while (it != NULL) {
            struct fitem *next = it->next;
            if (inactive(c, it->used_at))
                fitem_remove(c, it);
            it = next;
        }
        c->sweep_at = (c->sweep_at + 1) & c->mask;
    }
    froot_free_unused(c, false);
    sweep_arm(c);
}

static bool tables_new(struct fcache *c)
{
    uint32_t n = 64;
    while (n < c->conf.max_entries && n < 1u << 28)
        n *= 2;
    c->mask = n - 1;
    c->table = calloc(n, sizeof(struct fitem *));
    c->deps = calloc(n, sizeof(struct fdep *));
    c->places = calloc(n, sizeof(struct fplace *));
    c->ghost_mask = GHOSTS * n - 1;
    c->ghosts = calloc(GHOSTS * (size_t)n, sizeof(uint32_t));
    return c->table != NULL && c->deps != NULL && c->places != NULL && c->ghosts != NULL;
}

static void cache_free(struct fcache *c)
{
    free(c->table);
    free(c->deps);
    free(c->places);
    free(c->ghosts);
    free(c);
}

struct fcache *fcache_new(struct loop *loop, const struct fcache_conf *conf, struct log_ctx *log)
{
    struct fcache *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    c->loop = loop;
    c->log = log;
    c->conf = *conf;
    c->seed = rand_u64();
    c->max_fds = fd_bound(conf);
    list_init(&c->queue[FQ_SMALL]);
    list_init(&c->queue[FQ_MAIN]);
    list_init(&c->fd_items);
    for (size_t i = 0; i < FROOT_BUCKETS; i++)
        list_init(&c->roots[i]);
    for (size_t i = 0; i < FLOAD_BUCKETS; i++)
        list_init(&c->loads[i]);
    fdigests_init(&c->digests);
    timer_init(&c->sweep, sweep_fire);
    if (!tables_new(c) || !fvariants_init(c)) {
        cache_free(c);
        return NULL;
    }
    fwatch_start(c);
    sweep_arm(c);
    return c;
}

static void loads_end(struct fcache *c)
{
    for (size_t i = 0; i < FLOAD_BUCKETS; i++)
        LIST_EACH(at, &c->loads[i])
            fload_cancel(container_of(at, struct fload, link));
}

void fcache_delete(struct fcache *c)
{
    if (c == NULL)
        return;
    c->closing = true;
    timer_disarm(&c->loop->timers, &c->sweep);
    for (uint32_t i = 0; i <= c->mask; i++)
        while (c->table[i] != NULL)
            fitem_remove(c, c->table[i]);
    loads_end(c);
    fvariants_cancel(c);
    fdigests_fini(&c->digests);
    froot_cancel(c);
    fwatch_cancel(c);
    while (c->load_count > 0 || froot_busy(c) || fvariants_busy(c) ||
           op_busy(&c->watch_op))
        loop_turn(c->loop, c->loop->now_ms + 100);
    fwatch_stop(c);
    fvariants_fini(c);
    c->closed = true;
    fcache_unref(c);
}

/* Entries that are in use outlive the cache; the last one takes it along. */
void fcache_unref(struct fcache *c)
{
    if (!c->closed || c->alive > 0)
        return;
    froot_free_unused(c, true);
    cache_free(c);
}

static enum status lookup_slow(struct fcache *c, struct froot *root, struct flookup *l,
                               uint64_t hash, bool bypass)
{
    c->stats.misses++;
    /* What is loaded now must not be taken for older than changes that were there before it. */
    if (c->read_turn != c->loop->stats.waits)
        fwatch_drain(c);
    if (!bypass) {
        struct fload *ld = fload_find(c, hash, root, l->path, l->links);
        if (ld != NULL) {
            fload_join(ld, l);
            return STATUS_AGAIN;
        }
    }
    return fload_start(c, root, l, hash, bypass) ? STATUS_AGAIN : STATUS_NOMEM;
}

/* Paths that no file system takes need no look, and are not kept. */
static enum status refuse(struct fcache *c, struct froot *root, struct flookup *l, int err)
{
    struct fitem *it = fitem_new(c, root, str_head(l->path, 64), l->links);
    if (it == NULL)
        return STATUS_NOMEM;
    it->e.kind = FENTRY_ERROR;
    it->e.err = err;
    l->entry = &it->e;
    return STATUS_OK;
}

enum status fcache_get(struct fcache *c, struct flookup *l)
{
    struct froot *root = c->last_root;
    uint64_t now = c->loop->now_ms;
    bool bypass = l->bypass || c->conf.max_entries == 0;
    l->load = NULL;
    l->entry = NULL;
    CHECK(!c->closing);
    if (c->caught_up != c->loop->stats.waits)
        fwatch_catch_up(c);
    if (root == NULL || root->n != l->root.n || memcmp(root->path, l->root.p, root->n) != 0) {
        root = froot_find(c, l->root);
        if (root == NULL)
            return STATUS_NOMEM;
        c->last_root = root;
    }
    uint64_t hash = str_hash(l->path, root->hash + l->links);
    if (LIKELY(!bypass)) {
        struct fitem *it = fitem_find(c, hash, root, l->path, l->links);
        if (LIKELY(it != NULL && now < it->check_at && now < root->check_at)) {
            c->stats.hits++;
            it->used_at = now;
            if (it->freq < FREQ_MAX)
                it->freq++;
            l->entry = fentry_get(&it->e);
            return STATUS_OK;
        }
    }
    if (l->path.n >= PATH_MAX)
        return refuse(c, root, l, ENAMETOOLONG);
    if (memchr(l->path.p, '\0', l->path.n) != NULL)
        return refuse(c, root, l, ENOENT);
    return lookup_slow(c, root, l, hash, bypass);
}

void fcache_cancel(struct fcache *c, struct flookup *l)
{
    (void)c;
    if (l->load == NULL)
        return;
    list_remove(&l->link);
    l->load = NULL;
}

void fcache_stats(const struct fcache *c, struct fcache_stats *out)
{
    *out = c->stats;
}
