/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepting: each new descriptor becomes a connection; trouble is said, not spun on. */
#include "net/listen.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define QUEUED_MAX 65536u

/* Errors of one connection that has gone meanwhile: the next one may be good (accept(2)). */
static bool is_transient(int err)
{
    switch (err) {
    case EINTR: case ECONNABORTED: case EPROTO: case ENETDOWN: case ENOPROTOOPT: case EHOSTDOWN:
    case ENONET: case EHOSTUNREACH: case EOPNOTSUPP: case ENETUNREACH:
        return true;
    default:
        return false;
    }
}

static bool ran_out(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

/* Accepts what is queued; 0, or the error that ended it. */
static int take(struct acceptor *a)
{
    for (unsigned n = 0; n < QUEUED_MAX; n++) {
        int fd = accept4(a->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd != -1)
            conn_accepted(a->net, fd, a->listener, a->transport);
        else if (!is_transient(errno))
            return errno == EAGAIN ? 0 : errno;
    }
    return 0;
}

bool acceptor_take(struct acceptor *a)
{
    return !ran_out(take(a));
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

static void say(const struct acceptor *a, int err)
{
    static struct log_rate rate;
    uint32_t held;
    if (log_rate_ok(&rate, 1, &held))
        log_msg_errno(a->net->loop->log, LEVEL_ALERT, err, "accept() on %s failed, pausing",
                      a->listener->text);
}

/* The listener itself is at fault: what follows would fail as well, and at once. */
static void rest(struct acceptor *a, int err)
{
    struct loop *loop = a->net->loop;
    say(a, err);
    timer_arm(&loop->timers, &a->retry, loop->now_ms + ACCEPT_PAUSE_MS);
}

static void retry(struct timer *t, uint64_t now_ms)
{
    struct acceptor *a = container_of(t, struct acceptor, retry);
    (void)now_ms;
    if (a->wanted && !op_busy(&a->op))
        wait_for_more(a);
}

/* Something is queued on a sibling's socket, or the poll has failed. */
static void poll_done(struct acceptor *a, int32_t res)
{
    int err = res >= 0 || res == -ECANCELED ? take(a) : -res;
    if (!a->wanted)
        return;
    a->stands_in = !ran_out(err); /* what has run out is waited for by the back end */
    if (err != 0 && !ran_out(err))
        rest(a, err);
    else
        wait_for_more(a);
}

static void accept_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct acceptor *a = container_of(op, struct acceptor, op);
    (void)loop;
    if (op->kind == OP_POLL) {
        poll_done(a, res);
        return;
    }
    if (LIKELY(res >= 0)) {
        conn_accepted(a->net, res, a->listener, a->transport);
        return;
    }
    if (flags & OP_MORE) { /* the back end pauses */
        say(a, -res);
        return;
    }
    if (!a->wanted)
        take(a);
    else if (res == -ECANCELED)
        wait_for_more(a); /* wanted again meanwhile */
    else
        rest(a, -res);
}

void acceptor_init(struct acceptor *a, struct net *n, const struct listener *l, uint32_t owner,
                   int fd, const struct transport *t)
{
    *a = (struct acceptor){.net = n, .listener = l, .transport = t, .fd = fd, .owner = owner};
    op_init(&a->op, accept_done);
    timer_init(&a->retry, retry);
}

void acceptor_start(struct acceptor *a, bool stands_in)
{
    a->wanted = true;
    a->stands_in = stands_in;
    if (!op_busy(&a->op) && !timer_armed(&a->retry))
        wait_for_more(a);
}

void acceptor_stop(struct acceptor *a)
{
    a->wanted = false;
    timer_disarm(&a->net->loop->timers, &a->retry);
    op_cancel(a->net->loop, &a->op);
}
