/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared memory zones: tables from a key to a small state of fixed size, one for all workers, old
 * and new ones.  A zone is defined while the configuration is loaded, mapped by the master before
 * it forks, and kept over a reload that defines it in the same way.
 *
 * Keys are not stored: a state is found by 128 bits of SipHash with a secret of the zone, which no
 * client can make collide.  States are in order of use, so that the oldest can give way.
 *
 * The lock is a robust mutex: where a worker dies with it, the kernel says so to the next one, who
 * mends the lists from the states and goes on.  Nothing is waited for while it is held.
 */
#ifndef SLUICE_HTTP_ZONE_H
#define SLUICE_HTTP_ZONE_H

#include "conf/diag.h"
#include "core/buf.h"
#include "core/sip.h"

#define ZONE_SIZE_MIN (32u << 10)

struct cycle_http;
struct zone_memory;

/* What states a zone has: one constant per module, which also tells uses apart. */
struct zone_kind {
    const char *name;         /* "limit_req" */
    uint32_t state_size;      /* at most 64, a multiple of 8 */
};

struct zone {
    struct str name;
    const struct zone_kind *kind;
    uint64_t size;            /* bytes of shared memory */
    struct str key;           /* what its keys are, as it was written */
    const void *data;         /* the module's, of this configuration */
    struct pos pos;
    struct zone_memory *memory; /* NULL until zones_open */
};

/*
 * Defines a zone; `def` is copied but for its texts.  NULL: the name is taken, which has been
 * reported, or there is no memory.
 */
struct zone *zone_define(struct cycle_http *cy, struct str path, const struct zone *def);

/* NULL: there is none of that name and kind. */
struct zone *zone_find(const struct cycle_http *cy, struct str name, const struct zone_kind *kind);

/*
 * "zone=NAME:SIZE" after the "zone=".  False: *why says what was expected; *name and *size are as
 * far as it was good.
 */
bool zone_parse(struct str text, struct str *name, uint64_t *size, const char **why);

/*
 * Maps the zones of a configuration; those that `before` (the one in force, may be NULL) has with
 * the same name, kind, size and key are shared with it.  What is no fault but should be known goes
 * to the report too.  False: the report says why.
 */
bool zones_open(struct cycle_http *cy, const struct cycle_http *before, struct buf *report);
void zones_close(struct cycle_http *cy);  /* gives its share up; fine if they are not open */

/* ---- in a worker ---- */

struct sip zone_id(const struct zone *z, struct str key);

void zone_lock(struct zone *z);
void zone_unlock(struct zone *z);

/*
 * All below under the lock.  States begin zeroed.  A worker may die between any two stores, so
 * fields are changed in an order that leaves something reasonable at any time.
 */
void *zone_get(struct zone *z, struct sip id);          /* NULL: none */
void *zone_next(struct zone *z, const void *state);     /* another one of the same id, or NULL */
void *zone_add(struct zone *z, struct sip id);          /* the newest; NULL: the zone is full */
void zone_touch(struct zone *z, void *state);           /* it becomes the newest */
void *zone_oldest(struct zone *z);                      /* NULL: the zone is empty */
void zone_remove(struct zone *z, void *state);

/* Removes all states that gone() is true for; it may take milliseconds in a large zone. */
void zone_sweep(struct zone *z, bool (*gone)(const void *state, void *arg), void *arg);

uint32_t zone_used(const struct zone *z);
uint32_t zone_room(const struct zone *z);               /* how many states there is room for */
uint32_t zone_mended(const struct zone *z);             /* how often a worker died with the lock */

#endif
