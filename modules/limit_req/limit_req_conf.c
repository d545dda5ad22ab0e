/* SPDX-License-Identifier: BSD-2-Clause */
/* The directives of limit_req: zones are defined in http, rules anywhere refer to them by name. */
#include "limit_req.h"

#include "conf/value.h"

unsigned limit_req_slot;

const struct zone_kind limit_req_kind = {"limit_req", sizeof(struct bucket)};

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

/* "10r/s" or "30r/m". */
static bool parse_rate(struct str text, uint64_t *rate)
{
    int64_t n;
    uint64_t seconds = str_ends(text, STR("r/s")) ? 1 : str_ends(text, STR("r/m")) ? 60 : 0;
    if (seconds == 0 || !value_int(str_head(text, text.n - 3), &n, NULL) || n < 1 ||
        (uint64_t)n > BUCKET_RATE_MAX / 1000)
        return false;
    *rate = (uint64_t)n * 1000 / seconds;
    return true;
}

static bool freeze_zone(struct cycle_http *cy, struct block *b, const struct args *in)
{
    struct limit_req_zone *what = ARENA_NEW(cy->arena, struct limit_req_zone);
    struct zone def = {.kind = &limit_req_kind, .key = in->v[0].text, .data = what, .pos = in->pos};
    bool good = what != NULL;
    for (size_t i = 1; i < in->n && good; i++) {
        const struct arg *arg = &in->v[i];
        const char *expected = "zone=NAME:SIZE or rate=Nr/s";
        struct str value;
        if (value_option(arg->text, STR("zone"), &value))
            good = zone_parse(value, &def.name, &def.size, &expected);
        else if (value_option(arg->text, STR("rate"), &value))
            good = parse_rate(value, &what->rate), expected = "rate= and 10r/s or 30r/m";
        else
            good = false;
        if (!good)
            return REFUSE(cy, b, arg->pos, "limit_req_zone: \"" STR_FMT "\" is not valid, "
                          "expected %s", STR_ARG(diag_excerpt(cy->diag, arg->text)), expected);
    }
    if (good && (def.size == 0 || what->rate == 0))
        return REFUSE(cy, b, in->pos, "limit_req_zone: %s is missing",
                      def.size == 0 ? "zone=NAME:SIZE" : "rate=Nr/s");
    return good && zone_define(cy, b->path, &def) != NULL &&
           template_compile(&what->key, &cy->vars, cy->arena, cy->diag, in->v[0].pos, b->path,
                            in->v[0].text);
}

static bool parse_requests(struct str text, uint64_t *to)
{
    int64_t n;
    if (!value_int(text, &n, NULL) || n < 0 || (uint64_t)n > BUCKET_BURST_MAX / BUCKET_REQUEST)
        return false;
    *to = (uint64_t)n * BUCKET_REQUEST;
    return true;
}

static bool rule_option(struct cycle_http *cy, const struct arg *arg, struct limit_req_rule *rule)
{
    struct str value;
    if (value_option(arg->text, STR("zone"), &value)) {
        rule->zone = zone_find(cy, value, &limit_req_kind);
        return rule->zone != NULL;
    }
    if (value_option(arg->text, STR("burst"), &value))
        return parse_requests(value, &rule->burst);
    if (value_option(arg->text, STR("delay"), &value))
        return parse_requests(value, &rule->delay);
    rule->delay = LIMIT_REQ_NO_DELAY;
    return str_eq(arg->text, STR("nodelay"));
}

static bool freeze_rule(struct cycle_http *cy, struct block *b, const struct args *in,
                        struct limit_req_conf *conf)
{
    struct limit_req_rule *rule = &conf->rules[conf->count];
    for (size_t i = 0; i < in->n; i++) {
        const struct arg *arg = &in->v[i];
        if (rule_option(cy, arg, rule))
            continue;
        bool zone = str_starts(arg->text, STR("zone="));
        return REFUSE(cy, b, arg->pos, "limit_req: \"" STR_FMT "\" is not valid, expected %s",
                      STR_ARG(diag_excerpt(cy->diag, arg->text)),
                      zone ? "zone= and the name of a zone that limit_req_zone defines"
                           : "zone=NAME, burst=N, delay=N or nodelay");
    }
    if (rule->zone == NULL)
        return REFUSE(cy, b, in->pos, "limit_req: zone=NAME is missing");
    for (size_t i = 0; i < conf->count; i++)
        if (conf->rules[i].zone == rule->zone)
            return REFUSE(cy, b, in->pos, "limit_req: the zone \"" STR_FMT "\" is used twice here",
                          STR_ARG(rule->zone->name));
    rule->what = rule->zone->data;
    conf->count++;
    return true;
}

static bool freeze_rules(struct cycle_http *cy, struct block *b, struct limit_req_conf *conf)
{
    size_t n = conf->limit_req.n;
    if (n > LIMIT_REQ_RULES)
        return REFUSE(cy, b, conf->limit_req.v[LIMIT_REQ_RULES].pos,
                      "limit_req: at most %d of them in one place", LIMIT_REQ_RULES);
    conf->rules = arena_array(cy->arena, n, sizeof(*conf->rules));
    bool good = conf->rules != NULL;
    for (size_t i = 0; i < n && conf->rules != NULL; i++)
        good = freeze_rule(cy, b, &conf->limit_req.v[i], conf) && good;
    return good;
}

bool limit_req_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct limit_req_conf *conf = arg;
    const struct limit_req_conf *up = b->scope != SCOPE_HTTP ? CONF(b->parent, limit_req) : NULL;
    bool good = true;
    for (size_t i = 0; up == NULL && i < conf->limit_req_zone.n; i++)
        good = freeze_zone(cy, b, &conf->limit_req_zone.v[i]) && good;
    conf->used = up != NULL ? up->used : conf->limit_req_zone.n > 0;
    if (up != NULL && conf->limit_req.v == up->limit_req.v) {
        conf->rules = up->rules;
        conf->count = up->count;
        return good;
    }
    return freeze_rules(cy, b, conf) && good;
}

static const char *const levels[] = {"info", "notice", "warn", "error", NULL};

#define FIELD(name) .offset = offsetof(struct limit_req_conf, name)

const struct directive limit_req_directives[] = {
    {.name = "limit_req_zone", .type = CTYPE_ARGS, .scopes = SCOPE_HTTP, FIELD(limit_req_zone),
     .min = 3, .max = 3, .flags = ROW_REPEATABLE | ROW_NO_INHERIT,
     .args_doc = "key zone=name:size rate=Nr/s | rate=Nr/m",
     .doc = "Shared memory in which requests are counted by key, such as $binary_remote_addr."},
    {.name = "limit_req", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP, FIELD(limit_req), .min = 1,
     .max = 3, .flags = ROW_REPEATABLE, .args_doc = "zone=name [burst=N] [nodelay | delay=N]",
     .doc = "Requests above the zone's rate wait, and those above burst are refused; an empty list "
            "takes the limits of the enclosing block away."},
    {.name = "limit_req_status", .type = CTYPE_INT, .scopes = SCOPE_ANY_HTTP, FIELD(status),
     .min = 400, .max = 599, .dflt = "503", .doc = "What a refused request is answered with."},
    {.name = "limit_req_log_level", .type = CTYPE_ENUM, .scopes = SCOPE_ANY_HTTP, FIELD(log_level),
     .choices = levels, .dflt = "error",
     .doc = "How loudly refusals are logged; delays one level less."},
    {.name = "limit_req_dry_run", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP, FIELD(dry_run),
     .dflt = "off", .doc = "Counts and logs, but neither refuses nor delays."},
    {.name = NULL},
};
