/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans.
 *
 *   root   the root's own path, O_PATH
 *   open   the directory below it, first without any symbolic link, then as the policy says
 *   again  where links were judged one by one, exactly the directory that the walk arrived at
 */
#include "cache/fscan.h"

#include "cache/fwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RETRIES 8
#define EMPTY_FDS 32u /* to free when the process has none left */
#define READ_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

enum fscan_step { FSCAN_ROOT, FSCAN_OPEN, FSCAN_AGAIN };

static const char *relative(const struct fscan *s)
{
    const char *p = s->path;
    while (*p == '/')
        p++;
    return *p == '\0' ? "." : p;
}

/* ---- opening ---- */

static void step_root(struct fscan *s)
{
    s->step = FSCAN_ROOT;
    s->how = (struct open_how){.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    op_open(s->cache->loop, &s->op, AT_FDCWD, s->root, &s->how);
}

static void step_open(struct fscan *s)
{
    s->step = FSCAN_OPEN;
    s->how = (struct open_how){.flags = READ_DIR,
                               .resolve = fmode_resolve((enum fload_mode)s->mode)};
    op_open(s->cache->loop, &s->op, s->root_fd, relative(s), &s->how);
}

/* The walk judges the owners of links; what it arrives at is opened through its descriptor. */
static void step_walk(struct fscan *s)
{
    int fd = fwalk_owner(s->root_fd, relative(s));
    if (fd < 0) {
        s->done(s, -fd);
        return;
    }
    s->fd = fd;
    s->step = FSCAN_AGAIN;
    s->how = (struct open_how){.flags = READ_DIR};
    op_open(s->cache->loop, &s->op, fd, ".", &s->how);
}

static void step(struct fscan *s)
{
    if (s->root_fd < 0)
        step_root(s);
    else if (s->links == FLINKS_OWNER && s->mode != FMODE_PLAIN)
        step_walk(s);
    else
        step_open(s);
}

static bool again(struct fscan *s, int err)
{
    if ((err == EMFILE || err == ENFILE) && !s->emptied) {
        s->emptied = true;
        return fcache_free_fds(s->cache, EMPTY_FDS) > 0;
    }
    /* EAGAIN: a rename elsewhere made RESOLVE_BENEATH unsure. */
    return (err == EAGAIN || err == EINTR) && s->tries++ < RETRIES;
}

/* Found by leaving the way that stays below the root: where it is has to be shown. */
static bool unproven(const struct fscan *s)
{
    return s->links == FLINKS_BENEATH && s->mode == FMODE_FREE;
}

static void on_open(struct fscan *s, int32_t res)
{
    enum fload_mode mode = (enum fload_mode)s->mode;
    int err = res < 0 ? -res : 0;
    enum fload_mode freer = fmode_freer(mode, (enum flinks)s->links, err);
    if (freer != mode) {
        s->mode = (uint8_t)freer;
        step(s);
        return;
    }
    s->fd = res < 0 ? -1 : res;
    if (unproven(s) && (err != 0 || !fwalk_inside(s->root_fd, s->fd)))
        err = EXDEV; /* and not a word about what there is outside */
    s->done(s, err);
}

static void on_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct fscan *s = container_of(op, struct fscan, op);
    (void)flags;
    if (s->step == FSCAN_AGAIN) {
        (void)close(s->fd); /* O_PATH */
        s->fd = -1;
    }
    if (s->cancelled) {
        if (res >= 0)
            loop_close_fd(loop, res);
        s->done(s, ECANCELED);
    } else if (res < 0 && again(s, -res)) {
        step(s);
    } else if (s->step == FSCAN_ROOT && res >= 0) {
        s->root_fd = res;
        step(s);
    } else if (s->step == FSCAN_OPEN) {
        on_open(s, res);
    } else {
        s->fd = res < 0 ? -1 : res;
        s->done(s, res < 0 ? -res : 0);
    }
}

bool fscan_open(struct fscan *s, struct fcache *c, struct str root, struct str path,
                enum flinks links, void (*done)(struct fscan *s, int err))
{
    *s = (struct fscan){
        .cache = c, .done = done, .fd = -1, .root_fd = -1, .links = (uint8_t)links,
        .mode = FMODE_PLAIN, .path_n = path.n,
    };
    op_init(&s->op, on_done);
    s->root = malloc(root.n + 1 + path.n + 1 + FSCAN_NAME_MAX + 1);
    if (s->root == NULL)
        return false;
    memcpy(s->root, root.p, root.n);
    s->root[root.n] = '\0';
    s->path = s->root + root.n + 1;
    memcpy(s->path, path.p, path.n);
    s->path[path.n] = '\0';
    step_root(s);
    return true;
}

void fscan_cancel(struct fscan *s)
{
    s->cancelled = true;
    op_cancel(s->cache->loop, &s->op);
}

void fscan_close(struct fscan *s)
{
    CHECK(!fscan_busy(s));
    if (s->fd >= 0)
        loop_close_fd(s->cache->loop, s->fd); /* may be slow on network file systems */
    if (s->root_fd >= 0)
        (void)close(s->root_fd); /* O_PATH */
    free(s->root);
    s->fd = s->root_fd = -1;
    s->root = s->path = NULL;
}

/* ---- names ---- */

/* What the link `path` below the root leads to, as an O_PATH descriptor; -1: nowhere. */
static int follow(const struct fscan *s, const char *path)
{
    enum flinks links = (enum flinks)s->links;
    enum fload_mode mode = links == FLINKS_BENEATH ? FMODE_BENEATH : FMODE_FREE;
    if (links == FLINKS_NONE)
        return -1;
    if (links == FLINKS_OWNER)
        return fwalk_owner(s->root_fd, path);
    for (unsigned tries = 0; tries < RETRIES; tries++) {
        struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = fmode_resolve(mode)};
        int fd = (int)syscall(SYS_openat2, s->root_fd, path, &how, sizeof(how));
        if (fd >= 0) {
            if (links == FLINKS_FOLLOW || mode == FMODE_BENEATH || fwalk_inside(s->root_fd, fd))
                return fd;
            (void)close(fd);
            return -1;
        }
        enum fload_mode freer = fmode_freer(mode, links, errno);
        if (freer == mode && errno != EAGAIN && errno != EINTR)
            return -1;
        mode = freer;
    }
    return -1;
}

int fscan_stat(const struct fscan *s, const char *name, struct stat *st)
{
    struct stat target;
    size_t n = strlen(name);
    if (n > FSCAN_NAME_MAX)
        return ENAMETOOLONG;
    if (fstatat(s->fd, name, st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (!S_ISLNK(st->st_mode))
        return 0;
    /* path ends in a slash or not; a name never begins with one */
    size_t at = s->path_n;
    if (at == 0 || s->path[at - 1] != '/')
        s->path[at++] = '/';
    memcpy(s->path + at, name, n + 1);
    int fd = follow(s, relative(s));
    s->path[s->path_n] = '\0';
    if (fd < 0)
        return 0;
    if (fstat(fd, &target) == 0)
        *st = target;
    (void)close(fd);
    return 0;
}
