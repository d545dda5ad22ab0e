/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections whose output is held back to a rate (limit_rate).  Between two steps a connection has
 * no operation and one timer; others never notice.
 */
#ifndef SLUICE_NET_PACED_H
#define SLUICE_NET_PACED_H

#include "core/timer.h"
#include "net/pace.h"

struct conn;

struct paced {
    struct pace pace;
    struct conn *conn;
    struct timer timer;    /* armed while we wait */
    uint64_t limit;        /* output may go up to here; above what is sent when it is flushed */
    uint64_t waited_ms;    /* when the last wait was over */
};

/*
 * From offset `from` of the output on, `rate` bytes leave in a second, on average since the output
 * got to `lead`.  One at a time.  False: no memory.
 */
bool conn_pace(struct conn *c, uint64_t lead, uint64_t from, uint64_t rate);
void conn_pace_end(struct conn *c);    /* fine if there is none */

/* Something is queued: may some of it go now? If not, it will be flushed when it may. */
bool conn_pace_due(struct conn *c);

/* When we made the client wait for the last time: now if we do; 0 never. */
uint64_t conn_pace_waited(const struct conn *c);

#endif
