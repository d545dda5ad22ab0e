/* SPDX-License-Identifier: BSD-2-Clause */
/* Making responses: headers, the kinds of body, redirects and errors. */
#include "http/response.h"

#include "cache/fvariant.h"
#include "http/codec.h"
#include "http/errors.h"
#include "http/request.h"
#include "proto/mime.h"

#include <stdio.h>

void response_init(struct response *res)
{
    *res = (struct response){.length = 0};
    res->headers_end = &res->headers;
    res->trailers_end = &res->trailers;
}

void response_reset(struct request *r)
{
    struct response *res = &r->res;
    if (res->stream != NULL && res->stream->fini != NULL)
        res->stream->fini(res->stream, r);
    fentry_put(res->entry);
    response_init(res);
}

bool header_value_ok(struct str value)
{
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool add_line(struct request *r, struct header ***end, struct str name, struct str value)
{
    if (name.n == 0 || !header_value_ok(name) || !header_value_ok(value))
        return false;
    struct header *h = ARENA_NEW(&r->mem, struct header);
    if (h == NULL)
        return false;
    h->name = name;
    h->value = value;
    **end = h;
    *end = &h->next;
    return true;
}

bool header_add(struct request *r, struct str name, struct str value)
{
    return add_line(r, &r->res.headers_end, name, value);
}

bool trailer_add(struct request *r, struct str name, struct str value)
{
    return add_line(r, &r->res.trailers_end, name, value);
}

struct header *header_find(const struct response *res, struct str name)
{
    for (struct header *h = res->headers; h != NULL; h = h->next)
        if (str_eq_nocase(h->name, name))
            return h;
    return NULL;
}

void header_remove(struct response *res, struct str name)
{
    struct header **at = &res->headers;
    while (*at != NULL) {
        if (str_eq_nocase((*at)->name, name))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    res->headers_end = at;
}

void response_bytes(struct request *r, unsigned status, struct str type, struct str bytes)
{
    response_reset(r);
    r->res.status = (uint16_t)status;
    r->res.content_type = type;
    r->res.body = BODY_BYTES;
    r->res.bytes = bytes;
    r->res.length = bytes.n;
}

/*
 * absolute_redirect: the path with scheme, host and port in front.  The host is the request's,
 * which has been checked, or the server's own name; else it is the address the client reached.
 */
static struct str absolute_location(struct request *r, struct str path)
{
    const struct http_conf *conf = r->loc->conf;
    const struct conn_peer *peer = conn_peer(r->conn);
    bool own_name = conf->server_name_in_redirect && r->vhost->name.n != 0;
    struct str host = own_name ? r->vhost->name : r->host;
    char ip[ADDR_TEXT_MAX + 2], port[8] = "";
    bool tls = r->conn->listener->ssl;
    if (peer == NULL)
        return path;
    if (host.n == 0) {
        bool v6 = addr_family(&peer->local) == AF_INET6;
        char text[ADDR_TEXT_MAX];
        addr_format_ip(&peer->local, text);
        int n = snprintf(ip, sizeof(ip), v6 ? "[%s]" : "%s", text);
        host = str_make(ip, (size_t)n);
    }
    unsigned number = addr_port(&peer->local);
    if (conf->port_in_redirect && number != 0 && number != (tls ? 443 : 80))
        snprintf(port, sizeof(port), ":%u", number);
    return arena_printf(&r->mem, "%s://" STR_FMT "%s" STR_FMT, tls ? "https" : "http",
                        STR_ARG(host), port, STR_ARG(path));
}

static bool graphic(unsigned char c)
{
    return c > 0x20 && c < 0x7f;
}

/*
 * No byte may end the line or be more than the URL: a template may hold what a client has encoded
 * and we have decoded, "$uri" above all. What is encoded already stays as it is.
 */
static bool encode_location(struct request *r, struct str *location)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t odd = 0;
    for (size_t i = 0; i < location->n; i++)
        odd += !graphic((unsigned char)location->p[i]);
    if (odd == 0)
        return true;
    size_t room = location->n + 2 * odd;
    char *mem = arena_bytes(&r->mem, room);
    if (mem == NULL)
        return false;
    struct wbuf w = wbuf_make(mem, room);
    for (size_t i = 0; i < location->n; i++) {
        unsigned char c = (unsigned char)location->p[i];
        if (graphic(c)) {
            wbuf_char(&w, (char)c);
        } else {
            wbuf_char(&w, '%');
            wbuf_char(&w, hex[c >> 4]);
            wbuf_char(&w, hex[c & 15]);
        }
    }
    *location = str_between(mem, w.at);
    return true;
}

enum verdict response_redirect(struct request *r, unsigned status, struct str location)
{
    if (!encode_location(r, &location))
        return response_error(r, 500);
    if (r->loc->conf->absolute_redirect && location.n > 0 && location.p[0] == '/')
        location = absolute_location(r, location);
    response_bytes(r, status, STR("text/html"), errors_builtin(r, status));
    r->res.location = location;
    return VERDICT_DONE;
}

/* The location's own table first, then the built-in one. */
struct str response_type(const struct request *r)
{
    const struct http_conf *conf = r->loc->conf;
    char lower[32];
    if (r->extension.n == 0 || r->extension.n > sizeof(lower))
        return conf->default_type_s;
    for (size_t i = 0; i < r->extension.n; i++)
        lower[i] = (char)ascii_lower((unsigned char)r->extension.p[i]);
    struct str ext = str_make(lower, r->extension.n);
    if (conf->types_map != NULL) {
        const struct str *own = map_get(&conf->types_map->by_extension, ext);
        if (own != NULL)
            return *own;
    }
    struct str type = mime_builtin(ext);
    return type.n != 0 ? type : conf->default_type_s;
}

struct str response_base_tag(const struct request *r)
{
    const struct fentry *e = r->selected.file;
    size_t lead = e->young ? 3 : 1; /* W/" or " */
    switch ((enum http_etag)r->loc->conf->etag) {
    case HTTP_ETAG_CONTENT: return r->selected.digest;
    case HTTP_ETAG_OFF: return STR_NONE;
    case HTTP_ETAG_ON: break;
    }
    return str_make(e->etag + lead, e->etag_n - lead - 1);
}

struct str response_make_tag(struct request *r, struct str suffix, bool weak)
{
    struct str base = response_base_tag(r);
    if (base.n == 0)
        return STR_NONE;
    weak = weak || (r->selected.file->young && r->selected.digest.n == 0);
    return arena_printf(&r->mem, "%s\"" STR_FMT STR_FMT "\"", weak ? "W/" : "", STR_ARG(base),
                        STR_ARG(suffix));
}

/* The tag of what is sent; empty: it has none (yet). */
static struct str selected_tag(struct request *r, const struct fentry *e)
{
    const struct selected *sel = &r->selected;
    if (sel->etag.n != 0 || r->loc->conf->etag == HTTP_ETAG_OFF)
        return r->loc->conf->etag == HTTP_ETAG_OFF ? STR_NONE : sel->etag;
    if (r->loc->conf->etag == HTTP_ETAG_ON)
        return str_make(e->etag, e->etag_n);
    char text[FVARIANT_SUFFIX];
    struct str suffix = e->is_variant ? fvariant_suffix(e->coding, e->level, text) : STR_NONE;
    return response_make_tag(r, suffix, false);
}

void response_file(struct request *r)
{
    const struct http_conf *conf = r->loc->conf;
    const struct selected *sel = &r->selected;
    struct fentry *e = sel->form != NULL ? sel->form : sel->file;
    response_reset(r);
    struct response *res = &r->res;
    res->status = 200;
    res->entry = fentry_get(e);
    res->body = BODY_FILE;
    res->off = 0;
    res->length = e->size;
    res->content_type = response_type(r);
    res->coding = sel->coding;
    res->vary = sel->negotiated;
    res->etag = selected_tag(r, e);
    res->head_cacheable = !sel->streamed && (res->etag.n != 0 || conf->etag == HTTP_ETAG_OFF);
    res->accept_ranges = conf->max_ranges != 0 && !sel->streamed;
    if (e->mtime_s > 0)
        res->last_modified = str_make(e->last_modified, sizeof(e->last_modified));
}

/* The page that the configuration names for the error, if the request may go there. */
static bool error_page_verdict(struct request *r, unsigned status, enum verdict *v)
{
    const struct http_conf *conf = r->loc->conf;
    const struct error_page *p = errors_find(conf, status);
    if (p == NULL || (r->error_page && !conf->recursive_error_pages))
        return false;
    struct str target = template_eval(&p->target, r);
    if (arena_overflowed(&r->mem))
        return false;
    if (p->external) {
        bool is_3xx = p->answer >= 300 && p->answer < 400;
        *v = response_redirect(r, is_3xx ? (unsigned)p->answer : 302, target);
        return true;
    }
    r->error_page = true;
    r->error_status = p->answer < 0 ? (uint16_t)status : (uint16_t)p->answer;
    if (r->line.method != METHOD_HEAD)
        r->line.method = METHOD_GET;
    if (p->named) {
        *v = request_redirect_named(r, target);
        return true;
    }
    ssize_t q = str_chr(target, '?');
    *v = q < 0 ? request_redirect(r, target, STR_NONE)
               : request_redirect(r, str_head(target, (size_t)q), str_skip(target, (size_t)q + 1));
    return true;
}

enum verdict response_error(struct request *r, unsigned status)
{
    enum verdict v;
    response_reset(r);
    if (error_page_verdict(r, status, &v))
        return v;
    /* An error while an error page is fetched: the first error is what the client is told. */
    if (r->error_page && r->error_status >= 300)
        status = r->error_status;
    struct str page = errors_builtin(r, status);
    if (page.p == NULL)
        page = STR("");
    response_bytes(r, status, STR("text/html"), page);
    if (status == 405)
        header_add(r, STR("Allow"), STR("GET, HEAD, OPTIONS"));
    return VERDICT_DONE;
}

void response_no_memory(struct request *r)
{
    log_error(&r->log, "the request needs more memory than it may have");
    response_bytes(r, 500, STR("text/html"),
                   STR("<html><head><title>500 Internal Server Error</title></head>\r\n"
                       "<body><h1>500 Internal Server Error</h1></body></html>\r\n"));
}

void response_resume(struct request *r)
{
    r->codec->resume(r);
}
