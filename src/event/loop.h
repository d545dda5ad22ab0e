/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event loop of one worker: one thread, one back end, one timer wheel, a cached clock.
 * A turn is: wait for completions, deliver them, run due timers, run what was put off to the end
 * of the turn.  Everything that a turn submits goes to the kernel in one call.
 */
#ifndef SLUICE_EVENT_LOOP_H
#define SLUICE_EVENT_LOOP_H

#include "core/log.h"
#include "core/status.h"
#include "core/timer.h"
#include "event/op.h"

#include <time.h>

enum ev_use { EV_AUTO, EV_IO_URING, EV_EPOLL };
enum ev_tristate { EV_TRI_AUTO, EV_TRI_ON, EV_TRI_OFF };

/* What the events block says, made ready for one worker. */
struct ev_conf {
    enum ev_use use;
    bool sqpoll;               /* decided by the CPU plan */
    int sqpoll_cpu;            /* -1: not pinned */
    uint32_t sqpoll_idle_ms;
    uint32_t ring_entries;     /* submission queue; the completion queue is 4 times that */
    uint32_t recv_buffers;     /* number of receive buffers, a power of two is made of it */
    uint32_t recv_buffer_size; /* bytes */
    size_t file_buffers;       /* bytes of registered buffers for file reads, 0: none */
    bool registered_files;
    uint32_t max_fds;          /* highest descriptor number + 1 that will be seen */
    uint32_t workers;          /* workers of this user, for shares of per-user limits */
};
void ev_conf_init(struct ev_conf *c); /* the defaults of sluice.yaml(5) */

/* Figures of the back end, for the log, `status` and tests. */
struct ev_stats {
    uint64_t submitted, completed, waits, late, overflows, rearmed, starved, cancelled;
    uint64_t accept_pauses, file_cold, file_warm, short_sends;
};

struct ev_backend;
struct ev_fault;
struct pipe_pool;

struct op_slot {
    struct op *op;
    uint32_t generation;
    uint32_t next_free;
};

struct loop {
    const struct ev_backend *backend;
    void *priv;                 /* the back end's */
    struct log_ctx *log;
    struct timer_wheel timers;
    uint64_t now_ms;            /* monotonic, as of this turn */
    struct timespec wall;       /* wall clock, as of this turn */
    struct list turns;          /* struct turn to run at the end of this turn */
    bool stopping;
    struct ev_stats stats;
    /* for back ends and sendfile.c only: */
    struct op_slot *slots;      /* ops in flight */
    uint32_t slot_count, slot_used, slot_free;
    uint32_t in_flight;
    struct pipe_pool *pipes;
    bool no_cachestat;          /* the kernel refused it, and would for each file */
    struct list file_waiters;   /* send_files that wait for a file buffer, by turn.link */
    void *user;                 /* the worker's */
    struct ev_fault *fault;     /* test builds: event/fault.h */
    char chosen[160];           /* what was chosen and why, for people */
};

/*
 * Chooses and starts a back end (architecture.md 3): `auto` tries io_uring and takes epoll when
 * the kernel says ENOSYS, EPERM or EINVAL; any other failure, or io_uring asked for by name, is an
 * error with its text in loop->chosen. The calling thread is the loop's from now on: the worker,
 * after fork, pinning and privilege drop.
 */
enum status loop_init(struct loop *loop, const struct ev_conf *conf, struct log_ctx *log);
void loop_fini(struct loop *loop); /* CHECKs that no op is in flight; cancel them first */

/* Turns until loop_stop() has been called. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* One turn that waits no longer than until at_ms. For tests and for draining. */
void loop_turn(struct loop *loop, uint64_t at_ms);

/* Puts t on the list of this turn unless it is there; runs before the loop waits again. */
static inline void loop_at_turn_end(struct loop *loop, struct turn *t)
{
    if (list_empty(&t->link))
        list_push_back(&loop->turns, &t->link);
}
static inline void turn_init(struct turn *t, void (*run)(struct turn *))
{
    list_init(&t->link);
    t->run = run;
}

/* Closes a descriptor that ops have been submitted for; none may be busy. No result. */
void loop_close_fd(struct loop *loop, int fd);

/*
 * Buffers for file reads, registered with the kernel where that is possible; FILE_BUF_SIZE bytes
 * each. NULL when all are in use: wait, or use other memory.
 */
#define FILE_BUF_SIZE 65536u
char *loop_file_buf_get(struct loop *loop);
void loop_file_buf_put(struct loop *loop, char *buf);


/*
 * May something have happened, for the busy op, before what this turn has delivered so far came
 * in, without having been reported yet? False is certain (but for SQPOLL, whose thread posts while
 * the turn runs). It costs no system call.
 */
bool loop_posted(const struct loop *loop, const struct op *op);

const char *loop_backend_name(const struct loop *loop); /* "io_uring", "io_uring+sqpoll", "epoll" */

/*
 * What `use` would choose on this host and why, without side effects (sluice -V). The status is
 * loop_init's: STATUS_UNSUPPORTED for a back end that the kernel refuses, another one for a failure
 * that would stop a start; the text names the errno.
 */
enum status loop_probe(const struct ev_conf *conf, char *text, size_t size);

#endif
