/* SPDX-License-Identifier: BSD-2-Clause */
/* The directives of limit_conn: zones are defined in http, rules anywhere refer to them by name. */
#include "limit_conn.h"

#include "conf/value.h"
#include "hold.h"

#define MOST_MAX 65535

unsigned limit_conn_slot;

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

static bool freeze_zone(struct cycle_http *cy, struct block *b, const struct args *in)
{
    struct template *key = ARENA_NEW(cy->arena, struct template);
    struct zone def = {.kind = &limit_conn_kind, .key = in->v[0].text, .data = key, .pos = in->pos};
    const char *expected = "zone=NAME:SIZE";
    struct str value;
    if (key == NULL)
        return false;
    if (!value_option(in->v[1].text, STR("zone"), &value) ||
        !zone_parse(value, &def.name, &def.size, &expected))
        return REFUSE(cy, b, in->v[1].pos, "limit_conn_zone: \"" STR_FMT "\" is not valid, "
                      "expected %s", STR_ARG(diag_excerpt(cy->diag, in->v[1].text)), expected);
    return zone_define(cy, b->path, &def) != NULL &&
           template_compile(key, &cy->vars, cy->arena, cy->diag, in->v[0].pos, b->path,
                            in->v[0].text);
}

static bool freeze_rule(struct cycle_http *cy, struct block *b, const struct args *in,
                        struct limit_conn_conf *conf)
{
    struct limit_conn_rule *rule = &conf->rules[conf->count];
    int64_t most;
    rule->zone = zone_find(cy, in->v[0].text, &limit_conn_kind);
    if (rule->zone == NULL)
        return REFUSE(cy, b, in->v[0].pos, "limit_conn: \"" STR_FMT "\" is not valid, expected the "
                      "name of a zone that limit_conn_zone defines",
                      STR_ARG(diag_excerpt(cy->diag, in->v[0].text)));
    if (!value_int(in->v[1].text, &most, NULL) || most < 1 || most > MOST_MAX)
        return REFUSE(cy, b, in->v[1].pos, "limit_conn: \"" STR_FMT "\" is not valid, expected a "
                      "number from 1 to %d", STR_ARG(diag_excerpt(cy->diag, in->v[1].text)),
                      MOST_MAX);
    for (size_t i = 0; i < conf->count; i++)
        if (conf->rules[i].zone == rule->zone)
            return REFUSE(cy, b, in->pos, "limit_conn: the zone \"" STR_FMT "\" is used twice here",
                          STR_ARG(rule->zone->name));
    rule->most = (uint32_t)most;
    rule->key = rule->zone->data;
    conf->count++;
    return true;
}

bool limit_conn_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct limit_conn_conf *conf = arg;
    const struct limit_conn_conf *up = b->scope != SCOPE_HTTP ? CONF(b->parent, limit_conn) : NULL;
    bool good = true;
    for (size_t i = 0; up == NULL && i < conf->limit_conn_zone.n; i++)
        good = freeze_zone(cy, b, &conf->limit_conn_zone.v[i]) && good;
    conf->used = up != NULL ? up->used : conf->limit_conn_zone.n > 0;
    if (up != NULL && conf->limit_conn.v == up->limit_conn.v) {
        conf->rules = up->rules;
        conf->count = up->count;
        return good;
    }
    conf->rules = arena_array(cy->arena, conf->limit_conn.n, sizeof(*conf->rules));
    for (size_t i = 0; i < conf->limit_conn.n && conf->rules != NULL; i++)
        good = freeze_rule(cy, b, &conf->limit_conn.v[i], conf) && good;
    return good && conf->rules != NULL;
}

static const char *const levels[] = {"info", "notice", "warn", "error", NULL};

#define FIELD(name) .offset = offsetof(struct limit_conn_conf, name)

const struct directive limit_conn_directives[] = {
    {.name = "limit_conn_zone", .type = CTYPE_ARGS, .scopes = SCOPE_HTTP, FIELD(limit_conn_zone),
     .min = 2, .max = 2, .flags = ROW_REPEATABLE | ROW_NO_INHERIT, .args_doc = "key zone=name:size",
     .doc = "Shared memory in which connections are counted by key, such as $binary_remote_addr."},
    {.name = "limit_conn", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP, FIELD(limit_conn),
     .min = 2, .max = 2, .flags = ROW_REPEATABLE, .args_doc = "zone number",
     .doc = "The most connections of one key with a request in processing; an empty list takes the "
            "limits of the enclosing block away."},
    {.name = "limit_conn_status", .type = CTYPE_INT, .scopes = SCOPE_ANY_HTTP, FIELD(status),
     .min = 400, .max = 599, .dflt = "503", .doc = "What a refused request is answered with."},
    {.name = "limit_conn_log_level", .type = CTYPE_ENUM, .scopes = SCOPE_ANY_HTTP,
     FIELD(log_level), .choices = levels, .dflt = "error",
     .doc = "How loudly refusals are logged."},
    {.name = "limit_conn_dry_run", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP, FIELD(dry_run),
     .dflt = "off", .doc = "Counts and logs, but does not refuse."},
    {.name = NULL},
};
