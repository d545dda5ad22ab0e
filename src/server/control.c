/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket, both ends. */
#include "server/control.h"

#include "os/fd.h"
#include "os/sock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define WRITE_PATIENCE_S 1    /* a client that does not read */
#define ANSWER_PATIENCE_S 120 /* longer than any reload takes */

/* ---- the server's end ---- */

void control_init(struct control *c)
{
    *c = (struct control){.fd = -1};
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        c->clients[i].fd = -1;
}

bool control_path(const char *pid_path, char *to, size_t size)
{
    struct str p = str_z(pid_path);
    if (str_ends(p, STR(".pid")))
        p.n -= 4;
    int n = snprintf(to, size, STR_FMT ".sock", STR_ARG(p));
    return n > 0 && (size_t)n < size;
}

enum status control_open(struct control *c, const char *path, struct os_error *e)
{
    struct sock_options o;
    struct addr addr;
    int fd;
    if (!addr_from_path(&addr, str_z(path)))
        return os_fail(e, ENAMETOOLONG, "bind() to unix:%s failed", path);
    sock_options_init(&o);
    o.backlog = CONTROL_CLIENTS;
    o.unix_mode = S_IRUSR | S_IWUSR;
    enum status st = sock_listen(&addr, &o, &fd, e);
    if (st != STATUS_OK)
        return st;
    control_close(c, true);
    c->fd = fd;
    c->addr = addr;
    return STATUS_OK;
}

void control_close(struct control *c, bool unlink_it)
{
    if (c->fd != -1 && unlink_it)
        sock_unlink(&c->addr);
    fd_close(&c->fd);
}

void control_fini(struct control *c, bool unlink_it)
{
    control_close(c, unlink_it);
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        fd_close(&c->clients[i].fd);
}

/* A free place; else that of somebody who has been silent. NULL: all wait for an outcome. */
static struct control_client *place(struct control *c)
{
    struct control_client *silent = NULL;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        if (c->clients[i].fd == -1)
            return &c->clients[i];
        if (c->clients[i].ticket == 0 && silent == NULL)
            silent = &c->clients[i];
    }
    if (silent != NULL)
        fd_close(&silent->fd);
    return silent;
}

void control_accept(struct control *c)
{
    int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd == -1) {
        c->paused = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
        return;
    }
    struct timeval patience = {.tv_sec = WRITE_PATIENCE_S};
    struct control_client *cl = place(c);
    if (cl == NULL || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == -1) {
        fd_close(&fd); /* whoever it is may try again */
        return;
    }
    *cl = (struct control_client){.fd = fd};
}

bool control_read(struct control *c, size_t i, struct str *word)
{
    struct control_client *cl = &c->clients[i];
    ssize_t r = recv(cl->fd, cl->word + cl->n, sizeof(cl->word) - cl->n, MSG_DONTWAIT);
    if (r <= 0) {
        if (r == 0 || (errno != EAGAIN && errno != EINTR))
            fd_close(&cl->fd);
        return false;
    }
    cl->n += (uint32_t)r;
    *word = str_make(cl->word, cl->n);
    ssize_t end = str_chr(*word, '\n');
    if (end >= 0) {
        word->n = (size_t)end;
        return true;
    }
    if (cl->n == sizeof(cl->word))
        control_answer(c, i, false, STR("unknown command\n"));
    return false;
}

void control_answer(struct control *c, size_t i, bool ok, struct str text)
{
    struct control_client *cl = &c->clients[i];
    struct str head = ok ? STR("ok\n") : STR("failed\n");
    if (fd_write_all(cl->fd, head.p, head.n, NULL) == STATUS_OK)
        fd_write_all(cl->fd, text.p, text.n, NULL);
    fd_close(&cl->fd);
}

void control_answer_waiting(struct control *c, uint64_t upto, bool ok, struct str text)
{
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        const struct control_client *cl = &c->clients[i];
        if (cl->fd != -1 && cl->ticket != 0 && cl->ticket <= upto)
            control_answer(c, i, ok, text);
    }
}

/* ---- the client's end ---- */

/* In a directory that others can write the socket could be anybody's. */
static bool peer_is_ours(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static int connect_to(const char *path)
{
    struct addr a;
    struct timeval patience = {.tv_sec = ANSWER_PATIENCE_S};
    if (!addr_from_path(&a, str_z(path)))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd != -1 && (connect(fd, &a.sa, a.len) == -1 || !peer_is_ours(fd)))
        fd_close(&fd);
    if (fd != -1)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

int control_ask(const char *path, const char *word)
{
    int fd = connect_to(path);
    FILE *in = fd == -1 ? NULL : fdopen(fd, "r");
    char line[1024];
    if (in == NULL) {
        fd_close(&fd);
        return -1;
    }
    dprintf(fd, "%s\n", word);
    bool answered = fgets(line, sizeof(line), in) != NULL;
    bool ok = answered && strcmp(line, "ok\n") == 0;
    if (!answered)
        fprintf(stderr, "sluice: the server gave no answer at %s\n", path);
    while (answered && fgets(line, sizeof(line), in) != NULL)
        fputs(line, ok ? stdout : stderr);
    fclose(in);
    return ok ? 0 : 1;
}
