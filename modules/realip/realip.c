/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's address behind proxies that are trusted to tell it.  It is put into the request
 * before anything looks at addresses; the connection keeps its own peer, whose next request may be
 * another client's.  Once in a request: an address that came from a header is not asked about in
 * its turn.
 */
#include "core/vec.h"
#include "forwarded.h"
#include "http/request.h"
#include "os/cidr.h"
#include "os/resolve.h"

#define REALIP_RANK (-1000) /* before whatever looks at addresses in these phases */

enum realip_source { REALIP_FIELD, REALIP_PROXY };

struct realip_conf {
    struct instances set_real_ip_from;
    struct arg real_ip_header;
    bool real_ip_recursive;
    /* derived */
    VEC(struct cidr) trusted;
    enum realip_source source;
    enum field_id field;      /* FIELD_OTHER: by name */
};

static unsigned realip_slot;
extern const struct module realip_module;

/* ---- configuration ---- */

static bool add_host(struct cycle_http *cy, struct block *b, const struct arg *arg,
                     struct realip_conf *conf)
{
    struct addr_list list;
    struct os_error e;
    if (resolve_host(cy->arena, arg->text, 0, AF_UNSPEC, &list, &e) != STATUS_OK) {
        diag_error(cy->diag, arg->pos, b->path, "set_real_ip_from: %s", e.text);
        return false;
    }
    for (size_t i = 0; i < list.n; i++) {
        struct cidr *net = vec_push(&conf->trusted, cy->arena);
        if (net == NULL)
            return false;
        cidr_of_addr(net, &list.v[i]);
    }
    return true;
}

/* Could it be the name of a host? What looks like an address is one, or a mistake. */
static bool is_name(struct str s)
{
    bool letter = false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = ascii_lower((unsigned char)s.p[i]);
        letter = letter || (c >= 'a' && c <= 'z');
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
            return false;
    }
    return letter && !str_eq(s, STR("all"));
}

static bool add_trusted(struct cycle_http *cy, struct block *b, const struct arg *arg,
                        struct realip_conf *conf)
{
    struct cidr net;
    bool host_bits;
    if (is_name(arg->text))
        return add_host(cy, b, arg, conf);
    if (!cidr_parse(&net, arg->text, &host_bits) || net.family == AF_UNSPEC) {
        diag_error(cy->diag, arg->pos, b->path,
                   "set_real_ip_from: \"" STR_FMT "\" is not valid, expected an address, a network "
                   "as 192.0.2.0/24 or 2001:db8::/32, the name of a host, or unix:",
                   STR_ARG(diag_excerpt(cy->diag, arg->text)));
        return false;
    }
    if (host_bits)
        diag_warn(cy->diag, arg->pos, b->path,
                  "set_real_ip_from: the bits of \"" STR_FMT "\" behind the prefix mean nothing",
                  STR_ARG(arg->text));
    struct cidr *to = vec_push(&conf->trusted, cy->arena);
    if (to == NULL)
        return false;
    *to = net;
    return true;
}

static bool freeze_trusted(struct cycle_http *cy, struct block *b, struct realip_conf *conf)
{
    bool good = true;
    if (b->scope != SCOPE_HTTP && !block_is_set(b, &realip_module.section, "set_real_ip_from")) {
        const struct realip_conf *above = CONF(b->parent, realip);
        conf->trusted.v = above->trusted.v;
        conf->trusted.n = above->trusted.n;
        return true;
    }
    for (size_t i = 0; i < conf->set_real_ip_from.n; i++)
        good = add_trusted(cy, b, &conf->set_real_ip_from.v[i].v[0], conf) && good;
    return good;
}

static bool realip_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct realip_conf *conf = arg;
    struct str name = conf->real_ip_header.text;
    bool good = freeze_trusted(cy, b, conf);
    conf->source = str_eq(name, STR("proxy_protocol")) ? REALIP_PROXY : REALIP_FIELD;
    conf->field = field_of(name);
    if (token_is_token(name) ||
        (b->scope != SCOPE_HTTP && !block_is_set(b, &realip_module.section, "real_ip_header")))
        return good;
    diag_error(cy->diag, conf->real_ip_header.pos, b->path,
               "real_ip_header: \"" STR_FMT "\" is not valid, expected the name of a header, or "
               "proxy_protocol", STR_ARG(diag_excerpt(cy->diag, name)));
    return false;
}

/* ---- requests ---- */

static bool header_of(struct request *r, const struct realip_conf *conf, struct str *value)
{
    if (conf->field != FIELD_OTHER)
        return request_field(r, conf->field, value);
    return request_field_name(r, conf->real_ip_header.text, value);
}

/*
 * Goes back from the peer *at, as long as who says it is trusted, to the client; ends before what
 * cannot be read. False: *at is the peer still.
 */
static bool follow(const struct realip_conf *conf, struct str list, struct addr *at)
{
    struct str text;
    struct addr next;
    bool moved = false;
    do {
        if (cidr_find(conf->trusted.v, conf->trusted.n, at) < 0 || !forwarded_last(&list, &text) ||
            !forwarded_addr(&next, text))
            return moved;
        *at = next;
        moved = true;
    } while (conf->real_ip_recursive);
    return true;
}

static bool find_client(struct request *r, const struct realip_conf *conf, struct addr *at)
{
    struct str value;
    const struct proxied *p = r->conn->proxied;
    if (conf->source == REALIP_FIELD)
        return header_of(r, conf, &value) && follow(conf, value, at);
    if (p == NULL || p->src.len == 0 || cidr_find(conf->trusted.v, conf->trusted.n, at) < 0)
        return false;
    *at = p->src;
    addr_unmap(at);
    return true;
}

static enum verdict realip_run(struct request *r)
{
    const struct realip_conf *conf = CONF(r->loc->block, realip);
    const struct conn_peer *peer = r->peer == NULL ? conn_peer(r->conn) : NULL;
    struct addr at;
    if (peer == NULL)
        return VERDICT_NEXT;
    at = peer->remote;
    if (!find_client(r, conf, &at))
        return VERDICT_NEXT;
    struct conn_peer *client = ARENA_NEW(&r->mem, struct conn_peer);
    if (client == NULL)
        return response_error(r, 500);
    client->remote = at;
    client->local = peer->local;
    client->text_n = (uint8_t)addr_format_ip(&at, client->text);
    r->peer = client;
    return VERDICT_NEXT;
}

static bool realip_enabled(const void *arg)
{
    const struct realip_conf *conf = arg;
    return conf->trusted.n > 0;
}

/* ---- variables: what the connection's own peer is ---- */

static bool get_addr(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v, (void)arg;
    const struct conn_peer *peer = conn_peer(r->conn);
    if (peer == NULL)
        return false;
    *out = arena_str(&r->mem, str_make(peer->text, peer->text_n));
    return out->p != NULL;
}

static bool get_port(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v, (void)arg;
    const struct conn_peer *peer = conn_peer(r->conn);
    unsigned port = peer != NULL ? addr_port(&peer->remote) : 0;
    *out = port != 0 ? arena_printf(&r->mem, "%u", port) : STR_NONE;
    return out->p != NULL;
}

/* ---- the module ---- */

static const struct directive realip_directives[] = {
    {.name = "set_real_ip_from", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct realip_conf, set_real_ip_from), .min = 1, .max = 1,
     .flags = ROW_REPEATABLE, .args_doc = "address | network | host | unix:",
     .doc = "A proxy that is trusted to tell its client's address."},
    {.name = "real_ip_header", .type = CTYPE_TEXT, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct realip_conf, real_ip_header), .dflt = "X-Real-IP",
     .args_doc = "header | proxy_protocol", .doc = "Where it tells it."},
    {.name = "real_ip_recursive", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct realip_conf, real_ip_recursive), .dflt = "off",
     .doc = "The client is the last address that is not a trusted proxy, not the last one."},
    {.name = NULL},
};

/* For the server's own settings, then for those of the location, as they may differ. */
static const struct hook realip_hooks[] = {
    {.phase = PHASE_SERVER_REWRITE, .rank = REALIP_RANK, .enabled = realip_enabled,
     .run = realip_run},
    {.phase = PHASE_PREACCESS, .rank = REALIP_RANK, .enabled = realip_enabled, .run = realip_run},
    {.run = NULL},
};

static const struct var realip_vars[] = {
    {"realip_remote_addr", .get = get_addr},
    {"realip_remote_port", .get = get_port},
    {.name = NULL},
};

const struct module realip_module = {
    .magic = MODULE_MAGIC,
    .section = {"realip", realip_directives, sizeof(struct realip_conf), &realip_slot},
    .freeze = realip_freeze,
    .hooks = realip_hooks,
    .vars = realip_vars,
};
