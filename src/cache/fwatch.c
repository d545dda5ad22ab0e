/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One inotify descriptor, the watches on it, and who depends on which name in which of them.
 *
 * A change is in the descriptor's queue before the call that makes it returns.  So it is enough to
 * read the queue once in a turn, after the turn's requests were received and before the first of
 * them is looked up.  With a ring that read is left out when no event can have come before them
 * (loop_posted), which is the rule; its poll completion then takes care of what comes later.
 * Where requests are received while the turn runs (epoll, SQPOLL) one that was sent in pieces, with
 * a change between them, may be answered with what was there when its first piece came.
 */
#include "cache/fwatch.h"

#include <errno.h>
#include <linux/magic.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#define EVENT_MAX (sizeof(struct inotify_event) + NAME_MAX + 1)
#define READ_SIZE 16384

/* A queue has at most 16384 events: more reads than that in one go are a storm. */
#define READS_MAX 256

/* ------------------------------------------------------------------ watches */

static struct fwatch **bucket_of(struct fcache *c, int wd)
{
    return &c->watches[(uint32_t)wd % FWATCH_BUCKETS];
}

static struct fwatch *find(struct fcache *c, int wd)
{
    struct fwatch *w = *bucket_of(c, wd);
    while (w != NULL && w->wd != wd)
        w = w->next;
    return w;
}

static void unhash(struct fcache *c, struct fwatch *w)
{
    struct fwatch **at = bucket_of(c, w->wd);
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->wd = -1;
    c->stats.watches--;
}

static void report_limit(struct fcache *c, int err)
{
    c->stats.watch_failures++;
    if ((err != ENOSPC && err != ENOMEM) || c->watch_warned)
        return;
    c->watch_warned = true;
    log_warn(c->log,
             "file cache: no more inotify watches to be had (see fs.inotify.max_user_watches); "
             "files in further directories are checked every %lld ms instead",
             (long long)c->conf.valid_blind_ms);
}

struct fwatch *fwatch_add(struct fcache *c, const char *path, uint32_t mask)
{
    int wd = inotify_add_watch(c->inotify, path, mask | IN_MASK_ADD | IN_EXCL_UNLINK);
    if (wd < 0) {
        int err = errno;
        if (err != ENOENT && err != ENOTDIR && err != ELOOP && err != ENAMETOOLONG)
            report_limit(c, err);
        errno = err;
        return NULL;
    }
    struct fwatch *w = find(c, wd);
    if (w != NULL) {
        w->refs++;
        return w;
    }
    w = malloc(sizeof(*w));
    if (w == NULL) {
        (void)inotify_rm_watch(c->inotify, wd);
        errno = ENOMEM;
        return NULL;
    }
    *w = (struct fwatch){.next = *bucket_of(c, wd), .wd = wd, .refs = 1};
    *bucket_of(c, wd) = w;
    list_init(&w->deps);
    list_init(&w->places);
    c->stats.watches++;
    return w;
}

struct fwatch *fwatch_add_fd(struct fcache *c, int fd, uint32_t mask)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return fwatch_add(c, path, mask);
}

void fwatch_put(struct fcache *c, struct fwatch *w)
{
    if (--w->refs > 0)
        return;
    CHECK(list_empty(&w->deps) && list_empty(&w->places));
    if (w->wd >= 0) {
        if (c->inotify >= 0)
            (void)inotify_rm_watch(c->inotify, w->wd);
        unhash(c, w);
    }
    free(w);
}

/* ------------------------------------------------------------------ dependencies */

uint64_t fdep_name(const struct fcache *c, struct str name)
{
    uint64_t h = str_hash(name, c->seed);
    return h == FDEP_SELF ? 1 : h;
}

static struct fdep **chain_of(struct fcache *c, const struct fwatch *w, uint64_t name)
{
    return &c->deps[(name ^ (uintptr_t)w >> 4) & c->mask];
}

static void dep_set(struct fcache *c, struct fdep *d, struct fwatch *w, uint64_t name)
{
    d->watch = w;
    d->name = name;
    w->refs++;
    list_init(&d->of_watch);
    list_push_back(&w->deps, &d->of_watch);
    d->at = chain_of(c, w, name);
    d->next = *d->at;
    if (d->next != NULL)
        d->next->at = &d->next;
    *d->at = d;
}

static void dep_unset(struct fcache *c, struct fdep *d)
{
    struct fwatch *w = d->watch;
    if (w == NULL)
        return;
    *d->at = d->next;
    if (d->next != NULL)
        d->next->at = d->at;
    list_remove(&d->of_watch);
    d->watch = NULL;
    fwatch_put(c, w);
}

bool fdep_add(struct fcache *c, struct fdep *first, struct fwatch *w, uint64_t name)
{
    struct fdep *d = first;
    if (first->watch != NULL) {
        d = malloc(sizeof(*d));
        if (d == NULL)
            return false;
        *d = (struct fdep){.owner = first->owner, .kind = first->kind, .more = first->more};
        first->more = d;
    }
    dep_set(c, d, w, name);
    return true;
}

void fdeps_clear(struct fcache *c, struct fdep *first)
{
    dep_unset(c, first);
    for (struct fdep *d = first->more, *next; d != NULL; d = next) {
        next = d->more;
        dep_unset(c, d);
        free(d);
    }
    first->more = NULL;
}

void fdeps_take(struct fcache *c, struct fdep *to, struct fdep *from)
{
    for (const struct fdep *d = from; d != NULL; d = d->more)
        if (d->watch != NULL)
            fdep_add(c, to, d->watch, d->name);
    fdeps_clear(c, from);
}

void fdeps_drop(struct fitem *it)
{
    fdeps_clear(it->e.cache, &it->dep);
    fplace_leave(it);
}

void fdeps_move(struct fitem *to, struct fitem *from)
{
    fdeps_clear(to->e.cache, &to->dep);
    fdeps_take(to->e.cache, &to->dep, &from->dep);
    struct fplace *p = from->place;
    fplace_leave(to);
    if (p != NULL) {
        list_push_back(&p->items, &to->of_place);
        to->place = p;
        to->rest = from->rest;
    }
    fplace_leave(from);
}

/* ------------------------------------------------------------------ events */

static void item_event(struct fitem *it, uint32_t mask)
{
    fdeps_drop(it);
    if (it->load != NULL)
        it->load->stale = true;
    else if (mask & (IN_ATTRIB | IN_IGNORED | IN_UNMOUNT | IN_MOVE_SELF | IN_DELETE_SELF))
        fitem_doubt(it);
    else
        fitem_gone(it);
}

/* Every branch ends the dependency. */
static void dep_event(struct fdep *d, uint32_t mask)
{
    switch ((enum fdep_owner)d->kind) {
    case FDEP_ITEM:
        item_event(d->owner, mask);
        return;
    case FDEP_PLACE:
        fplace_drop(d->owner);
        return;
    case FDEP_ROOT:
        froot_doubt(d->owner);
        return;
    }
}

static void name_event(struct fcache *c, struct fwatch *w, uint64_t name, uint32_t mask)
{
    struct fdep *d = *chain_of(c, w, name);
    while (d != NULL) {
        if (d->watch != w || d->name != name) {
            d = d->next;
            continue;
        }
        dep_event(d, mask);
        d = *chain_of(c, w, name); /* any number of others may have gone with it */
    }
}

static void self_event(struct fcache *c, struct fwatch *w, uint32_t mask)
{
    bool ended = (mask & (IN_IGNORED | IN_UNMOUNT)) != 0;
    name_event(c, w, FDEP_SELF, mask);
    while (!list_empty(&w->places))
        fplace_drop(container_of(w->places.next, struct fplace, of_watch));
    while (ended && !list_empty(&w->deps))
        dep_event(container_of(w->deps.next, struct fdep, of_watch), mask);
    if (ended && w->wd >= 0)
        unhash(c, w);
}

/* Events were lost: nothing is known any more. */
static void overflow(struct fcache *c)
{
    log_info(c->log, "file cache: too many changes at once, all files are checked again");
    froot_doubt_all(c);
    for (uint32_t i = 0; i <= c->mask; i++)
        for (struct fitem *it = c->table[i]; it != NULL; it = it->next)
            fitem_doubt(it);
}

static void on_event(struct fcache *c, const struct inotify_event *ev)
{
    if (ev->mask & IN_Q_OVERFLOW) {
        overflow(c);
        return;
    }
    struct fwatch *w = find(c, ev->wd);
    if (w == NULL)
        return;
    w->refs++;
    if (ev->len > 0)
        name_event(c, w, fdep_name(c, str_z(ev->name)), ev->mask);
    else
        self_event(c, w, ev->mask);
    fwatch_put(c, w);
}

void fwatch_drain(struct fcache *c)
{
    _Alignas(struct inotify_event) char buf[READ_SIZE];
    c->caught_up = c->read_turn = c->loop->stats.waits;
    if (c->inotify < 0)
        return;
    for (int reads = 0; reads < READS_MAX; reads++) {
        ssize_t n = read(c->inotify, buf, sizeof(buf));
        if (n <= 0)
            return;
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *ev = (const void *)(buf + at);
            on_event(c, ev);
            at += (ssize_t)(sizeof(*ev) + ev->len);
        }
        if ((size_t)n + EVENT_MAX <= sizeof(buf)) /* there were no more */
            return;
    }
    loop_at_turn_end(c->loop, &c->watch_turn);
}

void fwatch_catch_up(struct fcache *c)
{
    c->caught_up = c->loop->stats.waits;
    if (c->inotify >= 0 && (c->poll_failed || loop_posted(c->loop, &c->watch_op)))
        fwatch_drain(c);
}

static void on_turn(struct turn *t)
{
    fwatch_drain(container_of(t, struct fcache, watch_turn));
}

static void on_poll(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct fcache *c = container_of(op, struct fcache, watch_op);
    if (c->closing)
        return;
    if (res >= 0)
        fwatch_drain(c);
    if (flags & OP_MORE)
        return;
    if (res >= 0) {
        op_poll(loop, op, c->inotify, POLLIN, OP_POLL_MULTI);
        return;
    }
    log_warn(c->log, "file cache: waiting for change events failed (%d: %s), they are read in "
             "every turn instead", -res, strerror(-res));
    c->poll_failed = true;
}

void fwatch_start(struct fcache *c)
{
    c->inotify = -1;
    op_init(&c->watch_op, on_poll);
    turn_init(&c->watch_turn, on_turn);
    if (!c->conf.events || c->conf.max_entries == 0)
        return;
    c->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (c->inotify < 0) {
        log_warn(c->log, "file cache: inotify_init1() failed (%d: %s), files are checked every "
                 "%lld ms instead", errno, strerror(errno), (long long)c->conf.valid_blind_ms);
        return;
    }
    op_poll(c->loop, &c->watch_op, c->inotify, POLLIN, OP_POLL_MULTI);
}

void fwatch_cancel(struct fcache *c)
{
    op_cancel(c->loop, &c->watch_op);
}

void fwatch_stop(struct fcache *c)
{
    list_remove(&c->watch_turn.link);
    if (c->inotify >= 0)
        loop_close_fd(c->loop, c->inotify);
    c->inotify = -1;
}

/* ------------------------------------------------------------------ file systems */

/* Only what is known to report every change counts as doing so. */
static enum fdev_kind kind_of_magic(unsigned long magic)
{
    switch (magic) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case SQUASHFS_MAGIC:
    case ISOFS_SUPER_MAGIC:
    case REISERFS_SUPER_MAGIC:
    case 0x2fc12fc1: /* ZFS */
    case 0xca451a4e: /* bcachefs */
    case 0xe0f5e1e2: /* EROFS */
    case 0x3153464a: /* JFS */
        return FDEV_LOCAL;
    case MSDOS_SUPER_MAGIC: /* one file, many spellings: an event names only one of them */
    case 0x2011bab0:        /* exFAT */
    case 0x7366746e:        /* NTFS3 */
    case OVERLAYFS_SUPER_MAGIC: /* a change of a lower layer comes without an event */
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
        return FDEV_BLIND;
    default:
        return FDEV_REMOTE;
    }
}

enum fdev_kind fdev_kind(struct fcache *c, int fd, uint64_t dev)
{
    struct statfs fs;
    uint32_t n = c->dev_count < FDEVS ? c->dev_count : FDEVS;
    for (uint32_t i = 0; i < n; i++)
        if (c->devs[i].dev == dev)
            return (enum fdev_kind)c->devs[i].kind;
    if (fstatfs(fd, &fs) != 0)
        return FDEV_REMOTE;
    enum fdev_kind kind = kind_of_magic((unsigned long)fs.f_type);
    uint32_t slot = c->dev_count++ % FDEVS;
    c->devs[slot].dev = dev;
    c->devs[slot].kind = (uint8_t)kind;
    return kind;
}
