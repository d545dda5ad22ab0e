/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places: the directories below a root, as lookups spell them.  A place has a watch on the real
 * directory and depends on its name in the parent (and, if that name is a symbolic link, on every
 * name the link leads through); when one of these changes, the place goes with all below it.
 * An item hangs on the directory it lies in, or, when that does not exist, on the deepest one that
 * does, and depends on the next name.
 */
#include "cache/fwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The name that begins at or after `at`; n is 0 at the end. `last`: nothing but '/' follows. */
static struct str name_at(const struct fitem *it, uint32_t at, bool *last)
{
    const char *p = it->path + at;
    while (*p == '/')
        p++;
    const char *end = p;
    while (*end != '/' && *end != '\0')
        end++;
    const char *after = end;
    while (*after == '/')
        after++;
    *last = *after == '\0';
    return str_between(p, end);
}

static struct fplace **chain_of(struct fcache *c, uint64_t hash)
{
    return &c->places[hash & c->mask];
}

static uint64_t hash_of(const struct fcache *c, const struct fplace *parent, struct str name)
{
    return str_hash(name, c->seed ^ (uintptr_t)parent);
}

static struct str name_of(const struct fplace *p)
{
    return (struct str){p->path + p->n - p->name_n, p->name_n};
}

static struct fplace *child(struct fcache *c, const struct fplace *parent, struct str name)
{
    uint64_t hash = hash_of(c, parent, name);
    for (struct fplace *p = *chain_of(c, hash); p != NULL; p = p->next)
        if (p->hash == hash && p->parent == parent && str_eq(name_of(p), name))
            return p;
    return NULL;
}

/* ------------------------------------------------------------------ their end */

static void place_free(struct fplace *p)
{
    struct fcache *c = p->root->cache;
    fdeps_clear(c, &p->dep);
    list_remove(&p->of_watch);
    if (p->watch != NULL)
        fwatch_put(c, p->watch);
    list_remove(&p->sibling);
    if (p->parent == NULL) {
        p->root->top = NULL;
    } else {
        struct fplace **at = chain_of(c, p->hash);
        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
    }
    free(p);
}

/* The root's own place stays until the root goes: most lookups need it. */
static void release(struct fplace *p)
{
    while (p->parent != NULL && list_empty(&p->items) && list_empty(&p->children)) {
        struct fplace *parent = p->parent;
        place_free(p);
        p = parent;
    }
}

void fplace_leave(struct fitem *it)
{
    struct fplace *p = it->place;
    if (p == NULL)
        return;
    list_remove(&it->of_place);
    it->place = NULL;
    release(p);
}

/* Goes down first: no item or place is left that hangs on what is freed. */
void fplace_drop(struct fplace *p)
{
    struct fplace *above = p->parent;
    struct fplace *at = p;
    for (;;) {
        struct list *link;
        if (!list_empty(&at->children)) {
            at = container_of(at->children.next, struct fplace, sibling);
            continue;
        }
        while ((link = list_pop_front(&at->items)) != NULL) {
            struct fitem *it = container_of(link, struct fitem, of_place);
            it->place = NULL;
            fdeps_clear(at->root->cache, &it->dep);
            if (it->load != NULL)
                it->load->stale = true;
            else
                fitem_doubt(it);
        }
        struct fplace *up = at->parent;
        bool done = at == p;
        place_free(at);
        if (done)
            break;
        at = up;
    }
    if (above != NULL)
        release(above);
}

void fplace_drop_root(struct froot *r)
{
    if (r->top != NULL)
        fplace_drop(r->top);
}

/* ------------------------------------------------------------------ making them */

static struct fplace *place_new(struct froot *root, struct fplace *parent, struct str name)
{
    size_t above = parent == NULL ? 0 : parent->n;
    size_t n = parent == NULL ? 0 : above + 1 + name.n;
    struct fplace *p = calloc(1, sizeof(*p) + n + 1);
    if (p == NULL)
        return NULL;
    p->root = root;
    p->parent = parent;
    p->dep = (struct fdep){.owner = p, .kind = FDEP_PLACE};
    p->n = (uint32_t)n;
    p->name_n = (uint32_t)name.n;
    list_init(&p->children);
    list_init(&p->sibling);
    list_init(&p->items);
    list_init(&p->of_watch);
    if (parent == NULL)
        return p;
    memcpy(p->path, parent->path, above);
    p->path[above] = '/';
    memcpy(p->path + above + 1, name.p, name.n);
    p->blind = parent->blind;
    p->dev = parent->dev;
    return p;
}

/* A file system of its own may be one that reports less than its parent's. */
static void judge_device(struct fplace *p, const char *path)
{
    struct fcache *c = p->root->cache;
    struct stat st;
    int fd = -1;
    if (stat(path, &st) == 0 && st.st_dev == p->dev)
        return;
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || fdev_kind(c, fd, st.st_dev) != FDEV_LOCAL)
        p->blind = true;
    else
        p->dev = st.st_dev;
    if (fd >= 0)
        (void)close(fd);
}

/* The place is complete: others may find it. */
static void place_link(struct fcache *c, struct fplace *p, struct fwatch *w)
{
    p->watch = w;
    if (w != NULL)
        list_push_back(&w->places, &p->of_watch);
    else
        p->blind = true;
    if (p->parent == NULL) {
        p->root->top = p;
        return;
    }
    p->hash = hash_of(c, p->parent, name_of(p));
    p->next = *chain_of(c, p->hash);
    *chain_of(c, p->hash) = p;
    list_push_back(&p->parent->children, &p->sibling);
}

/* The name is no directory: perhaps a link to one. NULL and errno as fwatch_add. */
static struct fwatch *watch_link(struct fcache *c, struct fplace *p, int rootfd)
{
    const char *above = p->parent->n == 0 ? "." : p->parent->path + 1;
    struct fwalk w = {.cache = c, .deps = &p->dep, .mask = FWATCH_ALL};
    char name[NAME_MAX + 1];
    struct str last = name_of(p);
    if (last.n > NAME_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(name, last.p, last.n);
    name[last.n] = '\0';
    int start = openat(rootfd, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (start < 0)
        return NULL;
    int fd = fwalk(&w, start, name);
    p->blind |= w.blind;
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    struct fwatch *watch = fwatch_add_fd(c, fd, FWATCH_ALL | IN_ONLYDIR);
    int err = errno;
    (void)close(fd);
    errno = err;
    return watch;
}

static bool missing(int err)
{
    return err == ENOENT || err == ENOTDIR || err == ELOOP || err == ENAMETOOLONG;
}

/* NULL: it does not exist; what was found out about why is left with the item. */
static struct fplace *make(struct fitem *it, struct fplace *parent, struct str name, int rootfd)
{
    struct fcache *c = it->e.cache;
    char path[PATH_MAX + 32];
    struct fplace *p = place_new(it->root, parent, name);
    if (p == NULL) {
        it->blind = true;
        return NULL;
    }
    struct fwatch *w = NULL;
    int len = snprintf(path, sizeof(path), "/proc/self/fd/%d%s", rootfd, p->path);
    errno = ENAMETOOLONG;
    if (parent == NULL)
        w = fwatch_add(c, path, FWATCH_ALL | IN_ONLYDIR);
    else if ((size_t)len < sizeof(path))
        w = fwatch_add(c, path, FWATCH_ALL | IN_ONLYDIR | IN_DONT_FOLLOW);
    if (w == NULL && parent != NULL && errno == ENOTDIR)
        w = watch_link(c, p, rootfd);
    if (w == NULL && parent != NULL && missing(errno)) {
        it->blind |= p->blind;
        fdeps_take(c, &it->dep, &p->dep);
        free(p);
        return NULL;
    }
    if (parent != NULL && parent->watch != NULL &&
        !fdep_add(c, &p->dep, parent->watch, fdep_name(c, name)))
        p->blind = true;
    judge_device(p, path);
    place_link(c, p, w);
    return p;
}

/* ------------------------------------------------------------------ items */

/* The item moves to `p`, below which `at` is the offset of what is left. */
static void hang(struct fitem *it, struct fplace *p, uint32_t at)
{
    struct fcache *c = it->e.cache;
    struct fplace *old = it->place;
    bool last;
    list_remove(&it->of_place);
    list_push_back(&p->items, &it->of_place);
    it->place = p;
    it->rest = at;
    if (old != NULL && old != p)
        release(old);
    fdeps_clear(c, &it->dep);
    struct str name = name_at(it, at, &last);
    if (name.n > 0 && p->watch != NULL && !fdep_add(c, &it->dep, p->watch, fdep_name(c, name)))
        it->blind = true;
}

/* As far down as places are known. */
static void descend(struct fitem *it, struct fplace *p, uint32_t at)
{
    bool last;
    for (;;) {
        struct str name = name_at(it, at, &last);
        struct fplace *below = last ? NULL : child(it->e.cache, p, name);
        if (below == NULL)
            break;
        p = below;
        at = (uint32_t)(name.p + name.n - it->path);
    }
    if (p != it->place)
        hang(it, p, at);
}

static bool in_own_directory(const struct fitem *it)
{
    bool last;
    (void)name_at(it, it->rest, &last);
    return last;
}

bool fplace_attach(struct fitem *it)
{
    if (it->e.cache->inotify < 0 || it->root->top == NULL)
        return false;
    descend(it, it->root->top, 0);
    return in_own_directory(it);
}

/* The last name may be a link: what it leads through matters as well. */
static bool cover_link(struct fitem *it, int rootfd)
{
    bool last;
    char name[NAME_MAX + 1];
    struct fwalk w = {.cache = it->e.cache, .deps = &it->dep, .mask = FWATCH_ALL};
    struct str rest = name_at(it, it->rest, &last);
    if (!last || rest.n == 0 || rest.n > NAME_MAX)
        return false;
    memcpy(name, rest.p, rest.n);
    name[rest.n] = '\0';
    const char *above = it->place->n == 0 ? "." : it->place->path + 1;
    int start = openat(rootfd, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (start < 0)
        return false;
    int fd = fwalk(&w, start, name);
    it->blind |= w.blind;
    if (fd >= 0)
        (void)close(fd);
    return true;
}

bool fplace_cover(struct fitem *it, int rootfd, bool links)
{
    struct fplace *before = it->place;
    if (it->root->top == NULL && make(it, NULL, STR_NONE, rootfd) == NULL)
        return false;
    if (it->place == NULL)
        descend(it, it->root->top, 0);
    while (!in_own_directory(it)) {
        bool last;
        struct str name = name_at(it, it->rest, &last);
        struct fplace *p = make(it, it->place, name, rootfd);
        if (p == NULL)
            break;
        hang(it, p, (uint32_t)(name.p + name.n - it->path));
        descend(it, p, it->rest);
    }
    bool news = it->place != before || it->dep.more != NULL;
    return (links && cover_link(it, rootfd)) || news;
}

bool fplace_cover_file(struct fitem *it, int fd)
{
    struct fcache *c = it->e.cache;
    struct fwatch *w = fwatch_add_fd(c, fd, FWATCH_FILE);
    if (w == NULL || !fdep_add(c, &it->dep, w, FDEP_SELF))
        it->blind = true;
    if (w != NULL)
        fwatch_put(c, w);
    return w != NULL;
}
