/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Submitting: each function fills the op in, gives it a slot and hands it to the back end.
 * Nothing here completes anything.
 */
#include "event/op.h"

#include "event/backend.h"
#include "event/fault.h"

const char *op_kind_name(enum op_kind kind)
{
    static const char *const names[OP_KINDS] = {
        [OP_NONE] = "none",           [OP_ACCEPT] = "accept",       [OP_RECV] = "recv",
        [OP_SEND] = "send",           [OP_SENDV] = "sendv",         [OP_SEND_FILE] = "send_file",
        [OP_READ_FILE] = "read_file", [OP_WRITE_FILE] = "write_file", [OP_OPEN] = "open",
        [OP_POLL] = "poll",           [OP_CONNECT] = "connect",
    };
    return (unsigned)kind < OP_KINDS ? names[kind] : "unknown";
}

void op_start(struct loop *loop, struct op *op, enum op_kind kind, int fd, unsigned flags)
{
    CHECK(op->magic == OP_MAGIC);
    CHECK(!op_busy(op));
    op->kind = (uint8_t)kind;
    op->flags = (uint8_t)flags;
    op->cancelled = 0;
    op->state = 0;
    op->fd = fd;
    op->slot = loop_slot_take(loop, op);
    loop->stats.submitted++;
    if (UNLIKELY(loop->fault != NULL))
        ev_fault_submit(loop->fault, op);
}

/* op_start works on the op's arguments when faults are injected, so they are set before it. */
static void op_submit(struct loop *loop, struct op *op, enum op_kind kind, int fd, unsigned flags)
{
    op_start(loop, op, kind, fd, flags);
    loop->backend->submit(loop, op);
}

void op_accept(struct loop *loop, struct op *op, int fd)
{
    op_submit(loop, op, OP_ACCEPT, fd, 0);
}

void op_recv(struct loop *loop, struct op *op, int fd)
{
    op->u.recv.data = NULL;
    op_submit(loop, op, OP_RECV, fd, 0);
}

void op_send(struct loop *loop, struct op *op, int fd, const void *p, size_t n, unsigned flags)
{
    op->u.send.p = p;
    op->u.send.n = n;
    op_submit(loop, op, OP_SEND, fd, flags);
}

void op_sendv(struct loop *loop, struct op *op, int fd, struct msghdr *msg, unsigned flags)
{
    op->u.sendv.msg = msg;
    op_submit(loop, op, OP_SENDV, fd, flags);
}

void op_read_file(struct loop *loop, struct op *op, int fd, void *p, size_t n, uint64_t off)
{
    op->u.rw.p = p;
    op->u.rw.n = n;
    op->u.rw.off = off;
    op_submit(loop, op, OP_READ_FILE, fd, 0);
}

void op_write_file(struct loop *loop, struct op *op, int fd, const void *p, size_t n, uint64_t off)
{
    op->u.rw.p = (void *)(uintptr_t)p; /* written from only */
    op->u.rw.n = n;
    op->u.rw.off = off;
    op_submit(loop, op, OP_WRITE_FILE, fd, 0);
}

void op_open(struct loop *loop, struct op *op, int dirfd, const char *path,
             const struct open_how *how)
{
    op->u.open.path = path;
    op->u.open.how = how;
    op_submit(loop, op, OP_OPEN, dirfd, 0);
}

void op_poll(struct loop *loop, struct op *op, int fd, uint32_t events, unsigned flags)
{
    op->u.poll.events = events;
    op_submit(loop, op, OP_POLL, fd, flags);
}

void op_connect(struct loop *loop, struct op *op, int fd, const struct sockaddr *addr,
                socklen_t len)
{
    op->u.connect.addr = addr;
    op->u.connect.len = len;
    op_submit(loop, op, OP_CONNECT, fd, 0);
}

void op_cancel(struct loop *loop, struct op *op)
{
    CHECK(op->magic == OP_MAGIC);
    if (!op_busy(op) || op->cancelled)
        return;
    op->cancelled = 1;
    loop->stats.cancelled++;
    if (op->kind == OP_SEND_FILE)
        send_file_cancel(loop, op);
    else
        loop->backend->cancel(loop, op);
}
