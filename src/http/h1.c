/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.x, the reading side: heads are found in the received bytes where they lie, a complete one
 * is copied into its request, what cannot be handled yet is saved.  Requests of a pipeline are
 * answered one after the other; their answers leave together.
 */
#include "http/h1.h"

#include "http/codec.h"
#include "proto/host.h"
#include "proto/uri.h"

#include <stdlib.h>

#define DRAIN_GRACE_MS 1000   /* a connection that was busy a moment ago gets one more request */
#define REQUEST_CHUNK 4096
#define REQUEST_MEM_MAX (1u << 20)

static void h1_feed(struct conn *c, struct str *in);

static const struct http_conf *conf_of(struct conn *c)
{
    const struct sites *s = c->listener->sites;
    return s->dflt->conf;
}

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
    r->conn->log.describe(&r->conn->log, to);
    if (r->vhost != NULL && r->vhost->name.n != 0)
        wbuf_printf(to, ", server: " STR_FMT, STR_ARG(r->vhost->name));
    if (r->line_text.n != 0) {
        wbuf_str(to, STR(", request: \""));
        log_escape(to, r->line_text);
        wbuf_char(to, '"');
    }
}

static struct request *request_new(struct conn *c)
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
               REQUEST_MEM_MAX);
    response_init(&r->res);
    r->vhost = ((const struct sites *)c->listener->sites)->dflt;
    r->loc = &r->vhost->own;
    r->host_port = -1;
    c->net->stats.requests++;
    c->requests++;
    h1_of(c)->open = r;
    return r;
}

/* Answers with an error before routing; the rest of the input is not looked at. */
static void fail(struct request *r, unsigned status)
{
    h1_of(r->conn)->last = true;
    request_verdict(r, response_error(r, status));
}

/* Parts of the head into r; all views are into request memory. */
static enum h1_error parse_head(struct request *r, struct str head)
{
    const struct http_conf *conf = conf_of(r->conn);
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

/* What the body of the request is, and whether we are willing to read it. */
static unsigned take_body(struct request *r, struct h1 *h)
{
    const struct http_conf *conf = r->vhost->conf;
    uint64_t max = conf->client_max_body_size == 0 ? UINT64_MAX
                                                   : (uint64_t)conf->client_max_body_size;
    h->body = (uint8_t)r->meta.body;
    h->body_left = r->meta.content_length;
    h->body_max = max;
    if (r->meta.body == H1_BODY_LENGTH && r->meta.content_length == 0)
        h->body = H1_BODY_NONE;
    if (r->meta.body == H1_BODY_CHUNKED)
        h1_chunk_init(&h->chunk);
    if (r->meta.expect_other)
        return 417;
    if (r->meta.body == H1_BODY_LENGTH && r->meta.content_length > max)
        return 413;
    return 0;
}

/* Methods that no hook ever sees. */
static bool answered_by_method(struct request *r)
{
    if (r->line.method == METHOD_CONNECT) {
        fail(r, 405);
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

/* One complete head: head.p[0..n) is request line to empty line. */
static void h1_request(struct conn *c, struct str head)
{
    struct h1 *h = h1_of(c);
    struct request *r = request_new(c);
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
        fail(r, error_status(err));
        return;
    }
    if (!take_host(r)) {
        log_info(&r->log, "client sent a bad Host");
        fail(r, 400);
        return;
    }
    r->vhost = sites_find(c->listener->sites, r->host);
    r->loc = &r->vhost->own;
    if (!take_uri(r)) {
        log_info(&r->log, "client sent a bad path");
        fail(r, 400);
        return;
    }
    unsigned refused = take_body(r, h);
    /* A client that waits for 100 gets its answer instead: it may or may not send the body then. */
    if (refused != 0 || (r->meta.expect_continue && h->body != H1_BODY_NONE))
        h->last = true;
    if (refused != 0) {
        fail(r, refused);
        return;
    }
    if (!answered_by_method(r))
        request_run(r);
}

/* Takes body bytes off the front of *in; false when the body is not complete yet. */
static bool eat_body(struct conn *c, struct h1 *h, struct str *in)
{
    if (h->body == H1_BODY_LENGTH) {
        size_t n = in->n < h->body_left ? in->n : (size_t)h->body_left;
        *in = str_skip(*in, n);
        h->body_left -= n;
        if (h->body_left == 0)
            h->body = H1_BODY_NONE;
        return h->body_left == 0;
    }
    for (;;) {
        struct str data;
        switch (h1_chunk_next(&h->chunk, in, &data)) {
        case H1_CHUNK_MORE:
            return false;
        case H1_CHUNK_DATA:
            if (h->chunk.total > h->body_max)
                break;
            continue;
        case H1_CHUNK_DONE:
            h->body = H1_BODY_NONE;
            return true;
        case H1_CHUNK_BAD:
            break;
        }
        /* Bad framing, or too much. The answer is out or on its way: nothing follows it. */
        log_info(&c->log, "client sent a bad or too large chunked body");
        h->last = true;
        h->linger = true;
        h->body = H1_BODY_NONE;
        *in = str_skip(*in, in->n);
        return false;
    }
}

static void limits_of(const struct http_conf *conf, struct h1_limits *lim)
{
    *lim = (struct h1_limits){
        .line_max = conf->line_max,
        .head_max = conf->head_max,
        .field_max = conf->field_max,
        .fields_max = (uint16_t)conf->max_headers,
        .lenient = conf->lenient_line_ends,
    };
}

/* A head that cannot be: a request is made of what there is, so that it is logged. */
static void bad_head(struct conn *c, struct str in, enum h1_error err)
{
    struct h1 *h = h1_of(c);
    struct request *r = request_new(c);
    if (r == NULL) {
        conn_close(c, CLOSE_NO_MEMORY);
        return;
    }
    conn_set_idle(c, false);
    struct str line = str_head(str_skip(in, h->scan.start), 256);
    ssize_t end = str_chr(line, '\r');
    if (end < 0)
        end = str_chr(line, '\n');
    r->line_text = arena_str(&r->mem, end < 0 ? line : str_head(line, (size_t)end));
    h->in_head = false;
    log_info(&r->log, "client sent a request head that is refused with %u", error_status(err));
    fail(r, error_status(err));
}

/* Is there nothing that keeps the next request from being looked at? */
static bool ready(const struct conn *c, const struct h1 *h)
{
    return !c->closing && !h->last && h->open == NULL && conn_pending(c) < H1_QUEUE_MAX;
}

static void h1_feed(struct conn *c, struct str *in)
{
    struct h1 *h = h1_of(c);
    h->feeding = true;
    while (in->n > 0 && !c->closing) {
        if (h->body != H1_BODY_NONE && !h->last) {
            if (!eat_body(c, h, in))
                break;
            continue;
        }
        if (!ready(c, h))
            break;
        struct h1_limits lim;
        enum h1_error err = H1_OK;
        limits_of(conf_of(c), &lim);
        enum h1_scan_result res = h1_scan_head(*in, &h->scan, &lim, &err);
        if (res == H1_SCAN_MORE)
            break;
        if (res == H1_SCAN_ERROR) {
            bad_head(c, *in, err);
            break;
        }
        struct str head = str_between(in->p + h->scan.start, in->p + h->scan.pos);
        *in = str_skip(*in, h->scan.pos);
        h1_request(c, head);
    }
    h->feeding = false;
    if (h->last && in->n > 0) { /* what comes behind the last request is not ours to read, */
        h->linger = true;       /* but a plain close would reset the connection */
        *in = str_skip(*in, in->n);
    }
}

static bool save(struct conn *c, struct str data)
{
    struct h1 *h = h1_of(c);
    if (h->in_n + data.n > H1_SAVED_MAX)
        return false;
    if (h->in_n + data.n > h->in_room) {
        uint32_t room = h->in_room == 0 ? 1024 : h->in_room;
        while (room < h->in_n + data.n)
            room *= 2;
        char *p = realloc(h->in, room);
        if (p == NULL)
            return false;
        h->in = p;
        h->in_room = room;
    }
    memcpy(h->in + h->in_n, data.p, data.n);
    h->in_n += (uint32_t)data.n;
    return true;
}

static void drop_saved(struct h1 *h)
{
    free(h->in);
    h->in = NULL;
    h->in_n = h->in_room = 0;
}

static void finish_conn(struct conn *c, bool unread)
{
    const struct http_conf *conf = conf_of(c);
    if (conf->lingering_close == HTTP_LINGER_ALWAYS ||
        (unread && conf->lingering_close == HTTP_LINGER_ON))
        conn_linger(c, (uint64_t)conf->lingering_timeout, (uint64_t)conf->lingering_time);
    else
        conn_close(c, CLOSE_DONE);
}

/* After any change: which deadline holds now, and is the connection at its end? */
static void settle(struct conn *c)
{
    struct h1 *h = h1_of(c);
    const struct http_conf *conf = conf_of(c);
    if (c->closing || c->lingering)
        return;
    bool answering = h->open != NULL || !list_empty(&h->answered);
    if (answering) {
        conn_timeout(c, conn_pending(c) > 0 ? (uint64_t)conf->send_timeout : TIMER_NEVER);
        return;
    }
    if (h->last || (c->ended && h->in_n == 0)) {
        finish_conn(c, h->linger || h->body != H1_BODY_NONE);
        return;
    }
    if (c->ended) { /* part of a request, and no more of it */
        conn_close(c, CLOSE_CUT_SHORT);
        return;
    }
    if (h->body != H1_BODY_NONE) {
        conn_timeout(c, (uint64_t)conf->client_body_timeout);
        return;
    }
    if (h->in_n > 0) {
        if (!h->in_head) {
            h->in_head = true;
            conn_set_idle(c, false);
            conn_timeout(c, (uint64_t)conf->client_header_timeout);
        }
        return;
    }
    conn_set_idle(c, true);
    conn_timeout(c, (uint64_t)(c->requests > 0 ? conf->keepalive_ms : conf->client_header_timeout));
}

/* Goes on with saved input once nothing is in its way. */
static void h1_continue(struct conn *c)
{
    struct h1 *h = h1_of(c);
    if (h->in_n > 0) {
        struct str in = str_make(h->in, h->in_n);
        h1_feed(c, &in);
        if (c->closing)
            return;
        if (in.n == 0) {
            drop_saved(h);
        } else if (in.p != h->in) {
            memmove(h->in, in.p, in.n);
            h->in_n = (uint32_t)in.n;
        }
    }
    if (h->in_n < H1_SAVED_PAUSE)
        conn_recv_resume(c);
    settle(c);
}

static void h1_received(struct conn *c, struct str data)
{
    struct h1 *h = h1_of(c);
    if (h->last && h->body == H1_BODY_NONE) {
        h->linger = true; /* there is unread input: a plain close would reset the connection */
        return;
    }
    if (h->in_n == 0) {
        h1_feed(c, &data);
        if (c->closing)
            return;
        if (data.n > 0 && !save(c, data)) {
            conn_close(c, CLOSE_NO_MEMORY);
            return;
        }
        settle(c);
    } else {
        if (!save(c, data)) {
            conn_close(c, CLOSE_NO_MEMORY);
            return;
        }
        h1_continue(c);
    }
    if (!c->closing && h->in_n >= H1_SAVED_PAUSE && !ready(c, h))
        conn_recv_pause(c);
}

void h1_answered(struct request *r)
{
    struct conn *c = r->conn;
    struct h1 *h = h1_of(c);
    CHECK(h->open == r);
    h->open = NULL;
    list_push_back(&h->answered, &r->link);
    if (!r->keepalive)
        h->last = true;
    if (h1_status_closes(r->res.status))
        h->linger = true;
    conn_flush(c);
    if (!h->feeding)
        h1_continue(c);
}

static void h1_sent(struct conn *c)
{
    struct h1 *h = h1_of(c);
    if (h->open != NULL && h->open->responded)
        h1_stream_pump(h->open);
    while (!c->closing && !list_empty(&h->answered)) {
        struct request *r = container_of(h->answered.next, struct request, link);
        if (c->out.sent < r->out_end)
            break;
        r->completed = true;
        request_finish(r);
    }
    if (!c->closing)
        h1_continue(c);
}

static void h1_opened(struct conn *c)
{
    struct h1 *h = h1_of(c);
    list_init(&h->answered);
    conn_set_idle(c, true);
    conn_timeout(c, (uint64_t)conf_of(c)->client_header_timeout);
}

static void h1_ended(struct conn *c)
{
    struct h1 *h = h1_of(c);
    if (h->open == NULL && list_empty(&h->answered) && h->in_n == 0) {
        conn_close(c, CLOSE_CLIENT);
        return;
    }
    settle(c);
}

/* 408 for a head or body that does not come; silence for a connection that is merely idle. */
static void timed_out(struct conn *c, enum close_reason why)
{
    struct h1 *h = h1_of(c);
    log_info(&c->log, "%s", close_reason_text(why));
    if (why == CLOSE_BODY_TIMEOUT) { /* its response has been sent */
        conn_close(c, why);
        return;
    }
    struct request *r = request_new(c);
    if (r == NULL) {
        conn_close(c, CLOSE_NO_MEMORY);
        return;
    }
    struct str line = str_head(str_make(h->in, h->in_n), 256);
    ssize_t end = str_chr(line, '\r');
    r->line_text = arena_str(&r->mem, end < 0 ? line : str_head(line, (size_t)end));
    h->in_head = false;
    fail(r, 408);
    if (!c->closing)
        settle(c);
}

static void h1_expired(struct conn *c)
{
    struct h1 *h = h1_of(c);
    const struct http_conf *conf = conf_of(c);
    if (conn_pending(c) > 0) {
        uint64_t acked = conn_acked(c);
        if (acked > h->acked) { /* slow, but it moves */
            h->acked = acked;
            conn_timeout(c, (uint64_t)conf->send_timeout);
            return;
        }
        log_info(&c->log, "%s", close_reason_text(CLOSE_SEND_TIMEOUT));
        if (conf->reset_timedout_connection)
            conn_abort(c, CLOSE_SEND_TIMEOUT);
        else
            conn_close(c, CLOSE_SEND_TIMEOUT);
        return;
    }
    if (h->open != NULL || !list_empty(&h->answered))
        return;
    if (h->in_n > 0)
        timed_out(c, CLOSE_HEAD_TIMEOUT);
    else if (h->body != H1_BODY_NONE)
        timed_out(c, CLOSE_BODY_TIMEOUT);
    else if (c->net->draining)
        conn_linger(c, (uint64_t)conf->lingering_timeout, (uint64_t)conf->lingering_time);
    else
        conn_close(c, CLOSE_IDLE);
}

/*
 * The worker wants to end.  Busy connections end with their current response.  An idle one that
 * was busy a moment ago most likely has its next request on the way: it is given a moment to bring
 * it, gets its answer with "Connection: close", and nobody sees a reset.
 */
static void h1_drain(struct conn *c)
{
    struct h1 *h = h1_of(c);
    if (h->open != NULL || !list_empty(&h->answered) || h->in_n > 0)
        return;
    uint64_t idle = c->net->loop->now_ms - c->idle_ms;
    conn_timeout(c, idle < DRAIN_GRACE_MS ? DRAIN_GRACE_MS - idle : 1);
}

static void give_up(struct request *r)
{
    r->aborted = true;
    request_finish(r);
}

static void h1_closed(struct conn *c, enum close_reason why)
{
    struct h1 *h = h1_of(c);
    (void)why;
    struct list *l;
    while ((l = list_pop_front(&h->answered)) != NULL) {
        struct request *r = container_of(l, struct request, link);
        if (c->out.sent >= r->out_end) {
            r->completed = true;
            request_finish(r);
        } else {
            give_up(r);
        }
    }
    if (h->open != NULL)
        give_up(h->open);
    h->open = NULL;
    drop_saved(h);
}

static void h1_interim(struct request *r, unsigned status)
{
    struct str line = arena_printf(&r->mem, "HTTP/1.1 %u " STR_FMT "\r\n\r\n", status,
                                   STR_ARG(status_reason(status)));
    out_copy(&r->conn->out, &r->conn->net->out, line.p, line.n);
    conn_flush(r->conn);
}

const struct codec h1_codec = {
    .name = "http/1.1",
    .respond = h1_respond,
    .resume = h1_stream_pump,
    .interim = h1_interim,
};

const struct conn_ops http_conn_ops = {
    .state_size = sizeof(struct h1),
    .opened = h1_opened,
    .received = h1_received,
    .ended = h1_ended,
    .sent = h1_sent,
    .expired = h1_expired,
    .drain = h1_drain,
    .closed = h1_closed,
};
