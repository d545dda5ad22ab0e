/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a cycle opens: its logs, zones and listeners; and for -t, whether it could.  Directories of
 * logs are not made: one that is missing is more often a slip of the pen or a file system that is
 * not mounted.
 */
#include "config.h"
#include "conf/value.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/logfile.h"
#include "server/cycle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static bool report_error(struct buf *report, const struct os_error *e)
{
    char text[OS_ERROR_TEXT + 64];
    struct wbuf w = wbuf_make(text, sizeof(text));
    os_error_write(e, &w);
    buf_printf(report, "%.*s\n", (int)(w.at - text), text);
    return false;
}

static bool no_memory(struct buf *report)
{
    buf_str(report, STR("out of memory\n"));
    return false;
}

static gid_t log_group(const struct cycle *c)
{
    return c->drop ? c->identity.gid : LOGFILE_NO_GROUP;
}

/* ---- logs ---- */

/* Error log i: its path, absolute or "stderr"; p is NULL without memory. */
static struct str error_log(const struct cycle *c, size_t i, int *level)
{
    const struct instances *in = &c->main->error_log;
    *level = LEVEL_ERROR;
    if (in->n == 0)
        return c->options->error_log != NULL
                   ? str_z(c->options->error_log)
                   : conf_path(c->arena, c->http.prefix, STR(SLUICE_ERROR_LOG_PATH));
    struct str path = in->v[i].v[0].text;
    if (in->v[i].n > 1)
        value_enum(in->v[i].v[1].text, log_level_names, level, NULL);
    return str_eq(path, STR("stderr")) ? path : conf_path(c->arena, c->http.prefix, path);
}

static size_t error_log_count(const struct cycle *c)
{
    return c->main->error_log.n == 0 ? 1 : c->main->error_log.n;
}

/* Directories below the prefix are ours to make; elsewhere a missing one is a mistake. */
static bool below_prefix(const struct cycle *c, struct str path)
{
    struct str prefix = c->http.prefix;
    return str_starts(path, prefix) &&
           (str_ends(prefix, STR("/")) || (path.n > prefix.n && path.p[prefix.n] == '/'));
}

static enum status open_log(const struct cycle *c, struct str path, int *fd, struct os_error *e)
{
    if (below_prefix(c, path)) {
        enum status st = file_make_parent(path.p, 0755, e);
        if (st != STATUS_OK)
            return st;
    }
    return logfile_open(path.p, log_group(c), fd, e);
}

static bool open_error_logs(struct cycle *c, struct buf *report)
{
    struct os_error e;
    c->log = (struct log){.level = LEVEL_EMERG};
    c->log_ctx = (struct log_ctx){.log = &c->log};
    for (size_t i = 0; i < error_log_count(c); i++) {
        int level, fd = STDERR_FILENO;
        struct str path = error_log(c, i, &level);
        if (path.p == NULL)
            return no_memory(report);
        if (!str_eq(path, STR("stderr")) && open_log(c, path, &fd, &e) != STATUS_OK)
            return report_error(report, &e);
        log_add_sink(&c->log, fd, (enum log_level)level, path.p); /* digest() counted them */
    }
    return true;
}

static bool open_access_logs(struct cycle *c, struct buf *report)
{
    struct os_error e;
    for (size_t i = 0; i < c->http.log_file_count; i++) {
        struct log_file *f = c->http.log_files[i];
        if (open_log(c, f->path, &f->fd, &e) != STATUS_OK)
            return report_error(report, &e);
    }
    return true;
}

void cycle_close_logs(struct cycle *c)
{
    for (size_t i = 0; i < c->log.sink_count; i++)
        if (c->log.sinks[i].fd != STDERR_FILENO)
            fd_close(&c->log.sinks[i].fd);
    for (size_t i = 0; i < c->http.log_file_count; i++)
        fd_close(&c->http.log_files[i]->fd);
}

bool cycle_open(struct cycle *c, struct sockets *sockets, const struct cycle *before,
                struct buf *report)
{
    bool good = open_error_logs(c, report) && open_access_logs(c, report) &&
                zones_open(&c->http, before != NULL ? &before->http : NULL, report);
    for (size_t i = 0; good && i < c->http.listener_count; i++)
        good = sockets_claim(sockets, c->http.listeners[i], c->plan.workers, c->arena, report);
    return good;
}

/* ---- could it? ---- */

/* A file could be made in the directory of `path`. */
static bool check_parent(const char *path, struct buf *report)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    if (n >= sizeof(dir))
        return true; /* what comes of it the start will say */
    memcpy(dir, slash == NULL ? "." : path, n);
    dir[n] = '\0';
    if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0)
        return true;
    buf_printf(report, "\"%s\" could not be made in its directory (%d: %s)\n", path, errno,
               strerrordesc_np(errno));
    return false;
}

/* Its directories are made: the nearest one that is there counts. */
static bool check_made(const char *path, struct buf *report)
{
    char part[PATH_MAX];
    struct stat st;
    size_t n = strlen(path);
    if (n >= sizeof(part))
        return true;
    memcpy(part, path, n + 1);
    for (;;) {
        char *slash = strrchr(part, '/');
        if (slash == NULL || slash == part)
            return check_parent(part, report);
        *slash = '\0';
        if (stat(part, &st) == -1 && errno == ENOENT)
            continue;
        *slash = '/';
        return check_parent(part, report);
    }
}

static bool check_log(const struct cycle *c, struct str at, struct buf *report)
{
    const char *path = at.p;
    struct stat st;
    if (lstat(path, &st) == -1 && errno == ENOENT && below_prefix(c, at))
        return check_made(path, report);
    if (lstat(path, &st) == -1)
        return errno == ENOENT || errno == ENOTDIR ? check_parent(path, report) : true;
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0)
        return true;
    buf_printf(report, "\"%s\" could not be opened for writing (%d: %s)\n", path, errno,
               strerrordesc_np(errno));
    return false;
}

/*
 * An address that is not this host's, a port that is not for everybody: a datagram socket finds out
 * without taking the port of a stream.  (Who may take a low port is up to a sysctl, a capability
 * and the namespaces of both.)
 */
#define PRIVILEGED_PORTS 1024
static bool check_address(const struct listener *l, struct buf *report)
{
    if (addr_family(&l->addr) == AF_UNIX)
        return check_parent(l->addr.un.sun_path, report);
    struct addr a = l->addr;
    if (addr_port(&a) >= PRIVILEGED_PORTS)
        addr_set_port(&a, 0);
    int fd = socket(addr_family(&a), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd != -1 && (bind(fd, &a.sa, a.len) == 0 || errno == EADDRINUSE);
    if (!good)
        buf_printf(report, "%s to %s would fail (%d: %s)\n", fd == -1 ? "socket()" : "bind()",
                   l->text, errno, strerrordesc_np(errno));
    fd_close(&fd);
    return good;
}

bool cycle_check(struct cycle *c, struct buf *report)
{
    bool good = check_made(c->main->pid.p, report);
    int level;
    if (c->main->control.n != 0)
        (void)check_parent(c->main->control.p, report); /* a start goes on without */
    for (size_t i = 0; i < error_log_count(c); i++) {
        struct str path = error_log(c, i, &level);
        if (path.p != NULL && !str_eq(path, STR("stderr")))
            good = check_log(c, path, report) && good;
    }
    for (size_t i = 0; i < c->http.log_file_count; i++)
        good = check_log(c, c->http.log_files[i]->path, report) && good;
    for (size_t i = 0; i < c->http.listener_count; i++)
        good = check_address(c->http.listeners[i], report) && good;
    return good;
}
