/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a worker.  The order of the start matters: affinity and limits as root, then the
 * privilege drop, and only then the ring, whose kernel threads keep the credentials of its maker.
 *
 * A worker that retires stops accepting at once, but closes its copies of the listening sockets a
 * moment later, and takes what is queued on any of them by then: of an address that was removed it
 * may be the last holder, and handshakes were under way.  It closes them however long its last
 * download lasts: an address that nobody accepts on must refuse connections, not swallow them.
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

#define CLOSE_AFTER_MS 20u
#define CONN_ID_SPAN 40 /* connection numbers of different workers start this many bits apart */

struct worker {
    struct cycle *cycle;
    struct worker_board *board;
    uint32_t index;
    uint32_t keep;      /* sockets of a group that are still needed, once told */
    int chan, sigfd;
    struct loop loop;
    struct net net;
    struct http_worker http;
    struct acceptor *acceptors;
    size_t acceptor_count;
    struct op sig_op, chan_op;
    struct timer shutdown_timer, close_timer, trim_timer, beat_timer;
    bool quitting, stopping, listeners_closed;
};

/* Those that mean nothing to a worker are in it too: they must not end one. */
static const int obeyed[] = {SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGHUP, SIGWINCH};

static void worker_stop(struct worker *w);
static void worker_quit(struct worker *w);

/* The master says it, once for all workers that fail in the same way. */
static int cannot_start(const struct worker *w, const char *what)
{
    snprintf(w->board->why, sizeof(w->board->why), "%s", what);
    return WORKER_CANNOT_START;
}

/*
 * Down to what is wanted as well: the back end makes room for as many descriptors as there can be.
 * What cannot be had the master has said.
 */
static void limit_files(const struct worker *w, uint64_t *files)
{
    fd_limit_set(cycle_files(w->cycle), files);
}

/*
 * Since Linux 6.14 the memory of rings counts against RLIMIT_MEMLOCK, for all processes of a user
 * together, so it is lifted while we still may.
 */
static void limit_locked(const struct worker *w)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_MEMLOCK, &r) == -1)
        return;
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_MEMLOCK, &all) == 0)
        return;
    r.rlim_cur = r.rlim_max;
    if (setrlimit(RLIMIT_MEMLOCK, &r) == -1)
        log_errno_at(&w->cycle->log_ctx, LEVEL_WARN, errno, "setrlimit(RLIMIT_MEMLOCK) failed");
}

static void set_limits(const struct worker *w, uint64_t *files)
{
    limit_files(w, files);
    limit_locked(w);
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
    enum status st = c->drop ? priv_drop(&c->identity, &e) : priv_drop_capabilities(&e);
    if (st != STATUS_OK) {
        struct wbuf why = wbuf_make(w->board->why, sizeof(w->board->why) - 1);
        os_error_write(&e, &why);
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
            /* A Unix socket has no siblings: everybody accepts on the one. There may be more
             * sockets than workers (server/sockets.h). */
            uint32_t owner = addr_family(&l->addr) == AF_UNIX ? w->index
                                                              : k % w->cycle->plan.workers;
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
        if (a->owner != owner || a->fd == -1)
            continue;
        if (on && !w->quitting)
            acceptor_start(a, owner != w->index);
        else
            acceptor_stop(a);
    }
}

/* One of those that the first `keep` of its group do without. */
static bool is_surplus(const struct acceptor *a, uint32_t keep)
{
    const struct listener *l = a->listener;
    if (a->fd == -1 || addr_family(&l->addr) == AF_UNIX)
        return false;
    for (uint32_t k = keep; k < l->fd_count; k++)
        if (l->fds[k] == a->fd)
            return true;
    return false;
}

static void leave(struct worker *w, struct acceptor *a)
{
    acceptor_take(a);
    loop_close_fd(&w->loop, a->fd);
    a->fd = -1;
}

/* The master steered away from them long ago: what has come all the same is taken. */
static void trim(struct timer *t, uint64_t now_ms)
{
    struct worker *w = container_of(t, struct worker, trim_timer);
    bool busy = false;
    for (size_t i = 0; i < w->acceptor_count; i++) {
        struct acceptor *a = &w->acceptors[i];
        if (!is_surplus(a, w->keep))
            continue;
        acceptor_stop(a);
        if (op_busy(&a->op))
            busy = true;
        else
            leave(w, a);
    }
    if (busy)
        timer_arm(&w->loop.timers, t, now_ms + 1);
}

static bool accepting(const struct worker *w)
{
    for (size_t i = 0; i < w->acceptor_count; i++)
        if (op_busy(&w->acceptors[i].op))
            return true;
    return false;
}

static void close_listeners(struct timer *t, uint64_t now_ms)
{
    struct worker *w = container_of(t, struct worker, close_timer);
    if (accepting(w)) {
        timer_arm(&w->loop.timers, t, now_ms + 1);
        return;
    }
    timer_disarm(&w->loop.timers, &w->trim_timer);
    for (size_t i = 0; i < w->acceptor_count; i++)
        if (w->acceptors[i].fd != -1)
            leave(w, &w->acceptors[i]);
    w->listeners_closed = true;
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
    score_state_set(&w->board->score, SCORE_DRAINING);
    if (w->chan != -1)
        title_set(NULL, "worker process %u is shutting down", w->index);
    for (size_t i = 0; i < w->acceptor_count; i++)
        acceptor_stop(&w->acceptors[i]);
    net_drain(&w->net);
    timer_arm(&w->loop.timers, &w->close_timer, w->loop.now_ms + CLOSE_AFTER_MS);
    int64_t limit = w->cycle->main->worker_shutdown_timeout;
    if (limit != CONF_UNLIMITED)
        timer_arm(&w->loop.timers, &w->shutdown_timer, w->loop.now_ms + (uint64_t)limit);
}

static void worker_stop(struct worker *w)
{
    w->stopping = true; /* what is still accepted is closed in serve() */
    worker_quit(w);
    net_close_all(&w->net, CLOSE_DRAIN);
}

static void beat(struct timer *t, uint64_t now_ms)
{
    struct worker *w = container_of(t, struct worker, beat_timer);
    score_beat(&w->board->score, now_ms, w->net.count);
    timer_arm(&w->loop.timers, t, now_ms + WORKER_BEAT_MS);
}

static void reopen_own(struct worker *w)
{
    struct cycle *c = w->cycle;
    struct os_error e;
    for (size_t i = 0; i < c->log.sink_count; i++)
        if (c->log.sinks[i].fd > STDERR_FILENO &&
            logfile_reopen(c->log.sinks[i].path, LOGFILE_NO_GROUP, c->log.sinks[i].fd, &e) !=
                STATUS_OK)
            log_errno_at(&c->log_ctx, LEVEL_ERROR, e.err, "%s", e.text);
    for (size_t i = 0; i < c->http.log_file_count; i++)
        if (logfile_reopen(c->http.log_files[i]->path.p, LOGFILE_NO_GROUP,
                           c->http.log_files[i]->fd, &e) != STATUS_OK)
            log_errno_at(&c->log_ctx, LEVEL_ERROR, e.err, "%s", e.text);
}

/* With a master only its own signals count: a terminal's go to the whole process group. */
static void on_signal(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct worker *w = container_of(op, struct worker, sig_op);
    struct signal_event ev;
    while (res >= 0 && signal_read(w->sigfd, &ev)) {
        bool master = w->chan != -1;
        if (ev.signal == SIGTERM || (ev.signal == SIGINT && !master))
            worker_stop(w);
        else if (ev.signal == SIGQUIT && (!master || ev.pid == getppid()))
            worker_quit(w);
        else if (ev.signal == SIGUSR1 && !master)
            reopen_own(w);
    }
    if (!(flags & OP_MORE) && res != -ECANCELED)
        op_poll(loop, op, w->sigfd, POLLIN, OP_POLL_MULTI);
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
    case WORKER_TRIM:
        w->keep = msg->arg;
        if (!w->quitting)
            trim(&w->trim_timer, w->loop.now_ms);
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
    enum status st;
    if (res == -ECANCELED)
        return;
    while ((st = chan_recv(w->chan, &msg)) == STATUS_OK || st == STATUS_INVALID)
        if (st == STATUS_OK)
            obey(w, &msg);
    if (st == STATUS_AGAIN) {
        if (!(flags & OP_MORE))
            op_poll(loop, op, w->chan, POLLIN, OP_POLL_MULTI);
        return;
    }
    if (!w->quitting) {
        log_alert(loop->log, "the master is gone, worker %u finishes and ends", w->index);
        worker_quit(w);
    }
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

static enum status make_loop(struct worker *w, uint64_t files)
{
    struct cycle *c = w->cycle;
    struct ev_conf ev;
    cycle_ev_conf(c, w->index, &ev);
    ev.max_fds = files < (1u << 20) ? (uint32_t)files : 1u << 20;
    enum status st = loop_init(&w->loop, &ev, &c->log_ctx);
    if (st == STATUS_OK)
        log_notice(&c->log_ctx, "worker %u uses %s: %s", w->index, loop_backend_name(&w->loop),
                   w->loop.chosen);
    return st;
}

static void listen_to_master(struct worker *w)
{
    op_init(&w->sig_op, on_signal);
    op_poll(&w->loop, &w->sig_op, w->sigfd, POLLIN, OP_POLL_MULTI);
    op_init(&w->chan_op, on_chan);
    if (w->chan != -1)
        op_poll(&w->loop, &w->chan_op, w->chan, POLLIN, OP_POLL_MULTI);
}

static int start(struct worker *w)
{
    struct cycle *c = w->cycle;
    uint64_t files = 0;
    if (!become_worker(w, &files))
        return WORKER_CANNOT_START;
    if (signal_open(&w->sigfd, obeyed, ARRAY_LEN(obeyed)) != STATUS_OK)
        return cannot_start(w, "signalfd() failed");
    if (make_loop(w, files) != STATUS_OK)
        return cannot_start(w, w->loop.chosen);
    if (!inject_faults(w))
        return WORKER_CANNOT_START;
    net_init(&w->net, &w->loop, &c->log, &http_conn_ops,
             (uint32_t)c->events->worker_connections, (uint64_t)w->index << CONN_ID_SPAN);
    if (http_worker_init(&w->http, &w->loop, &w->net, &c->http, w->index) != STATUS_OK ||
        !make_acceptors(w))
        return cannot_start(w, "out of memory");
    timer_init(&w->shutdown_timer, shutdown_expired);
    timer_init(&w->close_timer, close_listeners);
    timer_init(&w->trim_timer, trim);
    timer_init(&w->beat_timer, beat);
    beat(&w->beat_timer, w->loop.now_ms);
    listen_to_master(w);
    return WORKER_DONE;
}

static void serve(struct worker *w, const struct worker_start *how)
{
    struct chan_msg ready = {.type = WORKER_READY, .fd = -1};
    score_state_set(&w->board->score, SCORE_SERVING);
    if (w->chan != -1) {
        chan_send(w->chan, &ready);
    } else {
        accept_for(w, w->index, true);
        if (how->serves != NULL)
            how->serves(how->arg);
    }
    while (!w->listeners_closed || w->net.count > 0) {
        loop_turn(&w->loop, TIMER_NEVER);
        if (w->stopping && w->net.count > 0)
            net_close_all(&w->net, CLOSE_DRAIN);
    }
}

static void finish(struct worker *w)
{
    timer_disarm(&w->loop.timers, &w->shutdown_timer);
    timer_disarm(&w->loop.timers, &w->beat_timer);
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

int worker_run(struct cycle *c, const struct worker_start *how)
{
    static struct worker w; /* what a start that failed leaves behind stays reachable */
    w.cycle = c;
    c->http.self = how->entry;
    w.index = how->index;
    w.chan = how->chan;
    w.board = how->board;
    w.sigfd = -1;
    log_process.log = &c->log;
    int code = start(&w);
    if (code != WORKER_DONE)
        return code;
    serve(&w, how);
    finish(&w);
    return WORKER_DONE;
}
