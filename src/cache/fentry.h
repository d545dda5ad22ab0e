/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of the file cache, for src/cache only.
 *
 *   item    an entry with the cache's own fields; in the table while a lookup may find it
 *   root    a document root: its descriptor, and what its own path passes through
 *   watch   an inotify watch: one real directory (or hard-linked file), shared by all who need it
 *   dep     "when `name` in this watch changes, the owner must be looked at again"
 *   load    a lookup that goes to the file system, and all who wait for it
 *
 * check_at is all that a hit has to test: whatever makes an item or a root doubtful sets it to 0.
 */
#ifndef SLUICE_CACHE_FENTRY_H
#define SLUICE_CACHE_FENTRY_H

#include "cache/fcache.h"
#include "cache/fdigest.h"
#include "cache/fvariant.h"
#include "core/check.h"
#include "core/list.h"

#include <sys/stat.h>

struct fload;
struct fplace;
struct fwatch;

enum fdep_owner { FDEP_ITEM, FDEP_PLACE, FDEP_ROOT };
#define FDEP_SELF 0u /* name: the watched file or directory itself */

struct fdep {
    struct fdep *next, **at; /* hash chain */
    struct list of_watch;
    struct fwatch *watch;    /* NULL: not in use */
    uint64_t name;           /* hash of the name, or FDEP_SELF */
    void *owner;
    uint8_t kind;            /* enum fdep_owner */
    struct fdep *more;       /* the owner's further ones, each allocated */
};

struct fitem {
    /* what a hit touches comes first */
    struct fitem *next;      /* hash chain */
    uint64_t hash;
    struct froot *root;
    uint64_t check_at;       /* ms; from then on it has to be looked at again */
    uint64_t used_at;        /* ms */
    uint32_t path_n;
    uint8_t links;           /* enum flinks */
    uint8_t freq;            /* hits since it came, at most FREQ_MAX */
    bool in_table;
    uint8_t queue;           /* enum fqueue */
    struct fentry e;
    struct list link;        /* of its queue */
    struct list fd_link;     /* of those that hold a descriptor */
    struct list of_place;
    struct fplace *place;
    uint32_t rest;           /* offset in path: what lies below the place */
    struct fload *load;      /* while it is being made */
    struct fdep dep;
    int64_t ctime_s;
    uint32_t ctime_ns;
    bool blind;              /* events do not reach it */
    bool racy;               /* changed so shortly before the load that equal times prove nothing */
    char path[];             /* NUL-terminated */
};

enum fqueue { FQ_SMALL, FQ_MAIN };
#define FREQ_MAX 3

/* A descriptor of a root directory; loads in flight keep theirs when the root is swapped. */
struct frootfd {
    int fd;
    uint32_t refs;
    uint64_t dev, ino;
};
struct froot {
    struct list link;
    uint64_t hash;
    uint64_t check_at;       /* ms; 0: in doubt */
    uint64_t used_at;
    uint32_t refs;           /* items and loads */
    struct fcache *cache;
    struct frootfd *dir;     /* NULL: not open, `err` says why */
    int err;
    bool blind;              /* its own path is not (fully) watched */
    bool stale;              /* something happened since the open began */
    bool walked;             /* the watches were there before the open began */
    uint8_t tries;
    struct fdep deps;        /* what its path passes through */
    struct fplace *top;      /* place of the directory itself, NULL: none */
    struct list waiting;     /* loads, by on_root */
    struct op op;
    struct open_how how;
    size_t n;
    char path[];             /* NUL-terminated */
};

struct fplace {
    struct fplace *next;     /* hash chain */
    uint64_t hash;
    struct froot *root;
    struct fplace *parent;   /* NULL: the root itself */
    struct list children, sibling;
    struct list items;
    struct list of_watch;
    struct fwatch *watch;    /* of the real directory; NULL: cannot be watched */
    struct fdep dep;         /* its name in the parent's directory, and links on the way */
    bool blind;              /* events do not tell all about it, or one above it */
    uint64_t dev;            /* 0: not known */
    uint32_t n, name_n;      /* length of path, and of the last name in it */
    char path[];             /* "" or "/a/b", NUL-terminated */
};

struct fwatch {
    struct fwatch *next;     /* hash chain, by wd */
    int wd;                  /* -1: the kernel has ended it */
    uint32_t refs;           /* places and deps */
    struct list deps;
    struct list places;
};

enum fload_step { FLOAD_ROOT, FLOAD_PATH, FLOAD_OPEN, FLOAD_BODY, FLOAD_PEEK };

struct fload {
    struct list link;        /* of the cache's loads */
    struct list on_root;
    struct fcache *cache;
    struct fitem *item;      /* being made, one reference */
    struct list waiters;     /* asked before this pass began */
    struct list late;        /* asked during it */
    struct frootfd *dir;
    struct op op;
    struct turn turn;
    struct open_how how;
    uint64_t hash;
    int path_fd, fd;
    struct stat st;
    char *body;
    size_t body_n, body_got;
    uint8_t step;            /* enum fload_step */
    uint8_t mode;            /* enum fload_mode */
    uint8_t tries, rereads;
    bool bypass;
    bool stale;              /* an event said so during this pass */
    bool covered;            /* every directory on the way was watched before the open */
    bool file_covered;       /* so was the file itself, which has several names */
    bool inside;             /* the result must be shown to lie inside the root */
    bool emptied;            /* descriptors were freed once already */
    char proc[32];           /* "/proc/self/fd/N" */
};
#define FLOAD_BUCKETS 256u
#define FROOT_BUCKETS 256u
#define FWATCH_BUCKETS 4096u
#define FDEVS 16u

enum fdev_kind {
    FDEV_LOCAL,  /* events tell everything */
    FDEV_BLIND,  /* some changes come without an event */
    FDEV_REMOTE, /* as BLIND, and even looking may take long: no watches */
};

struct fcache {
    struct loop *loop;
    struct log_ctx *log;
    struct fcache_conf conf;
    uint64_t seed;
    struct fitem **table;
    struct fdep **deps;
    struct fplace **places;
    uint32_t *ghosts;        /* hashes of what was put out lately */
    uint32_t mask;           /* of table, deps and places */
    uint32_t ghost_mask;
    struct list queue[2];    /* enum fqueue, oldest first */
    uint32_t queued[2];
    struct list fd_items;
    uint32_t max_fds;
    struct list roots[FROOT_BUCKETS];
    struct froot *last_root;
    struct list loads[FLOAD_BUCKETS];
    uint32_t load_count;
    uint32_t alive;          /* items that exist, in the table or not */
    bool closing, closed;
    struct timer sweep;
    uint32_t sweep_at;       /* bucket */
    /* fwatch.c */
    int inotify;             /* -1: no events */
    bool watch_warned;
    bool poll_failed;        /* events are not reported, they are read in every turn */
    uint64_t caught_up;      /* turn in which events were last thought of */
    uint64_t read_turn;      /* and read */
    struct op watch_op;
    struct turn watch_turn;
    struct fwatch *watches[FWATCH_BUCKETS];
    struct {
        uint64_t dev;
        uint8_t kind;
    } devs[FDEVS];
    uint32_t dev_count;
    struct fvariants variants;
    struct fdigests digests;
    struct fcache_stats stats;
};

/* fentry.c: items, the table, what leaves it. */
struct fitem *fitem_new(struct fcache *c, struct froot *root, struct str path, uint8_t links);
void fitem_insert(struct fcache *c, struct fitem *it);  /* takes a reference, replaces its like */
void fitem_remove(struct fcache *c, struct fitem *it);  /* out of the table; fine if it is not in */
void fitem_doubt(struct fitem *it);                     /* has to be looked at before next use */
void fitem_gone(struct fitem *it);                      /* what it says is no longer so */
struct fitem *fitem_find(const struct fcache *c, uint64_t hash, const struct froot *root,
                         struct str path, uint8_t links);
bool fcache_reserve(struct fcache *c, uint64_t bytes);  /* room for a body, evicting */
void fcache_trim(struct fcache *c);                     /* back into the bounds */
uint32_t fcache_free_fds(struct fcache *c, uint32_t n); /* evicts up to n that hold descriptors */
void fcache_unref(struct fcache *c);                    /* frees it after the last item */
#define fitem_of(entry) container_of(entry, struct fitem, e) /* not of a variant */

/* fdir.c: roots. */
struct froot *froot_find(struct fcache *c, struct str path); /* NULL: no memory */
void froot_free_unused(struct fcache *c, bool all);
/* True: the root is settled now. Else load_ready() is called for the load later. */
bool froot_settle(struct froot *r, struct fload *load);
void froot_doubt(struct froot *r);                      /* an event touched its path */
void froot_doubt_all(struct fcache *c);                 /* events were lost */
struct frootfd *frootfd_get(struct frootfd *d);
void frootfd_put(struct frootfd *d);
void froot_cancel(struct fcache *c);
bool froot_busy(const struct fcache *c);

/* fstate.c */
bool fstate_transient(int err);
enum fentry_kind fstate_kind(const struct stat *st);
bool fstate_same(const struct stat *a, const struct stat *b);
bool fstate_unchanged(const struct fitem *old, const struct stat *st); /* false where unsure */
void fstate_fill(struct fitem *it, const struct stat *st);             /* e.kind is set */
uint64_t fstate_check_at(const struct fcache *c, const struct fitem *it);

/* fload.c */
struct fload *fload_find(struct fcache *c, uint64_t hash, const struct froot *root,
                         struct str path, uint8_t links);
bool fload_start(struct fcache *c, struct froot *root, struct flookup *l, uint64_t hash,
                 bool bypass);                          /* false: no memory */
void fload_join(struct fload *ld, struct flookup *l);
void fload_ready(struct fload *ld);                     /* its root is settled */
void fload_cancel(struct fload *ld);

#endif
