/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.x, the reading side: heads are found in the received bytes where they lie, a complete one
 * is copied into its request, what cannot be handled yet is saved.  Requests of a pipeline are
 * answered one after the other; their answers leave together.
 */
#include "http/h1.h"

#include "http/codec.h"

#include <stdlib.h>

#define SEND_PROGRESS_MIN 1024u /* bytes a client has to take in each send_timeout */
#define DRAIN_GRACE_MS 1000   /* a connection that was busy a moment ago gets one more request */

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

/* Is there nothing that keeps the next request from being looked at? */
static bool ready(const struct conn *c, const struct h1 *h)
{
    return !c->closing && !h->last && h->open == NULL && conn_pending(c) < H1_QUEUE_MAX &&
           c->paced == NULL; /* each response has a rate of its own */
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
        limits_of(h1_conf(c), &lim);
        enum h1_scan_result res = h1_scan_head(*in, &h->scan, &lim, &err);
        if (res == H1_SCAN_MORE)
            break;
        if (res == H1_SCAN_ERROR) {
            h1_bad_head(c, *in, err);
            break;
        }
        struct str head = str_between(in->p + h->scan.start, in->p + h->scan.pos);
        *in = str_skip(*in, h->scan.pos);
        h1_request(c, head);
    }
    h->feeding = false;
    if (h->last) /* what comes behind the last request is not ours to read */
        *in = str_skip(*in, in->n);
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

/*
 * In stages (RFC 9112 9.6): a plain close would reset the connection, and with it the answer, if
 * the client was still sending.  It costs one shutdown(2); usually the client's end comes at once.
 */
static void finish_conn(struct conn *c)
{
    const struct http_conf *conf = h1_conf(c);
    if (conf->lingering_close == HTTP_LINGER_OFF || c->ended)
        conn_close(c, CLOSE_DONE);
    else
        conn_linger(c, (uint64_t)conf->lingering_timeout, (uint64_t)conf->lingering_time);
}

/* How long an idle connection may stay: for a moment only when the worker wants to end. */
static void wait_for_head(struct conn *c)
{
    const struct http_conf *conf = h1_conf(c);
    if (c->net->draining)
        conn_timeout(c, DRAIN_GRACE_MS);
    else
        conn_timeout(c, (uint64_t)(c->requests > 0 ? conf->keepalive_ms
                                                   : conf->client_header_timeout));
}

/* Only output that moves puts the deadline off: what a client sends says nothing of its reading. */
static void wait_for_output(struct conn *c)
{
    struct h1 *h = h1_of(c);
    if (conn_pending(c) == 0) {
        h->sending = false;
        conn_timeout(c, TIMER_NEVER);
    } else if (!h->sending || h->sent != c->out.sent) {
        h->sending = true;
        h->sent = c->out.sent;
        conn_timeout(c, (uint64_t)h1_conf(c)->send_timeout);
    }
}

/* After any change: which deadline holds now, and is the connection at its end? */
static void settle(struct conn *c)
{
    struct h1 *h = h1_of(c);
    const struct http_conf *conf = h1_conf(c);
    if (c->closing || c->lingering)
        return;
    bool answering = h->open != NULL || !list_empty(&h->answered);
    if (answering) {
        wait_for_output(c);
        return;
    }
    h->sending = false;
    if (h->last || (c->ended && h->in_n == 0)) {
        finish_conn(c);
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
    wait_for_head(c);
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
    if (h->last && h->body == H1_BODY_NONE)
        return;
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
        if (r->paced)
            conn_pace_end(c);
        request_finish(r);
    }
    if (!c->closing)
        h1_continue(c);
}

/* Until it is open a connection has as long as a head may take. */
static void h1_accepted(struct conn *c)
{
    list_init(&h1_of(c)->answered);
    conn_timeout(c, (uint64_t)h1_conf(c)->client_header_timeout);
}

static void h1_opened(struct conn *c)
{
    conn_set_idle(c, true);
    wait_for_head(c);
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
    struct request *r = h1_request_new(c);
    if (r == NULL) {
        conn_close(c, CLOSE_NO_MEMORY);
        return;
    }
    h1_show_line(r, str_make(h->in, h->in_n));
    h->in_head = false;
    h1_fail(r, 408);
    if (!c->closing)
        settle(c);
}

/*
 * Nothing went out in time, but that is our own doing, or the client does take something of what
 * the kernel has. A byte now and then is not enough: that is how connections are held for nothing.
 */
static bool is_slow(struct conn *c, struct h1 *h, uint64_t timeout)
{
    uint64_t now = c->net->loop->now_ms, waited = conn_pace_waited(c);
    if (waited != 0 && now - waited < timeout) {
        conn_timeout(c, timeout - (now - waited));
        return true;
    }
    uint64_t acked = conn_acked(c);
    if (acked < h->acked + SEND_PROGRESS_MIN)
        return false;
    h->acked = acked;
    conn_timeout(c, timeout);
    return true;
}

static void h1_expired(struct conn *c)
{
    struct h1 *h = h1_of(c);
    const struct http_conf *conf = h1_conf(c);
    if (!c->opened) {
        log_info(&c->log, "%s", close_reason_text(CLOSE_HANDSHAKE_TIMEOUT));
        conn_close(c, CLOSE_HANDSHAKE_TIMEOUT);
        return;
    }
    if (conn_pending(c) > 0) {
        if (is_slow(c, h, (uint64_t)conf->send_timeout))
            return;
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
 * it, gets its answer with "Connection: close", and nobody sees a reset.  One that is not open yet
 * will be, or its deadline ends it.
 */
static void h1_drain(struct conn *c)
{
    struct h1 *h = h1_of(c);
    if (!c->opened || h->open != NULL || !list_empty(&h->answered) || h->in_n > 0)
        return;
    uint64_t idle = c->net->loop->now_ms - c->idle_ms;
    conn_timeout(c, idle < DRAIN_GRACE_MS ? DRAIN_GRACE_MS - idle : 1);
}

static void give_up(struct request *r)
{
    r->aborted = true;
    if (r->res.status == 0) /* as nginx logs a client that did not wait for the answer */
        r->res.status = 499;
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

static struct request *h1_before(const struct request *r)
{
    struct h1 *h = h1_of(r->conn);
    struct list *l = r == h->open ? h->answered.prev : r->link.prev;
    return l == &h->answered ? NULL : container_of(l, struct request, link);
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
    .limit_body = h1_limit_body,
    .resume = h1_stream_pump,
    .before = h1_before,
    .interim = h1_interim,
};

const struct conn_ops http_conn_ops = {
    .state_size = sizeof(struct h1),
    .accepted = h1_accepted,
    .opened = h1_opened,
    .received = h1_received,
    .ended = h1_ended,
    .sent = h1_sent,
    .expired = h1_expired,
    .drain = h1_drain,
    .closed = h1_closed,
};
