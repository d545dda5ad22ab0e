/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes: their ends, their parents, and whether a pid is one of this program's. */
#ifndef SLUICE_OS_PROC_H
#define SLUICE_OS_PROC_H

#include "core/buf.h"
#include "core/status.h"

#include <sys/types.h>

/*
 * Asks the kernel for `signal` when the process `parent` dies, and answers STATUS_CLOSED when it
 * is dead already.  A change of credentials clears the wish: call it after the privilege drop.
 */
enum status proc_die_with(pid_t parent, int signal);

struct proc_exit {
    pid_t pid;
    int status;    /* as waitpid(2) gives it */
};

/* The next dead child. False when there is none (any more). Never waits. */
bool proc_reap(struct proc_exit *out);

/* "exited with code 1", "was killed by signal 9 (Killed)", with ", core dumped" where it was. */
void proc_exit_write(int status, struct wbuf *to);

/*
 * Whether `pid` lives and runs a program of this one's name (/proc/PID/comm).  Where /proc is
 * missing, that it lives must do.
 */
bool proc_is_ours(pid_t pid);

#endif
