/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of enum status, from the one table, and the translation of errno values.  The translation
 * keeps only what callers act upon; the errno itself is for the log.
 */
#include "core/status.h"

#include <errno.h>
#include <stddef.h>

const char *status_text(enum status st)
{
    switch (st) {
#define X(name, value, text) \
    case STATUS_##name:      \
        return text;
#include "core/status.tbl"
#undef X
    }
    return "unknown status";
}

static const struct {
    int err;
    enum status st;
} status_errnos[] = {
    {0, STATUS_OK},
    {EAGAIN, STATUS_AGAIN},
    {EINPROGRESS, STATUS_AGAIN},
    {ENOMEM, STATUS_NOMEM},
    {ENOBUFS, STATUS_NOMEM},
    {EINVAL, STATUS_INVALID},
    {EISDIR, STATUS_INVALID},
    {ENOENT, STATUS_NOTFOUND},
    {ENOTDIR, STATUS_NOTFOUND},
    {ENAMETOOLONG, STATUS_NOTFOUND}, /* no file can have that name */
    {ENODEV, STATUS_NOTFOUND},
    {ENXIO, STATUS_NOTFOUND},
    {EACCES, STATUS_DENIED},
    {EPERM, STATUS_DENIED},
    {EROFS, STATUS_DENIED},
    {ELOOP, STATUS_DENIED}, /* openat2(2): a forbidden symbolic link */
    {EXDEV, STATUS_DENIED}, /* openat2(2): out of the root */
    {EEXIST, STATUS_EXISTS},
    {EMFILE, STATUS_LIMIT},
    {ENFILE, STATUS_LIMIT},
    {ENOSPC, STATUS_LIMIT},
    {EDQUOT, STATUS_LIMIT},
    {EFBIG, STATUS_LIMIT},
    {ENOSYS, STATUS_UNSUPPORTED},
    {EOPNOTSUPP, STATUS_UNSUPPORTED},
    {EAFNOSUPPORT, STATUS_UNSUPPORTED},
    {EPROTONOSUPPORT, STATUS_UNSUPPORTED},
    {EPIPE, STATUS_CLOSED},
    {ECONNRESET, STATUS_CLOSED},
    {ECONNABORTED, STATUS_CLOSED},
    {ENOTCONN, STATUS_CLOSED},
    {ESHUTDOWN, STATUS_CLOSED},
    {ECANCELED, STATUS_CANCELED},
    {ETIMEDOUT, STATUS_TIMEDOUT},
    {ETIME, STATUS_TIMEDOUT},
    {EBUSY, STATUS_BUSY},
    {ETXTBSY, STATUS_BUSY},
    {EADDRINUSE, STATUS_BUSY},
};

enum status status_from_errno(int err)
{
    for (size_t i = 0; i < sizeof status_errnos / sizeof status_errnos[0]; i++) {
        if (status_errnos[i].err == err)
            return status_errnos[i].st;
    }
    return STATUS_ERROR;
}
