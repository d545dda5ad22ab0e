/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.x: from a complete head (or one that cannot be) to a request that runs.  Everything about
 * a head that is wrong is found here and answered with its status.
 */
#include "http/h1.h"

#include "http/codec.h"
#include "proto/host.h"
#include "proto/uri.h"

#define REQUEST_CHUNK 4096
#define REQUEST_MEM_MAX (1u << 20) /* besides the head itself; then it is 431 or 500 */
#define BAD_LINE_SHOWN 256 /* bytes of a refused head that the log may show */

bool h1_status_closes(unsigned status)
{
    switch (status) {
    case 400: case 408: case 413: case 414: case 417: case 431: case 500: case 501: case 505:
        return true;
    default:
        return false;
    }
}

static unsigned error_status(enum h1_error err)
{
    switch (err) {
    case H1_URI_TOO_LONG: return 414;
    case H1_HEAD_TOO_LARGE: return 431;
    case H1_METHOD_UNKNOWN: return 501;
    case H1_BAD_CODING: return 501;
    case H1_BAD_VERSION: return 505;
    case H1_OK:
    case H1_BAD: break;
    }
    return 400;
}

static void describe(const struct log_ctx *ctx, struct wbuf *to)
{
    struct request *r = container_of((struct log_ctx *)(uintptr_t)ctx, struct request, log);
    const struct conn_peer *peer = request_peer(r);
    if (peer != NULL)
        wbuf_printf(to, ", client: %.*s", (int)peer->text_n, peer->text);
    if (r->vhost != NULL && r->vhost->name.n != 0)
        wbuf_printf(to, ", server: " STR_FMT, STR_ARG(r->vhost->name));
    if (r->line_text.n != 0) {
        wbuf_str(to, STR(", request: \""));
        log_escape(to, r->line_text);
        wbuf_char(to, '"');
    }
}

struct request *h1_request_new(struct conn *c)
{
    struct http_worker *w = http_worker_of(c);
    struct request *r = slab_get(&w->requests);
    if (r == NULL)
        return NULL;
    memset(r, 0, sizeof(*r));
    r->magic = REQUEST_MAGIC;
    r->conn = c;
    r->codec = &h1_codec;
    r->worker = w;
    r->log = (struct log_ctx){.log = c->net->log, .id = c->id, .describe = describe};
    r->start_ms = c->net->loop->now_ms;
    r->start_wall = c->net->loop->wall;
    list_init(&r->link);
    arena_init(&r->mem, r->inline_mem, w->requests.size - sizeof(*r), REQUEST_CHUNK,
               REQUEST_MEM_MAX + h1_conf(c)->head_max);
    response_init(&r->res);
    r->vhost = ((const struct sites *)c->listener->sites)->dflt;
    r->loc = &r->vhost->own;
    r->host_port = -1;
    r->pipelined = !list_empty(&h1_of(c)->answered);
    c->net->stats.requests++;
    c->requests++;
    h1_of(c)->open = r;
    return r;
}

void h1_fail(struct request *r, unsigned status)
{
    h1_of(r->conn)->last = true;
    request_verdict(r, response_error(r, status));
}

/* Parts of the head into r; all views are into request memory. */
static enum h1_error parse_head(struct request *r, struct str head)
{
    const struct http_conf *conf = h1_conf(r->conn);
    char *mem = arena_bytes(&r->mem, head.n);
    if (mem == NULL)
        return H1_HEAD_TOO_LARGE;
    memcpy(mem, head.p, head.n);
    head.p = mem;
    r->head_bytes = (uint32_t)head.n;

    ssize_t lf = str_chr(head, '\n');
    CHECK(lf >= 0);
    size_t n = (size_t)lf;
    if (n > 0 && head.p[n - 1] == '\r')
        n--;
    r->line_text = str_head(head, n);
    enum h1_error err = h1_parse_line(r->line_text, &r->line);
    if (err != H1_OK)
        return err;
    size_t room = h1_of(r->conn)->scan.fields;
    r->fields = arena_alloc(&r->mem, (room == 0 ? 1 : room) * sizeof(*r->fields));
    if (r->fields == NULL)
        return H1_HEAD_TOO_LARGE;
    err = h1_parse_fields(str_skip(head, (size_t)lf + 1), conf->lenient_line_ends,
                          conf->ignore_invalid_headers, r->fields, room, &r->field_count);
    if (err != H1_OK)
        return err;
    return h1_digest(&r->line, r->fields, r->field_count, &r->meta);
}

/* Host or authority, lower case, checked. */
static bool take_host(struct request *r)
{
    struct host host;
    struct str text = r->meta.host;
    r->absolute = r->line.form == H1_FORM_ABSOLUTE || r->line.form == H1_FORM_AUTHORITY;
    if (r->absolute) {
        if (r->meta.has_host && !host_parse(r->meta.host, &host))
            return false;
        text = r->line.authority;
    } else if (!r->meta.has_host) {
        return true; /* HTTP/1.0 */
    }
    if (!host_parse(text, &host))
        return false;
    char *mem = arena_bytes(&r->mem, host.name.n);
    if (mem == NULL)
        return false;
    for (size_t i = 0; i < host.name.n; i++)
        mem[i] = (char)ascii_lower((unsigned char)host.name.p[i]);
    r->host = str_make(mem, host.name.n);
    r->host_port = host.port;
    return true;
}

static bool take_uri(struct request *r)
{
    r->args = r->line.query;
    if (r->line.form == H1_FORM_ASTERISK || r->line.form == H1_FORM_AUTHORITY) {
        r->uri = STR("/");
        r->document_uri0 = r->uri;
        return true;
    }
    char *mem = arena_bytes(&r->mem, r->line.path.n);
    if (mem == NULL ||
        uri_normalise(r->line.path, r->vhost->conf->merge_slashes, mem, &r->uri) != URI_OK)
        return false;
    r->document_uri0 = r->uri;
    return true;
}

bool h1_limit_body(struct request *r, uint64_t max)
{
    struct h1 *h = h1_of(r->conn);
    h->body_max = max;
    return h->body != H1_BODY_LENGTH || h->body_left <= max;
}

/* What the body of the request is. Its limit is the location's, once there is one. */
static void take_body(struct request *r, struct h1 *h)
{
    h->body = (uint8_t)r->meta.body;
    h->body_left = r->meta.content_length;
    h1_limit_body(r, http_body_max(r->vhost->conf));
    if (r->meta.body == H1_BODY_LENGTH && r->meta.content_length == 0)
        h->body = H1_BODY_NONE;
    if (r->meta.body == H1_BODY_CHUNKED)
        h1_chunk_init(&h->chunk);
}

/* Methods that no hook ever sees. */
static bool answered_by_method(struct request *r)
{
    if (r->line.method == METHOD_CONNECT) {
        h1_fail(r, 405);
        return true;
    }
    if (r->line.form == H1_FORM_ASTERISK) {
        response_bytes(r, 204, STR_NONE, STR_NONE);
        r->res.body = BODY_NONE;
        header_add(r, STR("Allow"), STR("GET, HEAD, OPTIONS"));
        request_verdict(r, VERDICT_DONE);
        return true;
    }
    return false;
}

void h1_request(struct conn *c, struct str head)
{
    struct h1 *h = h1_of(c);
    struct request *r = h1_request_new(c);
    if (r == NULL) {
        conn_close(c, CLOSE_NO_MEMORY);
        return;
    }
    conn_set_idle(c, false);
    enum h1_error err = parse_head(r, head);
    h->scan = (struct h1_scan){0};
    h->in_head = false;
    if (err != H1_OK) {
        log_info(&r->log, "client sent a request head that is refused with %u", error_status(err));
        h1_fail(r, error_status(err));
        return;
    }
    if (!take_host(r)) {
        log_info(&r->log, "client sent a bad Host");
        h1_fail(r, 400);
        return;
    }
    r->vhost = sites_find(c->listener->sites, r->host, r);
    r->loc = &r->vhost->own;
    if (!take_uri(r)) {
        log_info(&r->log, "client sent a bad path");
        h1_fail(r, 400);
        return;
    }
    take_body(r, h);
    if (r->meta.expect_other) {
        h1_fail(r, 417);
        return;
    }
    /* A client that waits for 100 gets its answer instead: it may or may not send the body then. */
    if (r->meta.expect_continue && h->body != H1_BODY_NONE)
        h->last = true;
    if (!answered_by_method(r))
        request_run(r);
}

/* What there is of a request line, for the log. */
void h1_show_line(struct request *r, struct str in)
{
    struct str line = str_head(in, BAD_LINE_SHOWN);
    size_t n = 0;
    while (n < line.n && line.p[n] != '\r' && line.p[n] != '\n')
        n++;
    r->line_text = arena_str(&r->mem, str_head(line, n));
}

void h1_bad_head(struct conn *c, struct str in, enum h1_error err)
{
    struct h1 *h = h1_of(c);
    struct request *r = h1_request_new(c);
    if (r == NULL) {
        conn_close(c, CLOSE_NO_MEMORY);
        return;
    }
    conn_set_idle(c, false);
    h1_show_line(r, str_skip(in, h->scan.start));
    h->in_head = false;
    log_info(&r->log, "client sent a request head that is refused with %u", error_status(err));
    h1_fail(r, error_status(err));
}
