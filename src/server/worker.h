/* SPDX-License-Identifier: BSD-2-Clause */
/* A worker: one process, one loop, everything that talks to the network. */
#ifndef SLUICE_SERVER_WORKER_H
#define SLUICE_SERVER_WORKER_H

#include "server/cycle.h"

/* Exit codes of a worker. */
#define WORKER_DONE 0
#define WORKER_CANNOT_START 2 /* trying again at once would not help */

/* Messages between master and worker (os/chan.h). */
enum worker_msg {
    WORKER_READY = 1,  /* to the master: it accepts */
    WORKER_STOP,       /* end now */
    WORKER_QUIT,       /* finish what is open, then end */
    WORKER_ACCEPT_FOR, /* arg: a worker that is away; accept on its sockets too */
    WORKER_LEAVE_TO,   /* arg: …it is back */
    WORKER_LOG,        /* arg: index of an error log sink; fd: the new file */
    WORKER_ACCESS_LOG, /* arg: index of an access log; fd: the new file */
};

/*
 * Pins, limits and drops privileges, then makes its ring and serves until told to end or until
 * the master is gone.  chan -1: there is no master; signals are obeyed directly.
 * Returns the exit code; called in the forked child, or in the only process.
 */
int worker_run(struct cycle *c, uint32_t index, int chan);

#endif
