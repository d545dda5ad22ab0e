/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptor basics.  close(2) is called once and its result ignored: on Linux the descriptor is
 * gone even when EINTR is returned, and closing it again could hit somebody else's.
 */
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

void fd_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

static enum status fd_flag(int fd, int get, int set, int flag, bool on)
{
    int flags = fcntl(fd, get);
    int want;

    if (flags < 0)
        return status_from_errno(errno);
    want = on ? flags | flag : flags & ~flag;
    if (want != flags && fcntl(fd, set, want) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}

enum status fd_set_cloexec(int fd, bool on)
{
    return fd_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

enum status fd_set_nonblock(int fd, bool on)
{
    return fd_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}

enum status fd_write_all(int fd, const void *p, size_t n, size_t *done)
{
    const char *at = p;
    enum status st = STATUS_OK;
    size_t sent = 0;

    while (sent < n) {
        ssize_t r = write(fd, at + sent, n - sent);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0) {
            st = status_from_errno(errno);
            break;
        }
        sent += (size_t)r;
    }
    if (done != NULL)
        *done = sent;
    return st;
}

enum status fd_read_full(int fd, void *p, size_t n, size_t *got)
{
    char *at = p;
    enum status st = STATUS_OK;

    *got = 0;
    while (*got < n) {
        ssize_t r = read(fd, at + *got, n - *got);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            st = status_from_errno(errno);
        if (r <= 0)
            break;
        *got += (size_t)r;
    }
    return st;
}

enum status fd_pipe(int fds[2], bool nonblock)
{
    if (pipe2(fds, O_CLOEXEC | (nonblock ? O_NONBLOCK : 0)) < 0) {
        fds[0] = fds[1] = -1;
        return status_from_errno(errno);
    }
    return STATUS_OK;
}

enum status fd_reserve_stdio(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        /* open(2) gives the lowest free number, and all lower ones are taken by now. */
        if (open("/dev/null", O_RDWR) < 0)
            return status_from_errno(errno);
    }
    return STATUS_OK;
}

enum status fd_null_stdio(bool stderr_too)
{
    enum status st = STATUS_OK;
    int last = stderr_too ? 2 : 1;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return status_from_errno(errno);
    for (int fd = 0; fd <= last && st == STATUS_OK; fd++) {
        if (dup2(null, fd) < 0)
            st = status_from_errno(errno);
    }
    if (null > last)
        fd_close(&null);
    return st;
}

static uint64_t limit_value(rlim_t v)
{
    return v == RLIM_INFINITY ? UINT64_MAX : (uint64_t)v;
}

enum status fd_limit_get(struct fd_limit *out)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return status_from_errno(errno);
    *out = (struct fd_limit){limit_value(r.rlim_cur), limit_value(r.rlim_max)};
    return STATUS_OK;
}

enum status fd_limit_set(uint64_t want, uint64_t *got)
{
    enum status st = STATUS_OK;
    struct rlimit old, r;

    if (getrlimit(RLIMIT_NOFILE, &old) < 0)
        return status_from_errno(errno);
    r = old;
    r.rlim_cur = want;
    if (r.rlim_max < r.rlim_cur)
        r.rlim_max = r.rlim_cur;
    if (setrlimit(RLIMIT_NOFILE, &r) < 0) {
        st = STATUS_LIMIT;
        r = old;
        if (old.rlim_cur < old.rlim_max && want > old.rlim_cur) {
            r.rlim_cur = want < old.rlim_max ? want : old.rlim_max;
            if (setrlimit(RLIMIT_NOFILE, &r) < 0)
                r = old;
        }
    }
    if (got != NULL)
        *got = limit_value(r.rlim_cur);
    return st;
}
