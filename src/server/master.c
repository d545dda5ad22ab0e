/* SPDX-License-Identifier: BSD-2-Clause */
/* The master's loop: signals, channels of the workers, the control socket, a new master's word. */
#include "server/master.h"

#include "core/clock.h"
#include "os/chan.h"
#include "os/fd.h"
#include "os/proc.h"
#include "os/signal.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#define STOP_PATIENCE_MS 5000   /* workers that were told to stop and have not are killed */
#define RETRY_MS 1000           /* after an accept that failed */
#define NEWS_MAX 16             /* messages of one worker in a row */

/* ---- being told ---- */

/* A reload that has not come to its end does not, and nothing is waiting for another. */
static void give_up_plans(struct master *m)
{
    m->reload_again = false;
    m->upgrade_wanted = false;
    reload_failed(m, STR("the server is ending"));
    children_drop_absent(m, NULL);
}

void master_stop(struct master *m)
{
    if (!master_ending(m))
        give_up_plans(m);
    if (upgrade_older_lives(m))
        sockets_hand_back(&m->sockets);
    m->stopping = true;
    m->kill_ms = clock_mono_ms() + STOP_PATIENCE_MS;
    children_tell(m, NULL, WORKER_STOP);
}

static void begin_quit(struct master *m)
{
    if (master_ending(m))
        return;
    give_up_plans(m);
    m->quitting = true;
    if (upgrade_older_lives(m))
        sockets_hand_back(&m->sockets);
    children_tell(m, NULL, WORKER_QUIT);
    sockets_close(&m->sockets, m->upgrade == 0 && !upgrade_older_lives(m));
}

static void begin_retire(struct master *m)
{
    if (m->retired || master_ending(m) || !m->started)
        return;
    log_notice(&log_process, "workers retire");
    m->reload_again = false;
    reload_failed(m, STR("workers were told to retire"));
    children_drop_absent(m, m->cycle);
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
        master_stop(m);
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

/* A worker whose end of the channel is gone is about to be reaped: its hang-up is not news. */
static void on_child(struct master *m, struct child *ch)
{
    struct chan_msg msg;
    for (unsigned n = 0; n < NEWS_MAX && ch->chan != -1; n++) {
        enum status st = chan_recv(ch->chan, &msg);
        if (st == STATUS_OK) {
            fd_close(&msg.fd);
            if (msg.type == WORKER_READY)
                child_ready(m, ch);
        } else if (st != STATUS_INVALID) {
            if (st != STATUS_AGAIN)
                fd_close(&ch->chan);
            return;
        }
    }
}

/*
 * The answer comes with the reload that begins after the question: one that goes on already may
 * have read an older file.
 */
static void on_command(struct master *m, size_t client, struct str word)
{
    if (!str_eq(word, STR("reload"))) {
        control_answer(&m->control, client, false, STR("unknown command\n"));
        return;
    }
    if (master_ending(m)) {
        control_answer(&m->control, client, false, STR("the server is ending\n"));
        return;
    }
    m->control.clients[client].ticket = m->attempt + 1;
    if (m->retired)
        bring_back(m);
    reload_begin(m);
}

/* ---- waiting ---- */

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int timeout_ms(const struct master *m)
{
    uint64_t now = clock_mono_ms(), at = UINT64_MAX;
    for (size_t i = 0; i < m->child_count; i++) {
        const struct child *ch = &m->children[i];
        if (ch->state == CHILD_NONE)
            at = sooner(at, ch->retry_ms);
        else if (ch->state == CHILD_READY && m->started)
            at = sooner(at, m->watch_ms + WATCH_MS);
    }
    if (m->kill_ms != 0)
        at = sooner(at, m->kill_ms);
    if (m->next != NULL || !m->started)
        at = sooner(at, m->next_deadline_ms);
    if (m->upgrade_fd != -1)
        at = sooner(at, m->upgrade_deadline_ms);
    if (m->surplus_ms != 0)
        at = sooner(at, m->surplus_ms);
    if (m->control.paused)
        at = sooner(at, now + RETRY_MS);
    if (at == UINT64_MAX)
        return -1;
    return at <= now ? 0 : (int)(at - now);
}

static void start_absent(struct master *m, uint64_t now)
{
    for (size_t i = 0; i < m->child_count; i++) {
        struct child *ch = &m->children[i];
        if (ch->state == CHILD_NONE && ch->retry_ms <= now)
            child_restart(m, ch);
    }
}

static void run_due(struct master *m)
{
    uint64_t now = clock_mono_ms();
    if (!master_ending(m))
        start_absent(m, now);
    if (m->kill_ms != 0 && now >= m->kill_ms) {
        for (size_t i = 0; i < m->child_count; i++)
            if (m->children[i].pid != 0)
                kill(m->children[i].pid, SIGKILL);
        m->kill_ms = now + RETRY_MS;
    }
    reload_check(m);
    upgrade_check(m, now);
    surplus_check(m, now);
    watch(m, now);
}

#define POLL_FIXED (3 + CONTROL_CLIENTS)

static void fill(const struct master *m, struct pollfd *p)
{
    p[0] = (struct pollfd){.fd = m->sigfd, .events = POLLIN};
    p[1] = (struct pollfd){.fd = m->control.paused ? -1 : m->control.fd, .events = POLLIN};
    p[2] = (struct pollfd){.fd = m->upgrade_fd, .events = POLLIN};
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        const struct control_client *cl = &m->control.clients[i];
        p[3 + i] = (struct pollfd){.fd = cl->ticket != 0 ? -1 : cl->fd, .events = POLLIN};
    }
    for (size_t i = 0; i < m->child_count; i++) {
        const struct child *ch = &m->children[i];
        p[POLL_FIXED + i] =
            (struct pollfd){.fd = ch->state == CHILD_STARTING ? ch->chan : -1, .events = POLLIN};
    }
}

static void handle(struct master *m, const struct pollfd *p, size_t children)
{
    struct signal_event ev;
    struct str word;
    /* Workers first: a signal may change the list. */
    for (size_t i = 0; i < children; i++)
        if (p[POLL_FIXED + i].revents != 0)
            on_child(m, &m->children[i]);
    reload_check(m);
    if (p[2].revents != 0 && p[2].fd == m->upgrade_fd)
        upgrade_news(m);
    if (p[1].revents != 0 && p[1].fd == m->control.fd)
        control_accept(&m->control);
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (p[3 + i].revents != 0 && p[3 + i].fd == m->control.clients[i].fd &&
            control_read(&m->control, i, &word))
            on_command(m, i, word);
    while (p[0].revents != 0 && signal_read(m->sigfd, &ev))
        on_signal(m, ev.signal);
}

void master_wait(struct master *m)
{
    size_t children = m->child_count;
    struct pollfd *p = calloc(POLL_FIXED + children, sizeof(*p));
    if (p == NULL) {
        poll(NULL, 0, RETRY_MS);
        return;
    }
    fill(m, p);
    int n = poll(p, POLL_FIXED + children, timeout_ms(m));
    m->control.paused = false;
    if (n > 0)
        handle(m, p, children);
    free(p);
}

int master_run(const struct options *o, struct cycle *c)
{
    struct master m = {.options = o, .cycle = c, .daemon = {.report_fd = -1}, .sigfd = -1,
                       .upgrade_fd = -1};
    control_init(&m.control);
    if (!c->main->master_process) {
        int code = start_single(&m);
        cycle_unref(c);
        return code;
    }
    if (!start(&m))
        m.exit_code = 1;
    while (m.child_count > 0 || !master_ending(&m)) {
        run_due(&m);
        if (m.child_count == 0 && master_ending(&m))
            break;
        master_wait(&m);
    }
    start_finish(&m);
    cycle_unref(m.cycle);
    return m.exit_code;
}
