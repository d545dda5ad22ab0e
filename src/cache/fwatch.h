/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Change events, for src/cache only: the inotify descriptor with its watches and who depends on
 * them (fwatch.c), the directories below a root (fplace.c), and walking a path name by name where
 * the kernel cannot say what it passed through (fwalk.c).
 *
 * Not seen are changes through a mapping until the file is closed, through a name that a file got
 * in an unwatched directory after it was loaded, and file systems mounted over a directory: there
 * the time limit holds.
 *
 * These functions make system calls on paths that an open of the same turn has just passed
 * through, so that they find everything in the kernel's directory cache.
 */
#ifndef SLUICE_CACHE_FWATCH_H
#define SLUICE_CACHE_FWATCH_H

#include "cache/fentry.h"

#include <sys/inotify.h>

/* What is asked for where names matter only, and where contents do too. */
#define FWATCH_NAMES                                                                       \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF |    \
     IN_MOVE_SELF)
#define FWATCH_FILE (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)
#define FWATCH_ALL (FWATCH_NAMES | FWATCH_FILE)

/* fwatch.c */
void fwatch_start(struct fcache *c);      /* c->inotify stays -1 if there are to be no events */
void fwatch_cancel(struct fcache *c);
void fwatch_stop(struct fcache *c);
void fwatch_drain(struct fcache *c);      /* deals with all events that there are */
void fwatch_catch_up(struct fcache *c);   /* and this if there may be some; once in a turn */

/*
 * A watch on what `path` names, with one reference for the caller. NULL: errno says why; if the
 * kernel's limit is reached this has been reported, once.
 */
struct fwatch *fwatch_add(struct fcache *c, const char *path, uint32_t mask);
struct fwatch *fwatch_add_fd(struct fcache *c, int fd, uint32_t mask); /* O_PATH is fine */
void fwatch_put(struct fcache *c, struct fwatch *w);

uint64_t fdep_name(const struct fcache *c, struct str name);
/* One more dependency for the owner of `first`; takes a reference to the watch. */
bool fdep_add(struct fcache *c, struct fdep *first, struct fwatch *w, uint64_t name);
void fdeps_clear(struct fcache *c, struct fdep *first);
void fdeps_take(struct fcache *c, struct fdep *to, struct fdep *from);
void fdeps_drop(struct fitem *it);        /* its dependencies, and its place */
void fdeps_move(struct fitem *to, struct fitem *from);

/* What events on this file system are worth. dev: the descriptor's st_dev. */
enum fdev_kind fdev_kind(struct fcache *c, int fd, uint64_t dev);

/* fplace.c */
/* Hangs the item on the deepest place known. True: that is the directory it lies in. */
bool fplace_attach(struct fitem *it);
/*
 * Makes the places on the way that exist, and follows links if the path may have some. True if
 * something was added, so that what was seen before does not count.
 */
bool fplace_cover(struct fitem *it, int rootfd, bool links);
bool fplace_cover_file(struct fitem *it, int fd); /* one with more than one name */
void fplace_leave(struct fitem *it);
void fplace_drop(struct fplace *p);       /* its items and all below are in doubt */
void fplace_drop_root(struct froot *r);

/* fwalk.c */
/*
 * Follows path from the directory `start` (which is closed) through all links, one name at a time.
 * deps, if not NULL: depends on every name on the way; *blind is set if a directory cannot be
 * watched. owner: a link and what it leads to must have the same owner (else -ELOOP).
 * Returns an O_PATH descriptor, or a negative errno.
 */
struct fwalk {
    struct fcache *cache;
    struct fdep *deps;
    uint32_t mask;
    bool blind;
    bool owner;
};
int fwalk(struct fwalk *w, int start, const char *path);
bool fwalk_root(struct froot *r);                    /* sets its deps; true if it has any */
int fwalk_owner(int rootfd, const char *path);
bool fwalk_inside(int rootfd, int fd);               /* does the file lie below the root? */

/* fload.c: how paths are resolved, strictest first. */
enum fload_mode { FMODE_PLAIN, FMODE_BENEATH, FMODE_FREE };
uint64_t fmode_resolve(enum fload_mode mode); /* for openat2(2) */
/*
 * The freer way to resolve a path that `mode` has refused with err (positive), or mode: there is
 * none. What FREE finds after BENEATH must be shown to lie inside (fwalk_inside).
 */
enum fload_mode fmode_freer(enum fload_mode mode, enum flinks links, int err);

#endif
