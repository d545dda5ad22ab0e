/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Upgrade (USR2): the program at our own path is started on our listening sockets.  Both masters
 * serve until somebody retires one; if the new one ends, we are the only one again.  The new one
 * says on a pipe how its start went, so that the reason of a failure is in our log, and so that one
 * that says nothing for long is ended.
 */
#include "core/clock.h"
#include "core/num.h"
#include "os/fd.h"
#include "os/handover.h"
#include "os/pidfile.h"
#include "os/proc.h"
#include "os/signal.h"
#include "server/master.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HELLO_ENV "SLUICE_UPGRADE"
#define SUCCESS "serves\n"

/* ---- the new master's end ---- */

static int hello_fd = -1;

void upgrade_hello(void)
{
    const char *text = getenv(HELLO_ENV);
    uint64_t fd;
    if (text != NULL && num_dec(str_z(text), &fd) && fd > 2 && fd < (1u << 30) &&
        fd_set_cloexec((int)fd, true) == STATUS_OK)
        hello_fd = (int)fd;
    unsetenv(HELLO_ENV);
}

void upgrade_say(struct str text)
{
    if (hello_fd == -1)
        return;
    if (text.n == 0)
        text = STR(SUCCESS);
    fd_write_all(hello_fd, text.p, text.n, NULL);
    fd_close(&hello_fd);
}

void upgrade_leave(void)
{
    fd_close(&hello_fd);
}

bool upgrade_older_lives(const struct master *m)
{
    return m->older > 1 && getppid() == m->older;
}

/* ---- the old master's end ---- */

static _Noreturn void exec_new(struct master *m, const char *handover, int hello)
{
    char number[16];
    for (size_t i = 0; i < m->sockets.count; i++)
        for (uint32_t k = 0; k < m->sockets.groups[i].count; k++)
            fd_set_cloexec(m->sockets.groups[i].fds[k], false);
    fd_set_cloexec(hello, false);
    snprintf(number, sizeof(number), "%d", hello);
    signal_reset();
    setenv(HANDOVER_ENV, handover, 1);
    setenv(HELLO_ENV, number, 1);
    execv(m->options->program, m->options->argv);
    log_msg_errno(&log_process, LEVEL_ALERT, errno, "execve() \"%s\" failed", m->options->program);
    _exit(127);
}

static bool may_begin(const struct master *m)
{
    if (master_ending(m))
        return false;
    if (m->upgrade != 0)
        log_warn(&log_process, "an upgrade goes on already, as process %d", (int)m->upgrade);
    else if (upgrade_older_lives(m))
        log_warn(&log_process, "this process is the new one of an upgrade that goes on: end "
                 "process %d first", (int)m->older);
    else
        return true;
    return false;
}

/* The old name of the pid file and of the control socket come back. */
static void take_back(struct master *m)
{
    struct os_error e;
    start_control(m); /* first: who sees the pid file may ask */
    if (pidfile_restore(m->cycle->main->pid.p, &e) != STATUS_OK)
        log_errno_at(&log_process, LEVEL_ALERT, e.err, "%s", e.text);
}

static bool run_new(struct master *m, const char *handover)
{
    int hello[2];
    if (fd_pipe(hello, true) != STATUS_OK) {
        log_errno_at(&log_process, LEVEL_ALERT, errno, "pipe2() for an upgrade failed");
        return false;
    }
    pid_t pid = fork();
    if (pid == 0)
        exec_new(m, handover, hello[1]);
    fd_close(&hello[1]);
    if (pid == -1) {
        log_errno_at(&log_process, LEVEL_ALERT, errno, "fork() for an upgrade failed");
        fd_close(&hello[0]);
        return false;
    }
    m->upgrade = pid;
    m->upgrade_fd = hello[0];
    m->upgrade_deadline_ms = clock_mono_ms() + START_PATIENCE_MS;
    return true;
}

void upgrade_begin(struct master *m)
{
    struct buf list;
    struct os_error e;
    if (m->next != NULL || !m->started) {
        m->upgrade_wanted = true;
        return;
    }
    if (!may_begin(m))
        return;
    buf_init(&list, 1u << 20);
    if (!sockets_handover(&m->sockets, &list) || !buf_char(&list, '\0')) {
        log_alert(&log_process, "out of memory for an upgrade");
    } else if (pidfile_retire(m->cycle->main->pid.p, &e) != STATUS_OK) {
        log_errno_at(&log_process, LEVEL_ALERT, e.err, "no upgrade: %s", e.text);
    } else {
        /* Where the old one listens the new one is to listen. */
        control_close(&m->control, true);
        if (run_new(m, list.p))
            log_notice(&log_process, "upgrade: \"%s\" runs as process %d", m->options->program,
                       (int)m->upgrade);
        else
            take_back(m);
    }
    buf_fini(&list);
}

void upgrade_news(struct master *m)
{
    char text[4096];
    ssize_t n = read(m->upgrade_fd, text, sizeof(text));
    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    struct str rest = str_make(text, n > 0 ? (size_t)n : 0), line;
    if (str_eq(rest, STR(SUCCESS)))
        log_notice(&log_process, "upgrade: process %d serves", (int)m->upgrade);
    else
        while (rest.n != 0 && str_split(&rest, '\n', &line))
            if (line.n != 0)
                log_msg(&log_process, LEVEL_ERROR, "upgrade: " STR_FMT, STR_ARG(line));
    if (n <= 0)
        fd_close(&m->upgrade_fd);
}

void upgrade_check(struct master *m, uint64_t now_ms)
{
    if (m->upgrade_fd == -1 || m->upgrade == 0 || now_ms < m->upgrade_deadline_ms)
        return;
    log_alert(&log_process, "upgrade: process %d does not begin to serve, killing it",
              (int)m->upgrade);
    fd_close(&m->upgrade_fd);
    kill(m->upgrade, SIGKILL);
}

void upgrade_died(struct master *m, int status)
{
    char text[128];
    struct wbuf w = wbuf_make(text, sizeof(text));
    proc_exit_write(status, &w);
    if (m->upgrade_fd != -1) /* its last words */
        upgrade_news(m);
    fd_close(&m->upgrade_fd);
    log_at(&log_process, status == 0 ? LEVEL_NOTICE : LEVEL_ALERT,
           "upgrade: the new process %d %.*s, this one goes on alone", (int)m->upgrade,
           (int)(w.at - text), text);
    m->upgrade = 0;
    if (master_ending(m))
        return;
    take_back(m);
    sockets_steer(&m->sockets, m->cycle->plan.workers);
    if (m->retired)
        bring_back(m);
}
