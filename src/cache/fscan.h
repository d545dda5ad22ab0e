/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A directory opened to read its names: found below its root by the rules of a lookup, links
 * included, and so is each name in it.  Nothing of it is kept in the cache.
 */
#ifndef SLUICE_CACHE_FSCAN_H
#define SLUICE_CACHE_FSCAN_H

#include "cache/fcache.h"

#include <sys/stat.h>

struct fscan {
    struct fcache *cache;
    /* From the loop, once. err is a positive errno; 0: it is open. It may free the scan. */
    void (*done)(struct fscan *s, int err);
    int fd;                 /* the directory, O_RDONLY; -1: not open */
    /* fscan.c's: */
    int root_fd;            /* O_PATH */
    uint8_t links;          /* enum flinks */
    uint8_t step, mode, tries;
    bool emptied;           /* descriptors were freed once already */
    bool cancelled;
    struct op op;
    struct open_how how;
    char *root;             /* as given; `path` lies behind it */
    char *path;             /* below the root, with room for a name */
    size_t path_n;
};

#define FSCAN_NAME_MAX 1023 /* bytes of a name that fscan_stat() takes; no file system has more */

/*
 * Opens root/path as a lookup with these links would find it; root and path are copied. done will
 * be called. False: no memory, and it will not.
 */
bool fscan_open(struct fscan *s, struct fcache *c, struct str root, struct str path,
                enum flinks links, void (*done)(struct fscan *s, int err));

/*
 * What a lookup of that name in the directory would find, or the link itself where a link may not
 * be followed or leads nowhere. 0, or a positive errno: ENOENT for a name that has gone.
 */
int fscan_stat(const struct fscan *s, const char *name, struct stat *st);

static inline bool fscan_busy(const struct fscan *s)
{
    return op_busy(&s->op);
}
/* done will be called soon, with ECANCELED. */
void fscan_cancel(struct fscan *s);

/* Closes what is open; not while it is busy. Twice is fine. */
void fscan_close(struct fscan *s);

#endif
