/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file cache of one worker: path to open file, validators, body in memory, finished response
 * heads.  Entries are immutable: a file that changed gets a new entry, the old one lives until its
 * last user puts it back, so a response is always of one state of one file.
 *
 * Kept honest in two ways: inotify watches on every directory that a lookup passed through (the
 * root's own path and symbolic links included), and a time limit, short where events do not reach.
 * Loads of the same path are done once, however many wait for it.
 */
#ifndef SLUICE_CACHE_FCACHE_H
#define SLUICE_CACHE_FCACHE_H

#include "core/status.h"
#include "core/str.h"
#include "event/loop.h"

struct fcache;
struct fdigest;

struct fcache_conf {
    uint32_t max_entries;   /* open_file_cache max= */
    int64_t inactive_ms;    /* open_file_cache inactive= */
    int64_t valid_ms;       /* open_file_cache_valid: recheck after, where events work */
    int64_t valid_blind_ms; /* …and where they do not */
    bool events;            /* open_file_cache_events */
    bool errors;            /* open_file_cache_errors: remember that a file is missing */
    uint64_t memory;        /* file_cache_memory: bytes of bodies held */
    uint32_t max_body;      /* file_cache_max_body: larger files are sent from their descriptor */
};
void fcache_conf_init(struct fcache_conf *c); /* the defaults of sluice.yaml(5) */

enum fentry_kind {
    FENTRY_FILE,
    FENTRY_DIR,
    FENTRY_OTHER, /* FIFO, socket, device: never opened for reading, never served */
    FENTRY_ERROR, /* `err` says why */
};

/* A finished response head for one (location, status, coding): what http stores with an entry. */
struct fhead {
    struct fhead *next;
    const void *owner;      /* the location; compared by address only */
    uint16_t status;
    uint16_t coding;
    uint32_t n;
    char bytes[];
};

struct fentry {
    uint32_t refs;
    uint8_t kind;           /* enum fentry_kind */
    bool cached;            /* still what a lookup would find */
    int err;                /* FENTRY_ERROR: positive errno */
    int fd;                 /* FENTRY_FILE: O_RDONLY, positional use only; else -1 */
    uint64_t size;
    int64_t mtime_s;
    uint32_t mtime_ns;
    bool is_variant;        /* made from a file's entry: fvariant.h */
    bool young;             /* was modified less than a second before it was loaded */
    uint64_t dev, ino;
    uint32_t mode;
    const char *body;       /* the whole content (size bytes), NULL: not held */
    struct fhead *heads;
    uint8_t coding;         /* enum coding of these bytes; IDENTITY: as they are in the file */
    uint8_t level;          /* …made with this level of compression */
    uint8_t first_n;        /* bytes of `first` that are known */
    char first[4];          /* of a file that is named like an encoded one */
    uint8_t spurned;        /* CODING_BITs of forms that are no use: not made again */
    uint8_t unheld;         /* …of those that take more memory than there is */
    struct fentry *variants, *next_variant; /* fvariant.h; each referenced */
    struct fdigest *digest; /* fdigest.h; NULL: not known */
    char etag[64];          /* with quotes; etag_n 0 for what is no file */
    char last_modified[29]; /* IMF-fixdate */
    uint8_t etag_n;
    struct fcache *cache;
    /* the cache's own fields follow in fentry.h */
};

/* What symbolic links may do (disable_symlinks). */
enum flinks {
    FLINKS_BENEATH,  /* may not lead out of the root (EXDEV); absolute ones inside are fine */
    FLINKS_FOLLOW,
    FLINKS_NONE,     /* none below the root: ELOOP */
    FLINKS_OWNER,    /* link and target have the same owner, else ELOOP */
};

/* One lookup, embedded in whoever asks. */
struct flookup {
    struct str root;        /* directory, absolute; a symbolic link here is followed freely */
    struct str path;        /* below it, begins with '/'; no "." or ".." segments */
    uint8_t links;          /* enum flinks */
    bool bypass;            /* neither use the cache nor leave anything in it */
    void (*done)(struct flookup *l); /* from the loop, if fcache_get said STATUS_AGAIN */
    struct fentry *entry;   /* the result, referenced for the caller; fentry_put() it */
    struct list link;       /* the cache's while it waits */
    void *load;
};

/* log: where the cache reports (watches exhausted and the like). NULL when out of memory. */
struct fcache *fcache_new(struct loop *loop, const struct fcache_conf *conf, struct log_ctx *log);

/* Ends the watches and loads; lookups that wait must have been cancelled. May turn the loop. */
void fcache_delete(struct fcache *c);

/*
 * STATUS_OK: l->entry is set at once, from memory. STATUS_AGAIN: l->done will be called later, from
 * the loop, with l->entry set; until then l and the bytes of root and path stay. A failure to open
 * is an entry too (FENTRY_ERROR), so there is always one; STATUS_NOMEM: there is none.
 * Events that arrived before the call in this turn have been taken into account.
 */
enum status fcache_get(struct fcache *c, struct flookup *l);

/* The lookup is no longer wanted; done() will not be called. Fine when it is not waiting. */
void fcache_cancel(struct fcache *c, struct flookup *l);

static inline struct fentry *fentry_get(struct fentry *e) /* one more reference */
{
    e->refs++;
    return e;
}
void fentry_put(struct fentry *e); /* NULL is fine */

/* The first bytes of a file named like an encoded one (coding.tbl), up to 4; empty: not known. */
static inline struct str fentry_first(const struct fentry *e)
{
    return e->body != NULL ? str_make(e->body, e->size < 4 ? (size_t)e->size : 4)
                           : str_make(e->first, e->first_n);
}

/* A stored head, or NULL. Valid as long as the entry is referenced. */
static inline const struct fhead *fentry_head(const struct fentry *e, const void *owner,
                                              uint16_t status, uint16_t coding)
{
    for (const struct fhead *h = e->heads; h != NULL; h = h->next)
        if (h->owner == owner && h->status == status && h->coding == coding)
            return h;
    return NULL;
}
/* Stores a copy of the bytes; at most FHEADS_MAX per entry, beyond that nothing is stored. */
#define FHEADS_MAX 16
void fentry_head_add(struct fentry *e, const void *owner, uint16_t status, uint16_t coding,
                     struct str bytes);

/* Figures for `status` and tests. */
struct fcache_stats {
    uint64_t hits, misses, loads, coalesced, evicted, invalidated, rechecked, watch_failures;
    uint32_t entries, fds, watches;
    uint64_t memory;
};
void fcache_stats(const struct fcache *c, struct fcache_stats *out);

#endif
