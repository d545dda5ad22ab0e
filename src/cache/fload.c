/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A load: one path is looked up in the file system for all who want it.
 *
 *   root   the root's descriptor is there and in no doubt (fdir.c)
 *   path   O_PATH open: finds out what it is without side effects, warms the directory cache.
 *          First without any symbolic link, which is the common case; then as the policy says.
 *          Then every directory on the way is watched; if that was news, the path is opened again.
 *   open   O_RDONLY, regular files only, when the watches are in place
 *   body   read into memory, if small enough; else, of what is named like an encoded file, the
 *          first bytes, which tell whether it is one
 *
 * A pass serves those who asked before it began.  An event that comes in meanwhile makes its
 * result worthless for the table and for those who asked later: they get another pass.
 */
#include "cache/fentry.h"

#include "cache/fwatch.h"
#include "proto/accept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RETRIES 8
#define REREADS 4

/* Descriptors to free when the process has none left. */
#define EMPTY_FDS 32u

static void pass_begin(struct fload *ld, struct fitem *it);
static void step_path(struct fload *ld);
static void step_read(struct fload *ld);

static const char *relative(const struct fitem *it)
{
    const char *p = it->path;
    while (*p == '/')
        p++;
    return *p == '\0' ? "." : p;
}

static void close_path(struct fload *ld)
{
    if (ld->path_fd >= 0)
        (void)close(ld->path_fd); /* O_PATH: nothing to wait for */
    ld->path_fd = -1;
}

static void close_file(struct fload *ld)
{
    if (ld->fd >= 0)
        loop_close_fd(ld->cache->loop, ld->fd); /* may be slow on network file systems */
    ld->fd = -1;
}

static void body_free(struct fload *ld)
{
    if (ld->body != NULL)
        ld->cache->stats.memory -= ld->body_n;
    free(ld->body);
    ld->body = NULL;
}

/* ------------------------------------------------------------------ the end of a pass */

static void serve(struct list *waiters, struct fentry *e)
{
    struct list *link;
    while ((link = list_pop_front(waiters)) != NULL) {
        struct flookup *l = container_of(link, struct flookup, link);
        l->load = NULL;
        l->entry = fentry_get(e);
        l->done(l);
    }
}

static void load_free(struct fload *ld)
{
    list_remove(&ld->link);
    ld->cache->load_count--;
    free(ld);
}

/* The pass has `it` for its result: the load's item, or one from the table that still holds. */
static void finish(struct fload *ld, struct fitem *it, bool keep)
{
    struct fcache *c = ld->cache;
    struct fitem *mine = ld->item;
    struct list waiters;
    close_path(ld);
    close_file(ld);
    if (ld->dir != NULL)
        frootfd_put(ld->dir);
    ld->dir = NULL;
    fentry_get(&it->e);
    mine->load = NULL;
    if (!ld->bypass) {
        if (ld->stale || !keep) {
            struct str path = {mine->path, mine->path_n};
            struct fitem *old = fitem_find(c, ld->hash, mine->root, path, mine->links);
            if (old != NULL)
                fitem_remove(c, old);
            fdeps_drop(mine);
        } else if (it == mine) {
            fitem_insert(c, it);
        }
    }
    /* Who asked after the event needs a newer answer; without memory this one must do. */
    struct fitem *fresh = NULL;
    if (ld->stale && !list_empty(&ld->late) && !c->closing)
        fresh = fitem_new(c, mine->root, (struct str){mine->path, mine->path_n}, mine->links);
    list_init(&waiters);
    list_splice(&waiters, &ld->waiters);
    if (fresh == NULL) {
        list_splice(&waiters, &ld->late);
        load_free(ld);
    } else {
        list_splice(&ld->waiters, &ld->late);
        pass_begin(ld, fresh);
    }
    fentry_put(&mine->e);
    serve(&waiters, &it->e);
    fentry_put(&it->e);
}

static void finish_error(struct fload *ld, int err)
{
    struct fitem *it = ld->item;
    bool keep = !fstate_transient(err) && ld->cache->conf.errors;
    body_free(ld);
    it->e.kind = FENTRY_ERROR;
    it->e.err = err;
    it->check_at = fstate_check_at(ld->cache, it);
    finish(ld, it, keep);
}

static void finish_stat(struct fload *ld, enum fentry_kind kind)
{
    struct fitem *it = ld->item;
    it->e.kind = (uint8_t)kind;
    fstate_fill(it, &ld->st);
    it->check_at = fstate_check_at(ld->cache, it);
    finish(ld, it, true);
}

/* The entry takes the descriptor or the body over. */
static void finish_file(struct fload *ld)
{
    struct fitem *it = ld->item;
    if (ld->body != NULL) {
        it->e.body = ld->body;
        ld->body = NULL;
    } else {
        it->e.fd = ld->fd;
        ld->fd = -1;
        ld->cache->stats.fds++;
    }
    finish_stat(ld, FENTRY_FILE);
}

/* ------------------------------------------------------------------ reading the body */

/* Is it called like an encoded file? Whether it is one will be asked. */
static bool named_encoded(const struct fitem *it)
{
    struct str path = {it->path, it->path_n};
    for (unsigned c = CODING_IDENTITY + 1; c < CODING_COUNT; c++)
        if (str_ends(path, coding_suffix((enum coding)c)))
            return true;
    return false;
}

static void step_peek(struct fload *ld)
{
    struct fentry *e = &ld->item->e;
    ld->step = FLOAD_PEEK;
    op_read_file(ld->cache->loop, &ld->op, ld->fd, e->first, sizeof(e->first), 0);
}

static void on_peek(struct fload *ld, int32_t res)
{
    ld->item->e.first_n = (uint8_t)(res > 0 ? res : 0);
    finish_file(ld);
}

static void step_body(struct fload *ld)
{
    struct fcache *c = ld->cache;
    uint64_t size = (uint64_t)ld->st.st_size;
    if (ld->bypass || size > c->conf.max_body || !fcache_reserve(c, size) ||
        (ld->body = malloc(size == 0 ? 1 : (size_t)size)) == NULL) {
        if (named_encoded(ld->item))
            step_peek(ld);
        else
            finish_file(ld);
        return;
    }
    ld->body_n = (size_t)size;
    ld->body_got = 0;
    c->stats.memory += size;
    if (size == 0)
        finish_file(ld);
    else
        step_read(ld);
}

static void step_read(struct fload *ld)
{
    ld->step = FLOAD_BODY;
    op_read_file(ld->cache->loop, &ld->op, ld->fd, ld->body + ld->body_got,
                 ld->body_n - ld->body_got, ld->body_got);
}

static void on_read(struct fload *ld, int32_t res)
{
    if ((res == -EINTR || res == -EAGAIN) && ld->tries++ < RETRIES) {
        step_read(ld);
        return;
    }
    if (res < 0) {
        finish_error(ld, -res);
        return;
    }
    ld->body_got += (size_t)res;
    if (res > 0 && ld->body_got < ld->body_n) {
        step_read(ld);
        return;
    }
    struct stat st;
    if (fstat(ld->fd, &st) != 0) {
        finish_error(ld, errno);
        return;
    }
    if (ld->body_got == ld->body_n && fstate_same(&st, &ld->st)) {
        finish_file(ld);
        return;
    }
    /* It changed while it was read. */
    body_free(ld);
    ld->st = st;
    if (ld->rereads++ < REREADS)
        step_body(ld);
    else
        finish_file(ld); /* no end of it: sent from its descriptor */
}

/* ------------------------------------------------------------------ opening */

/* Out of descriptors, or interrupted: worth another try? */
static bool again(struct fload *ld, int err)
{
    if ((err == EMFILE || err == ENFILE) && !ld->emptied) {
        ld->emptied = true;
        return fcache_free_fds(ld->cache, EMPTY_FDS) > 0;
    }
    /* EAGAIN: a rename elsewhere made RESOLVE_BENEATH unsure. */
    return (err == EAGAIN || err == EINTR) && ld->tries++ < RETRIES;
}

uint64_t fmode_resolve(enum fload_mode mode)
{
    switch (mode) {
    case FMODE_PLAIN:
        return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
    case FMODE_BENEATH:
        return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    case FMODE_FREE:
        break;
    }
    return RESOLVE_NO_MAGICLINKS;
}

enum fload_mode fmode_freer(enum fload_mode mode, enum flinks links, int err)
{
    if (mode == FMODE_PLAIN && err == ELOOP && links != FLINKS_NONE)
        return links == FLINKS_BENEATH ? FMODE_BENEATH : FMODE_FREE;
    return mode == FMODE_BENEATH && err == EXDEV ? FMODE_FREE : mode;
}

/* Where the path descriptor is already what the policy allows, exactly that file is opened. */
static bool exact(const struct fload *ld)
{
    return ld->inside || (ld->mode != FMODE_PLAIN && ld->item->links == FLINKS_OWNER);
}

static void step_open(struct fload *ld)
{
    ld->step = FLOAD_OPEN;
    ld->how = (struct open_how){.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                                .resolve = fmode_resolve((enum fload_mode)ld->mode)};
    if (exact(ld)) {
        ld->how.resolve = 0;
        snprintf(ld->proc, sizeof(ld->proc), "/proc/self/fd/%d", ld->path_fd);
        op_open(ld->cache->loop, &ld->op, AT_FDCWD, ld->proc, &ld->how);
        return;
    }
    close_path(ld);
    op_open(ld->cache->loop, &ld->op, ld->dir->fd, relative(ld->item), &ld->how);
}

static void on_open(struct fload *ld, int32_t res)
{
    if (res < 0 && again(ld, -res)) {
        step_open(ld);
        return;
    }
    if (res == -ELOOP && ld->mode == FMODE_PLAIN && ld->tries++ < RETRIES) {
        step_path(ld); /* has become a link */
        return;
    }
    if (res == -ENXIO || res == -ENODEV) {
        finish_stat(ld, FENTRY_OTHER); /* has become a socket or a device */
        return;
    }
    if (res < 0) {
        finish_error(ld, -res);
        return;
    }
    ld->fd = res;
    if (fstat(ld->fd, &ld->st) != 0) {
        finish_error(ld, errno);
        return;
    }
    if (!S_ISREG(ld->st.st_mode)) {
        finish_stat(ld, fstate_kind(&ld->st));
        return;
    }
    step_body(ld);
}

/* ------------------------------------------------------------------ looking */

static void step_path(struct fload *ld)
{
    ld->step = FLOAD_PATH;
    close_path(ld);
    ld->how = (struct open_how){.flags = O_PATH | O_CLOEXEC,
                                .resolve = fmode_resolve((enum fload_mode)ld->mode)};
    op_open(ld->cache->loop, &ld->op, ld->dir->fd, relative(ld->item), &ld->how);
}

/* A path that the first, linkless try refused: may it be resolved in a freer way? */
static bool freer(struct fload *ld, int err)
{
    enum flinks links = (enum flinks)ld->item->links;
    enum fload_mode before = (enum fload_mode)ld->mode;
    enum fload_mode mode = fmode_freer(before, links, err);
    if (before == FMODE_PLAIN && mode != FMODE_PLAIN)
        ld->covered = false; /* links have directories of their own */
    ld->inside |= before == FMODE_BENEATH && mode == FMODE_FREE;
    ld->mode = (uint8_t)mode;
    return mode != before;
}

static bool kept(struct fload *ld)
{
    struct fitem *mine = ld->item;
    struct str path = {mine->path, mine->path_n};
    if (ld->bypass || ld->stale)
        return false;
    struct fitem *old = fitem_find(ld->cache, ld->hash, mine->root, path, mine->links);
    if (old == NULL || !fstate_unchanged(old, &ld->st))
        return false;
    fdeps_move(old, mine);
    old->blind = mine->blind;
    old->check_at = fstate_check_at(ld->cache, old);
    old->e.cached = true;
    ld->cache->stats.rechecked++;
    finish(ld, old, true);
    return true;
}

/* Sees to the watches. True: they are news, the path has to be opened again. */
static bool cover(struct fload *ld, int fd)
{
    struct fcache *c = ld->cache;
    enum fdev_kind kind = fd >= 0 ? fdev_kind(c, fd, ld->st.st_dev)
                                  : fdev_kind(c, ld->dir->fd, ld->dir->dev);
    bool news = false;
    ld->item->blind |= kind != FDEV_LOCAL;
    if (ld->bypass || c->inotify < 0 || kind == FDEV_REMOTE)
        return false;
    if (!ld->covered)
        news = fplace_cover(ld->item, ld->dir->fd, ld->mode != FMODE_PLAIN);
    ld->covered = true;
    /* A file system mounted over what is watched: nothing was said about that. */
    if (fd >= 0 && ld->mode == FMODE_PLAIN && S_ISREG(ld->st.st_mode) && !news &&
        (ld->item->place == NULL || ld->item->place->dev != ld->st.st_dev))
        ld->item->blind = true;
    if (fd >= 0 && S_ISREG(ld->st.st_mode) && ld->st.st_nlink > 1 && !ld->file_covered) {
        ld->file_covered = true;
        news |= fplace_cover_file(ld->item, fd);
    }
    return news;
}

static void on_path(struct fload *ld, int32_t res)
{
    if (res < 0 && again(ld, -res)) {
        step_path(ld);
        return;
    }
    if (res < 0 && freer(ld, -res)) {
        step_path(ld);
        return;
    }
    ld->path_fd = res;
    if (res >= 0 && fstat(res, &ld->st) != 0) {
        finish_error(ld, errno);
        return;
    }
    if (cover(ld, res)) {
        step_path(ld);
        return;
    }
    int err = res < 0 ? -res : 0;
    if (ld->inside && (err != 0 || !fwalk_inside(ld->dir->fd, ld->path_fd)))
        err = EXDEV; /* and not a word about what there is outside */
    if (err == 0 && ld->mode != FMODE_PLAIN && ld->item->links == FLINKS_OWNER) {
        int fd = fwalk_owner(ld->dir->fd, relative(ld->item));
        err = fd < 0 ? -fd : fstat(fd, &ld->st) != 0 ? errno : 0;
        close_path(ld);
        ld->path_fd = fd;
    }
    if (err != 0)
        finish_error(ld, err);
    else if (kept(ld))
        return;
    else if (S_ISREG(ld->st.st_mode))
        step_open(ld);
    else
        finish_stat(ld, fstate_kind(&ld->st));
}

static void on_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    (void)loop;
    (void)flags;
    struct fload *ld = container_of(op, struct fload, op);
    bool opened = res >= 0 && (ld->step == FLOAD_PATH || ld->step == FLOAD_OPEN);
    if (ld->cache->closing) {
        if (opened)
            (void)close(res);
        finish_error(ld, ECANCELED);
        return;
    }
    switch ((enum fload_step)ld->step) {
    case FLOAD_PATH:
        on_path(ld, res);
        return;
    case FLOAD_OPEN:
        on_open(ld, res);
        return;
    case FLOAD_BODY:
        on_read(ld, res);
        return;
    case FLOAD_PEEK:
        on_peek(ld, res);
        return;
    case FLOAD_ROOT:
        break;
    }
    CHECK(!"a load has no operation of its own while it waits for its root");
}

/* ------------------------------------------------------------------ passes */

void fload_ready(struct fload *ld)
{
    struct froot *root = ld->item->root;
    struct str path = {ld->item->path, ld->item->path_n};
    if (ld->cache->closing) {
        finish_error(ld, ECANCELED);
        return;
    }
    if (root->dir == NULL) {
        ld->item->blind = root->blind;
        finish_error(ld, root->err);
        return;
    }
    struct fitem *old = ld->bypass ? NULL
                                   : fitem_find(ld->cache, ld->hash, root, path, ld->item->links);
    if (old != NULL && ld->cache->loop->now_ms < old->check_at) {
        finish(ld, old, true); /* it was the root that was in doubt */
        return;
    }
    ld->dir = frootfd_get(root->dir);
    if (!ld->bypass)
        ld->covered = fplace_attach(ld->item);
    step_path(ld);
}

/* Begins a pass for those who have asked so far; `it` is fresh and goes to the load. */
static void pass_begin(struct fload *ld, struct fitem *it)
{
    ld->item = it;
    it->hash = ld->hash;
    it->load = ld;
    ld->mode = FMODE_PLAIN;
    ld->tries = ld->rereads = 0;
    ld->stale = ld->covered = ld->file_covered = ld->inside = ld->emptied = false;
    ld->step = FLOAD_ROOT;
    ld->cache->stats.loads++;
    if (!froot_settle(it->root, ld))
        return;
    if (it->root->dir != NULL)
        fload_ready(ld);
    else /* it would finish at once, and done() is not called from inside fcache_get */
        loop_at_turn_end(ld->cache->loop, &ld->turn);
}

static void on_turn(struct turn *t)
{
    fload_ready(container_of(t, struct fload, turn));
}

static struct list *bucket_of(struct fcache *c, uint64_t hash)
{
    return &c->loads[hash % FLOAD_BUCKETS];
}

struct fload *fload_find(struct fcache *c, uint64_t hash, const struct froot *root,
                         struct str path, uint8_t links)
{
    LIST_EACH(at, bucket_of(c, hash)) {
        struct fload *ld = container_of(at, struct fload, link);
        const struct fitem *it = ld->item;
        if (ld->hash == hash && !ld->bypass && it->root == root && it->links == links &&
            it->path_n == path.n && memcmp(it->path, path.p, path.n) == 0)
            return ld;
    }
    return NULL;
}

bool fload_start(struct fcache *c, struct froot *root, struct flookup *l, uint64_t hash,
                 bool bypass)
{
    struct fitem *it = fitem_new(c, root, l->path, l->links);
    struct fload *ld = it == NULL ? NULL : calloc(1, sizeof(*ld));
    if (ld == NULL) {
        if (it != NULL)
            fentry_put(&it->e);
        return false;
    }
    ld->cache = c;
    ld->hash = hash;
    ld->bypass = bypass;
    ld->path_fd = ld->fd = -1;
    list_init(&ld->on_root);
    list_init(&ld->waiters);
    list_init(&ld->late);
    op_init(&ld->op, on_done);
    turn_init(&ld->turn, on_turn);
    list_push_back(bucket_of(c, hash), &ld->link);
    c->load_count++;
    l->load = ld;
    list_push_back(&ld->waiters, &l->link);
    pass_begin(ld, it);
    return true;
}

void fload_join(struct fload *ld, struct flookup *l)
{
    ld->cache->stats.coalesced++;
    l->load = ld;
    list_push_back(&ld->late, &l->link);
}

void fload_cancel(struct fload *ld)
{
    op_cancel(ld->cache->loop, &ld->op);
}
