/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Double fork with a report pipe.  The launcher holds the read end and nothing else; the pipe's end
 * without a byte means that the master died.
 */
#include "os/daemon.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Never returns: the launcher's exit code is the master's word. */
_Noreturn static void wait_for_word(int fd)
{
    unsigned char code;
    size_t got;

    if (fd_read_full(fd, &code, 1, &got) != STATUS_OK || got == 0) {
        fputs("sluice: the master process ended before it was ready\n", stderr);
        code = 1;
    }
    fflush(NULL);
    _exit(code);
}

static enum status settle(struct os_error *e)
{
    int null;

    if (chdir("/") < 0)
        return os_fail(e, errno, "chdir() \"/\" failed");
    umask(022);
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0)
        return os_fail(e, errno, "open() \"/dev/null\" failed");
    if (null != 0)
        fd_close(&null);
    return STATUS_OK;
}

enum status daemon_start(struct daemon *d, struct os_error *e)
{
    int pipe_fds[2];
    pid_t pid;

    d->report_fd = -1;
    if (fd_pipe(pipe_fds, false) != STATUS_OK)
        return os_fail(e, errno, "pipe2() failed");
    fflush(NULL); /* or each of the three would write what is buffered */
    pid = fork();
    if (pid < 0) {
        int err = errno;

        fd_close(&pipe_fds[0]);
        fd_close(&pipe_fds[1]);
        return os_fail(e, err, "fork() failed");
    }
    if (pid > 0) {
        fd_close(&pipe_fds[1]);
        wait_for_word(pipe_fds[0]);
    }
    fd_close(&pipe_fds[0]);
    d->report_fd = pipe_fds[1];
    setsid();
    /* Not a session leader any more: no terminal it opens can become its own. */
    pid = fork();
    if (pid > 0)
        _exit(0);
    if (pid < 0)
        return os_fail(e, errno, "fork() failed");
    return settle(e);
}

static void report(struct daemon *d, int code)
{
    unsigned char byte = (unsigned char)code;

    if (d->report_fd >= 0)
        fd_write_all(d->report_fd, &byte, 1, NULL); /* nobody left to read: no matter */
    fd_close(&d->report_fd);
}

void daemon_ready(struct daemon *d)
{
    if (d->report_fd < 0)
        return;
    fflush(NULL);
    fd_null_stdio(true);
    report(d, 0);
}

void daemon_failed(struct daemon *d, int code)
{
    report(d, code);
}
