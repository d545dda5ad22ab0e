/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other forms of a file's content, held in memory beside it: made once, by one job however many
 * ask, in slices of which each turn of the loop does one, so that nobody waits for another's file.
 * A form belongs to its file's entry: when the file changes, a new entry has none.
 */
#ifndef SLUICE_CACHE_FVARIANT_H
#define SLUICE_CACHE_FVARIANT_H

#include "cache/fcache.h"
#include "cache/fgzip.h"

/* One question, embedded in whoever asks. */
struct fvariant_ask {
    uint8_t coding;          /* enum coding: GZIP of a file, IDENTITY of a gzip file */
    uint8_t level;           /* of compression, 1 to 9; FGZIP_UNZIP for IDENTITY */
    void (*done)(struct fvariant_ask *a); /* from the loop, if fvariant_get said STATUS_AGAIN */
    struct fentry *entry;    /* the result, referenced for the caller; NULL: there is none */
    enum status status;      /* …and why not, as fvariant_get would have said it */
    struct list link;        /* the job's while it waits */
    void *job;
};

/*
 * STATUS_OK: a->entry is set at once. STATUS_AGAIN: a->done will be called.  STATUS_NOTFOUND: there
 * is no such form, or it would not be smaller: send the file as it is.  STATUS_LIMIT: it is not
 * held, because the file is too large for that, or not kept itself.  e is the entry of a file.
 */
enum status fvariant_get(struct fentry *e, struct fvariant_ask *a);

/* No longer wanted; done() will not be called. Fine when it is not waiting. */
void fvariant_cancel(struct fvariant_ask *a);

/* The form if it is held, without asking for it; not referenced. NULL: it is not there. */
static inline struct fentry *fvariant_held(const struct fentry *e, uint8_t coding, uint8_t level)
{
    struct fentry *v = e->variants;
    while (v != NULL && (v->coding != coding || v->level != level))
        v = v->next_variant;
    return v;
}

/* The forms in the making, for the cache alone. */
struct fvariants {
    struct fcache *cache;
    struct fgzip_pool *codecs;
    struct list jobs;        /* those that can go on, in turn */
    struct list reading;     /* those that wait for their file */
    struct turn turn;
};
bool fvariants_init(struct fcache *c); /* false: no memory */
void fvariants_cancel(struct fcache *c);
bool fvariants_busy(const struct fcache *c);
void fvariants_fini(struct fcache *c);

/* Codecs of the worker, for streams of what is not held. */
struct fgzip_pool *fcache_codecs(struct fcache *c);

/* What an entity tag of the form has behind the file's own; at most FVARIANT_SUFFIX bytes. */
#define FVARIANT_SUFFIX 8
struct str fvariant_suffix(uint8_t coding, uint8_t level, char *to);

#endif
