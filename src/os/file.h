/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small files of the server's own: configuration, keys, the pid file.  Not for what is served.
 * Everything here is synchronous and belongs to start, reload and error paths.
 */
#ifndef SLUICE_OS_FILE_H
#define SLUICE_OS_FILE_H

#include "core/buf.h"
#include "os/error.h"

#include <sys/stat.h>

/*
 * Appends the whole of a regular file to *out.  Never waits for a FIFO or device: anything but a
 * regular file is STATUS_INVALID, more than `max` bytes is STATUS_LIMIT.  *st (may be NULL) is the
 * fstat of what was read, for checks of owner and mode without a race.
 */
enum status file_read(const char *path, size_t max, struct buf *out, struct stat *st,
                      struct os_error *e);

/*
 * Replaces `path` by a file with this content: written beside it under a name of its own and
 * renamed, so a reader sees the old file or the new one, and a symbolic link is replaced, not
 * followed.  The mode is not narrowed by the umask.
 */
enum status file_write(const char *path, struct str content, mode_t mode, struct os_error *e);

/* Makes the directory that `path` lies in, and those above it, where they are missing. */
enum status file_make_parent(const char *path, mode_t mode, struct os_error *e);

/*
 * Why this process cannot read `path`: appends the first component that is in the way, as in
 * "/srv/a is 0700 root:root", "/srv/a does not exist", "/srv/a is not a directory".  Appends
 * nothing and returns false when nothing is in the way (any more).  A component is looked at
 * with the process's own rights; names come from /etc/passwd and /etc/group alone, never from a
 * directory service.
 */
bool file_explain(const char *path, struct wbuf *to);

#endif
