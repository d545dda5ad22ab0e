/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way to a log file: its directory is opened first and judged, then the file in that very
 * directory, so that the judgement and the opening cannot be about two different places.
 */
#include "os/logfile.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* The directory of `path` and the name in it. -1 on failure, with errno. */
static int open_directory(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    size_t n = slash == NULL ? 0 : (size_t)(slash - path);

    *name = slash == NULL ? path : slash + 1;
    if (n >= sizeof(dir)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (slash == NULL)
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    memcpy(dir, path, n);
    dir[n] = '\0';
    return open(n == 0 ? "/" : dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool others_can_write(int dir)
{
    struct stat st;

    if (fstat(dir, &st) < 0)
        return true;
    return (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* Opens or makes the file; *made says which. */
static int open_in(int dir, const char *name, int flags, bool *made)
{
    int fd = -1;

    *made = false;
    for (int tries = 0; tries < 3; tries++) {
        fd = openat(dir, name, O_WRONLY | flags);
        if (fd < 0 && errno == ENXIO) /* a FIFO that nobody reads yet */
            fd = openat(dir, name, O_RDWR | flags);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        fd = openat(dir, name, O_WRONLY | flags | O_CREAT | O_EXCL, LOGFILE_MODE);
        if (fd >= 0) {
            *made = true;
            return fd;
        }
        if (errno != EEXIST) /* else somebody was faster: open what is there */
            return -1;
    }
    errno = ENOENT; /* a dangling link: neither there nor to be made */
    return -1;
}

static enum status settle(int fd, const char *path, gid_t group, bool made, bool shared,
                          struct os_error *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return os_fail(e, errno, "fstat() \"%s\" failed", path);
    if (shared && S_ISREG(st.st_mode) && st.st_nlink > 1) {
        os_fail(e, 0, "\"%s\" has another name, and others can write its directory: refused", path);
        return STATUS_DENIED;
    }
    if (made && geteuid() == 0 && group != LOGFILE_NO_GROUP && fchown(fd, (uid_t)-1, group) < 0)
        return os_fail(e, errno, "fchown() \"%s\" failed", path);
    /* On a regular file the flag would make the ring give up where it should wait for the disk. */
    if (S_ISREG(st.st_mode) && fd_set_nonblock(fd, false) != STATUS_OK)
        return os_fail(e, errno, "fcntl() \"%s\" failed", path);
    return STATUS_OK;
}

enum status logfile_open(const char *path, gid_t group, int *fd, struct os_error *e)
{
    const char *name;
    int dir = open_directory(path, &name), err;
    bool shared, made;
    enum status st;

    *fd = -1;
    if (dir < 0)
        return os_fail(e, errno, "open() of the directory of \"%s\" failed", path);
    shared = others_can_write(dir);
    *fd = open_in(dir, name, OPEN_FLAGS | (shared ? O_NOFOLLOW : 0), &made);
    err = errno;
    fd_close(&dir);
    if (*fd < 0 && shared && err == ELOOP)
        return os_fail(e, err, "\"%s\" is a symbolic link, and others can write its directory: "
                               "refused", path);
    if (*fd < 0)
        return os_fail(e, err, "open() \"%s\" failed", path);
    st = settle(*fd, path, group, made, shared, e);
    if (st != STATUS_OK)
        fd_close(fd);
    return st;
}

enum status logfile_swap(int *from, int fd, struct os_error *e)
{
    enum status st = STATUS_OK;

    if (dup3(*from, fd, O_CLOEXEC) < 0)
        st = os_fail(e, errno, "dup3() of a log file failed");
    fd_close(from);
    return st;
}

enum status logfile_reopen(const char *path, gid_t group, int fd, struct os_error *e)
{
    int fresh;
    enum status st = logfile_open(path, group, &fresh, e);

    return st != STATUS_OK ? st : logfile_swap(&fresh, fd, e);
}

bool logfile_moved(const char *path, int fd)
{
    struct stat open_file, named;

    if (fstat(fd, &open_file) < 0)
        return true;
    if (stat(path, &named) < 0)
        return true;
    return open_file.st_dev != named.st_dev || open_file.st_ino != named.st_ino;
}
