/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepting: each new descriptor becomes a connection; trouble is said, not spun on. */
#include "net/listen.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
    if (!(flags & OP_MORE) && a->wanted)
        op_accept(loop, op, a->fd);
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
