/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The io_uring back end: ops become submission queue entries, completions find their op by slot
 * and generation.  What the kernel ends early (a multishot at a full completion queue, a receive
 * without buffers, an accept without descriptors) is armed again here; callers never see it.
 */
#include "event/uring_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* user_data of entries whose completion nobody waits for (cancel, close). */
#define NOBODY 0u

static struct io_uring_sqe *get_sqe(struct uring *u)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    if (LIKELY(sqe != NULL))
        return sqe;
    /* The queue is full in the middle of a turn. Submitting runs no completion of ours. */
    io_uring_submit(&u->ring);
    if (u->sqpoll)
        io_uring_sqring_wait(&u->ring);
    return io_uring_get_sqe(&u->ring);
}

static void backlog_push(struct uring *u, struct op *op)
{
    struct op_slot *slots = u->loop->slots;
    op->state = URING_BACKLOG;
    slots[op->slot].next_free = OP_SLOT_NONE;
    if (u->backlog_tail == OP_SLOT_NONE)
        u->backlog_head = op->slot;
    else
        slots[u->backlog_tail].next_free = op->slot;
    u->backlog_tail = op->slot;
}

static void prep_recv(struct uring *u, struct io_uring_sqe *sqe, const struct op *op)
{
    if (u->multishot_recv)
        io_uring_prep_recv_multishot(sqe, op->fd, NULL, 0, 0);
    else
        io_uring_prep_recv(sqe, op->fd, NULL, u->bufs.size, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = URING_RECV_GROUP;
}

static void prep(struct uring *u, struct io_uring_sqe *sqe, struct op *op)
{
    int msg = MSG_WAITALL | MSG_NOSIGNAL | (op->flags & OP_SEND_MORE ? MSG_MORE : 0);
    switch ((enum op_kind)op->kind) {
    case OP_ACCEPT:
        io_uring_prep_multishot_accept(sqe, op->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        return;
    case OP_RECV:
        prep_recv(u, sqe, op);
        return;
    case OP_SEND:
        io_uring_prep_send(sqe, op->fd, op->u.send.p, op->u.send.n, msg);
        return;
    case OP_SENDV:
        io_uring_prep_sendmsg(sqe, op->fd, op->u.sendv.msg, (unsigned)msg);
        return;
    case OP_READ_FILE:
        uring_file_prep(u, sqe, op);
        return;
    case OP_WRITE_FILE:
        io_uring_prep_write(sqe, op->fd, op->u.rw.p, (unsigned)op->u.rw.n, op->u.rw.off);
        return;
    case OP_OPEN:
        io_uring_prep_openat2(sqe, op->fd, op->u.open.path,
                              (struct open_how *)(uintptr_t)op->u.open.how);
        return;
    case OP_POLL:
        if (op->flags & OP_POLL_MULTI)
            io_uring_prep_poll_multishot(sqe, op->fd, op->u.poll.events);
        else
            io_uring_prep_poll_add(sqe, op->fd, op->u.poll.events);
        return;
    case OP_CONNECT:
        io_uring_prep_connect(sqe, op->fd, op->u.connect.addr, op->u.connect.len);
        return;
    case OP_NONE:
    case OP_SEND_FILE:
    case OP_KINDS:
        break;
    }
    CHECK(!"an op of this kind is not submitted to a back end");
}

static void arm(struct uring *u, struct op *op)
{
    struct io_uring_sqe *sqe = get_sqe(u);
    if (UNLIKELY(sqe == NULL)) {
        backlog_push(u, op);
        return;
    }
    prep(u, sqe, op);
    io_uring_sqe_set_data64(sqe, loop_user_data(u->loop, op));
    op->state = URING_IN_KERNEL;
}

static void uring_submit(struct loop *loop, struct op *op)
{
    arm(uring_of(loop), op);
}

/* An accept that rests goes to the backlog, where it is completed in the next turn. */
static void unpause(struct uring *u, struct op *op)
{
    struct op_slot *slots = u->loop->slots;
    uint32_t *at = &u->paused;
    while (*at != op->slot) {
        CHECK(*at != OP_SLOT_NONE);
        at = &slots[*at].next_free;
    }
    *at = slots[op->slot].next_free;
    backlog_push(u, op);
}

/* Ops that are with us and not with the kernel are completed when the backlog is run. */
static void uring_cancel(struct loop *loop, struct op *op)
{
    struct uring *u = uring_of(loop);
    if (op->state == URING_PAUSED)
        unpause(u, op);
    if (op->state == URING_BACKLOG)
        return;
    struct io_uring_sqe *sqe = get_sqe(u);
    if (UNLIKELY(sqe == NULL)) {
        u->cancel_again = true;
        return;
    }
    io_uring_prep_cancel64(sqe, loop_user_data(loop, op), 0);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, NOBODY);
}

/* Cancels that found no room; doing one twice does no harm. */
static void run_cancels(struct uring *u)
{
    u->cancel_again = false;
    for (uint32_t i = 0; i < u->loop->slot_used; i++) {
        struct op *op = u->loop->slots[i].op;
        if (op != NULL && op->cancelled && op->kind != OP_SEND_FILE)
            uring_cancel(u->loop, op);
    }
}

static void uring_close_fd(struct loop *loop, int fd)
{
    struct uring *u = uring_of(loop);
    uring_file_forget(u, fd);
    struct io_uring_sqe *sqe = get_sqe(u);
    if (sqe == NULL) {
        close(fd);
        return;
    }
    io_uring_prep_close(sqe, fd);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, NOBODY);
}

/* The kernel ended a multishot that is still wanted. */
static void rearm(struct uring *u, struct op *op)
{
    if (op->cancelled) {
        loop_complete(u->loop, op, -ECANCELED, 0);
        return;
    }
    u->loop->stats.rearmed++;
    arm(u, op);
}

static bool accept_exhausted(int res)
{
    return res == -EMFILE || res == -ENFILE || res == -ENOBUFS || res == -ENOMEM;
}

static void accept_resume(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    struct uring *u = container_of(t, struct uring, accept_timer);
    struct op_slot *slots = u->loop->slots;
    uint32_t i = u->paused;
    u->paused = OP_SLOT_NONE;
    while (i != OP_SLOT_NONE) {
        uint32_t next = slots[i].next_free;
        backlog_push(u, slots[i].op);
        i = next;
    }
}

static void accept_pause(struct uring *u, struct op *op)
{
    u->loop->stats.accept_pauses++;
    op->state = URING_PAUSED;
    u->loop->slots[op->slot].next_free = u->paused;
    u->paused = op->slot;
    if (!timer_armed(&u->accept_timer))
        timer_arm(&u->loop->timers, &u->accept_timer, u->loop->now_ms + ACCEPT_PAUSE_MS);
}

static void on_accept(struct uring *u, struct op *op, int32_t res, bool more)
{
    struct loop *loop = u->loop;
    if (res >= 0) {
        loop_complete(loop, op, res, OP_MORE);
        if (!more)
            rearm(u, op);
        return;
    }
    if (more) /* an error of one connection */
        return;
    if (accept_exhausted(res)) {
        loop_complete(loop, op, res, OP_MORE);
        if (op->cancelled)
            loop_complete(loop, op, -ECANCELED, 0);
        else
            accept_pause(u, op);
        return;
    }
    if (res == -ECONNABORTED || res == -EAGAIN || res == -EINTR || res == -EPROTO)
        rearm(u, op);
    else
        loop_complete(loop, op, res, 0);
}

/*
 * A call that blocked in a kernel worker thread and was cancelled, or met a signal of its own: the
 * kernel's internal "restart" is seen as it is where nobody translated it.
 */
#define RESTART_SYSCALL 512 /* ERESTARTSYS */
static bool interrupted(int32_t res)
{
    return res == -EINTR || res == -RESTART_SYSCALL;
}

static void on_recv(struct uring *u, struct op *op, int32_t res, unsigned cqe_flags)
{
    bool more = (cqe_flags & IORING_CQE_F_MORE) != 0;
    bool has_buf = (cqe_flags & IORING_CQE_F_BUFFER) != 0;
    uint32_t bid = cqe_flags >> IORING_CQE_BUFFER_SHIFT;
    if (LIKELY(res > 0)) {
        CHECK(has_buf);
        op->u.recv.data = uring_bufs_at(u, bid);
        loop_complete(u->loop, op, res, OP_MORE);
        uring_bufs_give(u, bid);
        if (!more)
            rearm(u, op);
        return;
    }
    if (has_buf)
        uring_bufs_give(u, bid);
    if (res == -ENOBUFS || res == -EAGAIN) {
        /* Armed again at the next turn, when the buffers of this one are back: never spin. */
        if (res == -ENOBUFS) {
            u->loop->stats.starved++;
            uring_bufs_more(u);
        }
        if (!more)
            backlog_push(u, op);
        return;
    }
    if (!more && interrupted(res))
        rearm(u, op);
    else if (!more)
        loop_complete(u->loop, op, res, 0);
}

/* A send that the kernel gave back with -EAGAIN waits for room first. */
static void send_when_writable(struct uring *u, struct op *op)
{
    struct io_uring_sqe *sqe = get_sqe(u);
    if (sqe == NULL) {
        backlog_push(u, op);
        return;
    }
    io_uring_prep_poll_add(sqe, op->fd, POLLOUT);
    io_uring_sqe_set_data64(sqe, loop_user_data(u->loop, op));
    op->state = URING_WRITABLE;
}

static void on_send(struct uring *u, struct op *op, int32_t res)
{
    if (op->state == URING_WRITABLE && res >= 0) {
        rearm(u, op);
        return;
    }
    if (res == -EAGAIN && !op->cancelled) {
        send_when_writable(u, op);
        return;
    }
    if (op->kind == OP_SEND && res > 0 && (size_t)res < op->u.send.n)
        u->loop->stats.short_sends++;
    loop_complete(u->loop, op, res, 0);
}

static void deliver(struct uring *u, uint64_t data, int32_t res, unsigned flags)
{
    if (data == NOBODY)
        return;
    struct op *op = loop_slot_find(u->loop, data);
    if (op == NULL) {
        if (flags & IORING_CQE_F_BUFFER)
            uring_bufs_give(u, flags >> IORING_CQE_BUFFER_SHIFT);
        return;
    }
    bool more = (flags & IORING_CQE_F_MORE) != 0;
    if (op->kind == OP_READ_FILE)
        uring_file_done(u, op);
    if (interrupted(res) && op->kind != OP_ACCEPT && op->kind != OP_RECV) {
        rearm(u, op); /* or its end, when it was cancelled */
        return;
    }
    switch ((enum op_kind)op->kind) {
    case OP_RECV:
        on_recv(u, op, res, flags);
        return;
    case OP_ACCEPT:
        on_accept(u, op, res, more);
        return;
    case OP_SEND:
    case OP_SENDV:
        on_send(u, op, res);
        return;
    case OP_POLL:
        if ((op->flags & OP_POLL_MULTI) && res >= 0) {
            loop_complete(u->loop, op, res, OP_MORE);
            if (!more)
                rearm(u, op);
            return;
        }
        break;
    default:
        break;
    }
    loop_complete(u->loop, op, res, more ? OP_MORE : 0);
}

/* What could not be armed in the last turn; cancelled ones are completed instead. */
static void run_backlog(struct uring *u)
{
    struct op_slot *slots = u->loop->slots;
    uint32_t i = u->backlog_head;
    u->backlog_head = u->backlog_tail = OP_SLOT_NONE;
    while (i != OP_SLOT_NONE) {
        uint32_t next = slots[i].next_free;
        rearm(u, slots[i].op);
        i = next;
    }
}

static void reap(struct uring *u)
{
    struct io_uring_cqe *cqe;
    /* A bound, so that completions that beget completions cannot keep timers waiting. */
    for (unsigned n = u->ring.cq.ring_entries; n > 0; n--) {
        if (io_uring_peek_cqe(&u->ring, &cqe) != 0)
            return;
        uint64_t data = cqe->user_data;
        int32_t res = cqe->res;
        unsigned flags = cqe->flags;
        io_uring_cq_advance(&u->ring, 1);
        deliver(u, data, res, flags);
    }
}

static int enter(struct uring *u, uint64_t deadline_ms, uint64_t now_ms)
{
    struct io_uring_cqe *cqe;
    if (deadline_ms == TIMER_NEVER)
        return io_uring_submit_and_wait(&u->ring, 1);
    if (deadline_ms <= now_ms) /* the SQPOLL thread posts completions by itself */
        return u->sqpoll ? io_uring_submit(&u->ring) : io_uring_submit_and_get_events(&u->ring);
    uint64_t ms = deadline_ms - now_ms;
    struct __kernel_timespec ts = {.tv_sec = (int64_t)(ms / 1000),
                                   .tv_nsec = (int64_t)(ms % 1000) * 1000000};
    return io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &ts, NULL);
}

static void uring_wait(struct loop *loop, uint64_t deadline_ms)
{
    struct uring *u = uring_of(loop);
    if (u->backlog_head != OP_SLOT_NONE) {
        run_backlog(u);
        deadline_ms = 0; /* what was completed may have left something for the turn's end */
    }
    if (u->cancel_again)
        run_cancels(u);
    if (u->backlog_head != OP_SLOT_NONE || u->cancel_again || io_uring_cq_ready(&u->ring) > 0)
        deadline_ms = 0;
    loop->stats.waits++;
    int r = enter(u, deadline_ms, loop->now_ms);
    loop_clock(loop);
    if (r < 0 && r != -EINTR && r != -ETIME && r != -EAGAIN && r != -EBUSY)
        log_alert(loop->log, "io_uring_enter() failed (%d: %s)", -r, strerror(-r));
    if (io_uring_cq_has_overflow(&u->ring))
        loop->stats.overflows++;
    u->first = *u->ring.cq.khead;
    reap(u);
}

/*
 * The kernel posts what woke first first, but a receive takes all that has arrived by the time it
 * is carried out.  All of it is in the queue when a turn begins, unless there was so much that the
 * kernel left the rest for the next call (Linux 6.13 and later).
 */
#define KERNEL_BATCH 20
static bool uring_posted(const struct loop *loop, const struct op *op)
{
    const struct io_uring_cq *cq = &uring_of(loop)->ring.cq;
    unsigned tail = *cq->khead + io_uring_cq_ready(&uring_of(loop)->ring);
    uint64_t data = loop_user_data(loop, op);
    unsigned woken = 0;
    for (unsigned i = uring_of(loop)->first; i != tail; i++) {
        uint64_t d = cq->cqes[i & cq->ring_mask].user_data;
        unsigned kind = (unsigned)(d >> 56);
        if (d == data)
            return true;
        woken += kind == OP_RECV || kind == OP_ACCEPT || kind == OP_POLL;
    }
    return woken >= KERNEL_BATCH;
}

static enum status uring_init(struct loop *loop, const struct ev_conf *conf, char *why,
                              size_t size)
{
    struct uring *u = calloc(1, sizeof(*u));
    if (u == NULL) {
        snprintf(why, size, "out of memory");
        return STATUS_NOMEM;
    }
    u->loop = loop;
    u->backlog_head = u->backlog_tail = u->paused = OP_SLOT_NONE;
    timer_init(&u->accept_timer, accept_resume);
    enum status st = uring_create(u, conf, why, size);
    if (st != STATUS_OK) {
        free(u);
        return st;
    }
    uring_file_init(u, conf);
    snprintf(u->name, sizeof(u->name), "%s", u->sqpoll ? "io_uring+sqpoll" : "io_uring");
    loop->priv = u;
    return STATUS_OK;
}

static void uring_fini(struct loop *loop)
{
    struct uring *u = uring_of(loop);
    io_uring_submit(&u->ring); /* closes that are still queued */
    timer_disarm(&loop->timers, &u->accept_timer);
    io_uring_queue_exit(&u->ring);
    uring_bufs_fini(u);
    uring_file_fini(u);
    free(u);
    loop->priv = NULL;
}

static const char *uring_name(const struct loop *loop)
{
    return uring_of(loop)->name;
}

const struct ev_backend uring_backend = {
    .name = "io_uring",
    .rank = 2,
    .probe = uring_probe,
    .init = uring_init,
    .name_of = uring_name,
    .fini = uring_fini,
    .submit = uring_submit,
    .cancel = uring_cancel,
    .close_fd = uring_close_fd,
    .posted = uring_posted,
    .wait = uring_wait,
    .file_buf_get = uring_file_buf_get,
    .file_buf_put = uring_file_buf_put,
};
