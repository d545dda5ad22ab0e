/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepting: each new descriptor becomes a connection; trouble is said, not spun on. */
#include "net/listen.h"

#include <errno.h>
#include <sys/socket.h>

#define QUEUED_MAX 65536u

/*
 * Accepting ends: what the kernel has queued for us by now is still ours, because the socket may be
 * about to be closed, which would reset it.
 */
static void take_queued(struct acceptor *a)
{
    for (unsigned n = 0; n < QUEUED_MAX; n++) {
        int fd = accept4(a->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd == -1)
            return;
        conn_accepted(a->net, fd, a->listener, a->transport);
    }
}

static void accept_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    static struct log_rate rate;
    struct acceptor *a = container_of(op, struct acceptor, op);
    uint32_t held;
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
        op_accept(loop, op, a->fd);
    else
        take_queued(a);
}

void acceptor_init(struct acceptor *a, struct net *n, const struct listener *l, uint32_t owner,
                   int fd, const struct transport *t)
{
    *a = (struct acceptor){.net = n, .listener = l, .transport = t, .fd = fd, .owner = owner};
    op_init(&a->op, accept_done);
}

void acceptor_start(struct acceptor *a)
{
    a->wanted = true;
    if (!op_busy(&a->op))
        op_accept(a->net->loop, &a->op, a->fd);
}

void acceptor_stop(struct acceptor *a)
{
    a->wanted = false;
    op_cancel(a->net->loop, &a->op);
}
