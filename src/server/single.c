/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * master_process off: one process for all, for debuggers and very small machines.
 *
 * It gives up root before it serves, so in the end it may not be allowed to remove what root made:
 * the pid file, the files of Unix sockets.  A keeper does it, a child that stays root, has closed
 * everything else and waits for the end of a pipe; it is there only where root is given up.
 */
#include "os/fd.h"
#include "os/pidfile.h"
#include "os/title.h"
#include "server/master.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct keeper {
    pid_t pid; /* 0: none */
    int fd;    /* its pipe, -1: none */
};

/*
 * In the child. A byte on the pipe says that the server ends in order and waits for us; without
 * one it was killed, and another may have begun already: its sockets are not ours to remove.
 */
static _Noreturn void keep(struct master *m, int fd, pid_t server)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};
    char byte;
    ssize_t n;
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        signal(ignored[i], SIG_IGN); /* a terminal's go to the whole group */
    title_set("sluice-keeper", "keeps the pid file of process %d", (int)server);
    sockets_keep_only(&m->sockets, NULL, 0);
    cycle_close_logs(m->cycle);
    fd_null_stdio(true);
    fd_close(&m->daemon.report_fd);
    do
        n = read(fd, &byte, 1);
    while (n == -1 && errno == EINTR);
    pidfile_remove(m->cycle->main->pid.p, server);
    if (n == 1)
        sockets_unlink(&m->sockets);
    _exit(0);
}

static void keeper_start(struct master *m, struct keeper *k)
{
    int ends[2];
    pid_t server = getpid();
    *k = (struct keeper){.fd = -1};
    if (!m->cycle->drop)
        return;
    if (fd_pipe(ends, false) == STATUS_OK) {
        k->pid = fork();
        if (k->pid == 0) {
            fd_close(&ends[1]);
            keep(m, ends[0], server);
        }
        fd_close(&ends[0]);
        k->fd = ends[1];
    }
    if (k->fd == -1 || k->pid == -1) {
        log_errno_at(&log_process, LEVEL_WARN, errno, "the pid file may stay: fork() failed");
        fd_close(&k->fd);
        k->pid = 0;
    }
}

static void keeper_end(struct master *m, struct keeper *k)
{
    if (k->pid == 0) {
        if (m->pid_written)
            pidfile_remove(m->cycle->main->pid.p, getpid());
        return;
    }
    fd_write_all(k->fd, "e", 1, NULL);
    fd_close(&k->fd);
    while (waitpid(k->pid, NULL, 0) == -1 && errno == EINTR)
        continue;
}

static void serves(void *arg)
{
    struct master *m = arg;
    m->started = true;
    log_notice(&log_process, "sluice serves, the only process %d", (int)getpid());
    daemon_ready(&m->daemon);
}

int start_single(struct master *m)
{
    static struct worker_board board;
    struct keeper keeper = {.fd = -1};
    start_raise_limit();
    if (start_open(m) && start_write_pid(m)) {
        struct worker_start how = {.chan = -1, .board = &board, .serves = serves, .arg = m};
        sockets_commit(&m->sockets, 1);
        start_file_limit(m->cycle);
        keeper_start(m, &keeper);
        m->exit_code = worker_run(m->cycle, &how);
        if (m->exit_code == WORKER_CANNOT_START) {
            m->exit_code = 0; /* start_fail() says it once */
            start_fail(m, str_z(board.why));
        }
    }
    keeper_end(m, &keeper);
    if (!m->started)
        daemon_failed(&m->daemon, m->exit_code);
    sockets_close(&m->sockets, keeper.pid == 0);
    return m->exit_code;
}
