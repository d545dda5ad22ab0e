/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain TCP (and Unix sockets): bytes go between the socket and the protocol as they are. */
#include "net/conn.h"

#include <errno.h>
#include <sys/socket.h>

static void send_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    (void)flags;
    struct conn *c = container_of(op, struct conn, send_op);
    struct output *o = &c->out;
    bool file = op->kind == OP_SEND_FILE;
    if (res > 0) {
        if (file)
            out_file_moved(o, (size_t)res);
        else
            out_advance(o, &c->net->out, (size_t)res);
        c->net->stats.bytes_out += (uint32_t)res;
    }
    if (c->closing) {
        loop_at_turn_end(loop, &c->turn);
        return;
    }
    if (res <= 0) {
        if (file && res == 0)
            conn_abort(c, CLOSE_FILE_SHRANK);
        else if (file && res == -EIO)
            conn_abort(c, CLOSE_FILE_ERROR);
        else
            conn_close(c, res == -EPIPE || res == -ECONNRESET ? CLOSE_RESET : CLOSE_SEND_ERROR);
        return;
    }
    if (file && out_front_file(o)->left == 0)
        out_file_done(o, &c->net->out, loop);
    conn_sent(c);
}

static void send_file_range(struct conn *c)
{
    struct send_file *sf = out_front_file(&c->out);
    uint64_t room = conn_send_room(c);
    sf->budget = room < SEND_FILE_BUDGET ? (uint32_t)room : SEND_FILE_BUDGET;
    c->send_op.done = send_done;
    op_send_file(c->net->loop, &c->send_op, c->fd, sf);
}

static void plain_flush(struct conn *c)
{
    struct out_buf *first = c->out.first;
    uint64_t room = conn_send_room(c);
    bool more;
    c->send_op.done = send_done;
    if (out_front_file(&c->out) != NULL) {
        send_file_range(c);
        return;
    }
    if (LIKELY(first->next == NULL && first->iov_n - first->iov_at == 1)) {
        const struct iovec *v = &first->iov[first->iov_at];
        size_t n = LIKELY(v->iov_len < room) ? v->iov_len : (size_t)room;
        op_send(c->net->loop, &c->send_op, c->fd, v->iov_base, n,
                first->has_file && room > n ? OP_SEND_MORE : 0);
        return;
    }
    if (c->gather == NULL && (c->gather = slab_get(&c->net->out.gathers)) == NULL) {
        conn_close(c, CLOSE_NO_MEMORY);
        return;
    }
    size_t n = out_front(&c->out, c->gather->iov, OUT_GATHER, room, &more);
    c->gather->msg = (struct msghdr){.msg_iov = c->gather->iov, .msg_iovlen = n};
    op_sendv(c->net->loop, &c->send_op, c->fd, &c->gather->msg, more ? OP_SEND_MORE : 0);
}

static void plain_start(struct conn *c)
{
    conn_start_recv(c);
    conn_opened(c);
}

static void plain_shutdown(struct conn *c)
{
    shutdown(c->fd, SHUT_WR);
}

const struct transport plain_transport = {
    .name = "plain",
    .send_file = true,
    .start = plain_start,
    .received = conn_deliver,
    .flush = plain_flush,
    .shutdown = plain_shutdown,
};
