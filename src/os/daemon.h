/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Becoming a daemon without losing the verdict: the process that was started waits for the master's
 * word and exits with it, so "sluice" returns 0 only when it serves.  Until that word the master
 * keeps the terminal as standard error, so all that goes wrong is seen where it was asked for.
 */
#ifndef SLUICE_OS_DAEMON_H
#define SLUICE_OS_DAEMON_H

#include "os/error.h"

struct daemon {
    int report_fd;     /* where the launcher waits; -1: nobody does */
};

/*
 * Forks twice.  Returns in the new process alone: in a session of its own without a terminal, in
 * "/", with umask 022 and standard input from /dev/null.  The launcher stays behind and exits.
 * On failure to fork it returns in the caller with an error.  Before any thread, ring or lock file;
 * relative paths must have been made absolute.
 */
enum status daemon_start(struct daemon *d, struct os_error *e);

/* The master serves: the launcher exits 0, standard output and error become /dev/null. */
void daemon_ready(struct daemon *d);

/* It does not: the launcher exits with `code`. Dying without a word makes it exit 1 and say so. */
void daemon_failed(struct daemon *d, int code);

#endif
