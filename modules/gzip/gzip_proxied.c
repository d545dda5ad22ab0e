/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom encoded forms are kept from: old clients, and proxies (a Via field), for which the words of
 * gzip_proxied name the responses that may be encoded all the same.
 */
#include "gzip.h"

#include "proto/token.h"

static const struct {
    const char *word;
    unsigned bits;
} words[] = {
    {"off", 0},
    {"any", PROXIED_ANY},
    {"auth", PROXIED_AUTH},
    {"no_etag", PROXIED_NO_ETAG},
    {"no_last_modified", PROXIED_NO_LAST_MODIFIED},
    {"expired", PROXIED_EXPIRED},
    {"no-cache", PROXIED_NO_CACHE},
    {"no-store", PROXIED_NO_STORE},
    {"private", PROXIED_PRIVATE},
};

#define BY_HEADERS (PROXIED_EXPIRED | PROXIED_NO_CACHE | PROXIED_NO_STORE | PROXIED_PRIVATE)

static bool add_word(struct cycle_http *cy, const struct block *b, const struct arg *arg,
                     unsigned *bits)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq(arg->text, str_z(words[i].word))) {
            *bits |= words[i].bits;
            return true;
        }
    }
    diag_error(cy->diag, arg->pos, b->path,
               "gzip_proxied: \"" STR_FMT "\" is not valid, expected off, any, auth, no_etag, "
               "no_last_modified, expired, no-cache, no-store or private",
               STR_ARG(diag_excerpt(cy->diag, arg->text)));
    return false;
}

bool gzip_proxied_words(struct cycle_http *cy, const struct block *b, const struct instances *in,
                        unsigned *bits)
{
    bool good = true;
    *bits = 0;
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->v[i].n; k++)
            good = add_word(cy, b, &in->v[i].v[k], bits) && good;
    return good;
}

static bool control_has(const struct response *res, struct str word)
{
    for (const struct header *h = res->headers; h != NULL; h = h->next)
        if (str_eq_nocase(h->name, STR("cache-control")) && token_list_has(h->value, word))
            return true;
    return false;
}

static bool expired(const struct request *r, const struct response *res)
{
    const struct header *h = header_find(res, STR("expires"));
    int64_t at, now = r->worker->loop->wall.tv_sec;
    return h != NULL && (!date_parse(h->value, date_civil(now).year, &at) || at <= now);
}

static bool headers_say(struct request *r, unsigned bits)
{
    const struct response *res = &r->res;
    return ((bits & PROXIED_EXPIRED) != 0 && expired(r, res)) ||
           ((bits & PROXIED_NO_CACHE) != 0 && control_has(res, STR("no-cache"))) ||
           ((bits & PROXIED_NO_STORE) != 0 && control_has(res, STR("no-store"))) ||
           ((bits & PROXIED_PRIVATE) != 0 && control_has(res, STR("private")));
}

/*
 * What the response will say of caching is known only when the filters have run: for a file they
 * run once more than usual, on a response that is then thrown away.
 */
static bool headers_allow(struct request *r, unsigned bits)
{
    struct response *res = &r->res;
    bool preview = res->status == 0;
    if (preview) {
        response_file(r);
        for (const struct filter **f = r->loc->filters; *f != NULL; f++)
            if ((*f)->run != gzip_filter_run)
                (*f)->run(r, res);
    }
    bool allowed = headers_say(r, bits);
    if (preview)
        response_reset(r);
    return allowed;
}

static bool proxied_may(struct request *r, unsigned bits)
{
    const struct fentry *file = r->selected.file;
    bool dated = file != NULL ? file->mtime_s > 0 : r->res.last_modified.n != 0;
    bool tagged = file != NULL ? r->loc->conf->etag != HTTP_ETAG_OFF : r->res.etag.n != 0;
    if ((bits & PROXIED_ANY) != 0 || ((bits & PROXIED_NO_LAST_MODIFIED) != 0 && !dated) ||
        ((bits & PROXIED_NO_ETAG) != 0 && !tagged) ||
        ((bits & PROXIED_AUTH) != 0 && r->meta.first[FIELD_AUTHORIZATION] != 0))
        return true;
    return (bits & BY_HEADERS) != 0 && headers_allow(r, bits);
}

bool gzip_may(struct request *r, const struct gzip_conf *conf)
{
    if (r->line.minor < conf->gzip_http_version)
        return false;
    return r->meta.first[FIELD_VIA] == 0 || proxied_may(r, conf->proxied);
}
