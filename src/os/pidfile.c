/* SPDX-License-Identifier: BSD-2-Clause */
/* The pid file.  Read as strictly as any input: a wrong pid would mean a signal to a stranger. */
#include "os/pidfile.h"
#include "core/num.h"
#include "os/file.h"
#include "os/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum status pidfile_write(const char *path, pid_t pid, struct os_error *e)
{
    char text[NUM_DEC_MAX + 1];
    size_t n = num_put(text, (uint64_t)pid);

    text[n++] = '\n';
    return file_write(path, str_make(text, n), 0644, e);
}

enum status pidfile_read(const char *path, pid_t *pid, struct os_error *e)
{
    struct buf b;
    struct str text;
    enum status st;
    uint64_t number = 0;

    buf_init(&b, 0);
    st = file_read(path, 64, &b, NULL, e);
    text = buf_view(&b);
    if (text.n != 0 && text.p[text.n - 1] == '\n')
        text.n--;
    if (st == STATUS_OK && (!num_dec(text, &number) || number == 0 || number > INT_MAX)) {
        os_fail(e, 0, "\"%s\" does not hold a process id", path);
        st = STATUS_INVALID;
    }
    buf_fini(&b);
    if (st == STATUS_OK)
        *pid = (pid_t)number;
    return st;
}

enum status pidfile_running(const char *path, pid_t *pid, struct os_error *e)
{
    enum status st = pidfile_read(path, pid, e);

    /* Our own number is a stale file's too: a container starts everything with the same pid. */
    if (st == STATUS_OK && (*pid == getpid() || !proc_is_ours(*pid))) {
        os_fail(e, 0, "\"%s\" names process %d, which is not a running sluice", path, (int)*pid);
        st = STATUS_NOTFOUND;
    }
    return st;
}

void pidfile_remove(const char *path, pid_t pid)
{
    pid_t held;

    if (pidfile_read(path, &held, NULL) == STATUS_OK && held == pid)
        unlink(path);
}

static enum status rename_file(const char *path, bool retire, struct os_error *e)
{
    char old[PATH_MAX];
    const char *from = retire ? path : old, *to = retire ? old : path;

    if (snprintf(old, sizeof(old), "%s" PIDFILE_OLD_SUFFIX, path) >= (int)sizeof(old))
        return os_fail(e, ENAMETOOLONG, "rename() \"%s\" failed", path);
    if (rename(from, to) < 0)
        return os_fail(e, errno, "rename() \"%s\" to \"%s\" failed", from, to);
    return STATUS_OK;
}

enum status pidfile_retire(const char *path, struct os_error *e)
{
    return rename_file(path, true, e);
}

enum status pidfile_restore(const char *path, struct os_error *e)
{
    return rename_file(path, false, e);
}
