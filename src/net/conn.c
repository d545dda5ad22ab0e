/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a connection.  Whatever ends one goes through conn_close(); the memory is given back
 * at the end of a turn in which no operation of the connection is in flight any more, so callers
 * up the stack may still look at it.
 */
#include "net/conn.h"

#include "net/listen.h"
#include "os/sock.h"

#include <errno.h>
#include <linux/tcp.h> /* glibc's struct tcp_info ends before tcpi_bytes_acked */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNS_PER_BLOCK 64
#define PEERS_PER_BLOCK 64
#define PACES_PER_BLOCK 32
#define ROOM_LOOKS 512u

const char *close_reason_text(enum close_reason r)
{
    static const char *const texts[] = {
#define X(id, text, clean) [CLOSE_##id] = text,
#include "net/close.tbl"
#undef X
    };
    return (unsigned)r < CLOSE_REASONS ? texts[r] : "unknown reason";
}

bool close_reason_clean(enum close_reason r)
{
    static const bool clean_[] = {
#define X(id, text, clean) [CLOSE_##id] = clean,
#include "net/close.tbl"
#undef X
    };
    return (unsigned)r < CLOSE_REASONS && clean_[r];
}

void net_init(struct net *n, struct loop *loop, struct log *log, const struct conn_ops *ops,
              uint32_t limit, uint64_t first_id)
{
    *n = (struct net){
        .loop = loop, .log = log, .ops = ops, .limit = limit, .next_id = first_id};
    slab_init(&n->conns, sizeof(struct conn) + ops->state_size, CONNS_PER_BLOCK);
    slab_init(&n->peers, sizeof(struct conn_peer), PEERS_PER_BLOCK);
    slab_init(&n->paces, sizeof(struct paced), PACES_PER_BLOCK);
    out_pool_init(&n->out);
    list_init(&n->all);
}

void net_fini(struct net *n)
{
    CHECK(n->count == 0);
    slab_fini(&n->conns);
    slab_fini(&n->peers);
    slab_fini(&n->paces);
    out_pool_fini(&n->out);
}

void net_drain(struct net *n)
{
    n->draining = true;
    LIST_EACH_SAFE (l, next, &n->all) {
        struct conn *c = container_of(l, struct conn, link);
        if (!c->closing && !c->lingering)
            c->ops->drain(c);
    }
}

void net_close_all(struct net *n, enum close_reason r)
{
    LIST_EACH_SAFE (l, next, &n->all)
        conn_close(container_of(l, struct conn, link), r);
}

static void conn_free(struct conn *c)
{
    struct net *n = c->net;
    list_remove(&c->turn.link);
    list_remove(&c->link);
    deadline_fini(&c->deadline);
    conn_pace_end(c);
    out_clear(&c->out, &n->out, n->loop);
    slab_put(&n->out.gathers, c->gather);
    if (c->transport->fini != NULL)
        c->transport->fini(c);
    if (c->reset)
        sock_reset_on_close(c->fd);
    loop_close_fd(n->loop, c->fd);
    slab_put(&n->peers, c->peer);
    proxied_end(c);
    slab_put(&n->conns, c);
    n->count--;
}

static void conn_turn(struct turn *t)
{
    struct conn *c = container_of(t, struct conn, turn);
    if (c->closing) {
        if (!op_busy(&c->recv_op) && !op_busy(&c->send_op))
            conn_free(c);
        return;
    }
    if (!op_busy(&c->send_op) && !out_empty(&c->out) &&
        (LIKELY(c->paced == NULL) || conn_pace_due(c)))
        c->transport->flush(c);
}

void conn_close(struct conn *c, enum close_reason r)
{
    if (c->closing)
        return;
    c->closing = true;
    c->reason = (uint8_t)r;
    c->net->stats.closed[r]++;
    deadline_clear(&c->deadline);
    if (c->opened) /* else the protocol has not heard of it */
        c->ops->closed(c, r);
    op_cancel(c->net->loop, &c->recv_op);
    op_cancel(c->net->loop, &c->send_op);
    loop_at_turn_end(c->net->loop, &c->turn);
}

void conn_abort(struct conn *c, enum close_reason r)
{
    c->reset = true;
    conn_close(c, r);
}

void conn_close_sent(struct conn *c, enum close_reason r)
{
    if (out_empty(&c->out)) {
        conn_close(c, r);
        return;
    }
    c->close_sent = true;
    c->reason = (uint8_t)r;
    conn_flush(c);
}

/* Input that is dropped: the peer is alive, and has what is left of the whole time at most. */
static void linger_on(struct conn *c)
{
    uint64_t now = c->net->loop->now_ms;
    uint64_t left = c->linger_end_ms > now ? c->linger_end_ms - now : 0;
    if (out_empty(&c->out))
        conn_timeout(c, left < c->linger_idle_ms ? left : c->linger_idle_ms);
}

static void recv_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct conn *c = container_of(op, struct conn, recv_op);
    if (c->closing) {
        if (!(flags & OP_MORE))
            loop_at_turn_end(loop, &c->turn);
        return;
    }
    if (LIKELY(res > 0)) {
        struct str data = str_make(op->u.recv.data, (size_t)res);
        c->received += (uint32_t)res;
        if (UNLIKELY(c->lingering))
            linger_on(c);
        if (UNLIKELY(c->proxied != NULL) && !c->proxied->complete &&
            (!proxied_take(c, &data) || data.n == 0))
            return;
        c->transport->received(c, data);
        return;
    }
    if (res == 0) {
        c->ended = true;
        if (c->lingering)
            conn_close(c, CLOSE_LINGERED);
        else
            c->ops->ended(c);
        return;
    }
    if (res == -ECANCELED) { /* paused; perhaps resumed since */
        if (c->recv_wanted)
            op_recv(loop, &c->recv_op, c->fd);
        return;
    }
    conn_close(c, res == -ECONNRESET || res == -EPIPE || res == -ETIMEDOUT ? CLOSE_RESET
                                                                          : CLOSE_RECV_ERROR);
}

void conn_start_recv(struct conn *c)
{
    c->recv_wanted = true;
    op_recv(c->net->loop, &c->recv_op, c->fd);
}

void conn_recv_pause(struct conn *c)
{
    if (!c->recv_wanted)
        return;
    c->recv_wanted = false;
    op_cancel(c->net->loop, &c->recv_op);
}

void conn_recv_resume(struct conn *c)
{
    if (c->recv_wanted || c->ended || c->closing)
        return;
    c->recv_wanted = true;
    if (!op_busy(&c->recv_op))
        op_recv(c->net->loop, &c->recv_op, c->fd);
}

void conn_opened(struct conn *c)
{
    c->opened = true;
    c->ops->opened(c);
}

void conn_deliver(struct conn *c, struct str data)
{
    if (UNLIKELY(c->lingering))
        return;
    c->ops->received(c, data);
}

void conn_flush(struct conn *c)
{
    loop_at_turn_end(c->net->loop, &c->turn);
}

/* Once all is written the peer is told, and the rest of its input is read for a while. */
static void linger_shutdown(struct conn *c)
{
    if (!out_empty(&c->out))
        return;
    if (c->ended)
        conn_close(c, CLOSE_DONE);
    else
        c->transport->shutdown(c);
}

void conn_sent(struct conn *c)
{
    if (c->lingering)
        linger_shutdown(c);
    else
        c->ops->sent(c);
    if (c->closing)
        return;
    if (!out_empty(&c->out))
        conn_flush(c);
    else if (c->close_sent)
        conn_close(c, c->reason);
}

static void expired(struct deadline *d, uint64_t now_ms)
{
    (void)now_ms;
    struct conn *c = container_of(d, struct conn, deadline);
    if (c->closing)
        return;
    if (c->lingering)
        conn_close(c, CLOSE_LINGERED);
    else
        c->ops->expired(c);
}

/* One deadline serves both limits; while output is queued, it is the longer one. */
void conn_linger(struct conn *c, uint64_t idle_ms, uint64_t total_ms)
{
    if (c->closing || c->lingering)
        return;
    c->linger_end_ms = c->net->loop->now_ms + total_ms;
    c->linger_idle_ms = idle_ms < UINT32_MAX ? (uint32_t)idle_ms : UINT32_MAX;
    conn_timeout(c, total_ms);
    linger_on(c);
    c->lingering = true;
    conn_recv_resume(c);
    linger_shutdown(c);
}

static void describe(const struct log_ctx *ctx, struct wbuf *to)
{
    struct conn *c = container_of((struct log_ctx *)(uintptr_t)ctx, struct conn, log);
    const struct conn_peer *peer = conn_peer(c);
    if (peer != NULL)
        wbuf_printf(to, ", client: %.*s", (int)peer->text_n, peer->text);
}

/*
 * A full worker gives up the connection that has been idle longest for the new one.  The list is
 * not kept in order of idleness, which would cost every request; it is searched piece by piece,
 * what was looked at going to its end.
 */
static bool make_room(struct net *n)
{
    if (n->count < n->limit)
        return true;
    struct conn *oldest = NULL;
    struct list *last = n->all.prev;
    for (unsigned i = 0; i < ROOM_LOOKS && !list_empty(&n->all); i++) {
        struct list *l = list_pop_front(&n->all);
        struct conn *c = container_of(l, struct conn, link);
        list_push_back(&n->all, l);
        if (c->idle && !c->closing && (oldest == NULL || c->idle_ms < oldest->idle_ms))
            oldest = c;
        if (l == last)
            break;
    }
    if (oldest != NULL)
        conn_close(oldest, CLOSE_CROWDED);
    return oldest != NULL;
}

struct conn *conn_accepted(struct net *n, int fd, const struct listener *l,
                           const struct transport *t)
{
    n->stats.accepted++;
    struct conn *c = make_room(n) ? slab_get(&n->conns) : NULL;
    if (c == NULL) {
        n->stats.refused++;
        close(fd);
        return NULL;
    }
    memset(c, 0, sizeof(*c) + n->ops->state_size);
    c->net = n;
    c->ops = n->ops;
    c->transport = t;
    c->listener = l;
    c->fd = fd;
    c->id = ++n->next_id;
    c->started_ms = n->loop->now_ms;
    c->log = (struct log_ctx){.log = n->log, .id = c->id, .describe = describe};
    op_init(&c->recv_op, recv_done);
    op_init(&c->send_op, NULL);
    turn_init(&c->turn, conn_turn);
    deadline_init(&c->deadline, &n->loop->timers, expired);
    list_push_back(&n->all, &c->link);
    n->count++;
    n->stats.handled++;
    if (l->proxy_protocol && !proxied_begin(c)) {
        conn_close(c, CLOSE_NO_MEMORY);
        return NULL;
    }
    c->ops->accepted(c);
    t->start(c);
    return c;
}

uint64_t conn_acked(const struct conn *c)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    if (getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == -1)
        return 0;
    return info.tcpi_bytes_acked;
}

const struct conn_peer *conn_peer(struct conn *c)
{
    if (c->peer != NULL)
        return c->peer;
    struct conn_peer *p = slab_get(&c->net->peers);
    if (p == NULL)
        return NULL;
    if (addr_of_peer(c->fd, &p->remote) != STATUS_OK ||
        addr_of_socket(c->fd, &p->local) != STATUS_OK) {
        slab_put(&c->net->peers, p);
        return NULL;
    }
    addr_unmap(&p->remote);
    addr_unmap(&p->local);
    p->text_n = (uint8_t)addr_format_ip(&p->remote, p->text);
    c->peer = p;
    return p;
}
