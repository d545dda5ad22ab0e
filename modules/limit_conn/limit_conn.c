/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_conn: how many connections a key may have that answer a request.  A request holds its
 * counts until its memory goes, which happens once whatever way it ends.
 *
 * Requests of one HTTP/1.1 connection share what they count: a pipeline is one connection, however
 * many of its answers are still on their way.
 */
#include "limit_conn.h"

#include "hold.h"
#include "http/codec.h"
#include "http/http.h"
#include "http/request.h"

#include <stdio.h>
#include <stdlib.h>

#define LOG_BURST 100 /* lines a second in each worker */
#define LIMIT_CONN_RANK 300         /* behind limit_req: who waits there is not counted yet */
#define LIMIT_CONN_FILTER_RANK 500  /* behind add_header: a Retry-After of the configuration wins */
#define HOLDS_PER_BLOCK 64

enum decision { UNDECIDED, PASSED, REJECTED, REJECTED_DRY_RUN };

/* What a request carries once it has been looked at. */
struct limited {
    struct holder *holder;
    struct hold **holds;
    size_t count;
    enum decision decision;
};

static struct limited *limited_of(const struct request *r)
{
    return r->module_data != NULL ? r->module_data[limit_conn_slot] : NULL;
}

static void release_all(void *arg)
{
    struct limited *l = arg;
    while (l->count > 0)
        hold_put(l->holder, l->holds[--l->count]);
}

static struct limited *limited_new(struct request *r, size_t room)
{
    void **slot = request_data(r, limit_conn_slot);
    struct limited *l = ARENA_NEW(&r->mem, struct limited);
    if (slot == NULL || l == NULL)
        return NULL;
    l->holder = r->worker->module_data[limit_conn_slot];
    l->holds = arena_array(&r->mem, room, sizeof(*l->holds));
    if (l->holds == NULL || !arena_on_free(&r->mem, release_all, l))
        return NULL;
    *slot = l;
    return l;
}

/* What a request in front of this one on the same connection holds of the same key. */
static struct hold *held_before(const struct request *r, const struct zone *z, struct sip id)
{
    const struct request *at = r;
    for (struct request *p; (p = r->codec->before(at)) != NULL; at = p) {
        const struct limited *l = limited_of(p);
        for (size_t i = 0; l != NULL && i < l->count; i++)
            if (l->holds[i]->zone == z && sip_eq(l->holds[i]->id, id))
                return l->holds[i];
    }
    return NULL;
}

static enum hold_result take(struct request *r, const struct limit_conn_rule *rule,
                             struct limited *l, struct str key)
{
    struct sip id = zone_id(rule->zone, key);
    struct hold *k = held_before(r, rule->zone, id);
    enum hold_result res = HOLD_OK;
    if (k != NULL)
        k->refs++;
    else
        res = hold_take(l->holder, rule->zone, id, rule->most, &k);
    if (res == HOLD_OK)
        l->holds[l->count++] = k;
    return res;
}

/* A line for each, as nginx writes them, but a storm of them does not become one of lines. */
static void log_limited(struct request *r, const struct limit_conn_conf *conf,
                        const struct zone *z, bool full)
{
    static const enum log_level levels[] = {LEVEL_INFO, LEVEL_NOTICE, LEVEL_WARN, LEVEL_ERROR};
    static struct log_rate rates[2];
    enum log_level level = full ? LEVEL_ERROR : levels[conf->log_level];
    char more[64] = "", why[64] = "";
    uint32_t held;
    if (!log_on(&r->log, level) || !log_rate_ok(&rates[full], full ? 1 : LOG_BURST, &held))
        return;
    if (full)
        snprintf(why, sizeof(why), ", which is full with %u states", zone_room(z));
    if (held != 0)
        snprintf(more, sizeof(more), " (%u lines were left out)", held);
    log_msg(&r->log, level, "limiting connections%s by zone \"" STR_FMT "\"%s%s",
            conf->dry_run ? ", dry run," : "", STR_ARG(z->name), why, more);
}

static enum verdict refuse(struct request *r, const struct limit_conn_conf *conf,
                           struct limited *l, const struct zone *z, bool full)
{
    release_all(l);
    log_limited(r, conf, z, full);
    l->decision = conf->dry_run ? REJECTED_DRY_RUN : REJECTED;
    return conf->dry_run ? VERDICT_NEXT : response_error(r, (unsigned)conf->status);
}

/* Once for each request, in the first place that has a limit with a key. */
static enum verdict limit_conn_run(struct request *r)
{
    const struct limit_conn_conf *conf = CONF(r->loc->block, limit_conn);
    struct limited *l = limited_of(r);
    if (l != NULL)
        return VERDICT_NEXT;
    for (size_t i = 0; i < conf->count; i++) {
        const struct limit_conn_rule *rule = &conf->rules[i];
        struct str key = template_eval(rule->key, r);
        if (key.n == 0 && !arena_overflowed(&r->mem))
            continue;
        if (arena_overflowed(&r->mem) || (l == NULL && (l = limited_new(r, conf->count)) == NULL))
            return response_error(r, 500);
        enum hold_result res = take(r, rule, l, key);
        if (res == HOLD_NO_MEMORY)
            return response_error(r, 500);
        if (res != HOLD_OK)
            return refuse(r, conf, l, rule->zone, res == HOLD_FULL);
        l->decision = PASSED;
    }
    return VERDICT_NEXT;
}

/* ---- responses, variables ---- */

/* When there is room again nobody knows: soon, if it is a browser. */
static void limit_conn_filter(struct request *r, struct response *res)
{
    const struct limited *l = limited_of(r);
    if (l != NULL && l->decision == REJECTED && (res->status == 429 || res->status == 503) &&
        header_find(res, STR("Retry-After")) == NULL)
        header_add(r, STR("Retry-After"), STR("1"));
}

static bool get_status(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    static const struct str names[] = {
        [PASSED] = STR_INIT("PASSED"),
        [REJECTED] = STR_INIT("REJECTED"),
        [REJECTED_DRY_RUN] = STR_INIT("REJECTED_DRY_RUN"),
    };
    const struct limited *l = limited_of(r);
    (void)v;
    (void)arg;
    if (l == NULL || l->decision == UNDECIDED)
        return false;
    *out = names[l->decision];
    return true;
}

/* ---- the module ---- */

static enum status limit_conn_init(struct http_worker *w)
{
    struct holder *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return STATUS_NOMEM;
    h->roll = w->cycle->roll;
    h->self = w->cycle->self;
    slab_init(&h->holds, sizeof(struct hold), HOLDS_PER_BLOCK);
    w->module_data[limit_conn_slot] = h;
    return STATUS_OK;
}

static void limit_conn_fini(struct http_worker *w)
{
    struct holder *h = w->module_data[limit_conn_slot];
    if (h == NULL)
        return;
    slab_fini(&h->holds);
    free(h);
}

static bool has_rules(const void *arg)
{
    return ((const struct limit_conn_conf *)arg)->count > 0;
}

static bool is_used(const void *arg)
{
    return ((const struct limit_conn_conf *)arg)->used;
}

static const struct hook limit_conn_hooks[] = {
    {.phase = PHASE_PREACCESS, .rank = LIMIT_CONN_RANK, .enabled = has_rules,
     .run = limit_conn_run},
    {.run = NULL},
};

static const struct filter limit_conn_filter_row = {
    .rank = LIMIT_CONN_FILTER_RANK,
    .enabled = is_used, /* an error page may be anywhere */
    .run = limit_conn_filter,
};

static const struct var limit_conn_vars[] = {
    {"limit_conn_status", .get = get_status},
    {.name = NULL},
};

const struct module limit_conn_module = {
    .magic = MODULE_MAGIC,
    .section = {"limit_conn", limit_conn_directives, sizeof(struct limit_conn_conf),
                &limit_conn_slot},
    .freeze = limit_conn_freeze,
    .worker_init = limit_conn_init,
    .worker_fini = limit_conn_fini,
    .hooks = limit_conn_hooks,
    .filter = &limit_conn_filter_row,
    .vars = limit_conn_vars,
};
