/* SPDX-License-Identifier: BSD-2-Clause */
/* A worker: one process, one loop, everything that talks to the network. */
#ifndef SLUICE_SERVER_WORKER_H
#define SLUICE_SERVER_WORKER_H

#include "os/scoreboard.h"
#include "server/cycle.h"

/* Exit codes of a worker. */
#define WORKER_DONE 0
#define WORKER_CANNOT_START 2 /* board->why has the reason */

/*
 * Messages between master and worker (os/chan.h).  A worker that is ready does not accept before it
 * is told to by WORKER_ACCEPT_FOR with its own number: all of a new cycle begin together or none.
 */
enum worker_msg {
    WORKER_READY = 1,  /* to the master: everything is made, nothing can fail any more */
    WORKER_STOP,       /* end now */
    WORKER_QUIT,       /* finish what is open, then end */
    WORKER_ACCEPT_FOR, /* arg: accept on the sockets of this worker: oneself, or one that is away */
    WORKER_LEAVE_TO,   /* arg: …it is back */
    WORKER_TRIM,       /* arg: of each group this many sockets are left, close the others */
    WORKER_LOG,        /* arg: index of an error log sink; fd: the new file */
    WORKER_ACCESS_LOG, /* arg: index of an access log; fd: the new file */
};

#define WORKER_WHY 512
#define WORKER_BEAT_MS 1000 /* how often a worker shows that it turns */

/* What a worker says of itself, in memory it shares with the master, who believes none of it. */
struct worker_board {
    struct score_slot score;
    char why[WORKER_WHY];    /* why it cannot start; not always terminated */
};

struct worker_start {
    uint32_t index;
    int chan;                /* -1: there is no master, and signals are obeyed directly */
    struct worker_board *board;
    struct roll_entry entry; /* on the roll of workers */
    void (*serves)(void *arg);   /* called when it accepts, without a master; may be NULL */
    void *arg;
};

/*
 * Pins, limits and drops privileges, then makes its ring and serves until told to end or until
 * the master is gone.  Returns the exit code; called in the forked child, or in the only process,
 * once.
 */
int worker_run(struct cycle *c, const struct worker_start *start);

#endif
