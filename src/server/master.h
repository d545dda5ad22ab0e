/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The master: keeps the sockets, the pid file and the workers; obeys signals.  It takes no part in
 * traffic and parses nothing that comes from the network.
 */
#ifndef SLUICE_SERVER_MASTER_H
#define SLUICE_SERVER_MASTER_H

#include "os/daemon.h"
#include "server/control.h"
#include "server/cycle.h"

#include <sys/types.h>

enum child_state {
    CHILD_NONE,     /* to be started at retry_ms */
    CHILD_STARTING,
    CHILD_SERVING,
    CHILD_RETIRING, /* finishes its connections */
};

struct child {
    pid_t pid;
    int chan;               /* -1: none */
    uint32_t index;
    enum child_state state;
    struct cycle *cycle;    /* referenced */
    uint64_t started_ms;
    uint64_t retry_ms;
    uint32_t failures;      /* deaths in a row soon after a start */
};

struct master {
    const struct options *options;
    struct cycle *cycle;        /* in force */
    struct cycle *next;         /* being brought into force; NULL: no reload goes on */
    uint64_t next_deadline_ms;
    bool reload_again;          /* a HUP came while one was going on */
    struct sockets sockets;
    struct child *children;
    size_t child_count, child_room;
    struct control control;
    struct daemon daemon;
    int sigfd;
    pid_t upgrade;              /* the new master, 0: none */
    uint64_t generation;
    uint64_t kill_ms;           /* when patience with stopping workers ends; 0: not stopping */
    bool started, quitting, stopping, retired;
    int exit_code;
};

/* Takes over the loaded cycle; returns the exit code of the program. */
int master_run(const struct options *o, struct cycle *c);

/* spawn.c */
bool child_start(struct master *m, struct child *ch);     /* forks; false: it could not */
struct child *child_add(struct master *m, struct cycle *c, uint32_t index);
void child_forget(struct master *m, struct child *ch);
void child_tell(struct child *ch, uint32_t type, uint32_t arg, int fd);
/* Somebody accepts for a worker that is away, or leaves it to it again. */
void child_cover(struct master *m, const struct child *away, bool on);
void child_died(struct master *m, pid_t pid, int status);
void children_tell(struct master *m, const struct cycle *c, uint32_t type);
size_t children_in(const struct master *m, const struct cycle *c, enum child_state state);

/* reload.c */
void reload_begin(struct master *m);
void reload_check(struct master *m);                /* all new workers serve? too late? */
void reload_failed(struct master *m, const char *why);
void reopen_logs(struct master *m);

/* upgrade.c */
void upgrade_begin(struct master *m);
void upgrade_died(struct master *m, int status);

#endif
