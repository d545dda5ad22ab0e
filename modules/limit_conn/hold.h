/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts of limit_conn in a zone.  Each worker has a state of its own for each key, marked with its
 * entry on the roll, and a key's count is the sum of the states whose workers are there: what a
 * worker that died had counted goes with it, without anybody cleaning up in time.
 *
 * A hold is one counted connection of this worker; requests of one HTTP/1.1 connection share it.
 */
#ifndef SLUICE_LIMIT_CONN_HOLD_H
#define SLUICE_LIMIT_CONN_HOLD_H

#include "core/slab.h"
#include "http/zone.h"
#include "os/roll.h"

extern const struct zone_kind limit_conn_kind;

struct hold {
    struct zone *zone;
    struct sip id;
    uint32_t refs;
};

/* Who counts: one per worker. */
struct holder {
    const struct roll *roll;
    struct roll_entry self;
    struct slab holds;
    uint32_t departures;      /* when this worker has cleaned up after the dead last */
};

enum hold_result { HOLD_OK, HOLD_TOO_MANY, HOLD_FULL, HOLD_NO_MEMORY };

/* Counts one more of a key unless there are `most` already; *out has one reference then. */
enum hold_result hold_take(struct holder *h, struct zone *z, struct sip id, uint32_t most,
                           struct hold **out);
void hold_put(struct holder *h, struct hold *k); /* the last reference counts one less */

#endif
