/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Upgrade (USR2): the program at our own path is started on our listening sockets.  Both masters
 * serve until somebody retires one; if the new one ends, we are the only one again.
 */
#include "os/fd.h"
#include "os/handover.h"
#include "os/pidfile.h"
#include "os/proc.h"
#include "os/signal.h"
#include "server/master.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void exec_new(struct master *m, const char *handover)
{
    for (size_t i = 0; i < m->sockets.count; i++)
        for (uint32_t k = 0; k < m->sockets.groups[i].count; k++)
            fd_set_cloexec(m->sockets.groups[i].fds[k], false);
    signal_reset();
    setenv(HANDOVER_ENV, handover, 1);
    execv(m->options->program, m->options->argv);
    log_msg_errno(&log_process, LEVEL_ALERT, errno, "cannot execute \"%s\"", m->options->program);
    _exit(127);
}

void upgrade_begin(struct master *m)
{
    struct buf list;
    struct os_error e;
    if (m->upgrade != 0) {
        log_warn(&log_process, "an upgrade goes on already, as process %d", (int)m->upgrade);
        return;
    }
    buf_init(&list, 1u << 20);
    if (!sockets_handover(&m->sockets, &list) || !buf_char(&list, '\0')) {
        log_alert(&log_process, "out of memory for an upgrade");
        buf_fini(&list);
        return;
    }
    if (pidfile_retire(m->cycle->main->pid.p, &e) != STATUS_OK) {
        log_errno_at(&log_process, LEVEL_ALERT, e.err, "%s", e.text);
        buf_fini(&list);
        return;
    }
    /* Where the old one listens the new one is to listen: it gets the name back if it fails. */
    control_close(&m->control, true);
    pid_t pid = fork();
    if (pid == 0)
        exec_new(m, list.p);
    buf_fini(&list);
    if (pid == -1) {
        log_errno_at(&log_process, LEVEL_ALERT, errno, "fork() for an upgrade failed");
        pidfile_restore(m->cycle->main->pid.p, &e);
        return;
    }
    m->upgrade = pid;
    log_notice(&log_process, "upgrade: \"%s\" runs as process %d", m->options->program, (int)pid);
}

void upgrade_died(struct master *m, int status)
{
    char text[128], path[4096];
    struct os_error e;
    struct wbuf w = wbuf_make(text, sizeof(text));
    proc_exit_write(status, &w);
    log_alert(&log_process, "upgrade: the new process %d %.*s, this one goes on alone",
              (int)m->upgrade, (int)(w.at - text), text);
    m->upgrade = 0;
    if (pidfile_restore(m->cycle->main->pid.p, &e) != STATUS_OK)
        log_errno_at(&log_process, LEVEL_ALERT, e.err, "%s", e.text);
    if (control_path(m->cycle->main->pid.p, path, sizeof(path)))
        control_open(&m->control, path);
}
