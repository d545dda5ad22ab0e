/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filling and printing of struct os_error.  The text is formatted before errno is set, because
 * formatting may itself change errno.
 */
#include "os/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status os_fail(struct os_error *e, int err, const char *fmt, ...)
{
    if (e != NULL) {
        va_list ap;

        e->err = err;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof(e->text), fmt, ap);
        va_end(ap);
    }
    errno = err;
    return err == 0 ? STATUS_ERROR : status_from_errno(err);
}

void os_error_write(const struct os_error *e, struct wbuf *to)
{
    wbuf_str(to, str_z(e->text));
    if (e->err != 0)
        wbuf_printf(to, " (%d: %s)", e->err, strerror(e->err));
}
