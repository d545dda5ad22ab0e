/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rewrite and return: the rules of the server run once, before a location is chosen, those of a
 * location when it has been chosen; a path that changed there is given a location anew.
 */
#include "rewrite.h"

#include "http/request.h"

#define REWRITE_RANK 100

unsigned rewrite_slot;

static bool rewrite_define(struct cycle_http *cy, struct block *b, void *conf)
{
    return conf == NULL || rules_define(cy, b, conf);
}

static bool rewrite_freeze(struct cycle_http *cy, struct block *b, void *conf)
{
    if (conf == NULL)
        return true;
    bool good = rules_freeze(cy, b, conf);
    return answer_freeze(cy, b, conf) && good;
}

static enum verdict server_rewrite(struct request *r)
{
    const struct rewrite_conf *conf = CONF(r->vhost->block, rewrite);
    bool moved = false;
    enum verdict v = VERDICT_NEXT;
    enum rules_end end = rules_run(r, conf, &moved, &v);
    if (end == RULES_THROUGH && conf->answer.code != 0)
        return answer_give(r, &conf->answer);
    return v; /* the location is chosen next, whatever the path is by now */
}

static enum verdict location_rewrite(struct request *r)
{
    if (r->loc->kind == LOCATION_SERVER) /* the server's own rules: they have run */
        return VERDICT_NEXT;
    const struct rewrite_conf *conf = CONF(r->loc->block, rewrite);
    bool moved = false;
    enum verdict v = VERDICT_NEXT;
    enum rules_end end = rules_run(r, conf, &moved, &v);
    if (end == RULES_ANSWER)
        return v;
    if (end == RULES_THROUGH && conf->answer.code != 0)
        return answer_give(r, &conf->answer);
    return moved ? request_redirect(r, r->uri, r->args) : VERDICT_NEXT;
}

static bool rewrite_enabled(const void *arg)
{
    const struct rewrite_conf *conf = arg;
    return conf->count > 0 || conf->answer.code != 0;
}

static const struct directive rewrite_directives[] = {
    {.name = "rewrite", .type = CTYPE_ARGS, .scopes = SCOPE_SERVER | SCOPE_LOCATION,
     .offset = offsetof(struct rewrite_conf, rewrite), .min = 1, .max = 3,
     .flags = ROW_REPEATABLE | ROW_NO_INHERIT,
     .args_doc = "regex replacement [last|break|redirect|permanent] | set $variable value | break",
     .doc = "Changes paths and sets variables, item by item, before the request is served."},
    {.name = "return", .type = CTYPE_ARGS, .scopes = SCOPE_SERVER | SCOPE_LOCATION,
     .offset = offsetof(struct rewrite_conf, return_), .min = 1, .max = 2,
     .flags = ROW_NO_INHERIT, .args_doc = "status [text] | status URL | URL",
     .doc = "Answers at once, behind the items of rewrite; 444 closes without an answer."},
    {.name = NULL},
};

static const struct hook rewrite_hooks[] = {
    {.phase = PHASE_SERVER_REWRITE, .rank = REWRITE_RANK, .enabled = rewrite_enabled,
     .run = server_rewrite},
    {.phase = PHASE_REWRITE, .rank = REWRITE_RANK, .enabled = rewrite_enabled,
     .run = location_rewrite},
    {.run = NULL},
};

const struct module rewrite_module = {
    .magic = MODULE_MAGIC,
    .section = {"rewrite", rewrite_directives, sizeof(struct rewrite_conf), &rewrite_slot},
    .define = rewrite_define,
    .freeze = rewrite_freeze,
    .hooks = rewrite_hooks,
};
