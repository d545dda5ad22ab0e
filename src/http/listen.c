/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From `listen` directives to listeners.  A directive gives one address or many (a range of ports,
 * a host name with several addresses); servers meet at an address, one of them is its default.
 */
#include "http/listen.h"

#include "conf/value.h"
#include "core/vec.h"
#include "http/listen_options.h"
#include "http/vhost.h"
#include "os/resolve.h"

#include <unistd.h>

#define PORT_PLAIN 80
#define PORT_UNPRIVILEGED 8000

struct address {
    struct listener *listener;
    struct listen_options options;
    VEC(struct vhost *) vhosts;
    struct vhost *dflt;           /* marked as default_server */
    struct pos dflt_pos;
};

struct gather {
    struct cycle_http *cy;
    struct map by_text;
    VEC(struct address *) all;
};

static struct address *address_of(struct gather *g, const struct addr *addr)
{
    struct cycle_http *cy = g->cy;
    char text[ADDR_TEXT_MAX];
    size_t n = addr_format(addr, text);
    struct address *a = map_get(&g->by_text, str_make(text, n));
    if (a != NULL)
        return a;
    struct address **slot = vec_push(&g->all, cy->arena);
    a = ARENA_NEW(cy->arena, struct address);
    if (slot == NULL || a == NULL)
        return NULL;
    *slot = a;
    a->listener = ARENA_NEW(cy->arena, struct listener);
    if (a->listener == NULL)
        return NULL;
    a->listener->addr = *addr;
    memcpy(a->listener->text, text, n + 1);
    if (map_add(&g->by_text, str_make(a->listener->text, n), a) != STATUS_OK)
        return NULL;
    return a;
}

/* One address of one listen of a server. */
static bool join(struct gather *g, struct vhost *v, const struct addr *addr,
                 const struct listen_options *o, struct pos pos)
{
    struct diag *d = g->cy->diag;
    struct address *a = address_of(g, addr);
    if (a == NULL)
        return false;
    const char *text = a->listener->text;
    if (a->vhosts.n > 0 && a->vhosts.v[a->vhosts.n - 1] == v) {
        diag_error(d, pos, v->block->path, "listen: %s stands in this server twice", text);
        return false;
    }
    bool good = listen_options_merge(&a->options, o, d, v->block->path, text);
    if (o->default_server && a->dflt != NULL) {
        diag_error(d, pos, v->block->path,
                   "listen: %s has a default_server already, in line %u", text, a->dflt_pos.line);
        good = false;
    } else if (o->default_server) {
        a->dflt = v;
        a->dflt_pos = pos;
    }
    struct vhost **slot = vec_push(&a->vhosts, g->cy->arena);
    if (slot != NULL)
        *slot = v;
    return good && slot != NULL;
}

static bool bad_address(struct gather *g, const struct vhost *v, const struct arg *arg,
                        const char *why)
{
    diag_error(g->cy->diag, arg->pos, v->block->path,
               "listen: \"" STR_FMT "\" is not valid, expected %s", STR_ARG(arg->text), why);
    return false;
}

/* The addresses a host stands for, with port 0. */
static bool addresses(struct gather *g, const struct vhost *v, const struct arg *arg,
                      const struct value_address *in, struct addr_list *out)
{
    struct os_error e;
    struct cycle_http *cy = g->cy;
    if (in->kind == VALUE_ADDRESS_IP && in->host.n != 0 && !str_eq(in->host, STR("*"))) {
        int family = in->v6 ? AF_INET6 : AF_UNSPEC;
        if (resolve_host(cy->arena, in->host, 0, family, out, &e) == STATUS_OK)
            return true;
        diag_error(cy->diag, arg->pos, v->block->path, "listen: %s", e.text);
        return false;
    }
    out->n = 1;
    out->v = arena_array(cy->arena, 1, sizeof(*out->v));
    if (out->v == NULL)
        return false;
    if (in->kind == VALUE_ADDRESS_IP)
        addr_any(&out->v[0], AF_INET, 0);
    else if (!addr_from_path(&out->v[0], in->path))
        return bad_address(g, v, arg, "a path of a Unix socket of at most 107 bytes");
    return true;
}

static bool read_listen(struct gather *g, struct vhost *v, const struct args *args)
{
    struct value_address in;
    struct listen_options o;
    struct addr_list list;
    const char *why;
    const struct arg *first = &args->v[0];
    if (!value_address(first->text, &in, &why))
        return bad_address(g, v, first, why);
    bool good = listen_options_read(&o, g->cy->diag, v->block->path, args,
                                    in.kind == VALUE_ADDRESS_UNIX);
    if (!addresses(g, v, first, &in, &list) || !good)
        return false;
    unsigned from = in.port != 0 ? in.port : PORT_PLAIN, to = in.port != 0 ? in.port_end : from;
    if (in.kind == VALUE_ADDRESS_UNIX)
        from = to = 0;
    for (size_t i = 0; i < list.n; i++) {
        for (unsigned port = from; port <= to; port++) {
            struct addr a = list.v[i];
            addr_set_port(&a, (uint16_t)port);
            good = join(g, v, &a, &o, first->pos) && good;
        }
    }
    return good;
}

static bool gather_server(struct gather *g, struct vhost *v)
{
    const struct instances *in = &v->conf->listen;
    bool good = true;
    for (size_t i = 0; i < in->n; i++)
        good = read_listen(g, v, &in->v[i]) && good;
    if (in->n != 0)
        return good;
    struct addr a;
    struct listen_options none = {.default_server = false};
    addr_any(&a, AF_INET, geteuid() == 0 ? PORT_PLAIN : PORT_UNPRIVILEGED);
    return join(g, v, &a, &none, v->block->pos);
}

static bool finish(struct cycle_http *cy, struct address *a)
{
    struct listener *l = a->listener;
    struct vhost *dflt = a->dflt != NULL ? a->dflt : a->vhosts.v[0];
    bool tcp = addr_family(&l->addr) != AF_UNIX;
    listen_options_apply(&a->options, &l->options, &l->proxy_protocol);
    l->options.reuseport = tcp;
    l->options.nodelay = tcp && dflt->conf->tcp_nodelay;
    if (!tcp)
        l->options.deferred = 0;
    l->sites = sites_compile(cy, l->text, a->vhosts.v, a->vhosts.n, dflt);
    return l->sites != NULL;
}

bool listen_compile(struct cycle_http *cy)
{
    struct gather g = {.cy = cy};
    bool good = true;
    map_init(&g.by_text, cy->arena, false);
    for (size_t i = 0; i < cy->vhost_count; i++)
        good = gather_server(&g, cy->vhosts[i]) && good;
    if (!good)
        return false;
    cy->listeners = arena_array(cy->arena, g.all.n, sizeof(struct listener *));
    if (cy->listeners == NULL)
        return false;
    for (size_t i = 0; i < g.all.n; i++) {
        if (!finish(cy, g.all.v[i]))
            return false;
        cy->listeners[cy->listener_count++] = g.all.v[i]->listener;
    }
    return true;
}
