/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking a path name by name.  The kernel resolves paths in one go and does not tell through
 * which links and directories; where that has to be known (what to watch) or judged (who owns a
 * link) the path is walked here: each name is opened without following it, and links are read from
 * their own descriptor, so that what is judged is what is followed.
 */
#include "cache/fwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define LINKS_MAX 40

struct walk {
    struct fwalk *how;
    int fd;                   /* where it stands */
    char rest[2 * PATH_MAX];
    size_t at;
    unsigned links;
    /* Links whose end has not been reached: their owners, and what will be left there. */
    uid_t owner[LINKS_MAX];
    size_t left[LINKS_MAX];
    unsigned pending;
};

static void move_to(struct walk *w, int fd)
{
    (void)close(w->fd);
    w->fd = fd;
}

/* The name `name` in the directory where the walk stands matters. */
static void depend(struct walk *w, struct str name)
{
    struct fwalk *how = w->how;
    if (how->deps == NULL)
        return;
    struct fwatch *watch = fwatch_add_fd(how->cache, w->fd, how->mask | IN_ONLYDIR);
    if (watch == NULL || !fdep_add(how->cache, how->deps, watch, fdep_name(how->cache, name)))
        how->blind = true;
    if (watch != NULL)
        fwatch_put(how->cache, watch);
}

/* The next name of the rest, NUL-terminated; empty at the end. */
static char *next_name(struct walk *w, size_t *n)
{
    while (w->rest[w->at] == '/')
        w->at++;
    char *name = w->rest + w->at;
    *n = strcspn(name, "/");
    w->at += *n;
    if (name[*n] == '/') {
        name[*n] = '\0';
        w->at++;
    }
    while (w->rest[w->at] == '/')
        w->at++;
    return name;
}

/* Links that end here: is their owner that of what they lead to? */
static int judge(struct walk *w)
{
    struct stat st;
    while (w->rest[w->at] == '/')
        w->at++;
    size_t left = strlen(w->rest + w->at);
    while (w->pending > 0 && w->left[w->pending - 1] >= left) {
        if (fstat(w->fd, &st) != 0)
            return -errno;
        if (w->how->owner && st.st_uid != w->owner[w->pending - 1])
            return -ELOOP;
        w->pending--;
    }
    return 0;
}

/* Puts the link's target before the rest. */
static int expand(struct walk *w, int link, uid_t owner)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(link, "", target, sizeof(target));
    if (n < 0)
        return -errno;
    size_t left = strlen(w->rest + w->at);
    if (n == 0 || (size_t)n == sizeof(target) || (size_t)n + 1 + left >= sizeof(w->rest))
        return n == 0 ? -ENOENT : -ENAMETOOLONG;
    if (w->links++ >= LINKS_MAX)
        return -ELOOP;
    w->owner[w->pending] = owner;
    w->left[w->pending++] = left;
    memmove(w->rest + n + 1, w->rest + w->at, left + 1);
    memcpy(w->rest, target, (size_t)n);
    w->rest[n] = left > 0 ? '/' : '\0';
    w->at = 0;
    if (target[0] != '/')
        return 0;
    int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return -errno;
    move_to(w, top);
    return 0;
}

static int step(struct walk *w, const char *name, size_t n)
{
    struct stat st;
    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        depend(w, (struct str){name, n});
    int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0) {
        int err = errno;
        (void)close(fd);
        return -err;
    }
    if (S_ISLNK(st.st_mode)) {
        int err = expand(w, fd, st.st_uid);
        (void)close(fd);
        return err;
    }
    move_to(w, fd);
    if (w->how->deps == NULL)
        return 0;
    enum fdev_kind kind = fdev_kind(w->how->cache, fd, st.st_dev);
    w->how->blind |= kind != FDEV_LOCAL;
    return kind == FDEV_REMOTE ? -EREMOTE : 0; /* further steps may take long */
}

int fwalk(struct fwalk *how, int start, const char *path)
{
    struct walk w = {.how = how, .fd = start};
    size_t n = strlen(path);
    int err = n < PATH_MAX ? 0 : -ENAMETOOLONG;
    if (err == 0)
        memcpy(w.rest, path, n + 1);
    while (err == 0) {
        err = judge(&w);
        if (err != 0)
            break;
        char *name = next_name(&w, &n);
        if (n == 0)
            break;
        err = step(&w, name, n);
    }
    if (err == 0)
        return w.fd;
    (void)close(w.fd);
    return err;
}

bool fwalk_root(struct froot *r)
{
    struct fwalk how = {.cache = r->cache, .deps = &r->deps, .mask = FWATCH_NAMES};
    int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = top < 0 ? -errno : fwalk(&how, top, r->path);
    if (fd >= 0)
        (void)close(fd);
    r->blind = how.blind || r->path[0] != '/' || top < 0;
    return r->deps.watch != NULL;
}

int fwalk_owner(int rootfd, const char *path)
{
    struct fwalk how = {.owner = true};
    int start = openat(rootfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return start < 0 ? -errno : fwalk(&how, start, path);
}

static ssize_t path_of(int fd, char *to, size_t size)
{
    char proc[32];
    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(proc, to, size);
    return n == (ssize_t)size ? -1 : n;
}

bool fwalk_inside(int rootfd, int fd)
{
    char root[PATH_MAX], path[PATH_MAX];
    ssize_t root_n = path_of(rootfd, root, sizeof(root));
    ssize_t n = path_of(fd, path, sizeof(path));
    if (root_n <= 0 || n <= 0 || root[0] != '/' || path[0] != '/')
        return false;
    if (root_n == 1)
        return true;
    return n >= root_n && memcmp(root, path, (size_t)root_n) == 0 &&
           (n == root_n || path[root_n] == '/');
}
