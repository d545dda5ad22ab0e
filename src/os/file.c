/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and writing of the server's own small files.  Opening is always nonblocking and the kind
 * of file is looked at after opening, on the descriptor, so nothing can be swapped in between.
 */
#include "os/file.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_STEP 4096

/* To the end of the file or one byte over the limit; files of /proc say they have no size. */
static enum status read_all(int fd, size_t max, size_t hint, struct buf *out)
{
    size_t start = out->n;

    for (;;) {
        size_t have = out->n - start, room = have < hint ? hint - have + 1 : READ_STEP;
        enum status st;
        size_t got;

        if (room > max - have)
            room = max - have + 1;
        if (!buf_reserve(out, room))
            return STATUS_NOMEM;
        st = fd_read_full(fd, out->p + out->n, room, &got);
        out->n += got;
        if (st != STATUS_OK)
            return st;
        if (out->n - start > max)
            return STATUS_LIMIT;
        if (got < room)
            return STATUS_OK;
    }
}

static enum status read_open(int fd, const char *path, size_t max, struct buf *out,
                             struct stat *st, struct os_error *e)
{
    size_t start = out->n;
    enum status status;

    if (fstat(fd, st) < 0)
        return os_fail(e, errno, "fstat() \"%s\" failed", path);
    if (!S_ISREG(st->st_mode)) {
        os_fail(e, 0, "\"%s\" is %s", path,
                S_ISDIR(st->st_mode) ? "a directory" : "not a regular file");
        return STATUS_INVALID;
    }
    if (st->st_size >= 0 && (uintmax_t)st->st_size > max)
        status = STATUS_LIMIT;
    else
        status = read_all(fd, max, (size_t)st->st_size, out);
    if (status == STATUS_OK)
        return STATUS_OK;
    out->n = start;
    if (status == STATUS_LIMIT)
        os_fail(e, 0, "\"%s\" is larger than %zu bytes", path, max);
    else if (status == STATUS_NOMEM)
        os_fail(e, ENOMEM, "no memory to read \"%s\"", path);
    else
        os_fail(e, errno, "read() \"%s\" failed", path);
    return status;
}

enum status file_read(const char *path, size_t max, struct buf *out, struct stat *st,
                      struct os_error *e)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat own;
    enum status status;

    if (fd < 0)
        return os_fail(e, errno, "open() \"%s\" failed", path);
    status = read_open(fd, path, max, out, st != NULL ? st : &own, e);
    fd_close(&fd);
    return status;
}

enum status file_write(const char *path, struct str content, mode_t mode, struct os_error *e)
{
    char temp[PATH_MAX];
    enum status st = STATUS_OK;
    int fd;

    if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
        return os_fail(e, ENAMETOOLONG, "open() \"%s\" failed", path);
    fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return os_fail(e, errno, "open() \"%s\" failed", temp);
    if (fchmod(fd, mode) < 0)
        st = os_fail(e, errno, "fchmod() \"%s\" failed", temp);
    else if (fd_write_all(fd, content.p, content.n, NULL) != STATUS_OK)
        st = os_fail(e, errno, "write() \"%s\" failed", temp);
    fd_close(&fd);
    if (st == STATUS_OK && rename(temp, path) < 0)
        st = os_fail(e, errno, "rename() to \"%s\" failed", path);
    if (st != STATUS_OK)
        unlink(temp);
    return st;
}

enum status file_make_parent(const char *path, mode_t mode, struct os_error *e)
{
    char dir[PATH_MAX];
    size_t n = strlen(path);

    if (n >= sizeof(dir))
        return os_fail(e, ENAMETOOLONG, "mkdir() for \"%s\" failed", path);
    memcpy(dir, path, n + 1);
    for (char *p = dir + 1; n > 1 && (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        if (mkdir(dir, mode) < 0) {
            int err = errno;
            struct stat st;

            /* Whatever mkdir(2) says of one that is there (EEXIST, EROFS, EACCES), it will do. */
            if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
                return os_fail(e, err, "mkdir() \"%s\" failed", dir);
        }
        *p = '/';
    }
    return STATUS_OK;
}
