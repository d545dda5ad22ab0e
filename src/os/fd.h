/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File descriptors: closing, flags, whole reads and writes, pipes, the process's limit.
 * Every descriptor that sluice makes is close-on-exec from its birth; what an upgrade hands over is
 * cleared explicitly.  Where a function fails errno holds the cause.
 */
#ifndef SLUICE_OS_FD_H
#define SLUICE_OS_FD_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Closes *fd and sets it to -1; -1 is fine. errno is kept: it is called on error paths. */
void fd_close(int *fd);

enum status fd_set_cloexec(int fd, bool on);
enum status fd_set_nonblock(int fd, bool on);

/*
 * Writes all n bytes, over short writes and EINTR.  A nonblocking fd that is full ends with
 * STATUS_AGAIN, any other failure with its status; *done (may be NULL) says how far it got.
 */
enum status fd_write_all(int fd, const void *p, size_t n, size_t *done);

/* Reads until n bytes or the end of the file; *got says how many. STATUS_AGAIN as above. */
enum status fd_read_full(int fd, void *p, size_t n, size_t *got);

/* A close-on-exec pipe: fds[0] is read, fds[1] written. Both -1 on failure. */
enum status fd_pipe(int fds[2], bool nonblock);

/*
 * Opens /dev/null on each of 0, 1, 2 that is closed, so that no socket or file of ours ever gets
 * one of these numbers and receives what a library prints.  Called first thing in main.
 */
enum status fd_reserve_stdio(void);

/* Points 0, 1 and 2 (the last only if `stderr_too`) at /dev/null. */
enum status fd_null_stdio(bool stderr_too);

struct fd_limit {
    uint64_t soft, hard;   /* UINT64_MAX: unlimited */
};

enum status fd_limit_get(struct fd_limit *out);

/*
 * Makes the soft limit `want`, and the hard one too where it is lower and the process may raise it.
 * If that is refused the soft limit is taken as far up as the hard one allows and STATUS_LIMIT is
 * returned.  *got (may be NULL) is the soft limit in force afterwards.
 */
enum status fd_limit_set(uint64_t want, uint64_t *got);

#endif
