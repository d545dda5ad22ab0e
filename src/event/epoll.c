/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The epoll back end: the same completion contract on top of readiness.
 *
 * A descriptor is registered once, edge-triggered for both directions, and only when something
 * really has to wait for it: a request that is there when its connection is accepted, answered and
 * closed never costs an epoll_ctl(2).  The table remembers what the last system call or event said,
 * so an op is tried at once unless that is known to be useless.  Nothing is tried inside submit:
 * submitting puts the descriptor on the ready chain, and wait() works the chain off before it asks
 * the kernel and again afterwards.
 *
 * Listeners differ: level-triggered and exclusive, since other workers may wait for the same one.
 * They come first after a wait, because the kernel has told nobody else of that connection.
 */
#include "event/backend.h"
#include "event/epoll_priv.h"

#include "core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rounds of the ready chain before the kernel is asked again, whatever is left. */
#define ROUNDS 8

/* --- submitting and cancelling: bookkeeping only --- */

void ep_queue(struct epoll_be *be, struct op *op, enum ep_op_state state)
{
    struct op_slot *slots = be->loop->slots;

    op->state = (uint8_t)state;
    slots[op->slot].next_free = EP_NONE;
    if (be->files.first == EP_NONE)
        be->files.first = op->slot;
    else
        slots[be->files.last].next_free = op->slot;
    be->files.last = op->slot;
}

static struct op *queue_pop(struct epoll_be *be)
{
    struct op_slot *slot = &be->loop->slots[be->files.first];

    be->files.first = slot->next_free;
    if (be->files.first == EP_NONE)
        be->files.last = EP_NONE;
    return slot->op;
}

static void arm_poll(struct ep_fd *e, struct op *op)
{
    if ((op->u.poll.events & POLLOUT) == 0 || (op->u.poll.events & POLLIN) != 0) {
        CHECK(e->rd == NULL);
        e->rd = op;
    }
    if ((op->u.poll.events & POLLOUT) != 0) {
        CHECK(e->wr == NULL);
        e->wr = op;
    }
    /* Others read and write this descriptor, so what is remembered of it counts for nothing. */
    e->events = 0;
    e->flags |= EP_REARM;
}

static void arm(struct epoll_be *be, struct op *op)
{
    struct ep_fd *e = ep_fd_entry(be, op->fd);

    if (e == NULL) {
        ep_queue(be, op, EP_OP_NOMEM);
        return;
    }
    op->state = EP_OP_ARMED;
    switch (op->kind) {
    case OP_ACCEPT:
        CHECK(e->rd == NULL);
        e->rd = op;
        e->flags |= EP_LISTENER;
        ep_await(be, op->fd, e); /* level-triggered: the wait will tell */
        return;
    case OP_RECV:
        CHECK(e->rd == NULL);
        e->rd = op;
        break;
    case OP_POLL:
        arm_poll(e, op);
        ep_await(be, op->fd, e);
        return;
    case OP_CONNECT: /* a new socket, however its number was used before */
        ep_fd_reset(e);
        e->wr = op;
        break;
    default:
        CHECK(e->wr == NULL);
        e->wr = op;
        e->sent = 0;
        break;
    }
    ep_ready(be, op->fd, e);
}

bool ep_arm_write(struct epoll_be *be, struct op *op)
{
    struct ep_fd *e = ep_fd_entry(be, op->fd);

    if (e == NULL || e->wr != NULL)
        return false;
    arm(be, op);
    return true;
}

static void epoll_submit(struct loop *loop, struct op *op)
{
    struct epoll_be *be = loop->priv;

    switch (op->kind) {
    case OP_OPEN:
    case OP_READ_FILE:
    case OP_WRITE_FILE:
        ep_queue(be, op, EP_OP_QUEUED);
        break;
    default:
        CHECK(op->fd >= 0);
        arm(be, op);
        break;
    }
}

static void epoll_cancel(struct loop *loop, struct op *op)
{
    struct epoll_be *be = loop->priv;

    op->cancelled = 1;
    if (op->state == EP_OP_ARMED)
        ep_ready(be, op->fd, ep_fd_find(be, op->fd));
    else if (op->state == EP_OP_JOB)
        ep_file_cancel(be, op);
}

static void epoll_close_fd(struct loop *loop, int fd)
{
    struct epoll_be *be = loop->priv;
    struct ep_fd *e = ep_fd_find(be, fd);

    if (e != NULL) {
        /* A listener lives on in other processes and would go on reporting here. */
        if ((e->flags & EP_LISTENER) != 0)
            ep_listener_stop(be, fd, e);
        ep_fd_reset(e);
    }
    (void)close(fd);
}

/* --- the wait --- */

/* Those that come to the chain meanwhile have their turn next time. */
static void run_ready(struct epoll_be *be)
{
    uint32_t last = be->ready.last;
    struct ep_fd *e;
    int fd = -1;

    while ((uint32_t)fd != last && (e = ep_ready_pop(be, &fd)) != NULL) {
        if (e->rd != NULL)
            ep_run_read(be, fd, e);
        if (e->wr != NULL)
            ep_run_write(be, fd, e);
    }
}

static void run_files(struct epoll_be *be)
{
    uint32_t last = be->files.last;

    for (bool end = last == EP_NONE; !end;) {
        end = be->files.first == last;
        struct op *op = queue_pop(be);

        if (op->state == EP_OP_NOMEM)
            loop_complete(be->loop, op, -ENOMEM, 0);
        else if (op->cancelled)
            loop_complete(be->loop, op, -ECANCELED, 0);
        else
            ep_file_run(be, op);
    }
}

static bool has_work(const struct epoll_be *be)
{
    return be->ready.first != EP_NONE || be->files.first != EP_NONE;
}

static int fd_register(struct epoll_be *be, int fd, struct ep_fd *e)
{
    struct epoll_event ev = {.data.u64 = (uint64_t)e->generation << 32 | (uint32_t)fd};
    int cmd = (e->flags & EP_REGISTERED) != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int rc;

    if ((e->flags & EP_LISTENER) != 0) {
        /* Another worker may be faster, and accept4(2) must not block then. */
        int fl = fcntl(fd, F_GETFL);
        if (fl != -1 && (fl & O_NONBLOCK) == 0)
            (void)fcntl(fd, F_SETFL, fl | O_NONBLOCK);
        ev.events = EPOLLIN | EPOLLEXCLUSIVE;
    } else {
        ev.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
    }
    rc = epoll_ctl(be->epfd, cmd, fd, &ev);
    if (rc == -1 && errno == ENOENT) /* closed and opened again behind our back */
        rc = epoll_ctl(be->epfd, EPOLL_CTL_ADD, fd, &ev);
    else if (rc == -1 && errno == EEXIST && (e->flags & EP_LISTENER) == 0)
        rc = epoll_ctl(be->epfd, EPOLL_CTL_MOD, fd, &ev);
    return rc == -1 ? errno : 0;
}

static void register_waiting(struct epoll_be *be)
{
    struct ep_fd *e;
    int fd;

    while ((e = ep_reg_pop(be, &fd)) != NULL) {
        if ((e->rd == NULL && e->wr == NULL) ||
            (e->flags & (EP_REGISTERED | EP_REARM)) == EP_REGISTERED)
            continue;
        e->flags &= (uint16_t)~EP_REARM;
        int err = fd_register(be, fd, e);
        if (err == 0) {
            e->flags |= EP_REGISTERED;
        } else if (err == EPERM) { /* a regular file and the like: always ready, as poll(2) says */
            e->events |= EPOLLIN | EPOLLOUT;
            e->flags |= EP_CAN_READ | EP_CAN_WRITE;
            ep_ready(be, fd, e);
        } else {
            ep_fail(be, e, -err);
        }
    }
}

static void note_event(struct epoll_be *be, const struct epoll_event *ev)
{
    int fd = (int)(uint32_t)ev->data.u64;
    struct ep_fd *e = ep_fd_find(be, fd);
    uint32_t reads = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR;
    uint32_t writes = EPOLLOUT | EPOLLHUP | EPOLLERR;

    if (e == NULL || e->generation != (uint32_t)(ev->data.u64 >> 32)) {
        be->loop->stats.late++;
        return;
    }
    e->events |= ev->events;
    if ((ev->events & reads) != 0)
        e->flags |= EP_CAN_READ;
    if ((ev->events & reads & ~(uint32_t)EPOLLIN) != 0)
        e->flags |= EP_DRAIN;
    if ((ev->events & writes) != 0)
        e->flags |= EP_CAN_WRITE;
    if ((e->flags & EP_LISTENER) != 0)
        ep_ready_first(be, fd, e);
    else if ((e->rd != NULL && (ev->events & reads) != 0) ||
             (e->wr != NULL && (ev->events & writes) != 0))
        ep_ready(be, fd, e);
}

static int wait_ms(uint64_t deadline)
{
    uint64_t now;

    if (deadline == TIMER_NEVER)
        return -1;
    now = clock_mono_ms();
    if (deadline <= now)
        return 0;
    return deadline - now > INT_MAX ? INT_MAX : (int)(deadline - now);
}

static void ask_kernel(struct epoll_be *be, int timeout)
{
    int n = epoll_wait(be->epfd, be->events, EP_EVENTS, timeout);
    bool wake = false;

    CHECK(n >= 0 || errno == EINTR);
    be->loop->stats.waits++;
    loop_clock(be->loop);
    for (int i = 0; i < n; i++) {
        if (be->events[i].data.u64 == EP_WAKE)
            wake = true;
        else
            note_event(be, &be->events[i]);
    }
    if (wake)
        ep_file_reap(be);
    run_ready(be);
}

/*
 * What was submitted is tried first.  If that completed something the turn ends at once, since
 * whoever runs the loop may have been waiting for it, and timers may be due earlier than they were;
 * but not twice in a row: others are waiting too.
 */
static void epoll_turn(struct loop *loop, uint64_t deadline_ms)
{
    struct epoll_be *be = loop->priv;
    uint64_t completed = loop->stats.completed;
    bool busy;

    for (int round = 0; round < ROUNDS && has_work(be); round++) {
        run_files(be);
        run_ready(be);
    }
    register_waiting(be);
    busy = has_work(be);
    if (loop->stats.completed != completed && !busy && !be->returned_early) {
        be->returned_early = true;
        loop_clock(loop);
        return;
    }
    be->returned_early = false;
    ask_kernel(be, busy || loop->stats.completed != completed ? 0 : wait_ms(deadline_ms));
}

/* --- starting and ending --- */

static enum status epoll_probe(const struct ev_conf *conf, char *why, size_t size)
{
    (void)conf;
    (void)snprintf(why, size, "works on every kernel");
    return STATUS_OK;
}

static void epoll_fini(struct loop *loop)
{
    struct epoll_be *be = loop->priv;

    if (be == NULL)
        return;
    timer_disarm(&loop->timers, &be->accept_timer);
    ep_file_fini(be);
    if (be->epfd != -1)
        (void)close(be->epfd);
    ep_table_free(be);
    free(be->scratch);
    free(be);
    loop->priv = NULL;
}

static enum status epoll_init(struct loop *loop, const struct ev_conf *conf, char *why, size_t size)
{
    static const struct ep_chain empty = {EP_NONE, EP_NONE};
    struct epoll_be *be = calloc(1, sizeof(*be));
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = EP_WAKE};
    int err = ENOMEM;
    enum status st = STATUS_NOMEM;

    if (be == NULL)
        goto fail;
    loop->priv = be;
    be->loop = loop;
    be->ready = be->reg = be->pause = be->files = empty;
    timer_init(&be->accept_timer, ep_unpause);
    be->epfd = -1;
    st = ep_file_init(be, conf);
    err = errno;
    if (st != STATUS_OK)
        goto fail;
    be->scratch_size = conf->recv_buffer_size != 0 ? conf->recv_buffer_size : 4096;
    be->scratch = malloc(be->scratch_size);
    if (be->scratch == NULL) {
        err = ENOMEM;
        goto fail_errno;
    }
    be->epfd = epoll_create1(EPOLL_CLOEXEC);
    err = errno;
    if (be->epfd == -1 || epoll_ctl(be->epfd, EPOLL_CTL_ADD, be->f.wake_fd, &ev) == -1) {
        err = errno;
        goto fail_errno;
    }
    (void)snprintf(why, size, "works on every kernel");
    return STATUS_OK;

fail_errno:
    st = status_from_errno(err);
fail:
    (void)snprintf(why, size, "epoll: %s", strerror(err));
    epoll_fini(loop);
    errno = err;
    return st;
}

const struct ev_backend epoll_backend = {
    .name = "epoll",
    .rank = 1,
    .probe = epoll_probe,
    .init = epoll_init,
    .fini = epoll_fini,
    .submit = epoll_submit,
    .cancel = epoll_cancel,
    .close_fd = epoll_close_fd,
    .wait = epoll_turn,
    .file_buf_get = ep_file_buf_get,
    .file_buf_put = ep_file_buf_put,
};
