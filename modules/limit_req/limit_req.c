/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_req: how often a key may ask.  All limits of a place are looked at before any but the last
 * one counts, so that a request that one of them refuses is counted by none; the strictest delay
 * is the one that is kept.
 *
 * No node is held while a request is on its way through them: the ones that are to count are looked
 * up again.  A worker that dies in between has counted less, and left nothing behind.
 */
#include "limit_req.h"

#include "http/http.h"
#include "http/request.h"

#include <stdio.h>

#define LOG_BURST 100 /* lines a second in each worker */
#define LIMIT_REQ_RANK 200
#define LIMIT_REQ_FILTER_RANK 400 /* behind add_header: a Retry-After of the configuration wins */

enum decision { UNDECIDED, PASSED, DELAYED, REJECTED, DELAYED_DRY_RUN, REJECTED_DRY_RUN };

/* What a request carries once it has been looked at. */
struct limited {
    struct request *r;
    struct timer timer;
    enum decision decision;
    uint64_t retry_s;         /* after a refusal: when it would pass */
};

static struct limited *limited_of(const struct request *r)
{
    return r->module_data != NULL ? r->module_data[limit_req_slot] : NULL;
}

static void forget(void *arg)
{
    struct limited *l = arg;
    timer_disarm(&l->r->worker->loop->timers, &l->timer);
}

static void delay_over(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    request_resume(container_of(t, struct limited, timer)->r, true);
}

static struct limited *limited_new(struct request *r)
{
    void **slot = request_data(r, limit_req_slot);
    struct limited *l = ARENA_NEW(&r->mem, struct limited);
    if (slot == NULL || l == NULL || !arena_on_free(&r->mem, forget, l))
        return NULL;
    l->r = r;
    timer_init(&l->timer, delay_over);
    *slot = l;
    return l;
}

/* ---- buckets ---- */

/* One rule and one request: the bucket's name in the zone, and what it comes to. */
struct look {
    const struct limit_req_rule *rule;
    struct sip id;
    uint64_t excess;
};

static void count(struct look *k, struct bucket *b, uint64_t now_ms)
{
    struct zone *z = k->rule->zone;
    if (b == NULL) {
        b = zone_add(z, k->id);
        if (b == NULL) { /* the least recently used one gives way */
            zone_remove(z, zone_oldest(z));
            b = zone_add(z, k->id);
        }
    } else {
        zone_touch(z, b);
    }
    bucket_count(b, k->excess, now_ms);
}

#define COUNT_NOT (-1)

/* What the bucket comes to; the request is counted if that is no more than `most`. */
static void look_at(struct look *k, uint64_t now_ms, int64_t most)
{
    static const struct bucket empty;
    struct zone *z = k->rule->zone;
    zone_lock(z);
    struct bucket *b = zone_get(z, k->id);
    k->excess = bucket_excess(b != NULL ? b : &empty, k->rule->what->rate, now_ms);
    if ((int64_t)k->excess <= most)
        count(k, b, now_ms);
    zone_unlock(z);
}

/* ---- decisions ---- */

static enum log_level level_of(const struct limit_req_conf *conf, bool refused)
{
    static const enum log_level levels[] = {LEVEL_INFO, LEVEL_NOTICE, LEVEL_WARN, LEVEL_ERROR};
    enum log_level level = levels[conf->log_level];
    return refused ? level : (enum log_level)(level + 1);
}

/* A line for each, as nginx writes them, but a storm of them does not become one of lines. */
static void log_limited(struct request *r, const struct limit_req_conf *conf, bool refused,
                        const struct look *k)
{
    static struct log_rate rate;
    enum log_level level = level_of(conf, refused);
    char more[48] = "";
    uint32_t held;
    if (!log_on(&r->log, level) || !log_rate_ok(&rate, LOG_BURST, &held))
        return;
    if (held != 0)
        snprintf(more, sizeof(more), " (%u lines were left out)", held);
    log_msg(&r->log, level, "%s%s, excess: %llu.%03llu%s by zone \"" STR_FMT "\"%s",
            refused ? "limiting requests" : "delaying request", conf->dry_run ? ", dry run" : "",
            (unsigned long long)(k->excess / 1000), (unsigned long long)(k->excess % 1000),
            refused ? "" : ",", STR_ARG(k->rule->zone->name), more);
}

static enum verdict refuse(struct request *r, const struct limit_req_conf *conf, struct limited *l,
                           const struct look *k)
{
    uint64_t wait = bucket_wait(k->excess, k->rule->burst, k->rule->what->rate);
    log_limited(r, conf, true, k);
    l->decision = conf->dry_run ? REJECTED_DRY_RUN : REJECTED;
    l->retry_s = (wait + 999) / 1000;
    return conf->dry_run ? VERDICT_NEXT : response_error(r, (unsigned)conf->status);
}

static enum verdict hold_back(struct request *r, const struct limit_req_conf *conf,
                              struct limited *l, const struct look *k, uint64_t wait)
{
    struct loop *loop = r->worker->loop;
    log_limited(r, conf, false, k);
    l->decision = conf->dry_run ? DELAYED_DRY_RUN : DELAYED;
    if (conf->dry_run)
        return VERDICT_NEXT;
    timer_arm(&loop->timers, &l->timer, loop->now_ms + wait);
    return VERDICT_PENDING;
}

/* The rules that have a key in this request. False: no memory. */
static bool collect(struct request *r, const struct limit_req_conf *conf, struct look *k, size_t *n)
{
    for (size_t i = 0; i < conf->count; i++) {
        const struct limit_req_rule *rule = &conf->rules[i];
        struct str key = template_eval(&rule->what->key, r);
        if (arena_overflowed(&r->mem))
            return false;
        if (key.n != 0)
            k[(*n)++] = (struct look){.rule = rule, .id = zone_id(rule->zone, key)};
    }
    return true;
}

static enum verdict decide(struct request *r, const struct limit_req_conf *conf, struct look *k,
                           size_t n)
{
    uint64_t now = r->worker->loop->now_ms, longest = 0;
    const struct look *strictest = NULL;
    struct limited *l = limited_new(r);
    if (l == NULL)
        return response_error(r, 500);
    for (size_t i = 0; i < n; i++) {
        look_at(&k[i], now, i == n - 1 ? (int64_t)k[i].rule->burst : COUNT_NOT);
        if (k[i].excess > k[i].rule->burst)
            return refuse(r, conf, l, &k[i]);
    }
    for (size_t i = 0; i < n; i++) {
        const struct limit_req_rule *rule = k[i].rule;
        if (i < n - 1)
            look_at(&k[i], now, INT64_MAX);
        uint64_t wait = bucket_wait(k[i].excess, rule->delay, rule->what->rate);
        if (wait > longest) {
            longest = wait;
            strictest = &k[i];
        }
    }
    l->decision = PASSED;
    return strictest == NULL ? VERDICT_NEXT : hold_back(r, conf, l, strictest, longest);
}

/* Once for each request, in the first place that has a limit with a key. */
static enum verdict limit_req_run(struct request *r)
{
    const struct limit_req_conf *conf = CONF(r->loc->block, limit_req);
    struct look looks[LIMIT_REQ_RULES];
    size_t n = 0;
    if (limited_of(r) != NULL)
        return VERDICT_NEXT;
    if (!collect(r, conf, looks, &n))
        return response_error(r, 500);
    return n == 0 ? VERDICT_NEXT : decide(r, conf, looks, n);
}

/* ---- responses, variables ---- */

static void limit_req_filter(struct request *r, struct response *res)
{
    const struct limited *l = limited_of(r);
    if (l == NULL || l->decision != REJECTED || (res->status != 429 && res->status != 503) ||
        header_find(res, STR("Retry-After")) != NULL)
        return;
    header_add(r, STR("Retry-After"),
               arena_printf(&r->mem, "%llu", (unsigned long long)l->retry_s));
}

static bool get_status(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    static const struct str names[] = {
        [PASSED] = STR_INIT("PASSED"),
        [DELAYED] = STR_INIT("DELAYED"),
        [REJECTED] = STR_INIT("REJECTED"),
        [DELAYED_DRY_RUN] = STR_INIT("DELAYED_DRY_RUN"),
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

static bool has_rules(const void *arg)
{
    return ((const struct limit_req_conf *)arg)->count > 0;
}

static bool is_used(const void *arg)
{
    return ((const struct limit_req_conf *)arg)->used;
}

static const struct hook limit_req_hooks[] = {
    {.phase = PHASE_PREACCESS, .rank = LIMIT_REQ_RANK, .enabled = has_rules, .run = limit_req_run},
    {.run = NULL},
};

static const struct filter limit_req_filter_row = {
    .rank = LIMIT_REQ_FILTER_RANK,
    .enabled = is_used, /* an error page may be anywhere */
    .run = limit_req_filter,
};

static const struct var limit_req_vars[] = {
    {"limit_req_status", .get = get_status},
    {.name = NULL},
};

const struct module limit_req_module = {
    .magic = MODULE_MAGIC,
    .section = {"limit_req", limit_req_directives, sizeof(struct limit_req_conf), &limit_req_slot},
    .freeze = limit_req_freeze,
    .hooks = limit_req_hooks,
    .filter = &limit_req_filter_row,
    .vars = limit_req_vars,
};
