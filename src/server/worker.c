/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a worker.  The order of the start matters: affinity and limits as root, then the
 * privilege drop, and only then the ring, whose kernel threads keep the credentials of its maker.
 */
#include "server/worker.h"

#include "config.h"
#include "event/fault.h"
#include "http/http.h"
#include "os/chan.h"
#include "os/fd.h"
#include "os/logfile.h"
#include "os/signal.h"
#include "os/title.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors besides connections: listeners, logs, the ring, pipes, cached files. */
#define FD_RESERVE 256u
#define CONN_ID_SPAN 40 /* connection numbers of different workers start this many bits apart */

struct worker {
    struct cycle *cycle;
    uint32_t index;
    int chan, sigfd;
    struct loop loop;
    struct net net;
    struct http_worker http;
    struct acceptor *acceptors;
    size_t acceptor_count;
    struct op sig_op, chan_op;
    struct timer shutdown_timer;
    bool quitting;
};

static const int obeyed[] = {SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGHUP, SIGWINCH};

static void worker_stop(struct worker *w);
static void worker_quit(struct worker *w);

/* Failures of the start go to the error log, and to the terminal while there is one. */
static int cannot_start(const struct worker *w, const char *what)
{
    log_msg(&w->cycle->log_ctx, LEVEL_EMERG, "worker %u cannot start: %s", w->index, what);
    fprintf(stderr, "sluice: worker %u cannot start: %s\n", w->index, what);
    return WORKER_CANNOT_START;
}

static void set_limits(const struct worker *w, uint64_t *files)
{
    const struct main_conf *m = w->cycle->main;
    uint64_t want = (uint64_t)w->cycle->events->worker_connections + FD_RESERVE +
                    (w->cycle->http.http != NULL ? HTTP(w->cycle->http.http)->cache_max : 0);
    struct fd_limit limit;
    if (m->worker_rlimit_nofile != 0)
        want = (uint64_t)m->worker_rlimit_nofile;
    if (fd_limit_get(&limit) == STATUS_OK && limit.soft >= want && m->worker_rlimit_nofile == 0)
        *files = limit.soft;
    else if (fd_limit_set(want, files) == STATUS_LIMIT)
        log_warn(&w->cycle->log_ctx, "worker_connections needs %llu open files, the limit is %llu",
                 (unsigned long long)want, (unsigned long long)*files);
    if (w->cycle->priority != 0 && setpriority(PRIO_PROCESS, 0, w->cycle->priority) == -1)
        log_errno_at(&w->cycle->log_ctx, LEVEL_ALERT, errno, "setpriority(%d) failed",
                     w->cycle->priority);
}

static bool become_worker(struct worker *w, uint64_t *files)
{
    struct cycle *c = w->cycle;
    const struct cpu_seat *seat = &c->plan.seats[w->index];
    struct os_error e;
    if (w->chan != -1)
        title_set("sluice-worker", "worker process %u", w->index);
    if (seat->pinned && cpuset_bind(&seat->cpus) != STATUS_OK)
        log_errno_at(&c->log_ctx, LEVEL_WARN, errno, "worker %u is not pinned to CPU %d", w->index,
                     seat->cpu);
    set_limits(w, files);
    if (c->drop && priv_drop(&c->identity, &e) != STATUS_OK) {
        cannot_start(w, e.text);
        return false;
    }
    if (priv_lock(false, &e) != STATUS_OK)
        log_errno_at(&c->log_ctx, LEVEL_WARN, e.err, "%s", e.text);
    return true;
}

/* ---- accepting ---- */

static bool make_acceptors(struct worker *w)
{
    struct cycle_http *h = &w->cycle->http;
    size_t n = 0;
    for (size_t i = 0; i < h->listener_count; i++)
        n += h->listeners[i]->fd_count;
    w->acceptors = calloc(n == 0 ? 1 : n, sizeof(*w->acceptors));
    if (w->acceptors == NULL)
        return false;
    for (size_t i = 0; i < h->listener_count; i++) {
        struct listener *l = h->listeners[i];
        for (uint32_t k = 0; k < l->fd_count; k++) {
            /* a Unix socket has no siblings: everybody accepts on the one */
            uint32_t owner = l->fd_count == 1 && addr_family(&l->addr) == AF_UNIX ? w->index : k;
            acceptor_init(&w->acceptors[w->acceptor_count++], &w->net, l, owner, l->fds[k],
                          &plain_transport);
        }
    }
    return true;
}

static void accept_for(struct worker *w, uint32_t owner, bool on)
{
    for (size_t i = 0; i < w->acceptor_count; i++) {
        struct acceptor *a = &w->acceptors[i];
        if (a->owner != owner)
            continue;
        if (on && !w->quitting)
            acceptor_start(a);
        else
            acceptor_stop(a);
    }
}

static bool accepting(const struct worker *w)
{
    for (size_t i = 0; i < w->acceptor_count; i++)
        if (op_busy(&w->acceptors[i].op))
            return true;
    return false;
}

/* ---- being told ---- */

static void shutdown_expired(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    struct worker *w = container_of(t, struct worker, shutdown_timer);
    log_warn(&w->cycle->log_ctx, "worker_shutdown_timeout: closing %u connections",
             w->net.count);
    net_close_all(&w->net, CLOSE_DRAIN);
}

static void worker_quit(struct worker *w)
{
    if (w->quitting)
        return;
    w->quitting = true;
    if (w->chan != -1)
        title_set(NULL, "worker process %u is shutting down", w->index);
    for (size_t i = 0; i < w->acceptor_count; i++)
        acceptor_stop(&w->acceptors[i]);
    net_drain(&w->net);
    int64_t limit = w->cycle->main->worker_shutdown_timeout;
    if (limit != CONF_UNLIMITED)
        timer_arm(&w->loop.timers, &w->shutdown_timer, w->loop.now_ms + (uint64_t)limit);
}

static void worker_stop(struct worker *w)
{
    worker_quit(w);
    net_close_all(&w->net, CLOSE_DRAIN);
}

static void reopen_own(struct worker *w)
{
    struct cycle *c = w->cycle;
    struct os_error e;
    for (size_t i = 0; i < c->log.sink_count; i++)
        if (c->log.sinks[i].fd > STDERR_FILENO)
            logfile_reopen(c->log.sinks[i].path, LOGFILE_NO_GROUP, c->log.sinks[i].fd, &e);
    for (size_t i = 0; i < c->http.log_file_count; i++)
        logfile_reopen(c->http.log_files[i]->path.p, LOGFILE_NO_GROUP, c->http.log_files[i]->fd,
                       &e);
}

/* With a master only its own signals count: a terminal's go to the whole process group. */
static void on_signal(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct worker *w = container_of(op, struct worker, sig_op);
    struct signal_event ev;
    (void)loop;
    (void)flags;
    while (res >= 0 && signal_read(w->sigfd, &ev)) {
        bool master = w->chan != -1;
        if (ev.signal == SIGTERM || (ev.signal == SIGINT && !master))
            worker_stop(w);
        else if (ev.signal == SIGQUIT && (!master || ev.pid == getppid()))
            worker_quit(w);
        else if (ev.signal == SIGUSR1 && !master)
            reopen_own(w);
    }
}

static void swap_log(int *from, int fd)
{
    struct os_error e;
    if (*from != -1 && fd != -1)
        logfile_swap(from, fd, &e);
    fd_close(from);
}

static void obey(struct worker *w, struct chan_msg *msg)
{
    switch ((enum worker_msg)msg->type) {
    case WORKER_STOP:
        worker_stop(w);
        break;
    case WORKER_QUIT:
        worker_quit(w);
        break;
    case WORKER_ACCEPT_FOR:
        accept_for(w, msg->arg, true);
        break;
    case WORKER_LEAVE_TO:
        if (msg->arg != w->index)
            accept_for(w, msg->arg, false);
        break;
    case WORKER_LOG:
        if (msg->arg < w->cycle->log.sink_count)
            swap_log(&msg->fd, w->cycle->log.sinks[msg->arg].fd);
        break;
    case WORKER_ACCESS_LOG:
        if (msg->arg < w->cycle->http.log_file_count)
            swap_log(&msg->fd, w->cycle->http.log_files[msg->arg]->fd);
        break;
    case WORKER_READY:
        break;
    }
    fd_close(&msg->fd);
}

static void on_chan(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct worker *w = container_of(op, struct worker, chan_op);
    struct chan_msg msg;
    enum status st = STATUS_AGAIN;
    (void)flags;
    if (res == -ECANCELED)
        return;
    while ((st = chan_recv(w->chan, &msg)) == STATUS_OK)
        obey(w, &msg);
    if (st == STATUS_CLOSED && !w->quitting) {
        log_alert(loop->log, "the master is gone, worker %u finishes and ends", w->index);
        worker_quit(w);
    }
    if (st == STATUS_CLOSED)
        op_cancel(loop, op);
}

/* ---- start, life, end ---- */

static bool inject_faults(struct worker *w)
{
#if SLUICE_DEBUG
    const char *spec = getenv("SLUICE_FAULT");
    char why[128];
    if (spec != NULL && (w->loop.fault = ev_fault_parse(spec, why, sizeof(why))) == NULL) {
        cannot_start(w, why);
        return false;
    }
#else
    (void)w;
#endif
    return true;
}

static int start(struct worker *w)
{
    struct cycle *c = w->cycle;
    uint64_t files = 0;
    struct ev_conf ev;
    if (!become_worker(w, &files))
        return WORKER_CANNOT_START;
    cycle_ev_conf(c, w->index, &ev);
    ev.max_fds = files < (1u << 20) ? (uint32_t)files : 1u << 20;
    if (signal_open(&w->sigfd, obeyed, ARRAY_LEN(obeyed)) != STATUS_OK)
        return cannot_start(w, "signalfd() failed");
    if (loop_init(&w->loop, &ev, &c->log_ctx) != STATUS_OK)
        return cannot_start(w, w->loop.chosen);
    if (!inject_faults(w))
        return WORKER_CANNOT_START;
    log_notice(&c->log_ctx, "worker %u uses %s: %s", w->index, loop_backend_name(&w->loop),
               w->loop.chosen);
    net_init(&w->net, &w->loop, &c->log, &http_conn_ops,
             (uint32_t)c->events->worker_connections, (uint64_t)w->index << CONN_ID_SPAN);
    if (http_worker_init(&w->http, &w->loop, &w->net, &c->http, w->index) != STATUS_OK)
        return cannot_start(w, "out of memory");
    timer_init(&w->shutdown_timer, shutdown_expired);
    op_init(&w->sig_op, on_signal);
    op_poll(&w->loop, &w->sig_op, w->sigfd, POLLIN, OP_POLL_MULTI);
    op_init(&w->chan_op, on_chan);
    if (w->chan != -1)
        op_poll(&w->loop, &w->chan_op, w->chan, POLLIN, OP_POLL_MULTI);
    if (!make_acceptors(w))
        return cannot_start(w, "out of memory");
    accept_for(w, w->index, true);
    return WORKER_DONE;
}

static void finish(struct worker *w)
{
    timer_disarm(&w->loop.timers, &w->shutdown_timer);
    http_worker_fini(&w->http);
    net_fini(&w->net);
    op_cancel(&w->loop, &w->sig_op);
    op_cancel(&w->loop, &w->chan_op);
    while (op_busy(&w->sig_op) || op_busy(&w->chan_op))
        loop_turn(&w->loop, TIMER_NEVER);
    ev_fault_free(w->loop.fault);
    loop_fini(&w->loop);
    free(w->acceptors);
    fd_close(&w->sigfd);
}

int worker_run(struct cycle *c, uint32_t index, int chan)
{
    struct worker *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return WORKER_CANNOT_START;
    w->cycle = c;
    w->index = index;
    w->chan = chan;
    w->sigfd = -1;
    log_process.log = &c->log;
    int code = start(w);
    if (code != WORKER_DONE)
        return code;
    struct chan_msg ready = {.type = WORKER_READY, .fd = -1};
    if (chan != -1)
        chan_send(chan, &ready);
    while (!w->quitting || w->net.count > 0 || accepting(w))
        loop_turn(&w->loop, TIMER_NEVER);
    finish(w);
    free(w);
    return WORKER_DONE;
}
