/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access: by the client's address, the first rule that it matches says whether it may come.  The
 * rules of a block are two arrays, made when the configuration is loaded: networks, and what they
 * are for.
 */
#include "http/request.h"
#include "os/cidr.h"

#define ACCESS_RANK 100

struct access_conf {
    struct instances access;
    /* derived */
    struct cidr *nets;
    bool *denied;         /* one for each of them */
    size_t count;
};

static unsigned access_slot;
extern const struct module access_module;

/* ---- configuration ---- */

static bool bad(struct cycle_http *cy, struct block *b, const struct arg *arg,
                const char *expected)
{
    diag_error(cy->diag, arg->pos, b->path, "access: \"" STR_FMT "\" is not valid, expected %s",
               STR_ARG(diag_excerpt(cy->diag, arg->text)), expected);
    return false;
}

static bool compile_rule(struct cycle_http *cy, struct block *b, const struct args *in,
                         struct cidr *net, bool *denied)
{
    bool host_bits;
    *denied = str_eq(in->v[0].text, STR("deny"));
    if (!*denied && !str_eq(in->v[0].text, STR("allow")))
        return bad(cy, b, &in->v[0], "allow or deny");
    if (!cidr_parse(net, in->v[1].text, &host_bits))
        return bad(cy, b, &in->v[1],
                   "an address, a network as 192.0.2.0/24 or 2001:db8::/32, unix: or all");
    if (host_bits)
        diag_warn(cy->diag, in->v[1].pos, b->path,
                  "access: the bits of \"" STR_FMT "\" behind the prefix mean nothing",
                  STR_ARG(in->v[1].text));
    return true;
}

static bool access_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct access_conf *conf = arg;
    if (b->scope != SCOPE_HTTP && !block_is_set(b, &access_module.section, "access")) {
        const struct access_conf *above = CONF(b->parent, access);
        conf->nets = above->nets;
        conf->denied = above->denied;
        conf->count = above->count;
        return true;
    }
    size_t n = conf->access.n;
    bool good = true;
    conf->nets = arena_array(cy->arena, n, sizeof(*conf->nets));
    conf->denied = arena_array(cy->arena, n, sizeof(*conf->denied));
    if (conf->nets == NULL || conf->denied == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        good = compile_rule(cy, b, &conf->access.v[i], &conf->nets[i], &conf->denied[i]) && good;
    conf->count = n;
    return good;
}

/* ---- requests ---- */

static enum verdict access_run(struct request *r)
{
    const struct access_conf *conf = CONF(r->loc->block, access);
    const struct conn_peer *peer = request_peer(r);
    if (peer == NULL) /* who cannot be told may not come */
        return request_refuse(r, 403, STR_NONE);
    ssize_t rule = cidr_find(conf->nets, conf->count, &peer->remote);
    if (rule < 0)
        return VERDICT_NEXT;
    return conf->denied[rule] ? request_refuse(r, 403, STR_NONE) : request_grant(r);
}

static bool access_enabled(const void *arg)
{
    const struct access_conf *conf = arg;
    return conf->count > 0;
}

/* ---- the module ---- */

static const struct directive access_directives[] = {
    {.name = "access", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct access_conf, access), .min = 2, .max = 2,
     .flags = ROW_REPEATABLE, .args_doc = "allow | deny address | network | unix: | all",
     .doc = "Who may come: the first rule that the client's address matches decides, else all."},
    {.name = NULL},
};

static const struct hook access_hooks[] = {
    {.phase = PHASE_ACCESS, .rank = ACCESS_RANK, .enabled = access_enabled, .run = access_run},
    {.run = NULL},
};

const struct module access_module = {
    .magic = MODULE_MAGIC,
    .section = {"access", access_directives, sizeof(struct access_conf), &access_slot},
    .freeze = access_freeze,
    .hooks = access_hooks,
};
