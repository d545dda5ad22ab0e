/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals arrive as readable bytes: the set a process cares for is blocked and read from a
 * signalfd(2), so no code of ours ever runs in a handler.
 *
 * A signalfd delivers the signals of whoever reads it, and an epoll set or ring remembers who
 * registered it: a forked worker closes its parent's and makes one of its own.
 */
#ifndef SLUICE_OS_SIGNAL_H
#define SLUICE_OS_SIGNAL_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Default dispositions, nothing blocked: for main (whatever the parent left) and before exec. */
void signal_reset(void);

/* SIGPIPE: splice(2) and sendfile(2) know no MSG_NOSIGNAL. */
void signal_ignore_pipe(void);

/*
 * Blocks the signals and returns a nonblocking close-on-exec descriptor they are read from in *fd.
 * A signal that the parent had set to ignored is set to its default first, else it never came.
 */
enum status signal_open(int *fd, const int *signals, size_t count);

struct signal_event {
    int signal;
    pid_t pid;       /* sender; 0 for the kernel. With several pending of one kind, the first */
    uid_t uid;
};

/* The next signal. False when there is none (or the descriptor failed). */
bool signal_read(int fd, struct signal_event *out);

/* "SIGHUP"; "signal 77" for numbers without a name. Not reentrant for the latter. */
const char *signal_name(int signal);

#endif
