/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of listening sockets. Only the master changes it. */
#include "server/sockets.h"

#include "os/fd.h"

#include <stdlib.h>

/* How long an address may be taken by a server that is just ending. */
#define BIND_WAIT_MS 1000

static struct socket_group *group_find(struct sockets *s, const struct addr *a)
{
    for (size_t i = 0; i < s->count; i++)
        if (addr_equal(&s->groups[i].addr, a))
            return &s->groups[i];
    return NULL;
}

static struct socket_group *group_add(struct sockets *s, const struct addr *a)
{
    if (s->count == s->room) {
        size_t room = s->room == 0 ? 8 : s->room * 2;
        struct socket_group *p = reallocarray(s->groups, room, sizeof(*p));
        if (p == NULL)
            return NULL;
        s->groups = p;
        s->room = room;
    }
    struct socket_group *g = &s->groups[s->count++];
    *g = (struct socket_group){.addr = *a};
    return g;
}

static bool group_push(struct socket_group *g, int fd)
{
    int *p = reallocarray(g->fds, g->count + 1, sizeof(*p));
    if (p == NULL)
        return false;
    g->fds = p;
    g->fds[g->count++] = fd;
    return true;
}

static void group_close_from(struct socket_group *g, uint32_t keep)
{
    while (g->count > keep)
        fd_close(&g->fds[--g->count]);
}

static void group_remove(struct sockets *s, size_t i)
{
    group_close_from(&s->groups[i], 0);
    free(s->groups[i].fds);
    s->groups[i] = s->groups[--s->count];
}

static bool group_is_unix(const struct socket_group *g)
{
    return addr_family(&g->addr) == AF_UNIX;
}

static bool report_error(struct buf *report, const struct os_error *e)
{
    char text[OS_ERROR_TEXT + 64];
    struct wbuf w = wbuf_make(text, sizeof(text));
    os_error_write(e, &w);
    buf_printf(report, "%.*s\n", (int)(w.at - text), text);
    return false;
}

/* ---- taking over ---- */

static bool take_over(struct sockets *s, const struct handover *h)
{
    if (!sock_is_listener(h->fd, &h->addr))
        return false;
    struct socket_group *g = group_find(s, &h->addr);
    if (g == NULL && (g = group_add(s, &h->addr)) != NULL)
        g->inherited = true;
    if (g == NULL || !group_push(g, h->fd))
        return false;
    g->shared = g->count;
    return fd_set_cloexec(h->fd, true) == STATUS_OK;
}

bool sockets_inherit(struct sockets *s, struct buf *report)
{
    const char *text = getenv(HANDOVER_ENV);
    if (text == NULL)
        return true;
    struct arena *mem = arena_new(4096, 0);
    struct handover_list list;
    bool ok = mem != NULL && handover_decode(mem, str_z(text), &list) == STATUS_OK;
    for (size_t i = 0; ok && i < list.n; i++)
        ok = take_over(s, &list.v[i]);
    unsetenv(HANDOVER_ENV);
    if (!ok)
        buf_printf(report, "the listening sockets in %s cannot be taken over\n", HANDOVER_ENV);
    arena_delete(mem);
    return ok;
}

bool sockets_handover(const struct sockets *s, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct socket_group *g = &s->groups[i];
        for (uint32_t k = 0; k < g->count; k++) {
            struct handover h = {.addr = g->addr, .fd = g->fds[k]};
            if ((to->n != 0 && !buf_char(to, ';')) || !handover_encode(to, &h, 1))
                return false;
        }
    }
    return !to->failed;
}

/* ---- a change of the table ---- */

void sockets_begin(struct sockets *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->groups[i].used = false;
        s->groups[i].kept = s->groups[i].count;
    }
}

/* Whether we listen on that port already, on another address: 127.0.0.1:80 beside 0.0.0.0:80. */
static bool holds_port(const struct sockets *s, const struct addr *a)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->groups[i].count > 0 && !group_is_unix(&s->groups[i]) &&
            addr_port(&s->groups[i].addr) == addr_port(a))
            return true;
    return false;
}

/* A group that is new must not share its address with a server that was left over. */
static bool group_open(const struct sockets *s, struct socket_group *g, const struct listener *l,
                       uint32_t want, struct buf *report)
{
    struct os_error e;
    if (g->count == 0 && (group_is_unix(g) || !holds_port(s, &g->addr)) &&
        sock_probe(&l->addr, &l->options, BIND_WAIT_MS, &e) != STATUS_OK)
        return report_error(report, &e);
    if (g->count > 0 && g->count == g->kept && g->count < want)
        sock_steer_spread(g->fds[0], g->kept);
    while (g->count < want) {
        int fd;
        if (sock_listen_retry(&l->addr, &l->options, BIND_WAIT_MS, &fd, &e) != STATUS_OK)
            return report_error(report, &e);
        if (!group_push(g, fd)) {
            fd_close(&fd);
            buf_str(report, STR("out of memory\n"));
            return false;
        }
    }
    return true;
}

static bool reconfigure(const struct socket_group *g, const struct listener *l,
                        struct buf *report)
{
    struct os_error e;
    for (uint32_t i = 0; i < g->kept; i++)
        if (sock_reconfigure(g->fds[i], &l->addr, &l->options, &e) != STATUS_OK)
            return report_error(report, &e);
    return true;
}

bool sockets_claim(struct sockets *s, struct listener *l, uint32_t workers, struct arena *mem,
                   struct buf *report)
{
    struct socket_group *g = group_find(s, &l->addr);
    if (g == NULL && (g = group_add(s, &l->addr)) == NULL) {
        buf_str(report, STR("out of memory\n"));
        return false;
    }
    l->options.reuseport = !group_is_unix(g); /* always: a reload may bring more workers */
    if (!group_open(s, g, l, group_is_unix(g) ? 1 : workers, report) ||
        !reconfigure(g, l, report))
        return false;
    l->fds = arena_array(mem, g->count, sizeof(*l->fds));
    if (l->fds == NULL) {
        buf_str(report, STR("out of memory\n"));
        return false;
    }
    memcpy(l->fds, g->fds, g->count * sizeof(*l->fds));
    l->fd_count = g->count;
    g->used = true;
    return true;
}

void sockets_steer(struct sockets *s, uint32_t workers)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct socket_group *g = &s->groups[i];
        if (group_is_unix(g) || g->count == 0)
            continue;
        if (g->count > workers)
            sock_steer_spread(g->fds[0], workers);
        else
            sock_steer_none(g->fds[0]);
    }
}

void sockets_hand_back(struct sockets *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct socket_group *g = &s->groups[i];
        if (g->shared > 0 && g->shared < g->count && !group_is_unix(g))
            sock_steer_spread(g->fds[0], g->shared);
    }
}

/* Those that wait for their first byte are let in: the workers take them before they close. */
static void stop_deferring(const struct socket_group *g, uint32_t from)
{
    struct sock_options plain;
    sock_options_init(&plain);
    for (uint32_t k = from; k < g->count && !g->inherited && !group_is_unix(g); k++)
        sock_reconfigure(g->fds[k], &g->addr, &plain, NULL);
}

void sockets_commit(struct sockets *s, uint32_t workers)
{
    for (size_t i = s->count; i-- > 0;) {
        struct socket_group *g = &s->groups[i];
        if (g->used) {
            g->inherited = false;
            g->kept = g->count;
            stop_deferring(g, workers);
            continue;
        }
        if (group_is_unix(g) && !g->inherited) /* the old master may still serve on it */
            sock_unlink(&g->addr);
        stop_deferring(g, 0);
        group_remove(s, i);
    }
    sockets_steer(s, workers);
}

bool sockets_surplus(const struct sockets *s, uint32_t workers)
{
    for (size_t i = 0; i < s->count; i++)
        if (!group_is_unix(&s->groups[i]) && s->groups[i].count > workers)
            return true;
    return false;
}

void sockets_trim(struct sockets *s, struct listener *const *listeners, size_t n,
                  uint32_t workers)
{
    for (size_t i = 0; i < s->count; i++) {
        struct socket_group *g = &s->groups[i];
        if (group_is_unix(g) || g->count <= workers)
            continue;
        group_close_from(g, workers);
        g->kept = g->count;
        if (g->shared > g->count)
            g->shared = g->count;
    }
    for (size_t i = 0; i < n; i++)
        if (addr_family(&listeners[i]->addr) != AF_UNIX && listeners[i]->fd_count > workers)
            listeners[i]->fd_count = workers;
}

void sockets_rollback(struct sockets *s, struct listener *const *listeners, size_t n)
{
    for (size_t i = s->count; i-- > 0;) {
        struct socket_group *g = &s->groups[i];
        bool opened = g->count > g->kept;
        group_close_from(g, g->kept);
        if (g->count > 0)
            continue;
        if (group_is_unix(g) && opened) /* else the file is somebody else's */
            sock_unlink(&g->addr);
        group_remove(s, i);
    }
    struct buf ignored;
    buf_init(&ignored, 64u << 10);
    for (size_t i = 0; i < n; i++) {
        const struct socket_group *g = group_find(s, &listeners[i]->addr);
        if (g != NULL)
            reconfigure(g, listeners[i], &ignored);
    }
    buf_fini(&ignored);
}

/* ---- closing ---- */

static bool listener_has(const struct listener *l, int fd)
{
    for (uint32_t i = 0; i < l->fd_count; i++)
        if (l->fds[i] == fd)
            return true;
    return false;
}

void sockets_keep_only(struct sockets *s, struct listener *const *listeners, size_t n)
{
    for (size_t i = 0; i < s->count; i++) {
        struct socket_group *g = &s->groups[i];
        const struct listener *l = NULL;
        for (size_t k = 0; k < n && l == NULL; k++)
            if (addr_equal(&listeners[k]->addr, &g->addr))
                l = listeners[k];
        for (uint32_t k = 0; k < g->count; k++)
            if (l == NULL || !listener_has(l, g->fds[k]))
                fd_close(&g->fds[k]);
    }
}

void sockets_unlink(const struct sockets *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (group_is_unix(&s->groups[i]))
            sock_unlink(&s->groups[i].addr);
}

void sockets_close(struct sockets *s, bool unlink_unix)
{
    while (s->count > 0) {
        const struct socket_group *g = &s->groups[s->count - 1];
        if (unlink_unix && group_is_unix(g))
            sock_unlink(&g->addr);
        group_remove(s, s->count - 1);
    }
    free(s->groups);
    *s = (struct sockets){0};
}
