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
#include "server/worker.h"

#include <sys/types.h>

/* New workers, or a new master, that do not serve after this long are given up. */
#define START_PATIENCE_MS 30000

/* The largest report of a configuration. */
#define REPORT_MAX (256u << 10)

enum child_state {
    CHILD_NONE,     /* to be started at retry_ms */
    CHILD_STARTING,
    CHILD_READY,    /* made everything; accepts if its cycle is in force */
    CHILD_RETIRING, /* finishes its connections */
};

struct child {
    pid_t pid;              /* 0: none */
    int chan;               /* -1: none */
    uint32_t index;
    enum child_state state;
    struct cycle *cycle;    /* referenced */
    struct worker_board *board;
    struct roll_entry entry; /* while it has a process */
    uint64_t started_ms;
    uint64_t retry_ms;
    uint32_t failures;      /* deaths in a row soon after a start */
    bool hung;              /* does not turn any more: covered for */
};

struct master {
    const struct options *options;
    struct cycle *cycle;        /* in force */
    struct roll roll;           /* of all workers, of whichever cycle */
    struct cycle *next;         /* being brought into force; NULL: no reload goes on */
    uint64_t next_deadline_ms;
    uint64_t attempt;           /* number of the last reload that was begun */
    bool reload_again;          /* a HUP came while one went on, or before the start was over */
    bool pid_written;           /* by us, at the place the cycle in force names */
    struct sockets sockets;
    struct child *children;
    size_t child_count, child_room;
    struct control control;
    struct daemon daemon;
    int sigfd;
    pid_t upgrade;              /* the new master, 0: none */
    int upgrade_fd;             /* it says here how its start went; -1: it has, or there is none */
    uint64_t upgrade_deadline_ms;
    bool upgrade_wanted;        /* USR2 came while a reload was going on */
    pid_t older;                /* the master whose sockets we took over, 0: none */
    uint64_t generation;
    uint64_t kill_ms;           /* when patience with stopping workers ends; 0: not stopping */
    uint64_t watch_ms;          /* when workers were looked after last */
    uint64_t surplus_ms;        /* when surplus sockets are closed; 0: there are none */
    bool started, quitting, stopping, retired;
    int exit_code;
};

/* Takes over the loaded cycle; returns the exit code of the program. */
int master_run(const struct options *o, struct cycle *c);

/* master.c */
void master_wait(struct master *m);           /* waits for news and handles it */
void master_stop(struct master *m);           /* as on TERM */
static inline bool master_ending(const struct master *m)
{
    return m->quitting || m->stopping;
}

/* start.c */
bool start(struct master *m);                 /* false: it has been said why */
void start_failed(struct master *m, struct str why); /* a worker cannot start: says it once */
void start_finish(struct master *m);
void start_control(struct master *m);       /* where the cycle in force says */
void start_file_limit(const struct cycle *c); /* warns if there are not enough open files */
bool start_pid(const char *path, struct os_error *e);

/* What start and start_single share. */
void start_raise_limit(void);
bool start_open(struct master *m);
bool start_write_pid(struct master *m);
bool start_fail(struct master *m, struct str why);   /* says it, once; false */

/* single.c */
int start_single(struct master *m);           /* master_process off: the exit code */

/* spawn.c */
struct child *child_add(struct master *m, struct cycle *c, uint32_t index);
/* Forks. False: it could not. */
bool child_start(struct master *m, struct child *ch, struct os_error *e);
void child_restart(struct master *m, struct child *ch);   /* tried again where it fails */
/* Adds and starts all workers of a cycle; false at the first that cannot be, *e says why. */
bool children_start(struct master *m, struct cycle *c, struct os_error *e);
void child_forget(struct master *m, struct child *ch);
void child_tell(struct child *ch, uint32_t type, uint32_t arg, int fd);
void child_ready(struct master *m, struct child *ch);
/* Somebody accepts for a worker that is away, or leaves it to it again. */
void child_cover(struct master *m, const struct child *away, bool on);
void child_died(struct master *m, pid_t pid, int status);
/* What a worker that could not start left as its reason, clean and short; empty if nothing. */
void child_why(const struct child *ch, char *to, size_t size);
void children_tell(struct master *m, const struct cycle *c, uint32_t type);
void children_accept(struct master *m, const struct cycle *c); /* the cycle is in force */
/* Forgets those of the cycle (NULL: of all) that have no process. */
void children_drop_absent(struct master *m, const struct cycle *c);
size_t children_in(const struct master *m, const struct cycle *c, enum child_state state);

/* watch.c: workers that do not turn any more. */
#define WATCH_MS 1000
void watch(struct master *m, uint64_t now_ms);

/* reload.c */
void reload_begin(struct master *m);
void reload_check(struct master *m);                /* all new workers ready? too late? */
void reload_failed(struct master *m, struct str why);
void reload_next(struct master *m);                 /* what had to wait for the end of one */
void surplus_later(struct master *m);               /* a cycle came into force */
void surplus_check(struct master *m, uint64_t now_ms);
void bring_back(struct master *m);                  /* workers that WINCH retired */
void reopen_logs(struct master *m);

/* upgrade.c */
void upgrade_begin(struct master *m);
void upgrade_news(struct master *m);                /* something to read on upgrade_fd */
void upgrade_died(struct master *m, int status);
void upgrade_check(struct master *m, uint64_t now_ms);
bool upgrade_older_lives(const struct master *m);   /* the master we are to replace */
/* In the new master: takes notice of being one, first thing; says how its start went. */
void upgrade_hello(void);
void upgrade_say(struct str text);                  /* why it failed, or nothing for success */
void upgrade_leave(void);                           /* in a worker: says nothing */

#endif
