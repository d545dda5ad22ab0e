/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the master starts and ends.  The order of the start: sockets of an older master, daemon,
 * logs, listeners, workers, pid file; only then do the workers accept and does the launcher hear
 * that all is well.  Whatever fails is said once, on standard error, in the error log if it could
 * be opened, and to an older master; nothing is left behind.
 */
#include "core/clock.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/pidfile.h"
#include "os/signal.h"
#include "os/title.h"
#include "server/master.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int obeyed[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

/* Says a report, one line at a time, wherever it may be looked for. */
static void say_failure(struct master *m, struct str report)
{
    struct str rest = report, line;
    bool logs = m->cycle->log.sink_count != 0;
    while (str_split(&rest, '\n', &line)) {
        if (line.n == 0)
            continue;
        bool said = false;
        for (size_t i = 0; i < m->cycle->log.sink_count; i++)
            said = said || m->cycle->log.sinks[i].fd == STDERR_FILENO;
        if (!said)
            fprintf(stderr, "sluice: " STR_FMT "\n", STR_ARG(line));
        if (logs)
            log_msg(&m->cycle->log_ctx, LEVEL_EMERG, STR_FMT, STR_ARG(line));
    }
    upgrade_say(report);
}

bool start_fail(struct master *m, struct str why)
{
    if (m->exit_code == 0)
        say_failure(m, why);
    m->exit_code = 1;
    return false;
}

static bool fail_errno(struct master *m, const struct os_error *e)
{
    char text[OS_ERROR_TEXT + 64];
    struct wbuf w = wbuf_make(text, sizeof(text));
    os_error_write(e, &w);
    return start_fail(m, str_between(text, w.at));
}

void start_failed(struct master *m, struct str why)
{
    start_fail(m, why);
    master_stop(m);
}

/* ---- opening ---- */

bool start_open(struct master *m)
{
    struct buf report;
    struct os_error e;
    bool inherited = getenv(HANDOVER_ENV) != NULL;
    if (m->cycle->main->daemon && !inherited && daemon_start(&m->daemon, &e) != STATUS_OK)
        return fail_errno(m, &e);
    if (m->cycle->main->master_process &&
        signal_open(&m->sigfd, obeyed, ARRAY_LEN(obeyed)) != STATUS_OK)
        return start_fail(m, STR("signalfd() failed"));
    if (m->cycle->main->master_process && !roll_open(&m->roll))
        return start_fail(m, STR("out of memory for the roll of workers"));
    if (inherited)
        m->older = getppid();
    buf_init(&report, REPORT_MAX);
    bool good = sockets_inherit(&m->sockets, &report);
    sockets_begin(&m->sockets);
    m->cycle->http.roll = &m->roll;
    good = good && cycle_open(m->cycle, &m->sockets, NULL, &report);
    if (good)
        log_process.log = &m->cycle->log;
    else
        start_fail(m, buf_view(&report));
    buf_fini(&report);
    return good;
}

/* Sockets of workers, channels, logs: the limit must not be what a desktop has. */
void start_raise_limit(void)
{
    struct fd_limit limit;
    if (fd_limit_get(&limit) == STATUS_OK && limit.soft < limit.hard)
        fd_limit_set(limit.hard, NULL);
}

/*
 * The limit is tried, not computed: who may raise the hard one differs. Workers inherit it. What
 * was said is not said again by each reload that has another listener.
 */
void start_file_limit(const struct cycle *c)
{
    static uint64_t said;
    uint64_t want = cycle_files(c), got;
    struct fd_limit limit;
    if (fd_limit_get(&limit) != STATUS_OK || want <= limit.soft ||
        fd_limit_set(want, &got) == STATUS_OK || want <= said)
        return;
    said = want + want / 8;
    if (c->main->worker_rlimit_nofile != 0)
        log_warn(&log_process, "worker_rlimit_nofile %llu is above the hard limit of open files, "
                 "%llu: raise that (systemd: LimitNOFILE, else ulimit -Hn)",
                 (unsigned long long)want, (unsigned long long)got);
    else
        log_warn(&log_process, "%lld worker_connections and the file cache may need %llu open "
                 "files, the hard limit is %llu: raise it (systemd: LimitNOFILE, else ulimit -Hn), "
                 "or set worker_rlimit_nofile to what is to be had",
                 (long long)c->events->worker_connections, (unsigned long long)want,
                 (unsigned long long)got);
}

bool start_pid(const char *path, struct os_error *e)
{
    return file_make_parent(path, 0755, e) == STATUS_OK &&
           pidfile_write(path, getpid(), e) == STATUS_OK;
}

bool start_write_pid(struct master *m)
{
    struct os_error e;
    if (!start_pid(m->cycle->main->pid.p, &e))
        return fail_errno(m, &e);
    m->pid_written = true;
    return true;
}

void start_control(struct master *m)
{
    char path[4096];
    struct os_error e;
    if (cycle_control(m->cycle, path, sizeof(path)) &&
        control_open(&m->control, path, &e) != STATUS_OK)
        log_errno_at(&log_process, LEVEL_WARN, e.err, "no control socket: %s", e.text);
}

/* ---- workers ---- */

static bool start_workers(struct master *m)
{
    struct os_error e;
    if (!children_start(m, m->cycle, &e))
        return fail_errno(m, &e);
    m->next_deadline_ms = clock_mono_ms() + START_PATIENCE_MS;
    while (!master_ending(m) &&
           children_in(m, m->cycle, CHILD_READY) < m->cycle->plan.workers) {
        if (clock_mono_ms() >= m->next_deadline_ms)
            return start_fail(m, STR("the workers did not begin to serve in time"));
        master_wait(m);
    }
    if (master_ending(m))
        return start_fail(m, STR("told to end before it served"));
    return true;
}

static void say_plan(const struct cycle *c)
{
    log_notice(&log_process, STR_FMT, STR_ARG(c->plan.workers_reason));
    log_notice(&log_process, STR_FMT, STR_ARG(c->plan.sqpoll_reason));
    for (size_t i = 0; i < c->plan.warning_count; i++)
        log_warn(&log_process, STR_FMT, STR_ARG(c->plan.warnings[i]));
}

bool start(struct master *m)
{
    start_raise_limit();
    if (!start_open(m)) {
        m->stopping = true;
        return false;
    }
    title_set(NULL, "master process %s", m->options->program);
    say_plan(m->cycle);
    start_file_limit(m->cycle);
    if (!start_workers(m) || !start_write_pid(m)) {
        master_stop(m);
        return false;
    }
    m->started = true;
    m->watch_ms = clock_mono_ms();
    m->generation = m->cycle->generation;
    sockets_commit(&m->sockets, m->cycle->plan.workers);
    surplus_later(m);
    start_control(m);
    children_accept(m, m->cycle);
    log_notice(&log_process, "sluice serves, master process %d", (int)getpid());
    daemon_ready(&m->daemon);
    upgrade_say(STR(""));
    reload_next(m);
    return true;
}

/* ---- ending ---- */

/* The old pid file is ours while an upgrade goes on, so is the new one if we took it back. */
static void remove_pid_files(struct master *m)
{
    char old[4096];
    const char *path = m->cycle->main->pid.p;
    pidfile_remove(path, getpid());
    if (snprintf(old, sizeof(old), "%s" PIDFILE_OLD_SUFFIX, path) < (int)sizeof(old))
        pidfile_remove(old, getpid());
}

void start_finish(struct master *m)
{
    bool alone = m->upgrade == 0 && !upgrade_older_lives(m);
    control_answer_waiting(&m->control, UINT64_MAX, false, STR("the server is ending\n"));
    control_fini(&m->control, true);
    if (m->pid_written)
        remove_pid_files(m);
    if (m->started)
        log_notice(&log_process, "sluice ends");
    if (!m->started) /* sockets of an older master are not ours to remove */
        sockets_rollback(&m->sockets, NULL, 0);
    sockets_close(&m->sockets, alone);
    while (m->child_count > 0)
        child_forget(m, &m->children[0]);
    free(m->children);
    roll_close(&m->roll);
    fd_close(&m->upgrade_fd);
    fd_close(&m->sigfd);
    if (!m->started)
        daemon_failed(&m->daemon, m->exit_code);
}
