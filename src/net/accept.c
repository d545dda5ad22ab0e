/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepting: each new descriptor becomes a connection; trouble is said, not spun on. */
#include "net/listen.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define QUEUED_MAX 65536u

bool acceptor_take(struct acceptor *a)
{
    for (unsigned n = 0; n < QUEUED_MAX; n++) {
        int fd = accept4(a->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd == -1)
            return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
        conn_accepted(a->net, fd, a->listener, a->transport);
    }
    return true;
}

/*
 * A pending accept is an exclusive waiter: of several, one is woken for a connection, and a worker
 * that is hung is not too dead to be that one.  Who stands in for it therefore polls, which wakes
 * besides.
 */
static void wait_for_more(struct acceptor *a)
{
    if (a->stands_in)
        op_poll(a->net->loop, &a->op, a->fd, POLLIN, 0);
    else
        op_accept(a->net->loop, &a->op, a->fd);
}

static void accept_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    static struct log_rate rate;
    struct acceptor *a = container_of(op, struct acceptor, op);
    uint32_t held;
    if (op->kind == OP_POLL) {
        a->stands_in = acceptor_take(a); /* what has run out is waited for by the back end */
        if (a->wanted)
            wait_for_more(a);
        return;
    }
    if (LIKELY(res >= 0)) {
        conn_accepted(a->net, res, a->listener, a->transport);
        return;
    }
    if (res != -ECANCELED && log_rate_ok(&rate, 1, &held))
        log_msg_errno(loop->log, LEVEL_ALERT, -res, "accept() on %s failed, pausing",
                      a->listener->text);
    if (flags & OP_MORE)
        return;
    if (a->wanted)
        wait_for_more(a);
    else
        acceptor_take(a);
}

void acceptor_init(struct acceptor *a, struct net *n, const struct listener *l, uint32_t owner,
                   int fd, const struct transport *t)
{
    *a = (struct acceptor){.net = n, .listener = l, .transport = t, .fd = fd, .owner = owner};
    op_init(&a->op, accept_done);
}

void acceptor_start(struct acceptor *a, bool stands_in)
{
    a->wanted = true;
    a->stands_in = stands_in;
    if (!op_busy(&a->op))
        wait_for_more(a);
}

void acceptor_stop(struct acceptor *a)
{
    a->wanted = false;
    op_cancel(a->net->loop, &a->op);
}
