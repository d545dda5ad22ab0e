/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * $sent_http_NAME: the fields of the response as the writer puts them on the wire.  Most are
 * lines a hook added; the writer's own are told from the response.  A head that was kept with its
 * file stands for all of them but those of the connection.
 */
#include "http/vars_core.h"

#include "config.h"
#include "http/http.h"
#include "http/request.h"

static bool may_have_body(const struct response *res)
{
    return res->status >= 200 && res->status != 204 && res->status != 304;
}

static bool sent_type(struct request *r, struct str *out)
{
    const struct response *res = &r->res;
    if (!may_have_body(res) || res->content_type.n == 0)
        return false;
    *out = res->content_type;
    return res->charset.n == 0 || var_printf(r, out, STR_FMT "; charset=" STR_FMT,
                                             STR_ARG(res->content_type), STR_ARG(res->charset));
}

static bool sent_length(struct request *r, struct str *out)
{
    const struct response *res = &r->res;
    return may_have_body(res) && res->length != LENGTH_UNKNOWN && var_number(r, res->length, out);
}

static bool sent_location(struct request *r, struct str *out)
{
    *out = r->res.location;
    return out->n != 0;
}

static bool sent_etag(struct request *r, struct str *out)
{
    *out = r->res.etag;
    if (out->n != 0 && r->res.etag_weak)
        return var_printf(r, out, "W/" STR_FMT, STR_ARG(r->res.etag));
    return out->n != 0;
}

static bool sent_modified(struct request *r, struct str *out)
{
    *out = r->res.last_modified;
    return out->n != 0;
}

static bool sent_ranges(struct request *r, struct str *out)
{
    *out = STR("bytes");
    return r->res.accept_ranges;
}

static bool sent_server(struct request *r, struct str *out)
{
    *out = r->loc->conf->server_tokens ? STR("sluice/" SLUICE_VERSION) : STR("sluice");
    return true;
}

static bool sent_date(struct request *r, struct str *out)
{
    *out = arena_str(&r->mem, str_make(r->worker->date, DATE_LEN));
    return out->p != NULL;
}

static bool sent_connection(struct request *r, struct str *out)
{
    *out = r->keepalive ? STR("keep-alive") : STR("close");
    return true;
}

static bool sent_keep_alive(struct request *r, struct str *out)
{
    int64_t s = r->loc->conf->keepalive_header_s;
    return r->keepalive && s > 0 && var_printf(r, out, "timeout=%lld", (long long)s);
}

static bool sent_coding(struct request *r, struct str *out)
{
    const struct response *res = &r->res;
    *out = STR("chunked");
    return may_have_body(res) && res->body == BODY_STREAM && res->length == LENGTH_UNKNOWN &&
           r->line.minor >= 1 && r->line.method != METHOD_HEAD;
}

static const struct own_line {
    struct str name;
    bool kept;      /* is part of a head that is kept with its file */
    bool (*get)(struct request *r, struct str *out);
} own_lines[] = {
    {STR_INIT("content_type"), true, sent_type},
    {STR_INIT("content_length"), true, sent_length},
    {STR_INIT("location"), true, sent_location},
    {STR_INIT("etag"), true, sent_etag},
    {STR_INIT("last_modified"), true, sent_modified},
    {STR_INIT("accept_ranges"), true, sent_ranges},
    {STR_INIT("server"), false, sent_server},
    {STR_INIT("date"), false, sent_date},
    {STR_INIT("connection"), false, sent_connection},
    {STR_INIT("keep_alive"), false, sent_keep_alive},
    {STR_INIT("transfer_encoding"), false, sent_coding},
};

/* Several lines of one name are one list, as in a request. */
static void join(struct request *r, struct str value, bool *found, struct str *out)
{
    struct str parts[] = {*out, STR(", "), value};
    *out = *found ? arena_cat(&r->mem, parts, ARRAY_LEN(parts)) : value;
    *found = true;
}

static bool in_kept_head(struct request *r, const struct fhead *head, struct str name,
                         struct str *out)
{
    struct str rest = str_make(head->bytes, head->n), line;
    bool found = false;
    while (str_split(&rest, '\n', &line)) {
        ssize_t colon = str_chr(line, ':');
        if (colon <= 0 || !var_names_field(str_head(line, (size_t)colon), name))
            continue;
        if (line.p[line.n - 1] == '\r')
            line.n--;
        join(r, str_trim(str_skip(line, (size_t)colon + 1)), &found, out);
    }
    return found;
}

static bool in_headers(struct request *r, struct str name, struct str *out)
{
    bool found = false;
    for (const struct header *h = r->res.headers; h != NULL; h = h->next)
        if (var_names_field(h->name, name))
            join(r, h->value, &found, out);
    return found;
}

bool var_sent_http(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v;
    for (size_t i = 0; i < ARRAY_LEN(own_lines); i++) {
        const struct own_line *own = &own_lines[i];
        if (str_eq_nocase(own->name, arg) && !(own->kept && r->res.head != NULL) &&
            own->get(r, out))
            return true;
    }
    if (r->res.head != NULL)
        return in_kept_head(r, r->res.head, arg, out);
    return in_headers(r, arg, out);
}
