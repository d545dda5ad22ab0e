/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots.  A root's path is resolved to one descriptor that all lookups below it start from, so
 * that a release that is swapped under a symbolic link is seen as a whole or not at all.  Whatever
 * that path passes through is watched; when something happens there, or time is up, the path is
 * opened again before the next lookup, and if it now means another directory everything below is
 * looked at again.
 */
#include "cache/fentry.h"

#include "cache/fwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A root whose path changes all the time is taken as it is after so many tries. */
#define RETRIES 8

struct frootfd *frootfd_get(struct frootfd *d)
{
    d->refs++;
    return d;
}

void frootfd_put(struct frootfd *d)
{
    if (--d->refs > 0)
        return;
    (void)close(d->fd); /* O_PATH */
    free(d);
}

/* ------------------------------------------------------------------ settling */

static void root_open(struct froot *r)
{
    r->stale = false;
    r->how = (struct open_how){.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    op_open(r->cache->loop, &r->op, AT_FDCWD, r->path, &r->how);
}

static void doubt_loads(const struct froot *r)
{
    struct fcache *c = r->cache;
    for (size_t i = 0; i < FLOAD_BUCKETS; i++)
        LIST_EACH(at, &c->loads[i]) {
            struct fload *ld = container_of(at, struct fload, link);
            ld->stale |= ld->item->root == r && ld->step != FLOAD_ROOT;
        }
}

static void doubt_all_below(struct froot *r)
{
    struct fcache *c = r->cache;
    doubt_loads(r);
    for (uint32_t i = 0; i <= c->mask; i++)
        for (struct fitem *it = c->table[i]; it != NULL; it = it->next)
            if (it->root == r)
                fitem_doubt(it);
}

/* Takes the descriptor, or the error, as what the root is from now on. */
static void adopt(struct froot *r, int fd, int err)
{
    struct stat st;
    struct frootfd *d = NULL;
    if (fd >= 0 && fstat(fd, &st) != 0)
        err = errno;
    else if (fd >= 0 && r->dir != NULL && r->dir->dev == st.st_dev && r->dir->ino == st.st_ino) {
        (void)close(fd);
        return;
    } else if (fd >= 0 && (d = malloc(sizeof(*d))) == NULL)
        err = ENOMEM;
    if (d != NULL)
        *d = (struct frootfd){fd, 1, st.st_dev, st.st_ino};
    else if (fd >= 0)
        (void)close(fd);
    if (r->dir == NULL && d == NULL && r->err == err)
        return;
    if (r->dir != NULL)
        frootfd_put(r->dir);
    r->dir = d;
    r->err = err;
    fplace_drop_root(r);
    doubt_all_below(r);
}

static void settled(struct froot *r, int fd, int err)
{
    struct fcache *c = r->cache;
    struct list waiting, *link;
    bool passing = err == EMFILE || err == ENFILE || err == ENOMEM || err == EIO || r->stale;
    int64_t valid = r->blind ? c->conf.valid_blind_ms : c->conf.valid_ms;
    adopt(r, fd, err);
    r->tries = 0;
    r->check_at = passing ? 0 : c->loop->now_ms + (uint64_t)(valid > 0 ? valid : 0);
    list_init(&waiting);
    list_splice(&waiting, &r->waiting);
    r->refs++;
    while ((link = list_pop_front(&waiting)) != NULL)
        fload_ready(container_of(link, struct fload, on_root));
    r->refs--;
}

/* Watches what the path passes through. True: news, the path has to be opened again. */
static bool cover(struct froot *r, int fd)
{
    struct fcache *c = r->cache;
    struct stat st;
    if (r->walked)
        return false;
    r->blind = true;
    if (c->inotify < 0)
        return false;
    if (fd >= 0 && (fstat(fd, &st) != 0 || fdev_kind(c, fd, st.st_dev) == FDEV_REMOTE))
        return false;
    r->walked = true;
    r->blind = false;
    return fwalk_root(r);
}

static void on_open(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    (void)loop;
    (void)flags;
    struct froot *r = container_of(op, struct froot, op);
    bool again = (res == -EINTR || res == -EAGAIN || r->stale) && r->tries++ < RETRIES;
    if (!again && (res == -EMFILE || res == -ENFILE) && r->tries++ < RETRIES)
        again = fcache_free_fds(r->cache, 1) > 0;
    if (!r->cache->closing && (again || cover(r, res))) {
        if (res >= 0)
            (void)close(res);
        root_open(r);
        return;
    }
    settled(r, res, res < 0 ? -res : 0);
}

bool froot_settle(struct froot *r, struct fload *ld)
{
    if (r->cache->loop->now_ms < r->check_at)
        return true;
    list_push_back(&r->waiting, &ld->on_root);
    if (!op_busy(&r->op))
        root_open(r);
    return false;
}

void froot_doubt(struct froot *r)
{
    r->check_at = 0;
    r->stale = true;
    r->walked = false;
    fdeps_clear(r->cache, &r->deps);
    doubt_loads(r);
}

void froot_doubt_all(struct fcache *c)
{
    for (size_t i = 0; i < FROOT_BUCKETS; i++)
        LIST_EACH(at, &c->roots[i]) {
            struct froot *r = container_of(at, struct froot, link);
            froot_doubt(r);
            fplace_drop_root(r);
        }
}

/* ------------------------------------------------------------------ the list of them */

struct froot *froot_find(struct fcache *c, struct str path)
{
    uint64_t hash = str_hash(path, c->seed);
    struct list *bucket = &c->roots[hash % FROOT_BUCKETS];
    LIST_EACH(at, bucket) {
        struct froot *r = container_of(at, struct froot, link);
        if (r->hash == hash && r->n == path.n && memcmp(r->path, path.p, path.n) == 0)
            return r;
    }
    struct froot *r = calloc(1, sizeof(*r) + path.n + 1);
    if (r == NULL)
        return NULL;
    r->hash = hash;
    r->cache = c;
    r->n = path.n;
    r->used_at = c->loop->now_ms;
    memcpy(r->path, path.p, path.n);
    r->deps = (struct fdep){.owner = r, .kind = FDEP_ROOT};
    list_init(&r->waiting);
    op_init(&r->op, on_open);
    list_push_back(bucket, &r->link);
    return r;
}

static void root_free(struct froot *r)
{
    struct fcache *c = r->cache;
    if (c->last_root == r)
        c->last_root = NULL;
    fdeps_clear(c, &r->deps);
    fplace_drop_root(r);
    if (r->dir != NULL)
        frootfd_put(r->dir);
    list_remove(&r->link);
    free(r);
}

void froot_free_unused(struct fcache *c, bool all)
{
    for (size_t i = 0; i < FROOT_BUCKETS; i++)
        LIST_EACH_SAFE(at, next, &c->roots[i]) {
            struct froot *r = container_of(at, struct froot, link);
            bool idle = c->loop->now_ms - r->used_at >= (uint64_t)c->conf.inactive_ms;
            if (r->refs == 0 && !op_busy(&r->op) && (all || idle))
                root_free(r);
        }
}

bool froot_busy(const struct fcache *c)
{
    for (size_t i = 0; i < FROOT_BUCKETS; i++)
        LIST_EACH(at, &c->roots[i])
            if (op_busy(&container_of(at, struct froot, link)->op))
                return true;
    return false;
}

void froot_cancel(struct fcache *c)
{
    for (size_t i = 0; i < FROOT_BUCKETS; i++)
        LIST_EACH(at, &c->roots[i])
            op_cancel(c->loop, &container_of(at, struct froot, link)->op);
}
