/* SPDX-License-Identifier: BSD-2-Clause */
/* The master's loop: signals, channels of the workers, the control socket. */
#include "server/master.h"

#include "core/clock.h"
#include "os/chan.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/pidfile.h"
#include "os/proc.h"
#include "os/signal.h"
#include "os/title.h"
#include "server/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STOP_PATIENCE_MS 5000   /* workers that were told to stop and have not are killed */
#define REPORT_MAX (256u << 10)
#define TICK_MS 1000

static const int obeyed[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

/* ---- being told ---- */

static void begin_stop(struct master *m)
{
    m->stopping = true;
    m->kill_ms = clock_mono_ms() + STOP_PATIENCE_MS;
    children_tell(m, NULL, WORKER_STOP);
}

static void begin_quit(struct master *m)
{
    if (m->quitting || m->stopping)
        return;
    m->quitting = true;
    children_tell(m, NULL, WORKER_QUIT);
    sockets_close(&m->sockets, m->upgrade == 0 && !m->retired);
}

static void begin_retire(struct master *m)
{
    if (m->retired || m->quitting)
        return;
    log_notice(&log_process, "workers retire");
    m->retired = true;
    children_tell(m, m->cycle, WORKER_QUIT);
}

static void reap(struct master *m)
{
    struct proc_exit dead;
    while (proc_reap(&dead)) {
        if (dead.pid == m->upgrade)
            upgrade_died(m, dead.status);
        else
            child_died(m, dead.pid, dead.status);
    }
}

static void on_signal(struct master *m, int sig)
{
    if (sig == SIGCHLD) {
        reap(m);
        return;
    }
    log_notice(&log_process, "%s received", signal_name(sig));
    switch (sig) {
    case SIGTERM:
    case SIGINT:
        begin_stop(m);
        break;
    case SIGQUIT:
        begin_quit(m);
        break;
    case SIGHUP:
        reload_begin(m);
        break;
    case SIGUSR1:
        reopen_logs(m);
        break;
    case SIGUSR2:
        upgrade_begin(m);
        break;
    case SIGWINCH:
        begin_retire(m);
        break;
    }
}

static void on_child(struct master *m, struct child *ch)
{
    struct chan_msg msg;
    while (ch->chan != -1 && chan_recv(ch->chan, &msg) == STATUS_OK) {
        fd_close(&msg.fd);
        if (msg.type != WORKER_READY || ch->state != CHILD_STARTING)
            continue;
        ch->state = CHILD_SERVING;
        child_cover(m, ch, false);
    }
}

static void on_command(struct master *m, size_t client, struct str word)
{
    if (!str_eq(word, STR("reload"))) {
        control_answer(&m->control, client, false, STR("unknown command\n"));
        return;
    }
    m->control.clients[client].waits = true;
    reload_begin(m);
}

/* ---- waiting ---- */

static int timeout_ms(const struct master *m)
{
    uint64_t now = clock_mono_ms(), at = now + TICK_MS;
    for (size_t i = 0; i < m->child_count; i++) {
        const struct child *ch = &m->children[i];
        if (ch->state == CHILD_NONE && ch->retry_ms < at)
            at = ch->retry_ms;
    }
    if (m->kill_ms != 0 && m->kill_ms < at)
        at = m->kill_ms;
    return at <= now ? 0 : (int)(at - now);
}

static void run_due(struct master *m)
{
    uint64_t now = clock_mono_ms();
    for (size_t i = 0; i < m->child_count; i++) {
        struct child *ch = &m->children[i];
        if (ch->state != CHILD_NONE || ch->retry_ms > now || m->quitting || m->stopping)
            continue;
        if (!child_start(m, ch))
            ch->retry_ms = now + TICK_MS;
    }
    if (m->kill_ms != 0 && now >= m->kill_ms) {
        for (size_t i = 0; i < m->child_count; i++)
            if (m->children[i].pid != 0)
                kill(m->children[i].pid, SIGKILL);
        m->kill_ms = now + TICK_MS;
    }
    reload_check(m);
}

#define POLL_FIXED (2 + CONTROL_CLIENTS)

static void handle(struct master *m, const struct pollfd *p, size_t children)
{
    struct signal_event ev;
    struct str word;
    /* Workers first: a signal may change the list. */
    for (size_t i = 0; i < children && i < m->child_count; i++)
        if (p[POLL_FIXED + i].revents != 0 && p[POLL_FIXED + i].fd == m->children[i].chan)
            on_child(m, &m->children[i]);
    reload_check(m);
    if (p[1].revents & POLLIN)
        control_accept(&m->control);
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (p[2 + i].revents != 0 && p[2 + i].fd == m->control.clients[i].fd &&
            control_read(&m->control, i, &word))
            on_command(m, i, word);
    while (p[0].revents != 0 && signal_read(m->sigfd, &ev))
        on_signal(m, ev.signal);
}

/* A worker whose end of the channel is gone is about to be reaped: its hang-up is not news. */
static void wait_and_handle(struct master *m)
{
    size_t children = m->child_count;
    struct pollfd *p = calloc(POLL_FIXED + children, sizeof(*p));
    if (p == NULL)
        return;
    p[0] = (struct pollfd){.fd = m->sigfd, .events = POLLIN};
    p[1] = (struct pollfd){.fd = m->control.fd, .events = POLLIN};
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        const struct control_client *cl = &m->control.clients[i];
        p[2 + i] = (struct pollfd){.fd = cl->waits ? -1 : cl->fd, .events = POLLIN};
    }
    for (size_t i = 0; i < children; i++) {
        const struct child *ch = &m->children[i];
        p[POLL_FIXED + i] =
            (struct pollfd){.fd = ch->state == CHILD_STARTING ? ch->chan : -1, .events = POLLIN};
    }
    if (poll(p, POLL_FIXED + children, timeout_ms(m)) > 0)
        handle(m, p, children);
    free(p);
}

/* ---- start and end ---- */

static bool fail_start(struct master *m, struct str report)
{
    fprintf(stderr, STR_FMT, STR_ARG(report));
    daemon_failed(&m->daemon, 1);
    return false;
}

static bool write_pid(struct master *m)
{
    struct os_error e;
    const char *path = m->cycle->main->pid.p;
    if (file_make_parent(path, 0755, &e) == STATUS_OK &&
        pidfile_write(path, getpid(), &e) == STATUS_OK)
        return true;
    log_errno_at(&log_process, LEVEL_EMERG, e.err, "%s", e.text);
    fprintf(stderr, "sluice: %s\n", e.text);
    return false;
}

static void open_control(struct master *m)
{
    char path[4096];
    if (control_path(m->cycle->main->pid.p, path, sizeof(path)) &&
        control_open(&m->control, path))
        return;
    log_errno_at(&log_process, LEVEL_WARN, errno, "no control socket next to the pid file");
}

static bool start_workers(struct master *m)
{
    for (uint32_t i = 0; i < m->cycle->plan.workers; i++) {
        struct child *ch = child_add(m, m->cycle, i);
        if (ch == NULL || !child_start(m, ch))
            return false;
    }
    while (!m->stopping && children_in(m, m->cycle, CHILD_SERVING) < m->cycle->plan.workers)
        wait_and_handle(m);
    return !m->stopping;
}

static void say_plan(const struct cycle *c)
{
    log_notice(&log_process, STR_FMT, STR_ARG(c->plan.workers_reason));
    log_notice(&log_process, STR_FMT, STR_ARG(c->plan.sqpoll_reason));
    for (size_t i = 0; i < c->plan.warning_count; i++)
        log_warn(&log_process, STR_FMT, STR_ARG(c->plan.warnings[i]));
}

static bool open_all(struct master *m)
{
    struct buf report;
    buf_init(&report, REPORT_MAX);
    bool inherited = getenv(HANDOVER_ENV) != NULL;
    bool good = sockets_inherit(&m->sockets, &report);
    if (good && m->cycle->main->daemon && !inherited) {
        struct os_error e;
        if (daemon_start(&m->daemon, &e) != STATUS_OK) {
            buf_printf(&report, "%s\n", e.text);
            good = false;
        }
    }
    sockets_begin(&m->sockets);
    good = good && cycle_open(m->cycle, &m->sockets, &report);
    if (!good)
        fail_start(m, buf_view(&report));
    else
        sockets_prune(&m->sockets, UINT32_MAX); /* inherited ones that nobody wants any more */
    buf_fini(&report);
    return good;
}

static bool start(struct master *m)
{
    if (!open_all(m))
        return false;
    log_process.log = &m->cycle->log;
    if (signal_open(&m->sigfd, obeyed, ARRAY_LEN(obeyed)) != STATUS_OK)
        return fail_start(m, STR("signalfd() failed\n"));
    title_set(NULL, "master process %s", m->options->program);
    say_plan(m->cycle);
    if (!start_workers(m) || !write_pid(m)) {
        m->exit_code = 1;
        begin_stop(m);
        return true; /* the loop sees the workers off */
    }
    open_control(m);
    m->started = true;
    m->generation = m->cycle->generation;
    log_notice(&log_process, "sluice serves, master process %d", (int)getpid());
    daemon_ready(&m->daemon);
    return true;
}

static void finish(struct master *m)
{
    if (!m->started)
        daemon_failed(&m->daemon, m->exit_code);
    control_answer_waiting(&m->control, false, STR("the server is ending\n"));
    control_close(&m->control, m->upgrade == 0);
    if (m->started) {
        char old[4096];
        pidfile_remove(m->cycle->main->pid.p, getpid());
        if (snprintf(old, sizeof(old), "%s" PIDFILE_OLD_SUFFIX, m->cycle->main->pid.p) <
            (int)sizeof(old))
            pidfile_remove(old, getpid());
        log_notice(&log_process, "sluice ends");
    }
    sockets_close(&m->sockets, m->upgrade == 0);
    if (m->next != NULL)
        cycle_unref(m->next);
    while (m->child_count > 0)
        child_forget(m, &m->children[0]);
    free(m->children);
    fd_close(&m->sigfd);
}

/* One process for all: for debuggers and very small machines. */
static int run_single(struct master *m)
{
    int code = 1;
    if (open_all(m)) {
        log_process.log = &m->cycle->log;
        if (write_pid(m)) {
            daemon_ready(&m->daemon);
            code = worker_run(m->cycle, 0, -1);
            pidfile_remove(m->cycle->main->pid.p, getpid());
        }
    }
    if (code != 0)
        daemon_failed(&m->daemon, 1);
    sockets_close(&m->sockets, true);
    return code == WORKER_CANNOT_START ? 1 : code;
}

int master_run(const struct options *o, struct cycle *c)
{
    struct master m = {
        .options = o, .cycle = c, .daemon = {.report_fd = -1}, .sigfd = -1};
    control_init(&m.control);
    if (!c->main->master_process) {
        int code = run_single(&m);
        cycle_unref(c);
        return code;
    }
    if (!start(&m)) {
        sockets_close(&m.sockets, false);
        cycle_unref(c);
        return 1;
    }
    while (m.child_count > 0 || (!m.quitting && !m.stopping)) {
        run_due(&m);
        if (m.child_count == 0 && (m.quitting || m.stopping))
            break;
        wait_and_handle(&m);
    }
    finish(&m);
    cycle_unref(m.cycle);
    return m.exit_code;
}
