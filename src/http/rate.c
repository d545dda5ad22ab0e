/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_rate: fixed sizes are read once, templates at each response.  What a template comes to is
 * the operator's to get right: it is reported and does not limit, as in nginx.
 */
#include "http/rate.h"

#include "conf/value.h"
#include "http/request.h"
#include "http/site.h"
#include "net/pace.h"

/* "unlimited", 0 or a size. */
static bool parse(struct str text, uint64_t *out)
{
    int64_t v = 0;
    if (!str_eq(text, STR("unlimited")) && !value_size(text, &v, NULL))
        return false;
    *out = (uint64_t)v;
    return true;
}

static bool freeze_one(struct cycle_http *cy, struct block *b, const struct arg *arg,
                       const char *name, const struct http_rate **out)
{
    struct http_rate *to = ARENA_NEW(cy->arena, struct http_rate);
    *out = to;
    if (to == NULL)
        return false;
    if (!template_compile(&to->text, &cy->vars, cy->arena, cy->diag, arg->pos, b->path, arg->text))
        return false;
    if (!to->text.literal || parse(arg->text, &to->fixed))
        return true;
    diag_error(cy->diag, arg->pos, b->path, "%s: \"" STR_FMT "\" is not valid, expected %s", name,
               STR_ARG(diag_excerpt(cy->diag, arg->text)),
               "bytes such as 500k, unlimited, or a text with variables that comes to such");
    return false;
}

bool rate_freeze(struct cycle_http *cy, struct block *b, struct http_conf *c,
                 const struct http_conf *up)
{
    bool good = true;
    /* An inherited field is the very text of the enclosing block. */
    if (up != NULL && c->limit_rate.text.p == up->limit_rate.text.p)
        c->rate = up->rate;
    else
        good = freeze_one(cy, b, &c->limit_rate, "limit_rate", &c->rate);
    if (up != NULL && c->limit_rate_after.text.p == up->limit_rate_after.text.p)
        c->rate_after = up->rate_after;
    else
        good = freeze_one(cy, b, &c->limit_rate_after, "limit_rate_after", &c->rate_after) && good;
    return good;
}

static uint64_t value_of(struct request *r, const struct http_rate *rate, const char *name)
{
    uint64_t v = 0;
    if (rate->text.literal)
        return rate->fixed;
    struct str text = template_eval(&rate->text, r);
    if (text.n != 0 && !parse(text, &v))
        log_error(&r->log, "%s: \"" STR_FMT "\" is not a size", name, STR_ARG(text));
    return v;
}

uint64_t rate_of(struct request *r)
{
    uint64_t rate = value_of(r, r->loc->conf->rate, "limit_rate");
    return rate <= PACE_RATE_MAX ? rate : 0;
}

uint64_t rate_after_of(struct request *r)
{
    return value_of(r, r->loc->conf->rate_after, "limit_rate_after");
}
