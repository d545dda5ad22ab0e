/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The epoll back end's system calls on sockets: what is armed on a descriptor is tried here, once
 * it has a chance, and completed or left waiting.  Each attempt costs the calls it must and no
 * more: a read shorter than the buffer has emptied the socket, a write shorter than asked has
 * filled it, and in both cases the next edge is awaited instead of a second call made.
 */
#include "event/backend.h"
#include "event/epoll_priv.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READS_PER_TURN 16 /* of one descriptor, so that the others get theirs */
#define BURST_MAX 6       /* log2 of the connections accepted at one wake-up */

static void end_read(struct epoll_be *be, struct ep_fd *e, int32_t res)
{
    struct op *op = e->rd;

    e->rd = NULL;
    if (e->wr == op) /* a poll for both directions */
        e->wr = NULL;
    loop_complete(be->loop, op, res, 0);
}

void ep_listener_stop(struct epoll_be *be, int fd, struct ep_fd *e)
{
    if ((e->flags & EP_REGISTERED) != 0)
        (void)epoll_ctl(be->epfd, EPOLL_CTL_DEL, fd, NULL);
    e->flags &= (uint16_t)~EP_REGISTERED;
}

/* Bytes that are out are the result, even when an error or a cancel came after them. */
static void end_write(struct epoll_be *be, struct ep_fd *e, int32_t res)
{
    struct op *op = e->wr;

    if (res < 0 && e->sent > 0)
        res = (int32_t)e->sent;
    e->wr = NULL;
    e->sent = 0;
    e->flags &= (uint16_t)~EP_CONNECTING;
    if (e->rd == op)
        e->rd = NULL;
    loop_complete(be->loop, op, res, 0);
}

void ep_fail(struct epoll_be *be, struct ep_fd *e, int32_t res)
{
    const struct op *wr = e->wr;

    if (e->rd != NULL)
        end_read(be, e, res);
    if (wr != NULL && e->wr == wr) /* neither in both directions nor replaced in done() */
        end_write(be, e, res);
}

/* --- reading --- */

/* An error that belongs to one connection that is gone, see accept(2). */
static bool accept_transient(int err)
{
    switch (err) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
        return true;
    default:
        return false;
    }
}

static void accept_failed(struct epoll_be *be, int fd, struct ep_fd *e, int err)
{
    if (err != EMFILE && err != ENFILE && err != ENOBUFS && err != ENOMEM) {
        ep_listener_stop(be, fd, e);
        end_read(be, e, -err);
        return;
    }
    be->loop->stats.accept_pauses++;
    ep_listener_stop(be, fd, e);
    ep_pause(be, fd, e);
    loop_complete(be->loop, e->rd, -err, OP_MORE);
}

/*
 * As many as a wake-up is expected to bring: a lone connection does not pay for an accept4(2) that
 * finds nothing.  The listener is level-triggered, so what is left over is reported again.
 */
static void run_accept(struct epoll_be *be, int fd, struct ep_fd *e)
{
    struct op *op = e->rd;
    int i, limit = 1 << e->burst;

    if ((e->events & (EPOLLIN | EPOLLERR | EPOLLHUP)) == 0)
        return;
    e->events = 0;
    for (i = 0; i < limit; i++) {
        int c = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (c == -1 && accept_transient(errno))
            continue;
        if (c == -1 && errno != EAGAIN) {
            accept_failed(be, fd, e, errno);
            return;
        }
        if (c == -1)
            break;
        ep_forget(be, c);
        loop_complete(be->loop, op, c, OP_MORE);
        if (op->cancelled)
            return;
    }
    if (i < limit)
        e->burst = 0;
    else if (e->burst < BURST_MAX)
        e->burst++;
}

static void run_recv(struct epoll_be *be, int fd, struct ep_fd *e)
{
    struct op *op = e->rd;

    for (int i = 0; i < READS_PER_TURN && (e->flags & EP_CAN_READ) != 0; i++) {
        ssize_t n = recv(fd, be->scratch, be->scratch_size, MSG_DONTWAIT);

        if (n == -1 && errno == EINTR)
            continue;
        if (n == -1 && errno == EAGAIN) {
            e->flags &= (uint16_t)~(EP_CAN_READ | EP_DRAIN);
            break;
        }
        if (n <= 0) {
            end_read(be, e, n == 0 ? 0 : -errno);
            return;
        }
        /* Nothing is left, and the kernel reports the end of the stream as an edge of its own,
         * unless it has said so already or urgent data cut the read short. */
        if ((size_t)n < be->scratch_size && (e->flags & EP_DRAIN) == 0)
            e->flags &= (uint16_t)~EP_CAN_READ;
        op->u.recv.data = be->scratch;
        loop_complete(be->loop, op, (int32_t)n, OP_MORE);
        if (op->cancelled) /* it is on the ready chain and ends there */
            return;
    }
    if ((e->flags & EP_CAN_READ) != 0)
        ep_ready(be, fd, e);
    else
        ep_await(be, fd, e);
}

/* op is in one or both directions of e. */
static void run_poll(struct epoll_be *be, int fd, struct ep_fd *e, struct op *op)
{
    uint32_t hit = e->events & (op->u.poll.events | POLLERR | POLLHUP);

    if (hit == 0) {
        ep_await(be, fd, e);
        return;
    }
    e->events &= ~hit;
    if ((op->flags & OP_POLL_MULTI) != 0)
        loop_complete(be->loop, op, (int32_t)hit, OP_MORE);
    else if (e->rd == op)
        end_read(be, e, (int32_t)hit);
    else
        end_write(be, e, (int32_t)hit);
}

void ep_run_read(struct epoll_be *be, int fd, struct ep_fd *e)
{
    struct op *op = e->rd;

    if (op->cancelled) {
        if (op->kind == OP_ACCEPT)
            ep_listener_stop(be, fd, e);
        end_read(be, e, -ECANCELED);
    } else if (op->kind == OP_ACCEPT) {
        run_accept(be, fd, e);
    } else if (op->kind == OP_RECV) {
        run_recv(be, fd, e);
    } else {
        run_poll(be, fd, e, op);
    }
}

/* --- writing --- */

/* Drops n sent bytes from the front of a message. */
static void msg_advance(struct msghdr *msg, size_t n)
{
    while (msg->msg_iovlen > 0 && n >= msg->msg_iov->iov_len) {
        n -= msg->msg_iov->iov_len;
        msg->msg_iov++;
        msg->msg_iovlen--;
    }
    if (n > 0) {
        msg->msg_iov->iov_base = (char *)msg->msg_iov->iov_base + n;
        msg->msg_iov->iov_len -= n;
    }
}

/* One call; *left is what remains to be sent after it. */
static ssize_t send_some(const struct op *op, const struct ep_fd *e, size_t *left)
{
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT | ((op->flags & OP_SEND_MORE) != 0 ? MSG_MORE : 0);
    ssize_t n;

    *left = 0;
    if (op->kind == OP_SENDV) {
        struct msghdr *msg = op->u.sendv.msg;

        n = sendmsg(op->fd, msg, flags);
        if (n >= 0)
            msg_advance(msg, (size_t)n);
        *left = msg->msg_iovlen;
        return n;
    }
    if (op->kind == OP_WRITE_FILE)
        return ep_file_write_stream(op);
    n = send(op->fd, (const char *)op->u.send.p + e->sent, op->u.send.n - e->sent, flags);
    if (n >= 0)
        *left = op->u.send.n - e->sent - (size_t)n;
    return n;
}

static void run_send(struct epoll_be *be, int fd, struct ep_fd *e)
{
    while ((e->flags & EP_CAN_WRITE) != 0) {
        size_t left;
        ssize_t n = send_some(e->wr, e, &left);

        if (n == -1 && errno == EINTR)
            continue;
        if (n == -1 && errno == EAGAIN) {
            e->flags &= (uint16_t)~EP_CAN_WRITE;
            break;
        }
        if (n == -1) {
            end_write(be, e, -errno);
            return;
        }
        e->sent += (size_t)n;
        if (left == 0) {
            end_write(be, e, (int32_t)e->sent);
            return;
        }
        be->loop->stats.short_sends++;
        e->flags &= (uint16_t)~EP_CAN_WRITE;
    }
    ep_await(be, fd, e);
}

static void run_connect(struct epoll_be *be, int fd, struct ep_fd *e)
{
    const struct op *op = e->wr;
    int err = 0;
    socklen_t len = sizeof(err);

    if ((e->flags & EP_CONNECTING) == 0) {
        int rc;

        do
            rc = connect(fd, op->u.connect.addr, op->u.connect.len);
        while (rc == -1 && errno == EINTR);
        if (rc == 0 || errno != EINPROGRESS) {
            end_write(be, e, rc == 0 ? 0 : -errno);
            return;
        }
        e->flags |= EP_CONNECTING;
        e->flags &= (uint16_t)~EP_CAN_WRITE;
    }
    if ((e->flags & EP_CAN_WRITE) == 0) {
        ep_await(be, fd, e);
        return;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) == -1)
        err = errno;
    end_write(be, e, -err);
}

void ep_run_write(struct epoll_be *be, int fd, struct ep_fd *e)
{
    struct op *op = e->wr;

    if (op->cancelled)
        end_write(be, e, -ECANCELED);
    else if (op->kind == OP_POLL)
        run_poll(be, fd, e, op);
    else if (op->kind == OP_CONNECT)
        run_connect(be, fd, e);
    else
        run_send(be, fd, e);
}
