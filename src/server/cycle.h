/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cycle: one generation of the configuration and everything opened for it.  Built completely
 * before anything changes; immutable once workers have been forked from it; deleted when the last
 * of its workers has gone.
 */
#ifndef SLUICE_SERVER_CYCLE_H
#define SLUICE_SERVER_CYCLE_H

#include "core/buf.h"
#include "http/site.h"
#include "os/cpu_plan.h"
#include "os/error.h"
#include "os/priv.h"
#include "server/main_conf.h"
#include "server/options.h"
#include "server/sockets.h"

struct cycle {
    struct arena *arena;
    uint64_t generation;
    const struct options *options;
    struct block *main_block;
    const struct main_conf *main;
    const struct events_conf *events;
    struct cycle_http http;
    struct cpu_plan plan;
    struct priv_identity identity;   /* used when we are root */
    bool drop;                       /* workers become identity */
    struct log log;                  /* error_log of main */
    struct log_ctx log_ctx;
    uint32_t recv_count, recv_size;
    int priority;
    int refs;                        /* the master's, and one per living worker */
};

/*
 * Reads and compiles the configuration; no side effects. NULL: `report` says why, as text for
 * people. Warnings go to the report too.
 */
struct cycle *cycle_load(const struct options *o, uint64_t generation, struct buf *report);

/*
 * open.c: opens what it needs: log files, shared zones (those that `before`, the cycle in force or
 * NULL, has too are shared with it), then listeners, claimed in the transaction that `sockets` is
 * in.  False: `report` says why, a line each; the caller rolls the sockets back. The error log
 * stays open either way, for the bad news, until the last reference goes.
 */
bool cycle_open(struct cycle *c, struct sockets *sockets, const struct cycle *before,
                struct buf *report);

/*
 * Whether cycle_open could be expected to succeed, and the pid file to be written, as far as that
 * can be told without a side effect. False: `report` says why.
 */
bool cycle_check(struct cycle *c, struct buf *report);

/* Closes the log files in this process. */
void cycle_close_logs(struct cycle *c);

void cycle_ref(struct cycle *c);
void cycle_unref(struct cycle *c); /* the last one closes its logs and frees it */

/* All sections of the program, NULL-terminated. */
const struct section *const *cycle_sections(void);

/* Where the control socket is, in `to`. False: its path is too long. */
bool cycle_control(const struct cycle *c, char *to, size_t size);

/* The limit of open files that a worker wants; listeners are claimed by then. */
uint64_t cycle_files(const struct cycle *c);

/* The events block as a worker's loop wants it. */
void cycle_ev_conf(const struct cycle *c, uint32_t worker, struct ev_conf *out);

#endif
