/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets of the test client: connecting, sending in pieces, collecting bytes. The sockets are
 * non-blocking and every wait has an end. TCP_NODELAY is set so that pieces stay pieces.
 */
#include "lib/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void sleep_ms(int ms)
{
    struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
        continue;
}

struct address {
    struct sockaddr_storage ss;
    socklen_t n;
};

static bool parse_address(const char *text, struct address *a)
{
    memset(a, 0, sizeof(*a));
    if (strncmp(text, "unix:", 5) == 0) {
        struct sockaddr_un *un = (struct sockaddr_un *)&a->ss;
        un->sun_family = AF_UNIX;
        if (strlen(text + 5) >= sizeof(un->sun_path))
            return false;
        memcpy(un->sun_path, text + 5, strlen(text + 5) + 1);
        a->n = sizeof(*un);
        return true;
    }
    char host[64];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof(host))
        return false;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    uint16_t port = htons((uint16_t)atoi(colon + 1));
    if (host[0] == '[') {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->ss;
        host[strlen(host) - 1] = '\0';
        in6->sin6_family = AF_INET6;
        in6->sin6_port = port;
        a->n = sizeof(*in6);
        return inet_pton(AF_INET6, host + 1, &in6->sin6_addr) == 1;
    }
    struct sockaddr_in *in = (struct sockaddr_in *)&a->ss;
    in->sin_family = AF_INET;
    in->sin_port = port;
    a->n = sizeof(*in);
    return inet_pton(AF_INET, host, &in->sin_addr) == 1;
}

bool client_open_rcvbuf(struct client *c, const char *addr, int rcvbuf)
{
    struct address a;
    memset(c, 0, sizeof(*c));
    c->fd = -1;
    if (!parse_address(addr, &a)) {
        errno = EINVAL;
        return false;
    }
    c->fd = socket(a.ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return false;
    int one = 1;
    if (a.ss.ss_family != AF_UNIX)
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (rcvbuf > 0)
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
    if (connect(c->fd, (struct sockaddr *)&a.ss, a.n) == 0)
        return true;
    int err = errno;
    if (err == EINPROGRESS) {
        struct pollfd p = {c->fd, POLLOUT, 0};
        socklen_t n = sizeof(err);
        if (poll(&p, 1, CLIENT_PATIENCE) != 1)
            err = ETIMEDOUT;
        else if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0 && err == 0)
            return true;
    }
    client_close(c);
    errno = err;
    return false;
}

bool client_open(struct client *c, const char *addr)
{
    return client_open_rcvbuf(c, addr, 0);
}

void client_close(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    free(c->in);
    memset(c, 0, sizeof(*c));
    c->fd = -1;
}

void client_abort(struct client *c)
{
    struct linger l = {1, 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
    client_close(c);
}

void client_half_close(struct client *c)
{
    shutdown(c->fd, SHUT_WR);
}

/* One recv into the buffer; false when nothing was there. */
static bool receive(struct client *c)
{
    if (c->room - c->n < 65536) {
        c->room = c->room * 2 + 131072;
        c->in = realloc(c->in, c->room + 1);
        if (c->in == NULL)
            abort();
    }
    ssize_t got = recv(c->fd, c->in + c->n, c->room - c->n, 0);
    if (got > 0) {
        c->n += (size_t)got;
        c->in[c->n] = '\0';
        return true;
    }
    if (got == 0) {
        c->eof = true;
        return true;
    }
    if (errno == EAGAIN || errno == EINTR)
        return false;
    c->eof = true;
    c->reset = true;
    return true;
}

bool client_send(struct client *c, const void *p, size_t n)
{
    const char *at = p;
    int64_t end = now_ms() + CLIENT_PATIENCE;
    while (n > 0) {
        ssize_t put = send(c->fd, at, n, MSG_NOSIGNAL);
        if (put > 0) {
            at += put;
            n -= (size_t)put;
            end = now_ms() + CLIENT_PATIENCE;
            continue;
        }
        if (errno != EAGAIN && errno != EINTR) {
            c->reset = true;
            return false;
        }
        struct pollfd pf = {c->fd, (short)(c->eof ? POLLOUT : POLLOUT | POLLIN), 0};
        if (now_ms() > end || poll(&pf, 1, CLIENT_PATIENCE) < 0)
            return false;
        if ((pf.revents & POLLIN) != 0)
            receive(c);
    }
    return true;
}

bool client_sendz(struct client *c, const char *text)
{
    return client_send(c, text, strlen(text));
}

bool client_send_split(struct client *c, const void *p, size_t n, size_t at, int pause)
{
    const char *s = p;
    if (at > n)
        at = n;
    if (!client_send(c, s, at))
        return false;
    sleep_ms(pause);
    return client_send(c, s + at, n - at);
}

bool client_send_bytes(struct client *c, const void *p, size_t n)
{
    const char *s = p;
    for (size_t i = 0; i < n; i++) {
        if (!client_send(c, s + i, 1))
            return false;
        usleep(30);
    }
    return true;
}

bool client_fill(struct client *c, int timeout)
{
    int64_t end = now_ms() + timeout;
    if (c->eof)
        return false;
    for (;;) {
        if (receive(c))
            return true;
        int left = (int)(end - now_ms());
        struct pollfd p = {c->fd, POLLIN, 0};
        if (left <= 0 || poll(&p, 1, left) == 0)
            return false;
    }
}

void client_consume(struct client *c, size_t n)
{
    if (n > c->n)
        n = c->n;
    if (n == 0)
        return;
    memmove(c->in, c->in + n, c->n - n + 1);
    c->n -= n;
}

bool client_ends(struct client *c, int timeout)
{
    int64_t end = now_ms() + timeout;
    while (!c->eof && c->n == 0) {
        int left = (int)(end - now_ms());
        if (left <= 0 || !client_fill(c, left))
            return false;
    }
    return c->eof && c->n == 0 && !c->reset;
}

bool client_quiet(struct client *c, int ms)
{
    return c->n == 0 && !c->eof && !client_fill(c, ms);
}

uint64_t client_drain(struct client *c, uint64_t at, uint64_t n, unsigned char (*want)(uint64_t),
                      int timeout, bool *wrong)
{
    uint64_t got = 0;
    while (got < n) {
        if (c->n == 0 && want == NULL && !c->eof) {
            size_t most = n - got < (1u << 20) ? (size_t)(n - got) : 1u << 20;
            ssize_t gone = recv(c->fd, NULL, most, MSG_TRUNC); /* TCP discards without copying */
            if (gone > 0) {
                got += (uint64_t)gone;
                continue;
            }
        }
        if (c->n == 0 && (!client_fill(c, timeout) || c->n == 0))
            break;
        size_t take = c->n < n - got ? c->n : (size_t)(n - got);
        for (size_t i = 0; want != NULL && i < take; i++) {
            if ((unsigned char)c->in[i] != want(at + got + i)) {
                *wrong = true;
                break;
            }
        }
        got += take;
        client_consume(c, take);
    }
    return got;
}
