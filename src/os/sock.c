/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making of listening sockets and options of connections.  Each step that fails is named with the
 * address, because "Address already in use" alone helps nobody.
 */
#include "os/sock.h"
#include "core/clock.h"
#include "os/fd.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_STEP_MS 20

void sock_options_init(struct sock_options *o)
{
    memset(o, 0, sizeof(*o));
    o->ipv6only = true;
}

static enum status step_failed(struct os_error *e, const char *step, const struct addr *a)
{
    int err = errno;
    char text[ADDR_TEXT_MAX];

    addr_format(a, text);
    return os_fail(e, err, "%s %s failed", step, text);
}

static enum status set_int(int fd, int level, int name, int value)
{
    if (setsockopt(fd, level, name, &value, sizeof(value)) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}

static bool is_unix(const struct addr *a)
{
    return addr_family(a) == AF_UNIX;
}

/* Options that bind(2) looks at. */
static enum status set_before_bind(int fd, const struct addr *a, const struct sock_options *o,
                                   struct os_error *e)
{
    if (is_unix(a))
        return STATUS_OK;
    if (set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1) != STATUS_OK)
        return step_failed(e, "setsockopt(SO_REUSEADDR) for", a);
    if (o->reuseport && set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1) != STATUS_OK)
        return step_failed(e, "setsockopt(SO_REUSEPORT) for", a);
    if (addr_family(a) == AF_INET6 &&
        set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, o->ipv6only) != STATUS_OK)
        return step_failed(e, "setsockopt(IPV6_V6ONLY) for", a);
    return STATUS_OK;
}

enum status sock_set_keepalive(int fd, const struct sock_options *o)
{
    const struct {
        int name, value;
    } rows[] = {
        {TCP_KEEPIDLE, o->keepalive_idle},
        {TCP_KEEPINTVL, o->keepalive_interval},
        {TCP_KEEPCNT, o->keepalive_count},
    };
    enum status st = STATUS_OK;

    if (o->keepalive == SOCK_KEEPALIVE_DEFAULT)
        return STATUS_OK;
    st = set_int(fd, SOL_SOCKET, SO_KEEPALIVE, o->keepalive == SOCK_KEEPALIVE_ON);
    for (size_t i = 0; st == STATUS_OK && i < ARRAY_LEN(rows); i++) {
        if (rows[i].value != 0)
            st = set_int(fd, IPPROTO_TCP, rows[i].name, rows[i].value);
    }
    return st;
}

enum status sock_reconfigure(int fd, const struct addr *a, const struct sock_options *o,
                             struct os_error *e)
{
    bool tcp = !is_unix(a);

    if (o->rcvbuf != 0 && set_int(fd, SOL_SOCKET, SO_RCVBUF, o->rcvbuf) != STATUS_OK)
        return step_failed(e, "setsockopt(SO_RCVBUF) for", a);
    if (o->sndbuf != 0 && set_int(fd, SOL_SOCKET, SO_SNDBUF, o->sndbuf) != STATUS_OK)
        return step_failed(e, "setsockopt(SO_SNDBUF) for", a);
    if (tcp && sock_set_keepalive(fd, o) != STATUS_OK)
        return step_failed(e, "setsockopt(SO_KEEPALIVE) for", a);
    if (tcp && set_int(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, o->deferred) != STATUS_OK)
        return step_failed(e, "setsockopt(TCP_DEFER_ACCEPT) for", a);
    if (tcp && set_int(fd, IPPROTO_TCP, TCP_NODELAY, o->nodelay) != STATUS_OK)
        return step_failed(e, "setsockopt(TCP_NODELAY) for", a);
    /* Unlike the others this one can be missing from a kernel: then only "off" works. */
    if (tcp && set_int(fd, IPPROTO_TCP, TCP_FASTOPEN, o->fastopen) != STATUS_OK &&
        o->fastopen != 0)
        return step_failed(e, "setsockopt(TCP_FASTOPEN) for", a);
    if (listen(fd, o->backlog != 0 ? o->backlog : SOCK_BACKLOG_DEFAULT) < 0)
        return step_failed(e, "listen() on", a);
    return STATUS_OK;
}

/* Whether somebody accepts on the Unix socket; a full queue is somebody too. */
static bool unix_alive(const struct addr *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool alive = fd < 0 || connect(fd, &a->sa, a->len) == 0 || errno != ECONNREFUSED;

    fd_close(&fd);
    return alive;
}

static bool is_socket_file(const struct addr *a)
{
    struct stat st;

    return lstat(a->un.sun_path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static enum status bind_unix(int fd, const struct addr *a, mode_t mode, struct os_error *e)
{
    mode_t old = 0;
    int r, err;

    if (is_socket_file(a)) {
        if (unix_alive(a)) {
            errno = EADDRINUSE;
            return step_failed(e, "bind() to", a);
        }
        if (unlink(a->un.sun_path) < 0 && errno != ENOENT)
            return step_failed(e, "removal of the stale socket", a);
    }
    /* The umask is the only way to have the file born with its mode; the master has one thread. */
    if (mode != 0)
        old = umask(~mode & 0777);
    r = bind(fd, &a->sa, a->len);
    err = errno;
    if (mode != 0)
        umask(old);
    errno = err;
    return r < 0 ? step_failed(e, "bind() to", a) : STATUS_OK;
}

static enum status bind_any(int fd, const struct addr *a, const struct sock_options *o,
                            struct os_error *e)
{
    if (is_unix(a))
        return bind_unix(fd, a, o->unix_mode, e);
    return bind(fd, &a->sa, a->len) < 0 ? step_failed(e, "bind() to", a) : STATUS_OK;
}

enum status sock_listen(const struct addr *a, const struct sock_options *o, int *fd,
                        struct os_error *e)
{
    enum status st;
    bool bound;

    *fd = socket(addr_family(a), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return step_failed(e, "socket() for", a);
    st = set_before_bind(*fd, a, o, e);
    if (st == STATUS_OK)
        st = bind_any(*fd, a, o, e);
    bound = st == STATUS_OK;
    if (st == STATUS_OK)
        st = sock_reconfigure(*fd, a, o, e);
    if (st != STATUS_OK) {
        fd_close(fd);
        if (bound)
            sock_unlink(a);
    }
    return st;
}

/* Binds alone, without SO_REUSEPORT, and closes again. */
static enum status try_alone(const struct addr *a, const struct sock_options *o, int *fd,
                             struct os_error *e)
{
    struct sock_options alone = *o;
    enum status st;

    if (is_unix(a)) {
        if (!is_socket_file(a) || !unix_alive(a))
            return STATUS_OK;
        errno = EADDRINUSE;
        return step_failed(e, "bind() to", a);
    }
    alone.reuseport = false;
    *fd = socket(addr_family(a), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return step_failed(e, "socket() for", a);
    st = set_before_bind(*fd, a, &alone, e);
    if (st == STATUS_OK)
        st = bind_any(*fd, a, &alone, e);
    fd_close(fd);
    return st;
}

typedef enum status attempt_f(const struct addr *a, const struct sock_options *o, int *fd,
                              struct os_error *e);

static enum status retry(attempt_f *attempt, const struct addr *a, const struct sock_options *o,
                         unsigned wait_ms, int *fd, struct os_error *e)
{
    uint64_t until = clock_mono_ms() + wait_ms;
    struct os_error last;

    for (;;) {
        if (attempt(a, o, fd, &last) == STATUS_OK)
            return STATUS_OK;
        if (last.err != EADDRINUSE || clock_mono_ms() >= until)
            return os_fail(e, last.err, "%s", last.text);
        poll(NULL, 0, RETRY_STEP_MS);
    }
}

enum status sock_listen_retry(const struct addr *a, const struct sock_options *o, unsigned wait_ms,
                              int *fd, struct os_error *e)
{
    return retry(sock_listen, a, o, wait_ms, fd, e);
}

enum status sock_probe(const struct addr *a, const struct sock_options *o, unsigned wait_ms,
                       struct os_error *e)
{
    int fd = -1;

    return retry(try_alone, a, o, wait_ms, &fd, e);
}

bool sock_is_listener(int fd, const struct addr *a)
{
    struct addr bound;
    int listening = 0, type = 0;
    socklen_t n = sizeof(listening);

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &n) < 0 || !listening)
        return false;
    n = sizeof(type);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_STREAM)
        return false;
    return addr_of_socket(fd, &bound) == STATUS_OK && addr_equal(&bound, a);
}

void sock_unlink(const struct addr *a)
{
    int saved = errno;

    if (is_unix(a) && is_socket_file(a))
        unlink(a->un.sun_path);
    errno = saved;
}

enum status sock_set_nodelay(int fd, bool on)
{
    return set_int(fd, IPPROTO_TCP, TCP_NODELAY, on);
}

enum status sock_set_cork(int fd, bool on)
{
    return set_int(fd, IPPROTO_TCP, TCP_CORK, on);
}

enum status sock_set_user_timeout(int fd, unsigned ms)
{
    return set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)ms);
}

enum status sock_reset_on_close(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}

int64_t sock_unacked(int fd)
{
    int n;

    return ioctl(fd, SIOCOUTQ, &n) < 0 ? -1 : n;
}

int sock_take_error(int fd)
{
    int err = 0;
    socklen_t n = sizeof(err);

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0 ? errno : err;
}
