/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reload: the new cycle is built and its workers are started beside the old ones; only when all of
 * them serve do the old ones retire.  Any failure before that leaves everything as it was.
 */
#include "core/clock.h"
#include "os/fd.h"
#include "os/logfile.h"
#include "server/master.h"
#include "server/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* New workers that do not serve after this long are given up. */
#define START_PATIENCE_MS 30000
#define REPORT_MAX (256u << 10)

/* The report goes to the error log line by line, and to whoever asked. */
static void tell_failure(struct master *m, struct str report)
{
    struct str rest = report, line;
    log_error(&log_process, "reload failed, the old configuration stays in force");
    while (str_split(&rest, '\n', &line))
        if (line.n != 0)
            log_msg(&log_process, LEVEL_ERROR, STR_FMT, STR_ARG(line));
    control_answer_waiting(&m->control, false, report);
}

static void next_drop(struct master *m)
{
    cycle_unref(m->next);
    m->next = NULL;
    if (m->reload_again) {
        m->reload_again = false;
        reload_begin(m);
    }
}

/* What the failed cycle opened is closed: the sockets of the one in force are claimed again. */
static void sockets_restore(struct master *m)
{
    struct buf ignored;
    buf_init(&ignored, REPORT_MAX);
    sockets_begin(&m->sockets);
    for (size_t i = 0; i < m->cycle->http.listener_count; i++)
        sockets_claim(&m->sockets, m->cycle->http.listeners[i], m->cycle->plan.workers,
                      m->cycle->arena, &ignored);
    sockets_prune(&m->sockets, m->cycle->plan.workers);
    buf_fini(&ignored);
}

void reload_failed(struct master *m, const char *why)
{
    if (m->next == NULL)
        return;
    for (size_t i = m->child_count; i-- > 0;) {
        struct child *ch = &m->children[i];
        if (ch->cycle != m->next)
            continue;
        if (ch->pid == 0) {
            child_forget(m, ch);
            continue;
        }
        child_tell(ch, WORKER_STOP, 0, -1);
        ch->state = CHILD_RETIRING;
    }
    sockets_restore(m);
    tell_failure(m, str_z(why));
    next_drop(m);
}

/* WINCH had retired the workers: they come back with the configuration they had. */
static void bring_back(struct master *m)
{
    m->retired = false;
    log_notice(&log_process, "workers come back");
    for (uint32_t i = 0; i < m->cycle->plan.workers; i++) {
        struct child *ch = child_add(m, m->cycle, i);
        if (ch != NULL && !child_start(m, ch))
            ch->retry_ms = clock_mono_ms() + 100;
    }
    control_answer_waiting(&m->control, true, STR("workers are back\n"));
}

static bool start_next(struct master *m)
{
    for (uint32_t i = 0; i < m->next->plan.workers; i++) {
        struct child *ch = child_add(m, m->next, i);
        if (ch == NULL)
            return false;
        if (!child_start(m, ch)) {
            child_forget(m, ch);
            return false;
        }
    }
    return true;
}

void reload_begin(struct master *m)
{
    struct buf report;
    if (m->quitting || m->stopping)
        return;
    if (m->next != NULL) {
        m->reload_again = true;
        return;
    }
    if (m->retired) {
        bring_back(m);
        return;
    }
    log_notice(&log_process, "reloading the configuration");
    buf_init(&report, REPORT_MAX);
    struct cycle *c = cycle_load(m->options, m->generation + 1, &report);
    if (c != NULL) {
        sockets_begin(&m->sockets);
        if (!cycle_open(c, &m->sockets, &report)) {
            cycle_unref(c);
            c = NULL;
            sockets_restore(m);
        }
    }
    if (c == NULL) {
        tell_failure(m, buf_view(&report));
    } else {
        m->next = c;
        m->next_deadline_ms = clock_mono_ms() + START_PATIENCE_MS;
        if (report.n != 0)
            log_warn(&log_process, STR_FMT, STR_ARG(buf_view(&report)));
        if (!start_next(m))
            reload_failed(m, "workers cannot be started (see the error log)");
    }
    buf_fini(&report);
}

/*
 * Surplus sockets are not simply closed: what waits in their queues would be reset.  New
 * connections are steered to the sockets that stay; the old workers take what is queued when they
 * retire.
 */
static void steer_from_surplus(struct master *m, uint32_t workers)
{
    for (size_t i = 0; i < m->sockets.count; i++) {
        const struct socket_group *g = &m->sockets.groups[i];
        if (g->used && g->count > workers && addr_family(&g->addr) != AF_UNIX)
            sock_steer_spread(g->fds[0], workers);
    }
}

static void commit(struct master *m)
{
    struct cycle *old = m->cycle;
    char text[64];
    m->cycle = m->next;
    m->next = NULL;
    m->generation = m->cycle->generation;
    log_process.log = &m->cycle->log;
    steer_from_surplus(m, m->cycle->plan.workers);
    children_tell(m, old, WORKER_QUIT);
    for (size_t i = m->child_count; i-- > 0;) /* those that waited for a restart */
        if (m->children[i].cycle == old && m->children[i].pid == 0)
            child_forget(m, &m->children[i]);
    sockets_prune(&m->sockets, m->cycle->plan.workers);
    cycle_unref(old);
    int n = snprintf(text, sizeof(text), "generation %llu serves\n",
                     (unsigned long long)m->generation);
    log_notice(&log_process, "%.*s", n - 1, text);
    control_answer_waiting(&m->control, true, str_make(text, (size_t)n));
    if (m->reload_again) {
        m->reload_again = false;
        reload_begin(m);
    }
}

void reload_check(struct master *m)
{
    if (m->next == NULL)
        return;
    if (children_in(m, m->next, CHILD_SERVING) == m->next->plan.workers)
        commit(m);
    else if (clock_mono_ms() >= m->next_deadline_ms)
        reload_failed(m, "the new workers did not begin to serve in time");
}

static void reopen_one(struct master *m, const char *path, int fd, uint32_t type, uint32_t index)
{
    struct os_error e;
    gid_t group = m->cycle->drop ? m->cycle->identity.gid : LOGFILE_NO_GROUP;
    if (logfile_reopen(path, group, fd, &e) != STATUS_OK) {
        log_errno_at(&log_process, LEVEL_ERROR, e.err, "%s", e.text);
        return;
    }
    for (size_t i = 0; i < m->child_count; i++)
        if (m->children[i].cycle == m->cycle)
            child_tell(&m->children[i], type, index, fd);
}

/* The files are opened by us, who may, and sent to the workers, who may not. */
void reopen_logs(struct master *m)
{
    struct cycle *c = m->cycle;
    for (size_t i = 0; i < c->log.sink_count; i++)
        if (c->log.sinks[i].fd > STDERR_FILENO)
            reopen_one(m, c->log.sinks[i].path, c->log.sinks[i].fd, WORKER_LOG, (uint32_t)i);
    for (size_t i = 0; i < c->http.log_file_count; i++)
        reopen_one(m, c->http.log_files[i]->path.p, c->http.log_files[i]->fd, WORKER_ACCESS_LOG,
                   (uint32_t)i);
    log_notice(&log_process, "logs were reopened");
}
