/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reload: the new cycle is built and its workers are started beside the old ones; only when all of
 * them are ready do they begin to accept and the old ones retire.  Any failure before that leaves
 * everything as it was.  Requests that come meanwhile are one reload more, however many there are.
 */
#include "core/clock.h"
#include "os/logfile.h"
#include "os/pidfile.h"
#include "server/master.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the end of one, good or bad ---- */

/* The report goes to the error log line by line, and to whoever asked. */
static void tell_failure(struct master *m, struct str report)
{
    struct str rest = report, line;
    log_msg(&log_process, LEVEL_ERROR, "reload failed, the old configuration stays in force");
    while (str_split(&rest, '\n', &line))
        if (line.n != 0)
            log_msg(&log_process, LEVEL_ERROR, STR_FMT, STR_ARG(line));
    control_answer_waiting(&m->control, m->attempt, false, report);
}

/* A reload that failed may have moved the pid file already. */
static void pid_stays(struct master *m)
{
    if (m->pid_written && strcmp(m->next->main->pid.p, m->cycle->main->pid.p) != 0)
        pidfile_remove(m->next->main->pid.p, getpid());
}

static void pid_moves(struct master *m, const struct cycle *old)
{
    char from[4096], to[4096];
    if (!m->pid_written)
        return;
    if (strcmp(old->main->pid.p, m->cycle->main->pid.p) != 0)
        pidfile_remove(old->main->pid.p, getpid());
    if (!cycle_control(old, from, sizeof(from)) || !cycle_control(m->cycle, to, sizeof(to)) ||
        strcmp(from, to) != 0)
        start_control(m);
}

void reload_next(struct master *m)
{
    if (m->reload_again && m->next == NULL) {
        m->reload_again = false;
        reload_begin(m);
    }
    if (m->upgrade_wanted && m->next == NULL) {
        m->upgrade_wanted = false;
        upgrade_begin(m);
    }
}

/* Its workers have not accepted anything: nobody misses them. */
static void kill_workers_of(struct master *m, const struct cycle *c)
{
    for (size_t i = m->child_count; i-- > 0;) {
        struct child *ch = &m->children[i];
        if (ch->cycle != c)
            continue;
        if (ch->pid == 0) {
            child_forget(m, ch);
            continue;
        }
        kill(ch->pid, SIGKILL);
        ch->state = CHILD_RETIRING;
    }
}

void reload_failed(struct master *m, struct str why)
{
    if (m->next == NULL)
        return;
    kill_workers_of(m, m->next);
    sockets_rollback(&m->sockets, m->cycle->http.listeners, m->cycle->http.listener_count);
    pid_stays(m);
    tell_failure(m, why);
    cycle_unref(m->next);
    m->next = NULL;
    reload_next(m);
}

static void commit(struct master *m)
{
    struct cycle *old = m->cycle;
    char text[64];
    m->cycle = m->next;
    m->next = NULL;
    m->generation = m->cycle->generation;
    log_process.log = &m->cycle->log;
    children_accept(m, m->cycle);
    sockets_commit(&m->sockets, m->cycle->plan.workers);
    surplus_later(m);
    children_tell(m, old, WORKER_QUIT);
    children_drop_absent(m, old);
    pid_moves(m, old);
    cycle_unref(old);
    int n = snprintf(text, sizeof(text), "generation %llu serves\n",
                     (unsigned long long)m->generation);
    log_notice(&log_process, "%.*s", n - 1, text);
    control_answer_waiting(&m->control, m->attempt, true, str_make(text, (size_t)n));
    reload_next(m);
}

void reload_check(struct master *m)
{
    if (m->next == NULL)
        return;
    if (children_in(m, m->next, CHILD_READY) == m->next->plan.workers)
        commit(m);
    else if (clock_mono_ms() >= m->next_deadline_ms)
        reload_failed(m, STR("the new workers did not begin to serve in time\n"));
}

/* ---- sockets that are too many ---- */

/* Longer than a handshake takes whose first packets were lost. */
#define SURPLUS_MS 4000

void surplus_later(struct master *m)
{
    m->surplus_ms = sockets_surplus(&m->sockets, m->cycle->plan.workers)
                        ? clock_mono_ms() + SURPLUS_MS
                        : 0;
}

/* Nothing comes to them any more. Each worker takes what is left before it closes its copies. */
void surplus_check(struct master *m, uint64_t now_ms)
{
    const struct cycle *c = m->cycle;
    if (m->surplus_ms == 0 || now_ms < m->surplus_ms || master_ending(m))
        return;
    if (m->next != NULL || m->retired || m->upgrade != 0 || upgrade_older_lives(m) ||
        children_in(m, c, CHILD_READY) < c->plan.workers) {
        m->surplus_ms = now_ms + SURPLUS_MS;
        return;
    }
    m->surplus_ms = 0;
    sockets_trim(&m->sockets, c->http.listeners, c->http.listener_count, c->plan.workers);
    for (size_t i = 0; i < m->child_count; i++)
        if (m->children[i].cycle == c && m->children[i].state == CHILD_READY)
            child_tell(&m->children[i], WORKER_TRIM, c->plan.workers, -1);
}

/* ---- the beginning ---- */

/* WINCH had retired the workers: they come back with the configuration they had. */
void bring_back(struct master *m)
{
    m->retired = false;
    log_notice(&log_process, "workers come back");
    for (uint32_t i = 0; i < m->cycle->plan.workers; i++) {
        struct child *ch = child_add(m, m->cycle, i);
        if (ch != NULL)
            child_restart(m, ch);
        else
            log_alert(&log_process, "out of memory for worker %u", i);
    }
    sockets_steer(&m->sockets, m->cycle->plan.workers);
}

/* While an upgrade goes on the name belongs to the new master. */
static bool open_pid(struct master *m, const struct cycle *c, struct buf *report)
{
    struct os_error e;
    if (strcmp(c->main->pid.p, m->cycle->main->pid.p) == 0 || m->upgrade != 0 ||
        start_pid(c->main->pid.p, &e))
        return true;
    char text[OS_ERROR_TEXT + 64];
    struct wbuf w = wbuf_make(text, sizeof(text));
    os_error_write(&e, &w);
    buf_printf(report, "%.*s\n", (int)(w.at - text), text);
    return false;
}

/* The new cycle with all it needs, but without workers; NULL: nothing has changed. */
static struct cycle *build(struct master *m, struct buf *report)
{
    struct cycle *c = cycle_load(m->options, m->generation + 1, report);
    if (c == NULL)
        return NULL;
    sockets_begin(&m->sockets);
    c->http.roll = &m->roll;
    if (cycle_open(c, &m->sockets, m->cycle, report) && open_pid(m, c, report))
        return c;
    sockets_rollback(&m->sockets, m->cycle->http.listeners, m->cycle->http.listener_count);
    cycle_unref(c);
    return NULL;
}

static void warn_lines(struct str report)
{
    struct str line;
    while (str_split(&report, '\n', &line))
        if (line.n != 0)
            log_warn(&log_process, STR_FMT, STR_ARG(line));
}

void reload_begin(struct master *m)
{
    struct buf report;
    if (master_ending(m))
        return;
    if (m->next != NULL || !m->started) {
        m->reload_again = true;
        return;
    }
    if (m->retired) {
        bring_back(m);
        return;
    }
    log_notice(&log_process, "reloading the configuration");
    m->attempt++;
    buf_init(&report, REPORT_MAX);
    m->next = build(m, &report);
    m->next_deadline_ms = clock_mono_ms() + START_PATIENCE_MS;
    if (m->next == NULL)
        tell_failure(m, buf_view(&report));
    else
        warn_lines(buf_view(&report));
    if (m->next != NULL)
        start_file_limit(m->next);
    buf_fini(&report);
    struct os_error e;
    if (m->next != NULL && !children_start(m, m->next, &e)) {
        char text[OS_ERROR_TEXT + 64];
        struct wbuf w = wbuf_make(text, sizeof(text));
        os_error_write(&e, &w);
        reload_failed(m, str_between(text, w.at));
    }
}

/* ---- logs ---- */

static void reopen_one(struct master *m, struct cycle *c, const char *path, int fd, uint32_t type,
                       uint32_t index)
{
    struct os_error e;
    gid_t group = c->drop ? c->identity.gid : LOGFILE_NO_GROUP;
    if (logfile_reopen(path, group, fd, &e) != STATUS_OK) {
        log_errno_at(&log_process, LEVEL_ERROR, e.err, "%s", e.text);
        return;
    }
    for (size_t i = 0; i < m->child_count; i++)
        if (m->children[i].cycle == c)
            child_tell(&m->children[i], type, index, fd);
}

/* The files are opened by us, who may, and sent to the workers, who may not. */
static void reopen_logs_of(struct master *m, struct cycle *c)
{
    for (size_t i = 0; i < c->log.sink_count; i++)
        if (c->log.sinks[i].fd > STDERR_FILENO)
            reopen_one(m, c, c->log.sinks[i].path, c->log.sinks[i].fd, WORKER_LOG, (uint32_t)i);
    for (size_t i = 0; i < c->http.log_file_count; i++)
        reopen_one(m, c, c->http.log_files[i]->path.p, c->http.log_files[i]->fd,
                   WORKER_ACCESS_LOG, (uint32_t)i);
}

/* Whether an earlier child has the cycle too, so that each is looked at once. */
static bool seen_before(const struct master *m, size_t child)
{
    const struct cycle *c = m->children[child].cycle;
    for (size_t i = 0; i < child; i++)
        if (m->children[i].cycle == c)
            return true;
    return c == m->cycle || c == m->next;
}

/* Also those of cycles whose workers still finish something. */
void reopen_logs(struct master *m)
{
    reopen_logs_of(m, m->cycle);
    if (m->next != NULL)
        reopen_logs_of(m, m->next);
    for (size_t i = 0; i < m->child_count; i++)
        if (!seen_before(m, i))
            reopen_logs_of(m, m->children[i].cycle);
    log_notice(&log_process, "logs were reopened");
}
