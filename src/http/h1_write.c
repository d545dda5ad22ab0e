/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.x, the writing side: a response head and its body into the connection's output queue.
 * A head that depends on nothing but location and file is kept with the file and copied from then
 * on: status line and Date come from a line made once a second, Connection is added when needed.
 */
#include "http/h1.h"

#include "config.h"
#include "core/num.h"
#include "proto/agent.h"
#include "proto/accept.h"

/* A body in memory up to this size is copied behind its head, a larger one sent by reference. */
#define BODY_COPY_MAX 4096u
#define STREAM_PIECE 4096u
#define STREAM_QUEUE_MAX (64u << 10)
#define CHUNK_HEAD_MAX 10u /* 8 hexadecimal digits, CR, LF */
#define HEAD_ROOM 640u     /* more than all lines of fixed length together */

static struct str server_line(bool tokens)
{
    return tokens ? STR("Server: sluice/" SLUICE_VERSION "\r\n") : STR("Server: sluice\r\n");
}

static void line(struct wbuf *w, struct str name, struct str value)
{
    wbuf_str(w, name);
    wbuf_str(w, STR(": "));
    wbuf_str(w, value);
    wbuf_str(w, STR("\r\n"));
}

static bool may_have_body(const struct response *res)
{
    return res->status >= 200 && res->status != 204 && res->status != 304;
}

static void content_lines(struct request *r, struct wbuf *w)
{
    struct response *res = &r->res;
    if (!may_have_body(res))
        return;
    if (res->content_type.n != 0) {
        wbuf_str(w, STR("Content-Type: "));
        wbuf_str(w, res->content_type);
        if (res->charset.n != 0) {
            wbuf_str(w, STR("; charset="));
            wbuf_str(w, res->charset);
        }
        wbuf_str(w, STR("\r\n"));
    }
    if (res->coding != CODING_IDENTITY)
        line(w, STR("Content-Encoding"), coding_name((enum coding)res->coding));
    if (res->length != LENGTH_UNKNOWN && !res->chunked) {
        wbuf_str(w, STR("Content-Length: "));
        wbuf_dec(w, res->length);
        wbuf_str(w, STR("\r\n"));
    }
}

/* Everything between Date and Connection: what may be kept with a file. */
static void middle_lines(struct request *r, struct wbuf *w)
{
    struct response *res = &r->res;
    content_lines(r, w);
    if (res->last_modified.n != 0)
        line(w, STR("Last-Modified"), res->last_modified);
    if (res->etag.n != 0) {
        wbuf_str(w, res->etag_weak ? STR("ETag: W/") : STR("ETag: "));
        wbuf_str(w, res->etag);
        wbuf_str(w, STR("\r\n"));
    }
    if (res->location.n != 0)
        line(w, STR("Location"), res->location);
    if (res->accept_ranges)
        wbuf_str(w, STR("Accept-Ranges: bytes\r\n"));
    if (res->vary)
        wbuf_str(w, STR("Vary: Accept-Encoding\r\n"));
    for (const struct header *h = res->headers; h != NULL; h = h->next)
        line(w, h->name, h->value);
}

static void connection_lines(const struct request *r, struct wbuf *w, bool chunked)
{
    const struct http_conf *conf = r->loc->conf;
    if (chunked)
        wbuf_str(w, STR("Transfer-Encoding: chunked\r\n"));
    if (chunked && r->res.trailer_names.n != 0)
        line(w, STR("Trailer"), r->res.trailer_names);
    if (!r->keepalive)
        wbuf_str(w, STR("Connection: close\r\n"));
    else if (r->line.minor == 0)
        wbuf_str(w, STR("Connection: keep-alive\r\n"));
    if (r->keepalive && conf->keepalive_header_s > 0)
        wbuf_printf(w, "Keep-Alive: timeout=%lld\r\n", (long long)conf->keepalive_header_s);
    wbuf_str(w, STR("\r\n"));
}

static void first_lines(struct request *r, struct wbuf *w)
{
    struct http_worker *hw = r->worker;
    int tokens = r->loc->conf->server_tokens;
    if (r->res.status == 200) {
        wbuf_str(w, str_make(hw->ok_head[tokens], hw->ok_head_n[tokens]));
        return;
    }
    struct str reason = status_reason(r->res.status);
    wbuf_str(w, STR("HTTP/1.1 "));
    wbuf_dec(w, r->res.status);
    wbuf_char(w, ' ');
    wbuf_str(w, reason);
    wbuf_str(w, STR("\r\n"));
    wbuf_str(w, server_line(tokens));
    line(w, STR("Date"), str_make(hw->date, DATE_LEN));
}

static size_t head_size(const struct request *r)
{
    const struct response *res = &r->res;
    size_t n = HEAD_ROOM + res->content_type.n + res->charset.n + res->location.n + res->etag.n +
               res->trailer_names.n;
    for (const struct header *h = res->headers; h != NULL; h = h->next)
        n += h->name.n + h->value.n + 4;
    return n;
}

/* keepalive_disable: a POST over a kept connection stalls in these. */
static bool troubled(struct request *r, const struct http_conf *conf)
{
    struct str ua;
    bool post = r->line.method == METHOD_POST;
    if (LIKELY(!conf->keepalive_not_safari && !(conf->keepalive_not_msie6 && post)))
        return false;
    if (!request_field(r, FIELD_USER_AGENT, &ua))
        return false;
    enum agent agent = agent_of(ua);
    return (agent == AGENT_MSIE6 && conf->keepalive_not_msie6 && post) ||
           (agent == AGENT_SAFARI && conf->keepalive_not_safari);
}

static bool decide_keepalive(struct request *r)
{
    const struct conn *c = r->conn;
    const struct h1 *h = h1_of(r->conn);
    const struct http_conf *conf = r->loc->conf;
    uint64_t age = c->net->loop->now_ms - c->started_ms;
    bool readable = h->body != H1_BODY_LENGTH || h->body_left <= h->body_max;
    return r->meta.keepalive && readable && !h->last && !h1_status_closes(r->res.status) &&
           conf->keepalive_ms > 0 && c->requests < (uint64_t)conf->keepalive_requests &&
           age < (uint64_t)conf->keepalive_time && !c->net->draining && !troubled(r, conf);
}

static void keep_head(struct request *r, const char *from, const char *to)
{
    struct response *res = &r->res;
    if (res->head_cacheable && r->loc->heads_constant && res->entry != NULL &&
        res->entry->cached && res->status == 200 && !r->error_page)
        fentry_head_add(res->entry, r->loc, res->status, res->coding, str_between(from, to));
}

/* The head into memory at w; false: it did not fit. */
static bool compose(struct request *r, struct wbuf *w, bool chunked)
{
    const struct fhead *kept = r->res.head;
    first_lines(r, w);
    if (kept != NULL) {
        wbuf_str(w, str_make(kept->bytes, kept->n));
    } else {
        const char *from = w->at;
        middle_lines(r, w);
        if (!w->overflow)
            keep_head(r, from, w->at);
    }
    connection_lines(r, w, chunked);
    return !w->overflow;
}

static bool write_head(struct request *r, bool chunked)
{
    struct output *o = &r->conn->out;
    struct out_pool *pool = &r->conn->net->out;
    size_t room = r->res.head != NULL ? HEAD_ROOM + r->res.head->n : head_size(r);
    bool direct = room <= OUT_MEM;
    char *mem = direct ? out_room(o, pool, room) : arena_bytes(&r->mem, room);
    if (mem == NULL)
        return false;
    struct wbuf w = wbuf_make(mem, room);
    if (!compose(r, &w, chunked))
        return false;
    r->head_sent = (uint32_t)(w.at - mem);
    if (direct)
        out_commit(o, r->head_sent);
    else if (!out_copy(o, pool, mem, r->head_sent))
        return false;
    return true;
}

static void put_entry(void *arg)
{
    fentry_put(arg);
}

/* [off, off + n) of the entry: from its body in memory, else from its descriptor. */
static bool write_range(struct request *r, uint64_t off, uint64_t n)
{
    struct output *o = &r->conn->out;
    struct out_pool *pool = &r->conn->net->out;
    struct fentry *e = r->res.entry;
    if (n == 0)
        return true;
    if (e->body != NULL && n <= BODY_COPY_MAX)
        return out_copy(o, pool, e->body + off, n);
    struct out_ref ref = {put_entry, fentry_get(e)};
    const struct http_conf *conf = r->loc->conf;
    bool use_splice = conf->splice == HTTP_SPLICE_ON ||
                      (conf->splice == HTTP_SPLICE_AUTO && n >= (uint64_t)conf->splice_min_size);
    bool ok = e->body != NULL ? out_ref(o, pool, e->body + off, n, ref)
                              : out_file(o, pool, e->fd, off, n, use_splice, ref);
    if (!ok)
        fentry_put(e);
    return ok;
}

static bool write_parts(struct request *r)
{
    const struct response *res = &r->res;
    for (size_t i = 0; i < res->part_count; i++) {
        const struct body_part *p = &res->parts[i];
        if (!out_copy(&r->conn->out, &r->conn->net->out, p->head.p, p->head.n) ||
            !write_range(r, p->off, p->length))
            return false;
    }
    return true;
}

static bool write_bytes(struct request *r)
{
    struct response *res = &r->res;
    switch ((enum body_kind)res->body) {
    case BODY_NONE:
        return true;
    case BODY_BYTES: /* copied: request memory may go before the kernel has taken it */
        return out_copy(&r->conn->out, &r->conn->net->out, res->bytes.p, res->bytes.n);
    case BODY_FILE:
        return write_range(r, res->off, res->length);
    case BODY_PARTS:
        return write_parts(r);
    case BODY_STREAM:
        return true; /* pumped */
    }
    return false;
}

/* The last chunk, what the response says behind its body, and the end. */
static bool write_end(struct request *r)
{
    struct output *o = &r->conn->out;
    struct out_pool *pool = &r->conn->net->out;
    struct response *res = &r->res;
    if (res->write_trailers != NULL)
        res->write_trailers(r, res->trailer_arg);
    bool good = out_copy(o, pool, "0\r\n", 3);
    for (const struct header *h = res->trailers; h != NULL && good; h = h->next)
        good = out_copy(o, pool, h->name.p, h->name.n) && out_copy(o, pool, ": ", 2) &&
               out_copy(o, pool, h->value.p, h->value.n) && out_copy(o, pool, "\r\n", 2);
    return good && out_copy(o, pool, "\r\n", 2);
}

/* A body of known length in chunks is one chunk; a stream makes its own. */
static bool write_body(struct request *r)
{
    struct response *res = &r->res;
    if (LIKELY(!res->chunked) || res->body == BODY_STREAM)
        return write_bytes(r);
    char size[CHUNK_HEAD_MAX + 10];
    size_t n = num_put_hex(size, res->length);
    memcpy(size + n, "\r\n", 2);
    if (res->length == 0)
        return write_end(r);
    return out_copy(&r->conn->out, &r->conn->net->out, size, n + 2) && write_bytes(r) &&
           out_copy(&r->conn->out, &r->conn->net->out, "\r\n", 2) && write_end(r);
}

/* limit_rate: the head goes at once, the body at its rate. False: no memory. */
static bool pace_body(struct request *r)
{
    const struct response *res = &r->res;
    uint64_t rate = rate_of(r);
    if (LIKELY(rate == 0))
        return true;
    uint64_t after = rate_after_of(r);
    if (res->length <= after || pace_is_moot(rate, res->length - after))
        return true;
    r->paced = conn_pace(r->conn, r->out_start, r->conn->out.queued + after, rate);
    return r->paced;
}

static void finish_output(struct request *r)
{
    r->out_end = r->conn->out.queued;
    h1_answered(r);
}

/* How the body is framed, if there is one (what is returned), and whether more may follow. */
static bool frame(struct request *r)
{
    struct response *res = &r->res;
    bool body = may_have_body(res) && r->line.method != METHOD_HEAD;
    /* A HEAD says so too, though nothing comes (RFC 9112 6.1). */
    bool unknown = may_have_body(res) && res->body == BODY_STREAM && res->length == LENGTH_UNKNOWN;
    bool trailers = body && res->trailer_names.n != 0;
    bool chunked = (unknown || trailers) && r->line.minor >= 1 &&
                   r->loc->conf->chunked_transfer_encoding;
    res->chunked = chunked;
    r->keepalive = decide_keepalive(r);
    if (body && unknown && !chunked)
        r->keepalive = false; /* the end of the connection is the end of the body */
    return body;
}

/* A head that needs more memory than the request may have is that of a 500. */
static bool start_response(struct request *r, bool *body)
{
    *body = frame(r);
    if (write_head(r, r->res.chunked))
        return true;
    if (r->conn->out.queued != r->out_start || r->res.status == 500)
        return false;
    response_no_memory(r);
    *body = frame(r);
    return write_head(r, false);
}

void h1_respond(struct request *r)
{
    struct conn *c = r->conn;
    struct response *res = &r->res;
    bool body;
    http_clock(r->worker);
    r->out_start = c->out.queued;
    r->out_end = UINT64_MAX;
    r->responded = true;
    if (!start_response(r, &body) || (body && (!pace_body(r) || !write_body(r)))) {
        conn_abort(c, CLOSE_NO_MEMORY);
        return;
    }
    if (body && res->body == BODY_STREAM)
        h1_stream_pump(r);
    else
        finish_output(r);
}

/* One piece; false when the stream gives no more for now (or for ever: *end). */
static bool pump_piece(struct request *r, bool chunked, bool *end)
{
    struct conn *c = r->conn;
    char *mem = out_room(&c->out, &c->net->out, STREAM_PIECE);
    if (mem == NULL) {
        conn_abort(c, CLOSE_NO_MEMORY);
        return false;
    }
    size_t lead = chunked ? CHUNK_HEAD_MAX : 0;
    struct wbuf w = wbuf_make(mem + lead, STREAM_PIECE - lead - 2);
    char *data = w.at;
    enum pull p = r->res.stream->pull(r->res.stream, r, &w);
    if (p == PULL_ERROR || w.overflow) {
        conn_abort(c, CLOSE_FILE_ERROR);
        return false;
    }
    size_t n = (size_t)(w.at - data);
    if (n > 0 && chunked) {
        char size[16];
        size_t digits = num_put_hex(size, n);
        memcpy(mem, size, digits);
        memcpy(mem + digits, "\r\n", 2);
        memmove(mem + digits + 2, data, n);
        memcpy(mem + digits + 2 + n, "\r\n", 2);
        n += digits + 4;
    }
    out_commit(&c->out, n);
    *end = p == PULL_END;
    return p == PULL_MORE;
}

void h1_stream_pump(struct request *r)
{
    struct conn *c = r->conn;
    struct response *res = &r->res;
    bool chunked = res->chunked, end = false;
    while (!c->closing && conn_pending(c) < STREAM_QUEUE_MAX && pump_piece(r, chunked, &end))
        ;
    if (c->closing)
        return;
    conn_flush(c);
    if (!end)
        return;
    if (chunked && !write_end(r)) {
        conn_abort(c, CLOSE_NO_MEMORY);
        return;
    }
    finish_output(r);
}
