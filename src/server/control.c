/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket, both ends. */
#include "server/control.h"

#include "os/fd.h"
#include "os/sock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool control_open(struct control *c, const char *path)
{
    struct sock_options o;
    struct os_error e;
    sock_options_init(&o);
    o.backlog = CONTROL_CLIENTS;
    o.unix_mode = S_IRUSR | S_IWUSR;
    errno = ENAMETOOLONG;
    return addr_from_path(&c->addr, str_z(path)) &&
           sock_listen(&c->addr, &o, &c->fd, &e) == STATUS_OK;
}

void control_close(struct control *c, bool unlink_it)
{
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        fd_close(&c->clients[i].fd);
    if (c->fd != -1 && unlink_it)
        sock_unlink(&c->addr);
    fd_close(&c->fd);
}

void control_accept(struct control *c)
{
    int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd == -1)
        return;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (c->clients[i].fd == -1) {
            c->clients[i] = (struct control_client){.fd = fd};
            return;
        }
    fd_close(&fd); /* too many at a time: whoever it is may try again */
}

bool control_read(struct control *c, size_t i, struct str *word)
{
    struct control_client *cl = &c->clients[i];
    ssize_t r = read(cl->fd, cl->word + cl->n, sizeof(cl->word) - cl->n);
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
    fd_set_nonblock(cl->fd, false); /* a few KiB into an empty socket buffer */
    if (fd_write_all(cl->fd, head.p, head.n, NULL) == STATUS_OK)
        fd_write_all(cl->fd, text.p, text.n, NULL);
    fd_close(&cl->fd);
}

void control_answer_waiting(struct control *c, bool ok, struct str text)
{
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (c->clients[i].fd != -1 && c->clients[i].waits)
            control_answer(c, i, ok, text);
}

int control_ask(const char *path, const char *word)
{
    struct addr a;
    if (!addr_from_path(&a, str_z(path)))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd == -1 || connect(fd, &a.sa, a.len) == -1) {
        fd_close(&fd);
        return -1;
    }
    dprintf(fd, "%s\n", word);
    FILE *in = fdopen(fd, "r");
    char line[1024];
    bool ok = in != NULL && fgets(line, sizeof(line), in) != NULL && strcmp(line, "ok\n") == 0;
    while (in != NULL && fgets(line, sizeof(line), in) != NULL)
        fputs(line, ok ? stdout : stderr);
    if (in != NULL)
        fclose(in);
    return ok ? 0 : 1;
}
