/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for children, dying with the parent, and recognising one's own kind by /proc. */
#include "os/proc.h"
#include "os/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum status proc_die_with(pid_t parent, int signal)
{
    if (prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) < 0)
        return status_from_errno(errno);
    /* It may have died before the wish was heard. */
    return getppid() == parent ? STATUS_OK : STATUS_CLOSED;
}

bool proc_reap(struct proc_exit *out)
{
    pid_t pid;

    do {
        pid = waitpid(-1, &out->status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    out->pid = pid;
    return pid > 0;
}

void proc_exit_write(int status, struct wbuf *to)
{
    if (WIFEXITED(status)) {
        wbuf_printf(to, "exited with code %d", WEXITSTATUS(status));
        return;
    }
    wbuf_printf(to, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WCOREDUMP(status))
        wbuf_str(to, STR(", core dumped"));
}

static bool comm_of(const char *who, struct buf *to)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%s/comm", who);
    return file_read(path, 256, to, NULL, NULL) == STATUS_OK;
}

bool proc_is_ours(pid_t pid)
{
    struct buf mine, theirs;
    char number[16];
    bool ours;

    if (pid <= 0 || (kill(pid, 0) < 0 && errno != EPERM))
        return false;
    buf_init(&mine, 0);
    buf_init(&theirs, 0);
    snprintf(number, sizeof(number), "%d", (int)pid);
    if (!comm_of("self", &mine))
        ours = true;
    else
        ours = comm_of(number, &theirs) && str_eq(buf_view(&mine), buf_view(&theirs));
    buf_fini(&mine);
    buf_fini(&theirs);
    return ours;
}
