/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of listening sockets. Only the master changes it. */
#include "server/sockets.h"

#include "os/fd.h"

#include <fcntl.h>
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

static bool report_error(struct buf *report, const struct os_error *e)
{
    char text[OS_ERROR_TEXT + 64];
    struct wbuf w = wbuf_make(text, sizeof(text));
    os_error_write(e, &w);
    buf_printf(report, "%.*s\n", (int)(w.at - text), text);
    return false;
}

bool sockets_inherit(struct sockets *s, struct buf *report)
{
    const char *text = getenv(HANDOVER_ENV);
    if (text == NULL)
        return true;
    struct arena *mem = arena_new(4096, 0);
    struct handover_list list;
    bool ok = mem != NULL && handover_decode(mem, str_z(text), &list) == STATUS_OK;
    unsetenv(HANDOVER_ENV);
    for (size_t i = 0; ok && i < list.n; i++) {
        if (!sock_is_listener(list.v[i].fd, &list.v[i].addr)) {
            ok = false;
            break;
        }
        struct socket_group *g = group_find(s, &list.v[i].addr);
        if (g == NULL && (g = group_add(s, &list.v[i].addr)) != NULL)
            g->inherited = true;
        ok = g != NULL && group_push(g, list.v[i].fd);
        fd_set_cloexec(list.v[i].fd, true);
    }
    if (!ok)
        buf_printf(report, "the listening sockets in %s cannot be taken over\n", HANDOVER_ENV);
    if (mem != NULL)
        arena_delete(mem);
    return ok;
}

/* A group that is new must not share its address with a server that was left over. */
static bool group_open(struct socket_group *g, const struct listener *l, uint32_t want,
                       struct buf *report)
{
    struct os_error e;
    if (g->count == 0 && sock_probe(&l->addr, &l->options, BIND_WAIT_MS, &e) != STATUS_OK)
        return report_error(report, &e);
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

bool sockets_claim(struct sockets *s, struct listener *l, uint32_t workers, struct arena *mem,
                   struct buf *report)
{
    bool is_unix = addr_family(&l->addr) == AF_UNIX;
    uint32_t want = is_unix ? 1 : workers;
    struct socket_group *g = group_find(s, &l->addr);
    bool fresh = g == NULL;
    if (fresh && (g = group_add(s, &l->addr)) == NULL) {
        buf_str(report, STR("out of memory\n"));
        return false;
    }
    l->options.reuseport = !is_unix; /* always: a reload may bring more workers */
    struct os_error e;
    for (uint32_t i = 0; i < g->count; i++)
        if (sock_reconfigure(g->fds[i], &l->addr, &l->options, &e) != STATUS_OK)
            report_error(report, &e);
    uint32_t had = g->count;
    l->fds = arena_array(mem, want, sizeof(*l->fds));
    if (l->fds == NULL || !group_open(g, l, want, report)) {
        group_close_from(g, had);
        if (fresh)
            group_remove(s, (size_t)(g - s->groups));
        return false;
    }
    memcpy(l->fds, g->fds, want * sizeof(*l->fds));
    l->fd_count = want;
    g->used = true;
    g->inherited = false;
    return true;
}

void sockets_begin(struct sockets *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->groups[i].used = false;
}

void sockets_prune(struct sockets *s, uint32_t workers)
{
    for (size_t i = s->count; i-- > 0;) {
        struct socket_group *g = &s->groups[i];
        if (!g->used) {
            if (addr_family(&g->addr) == AF_UNIX)
                sock_unlink(&g->addr);
            group_remove(s, i);
        } else if (g->count > workers) {
            group_close_from(g, workers);
        }
    }
}

bool sockets_handover(const struct sockets *s, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct socket_group *g = &s->groups[i];
        for (uint32_t k = 0; k < g->count; k++) {
            struct handover h = {.addr = g->addr, .fd = g->fds[k]};
            if (!handover_encode(to, &h, 1))
                return false;
        }
    }
    return !to->failed;
}

void sockets_close(struct sockets *s, bool unlink_unix)
{
    while (s->count > 0) {
        const struct socket_group *g = &s->groups[s->count - 1];
        if (unlink_unix && addr_family(&g->addr) == AF_UNIX)
            sock_unlink(&g->addr);
        group_remove(s, s->count - 1);
    }
    free(s->groups);
    *s = (struct sockets){0};
}
