/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tag made of a file's content (etag: content): the same on every host that has the same bytes,
 * whatever their times.  Made once for an entry; files that are not held in memory are read by a
 * helper thread, one after the other.
 */
#ifndef SLUICE_CACHE_FDIGEST_H
#define SLUICE_CACHE_FDIGEST_H

#include "cache/fcache.h"

#define FDIGEST_LEN 32 /* hexadecimal digits, no quotes */

/* One question, embedded in whoever asks. */
struct fdigest_ask {
    void (*done)(struct fdigest_ask *a); /* from the loop, if fdigest_get said STATUS_AGAIN */
    struct list link;
    void *job;
};

/*
 * STATUS_OK: fdigest_text() has it. STATUS_AGAIN: a->done will be called; there may be none then
 * (the file could not be read, or changed meanwhile).  STATUS_BUSY: it is being made, which may
 * take long for so large a file: do without.  e is the entry of a file.
 */
enum status fdigest_get(struct fentry *e, struct fdigest_ask *a);

/* No longer wanted; done() will not be called. Fine when it is not waiting. */
void fdigest_cancel(struct fdigest_ask *a);

/* The tag of the entry, or of the file it is a form of; empty: not known. Lives with the entry. */
struct str fdigest_text(const struct fentry *e);

/* The jobs, for the cache alone. */
struct helper;
struct fdigests {
    struct list jobs;
    struct helper *helper;
};
void fdigests_init(struct fdigests *ds);
void fdigests_fini(struct fdigests *ds); /* turns the loop until no job is left */

#endif
