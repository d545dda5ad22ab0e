/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct os_error: what went wrong in the outside world, as one sentence for the person who runs
 * the server, with the errno behind it.  Functions with several steps take one, so that the message
 * names the step and its object ("bind() to 127.0.0.1:80 failed"); the caller decides where the
 * sentence goes.  Log it with log_errno_at(ctx, level, e.err, "%s", e.text).
 */
#ifndef SLUICE_OS_ERROR_H
#define SLUICE_OS_ERROR_H

#include "core/buf.h"
#include "core/status.h"

#define OS_ERROR_TEXT 512

struct os_error {
    int err;                   /* positive errno; 0: no system call was to blame */
    char text[OS_ERROR_TEXT];  /* without the errno's own text; cut off when too long */
};

/*
 * Fills *e (may be NULL) and sets errno to err.  Returns the status that stands for err,
 * STATUS_ERROR when err is 0.
 */
enum status os_fail(struct os_error *e, int err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* "text (13: Permission denied)", or the text alone when err is 0. */
void os_error_write(const struct os_error *e, struct wbuf *to);

#endif
