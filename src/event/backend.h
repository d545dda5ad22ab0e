/* SPDX-License-Identifier: BSD-2-Clause */
/* For implementers of back ends only (uring*.c, epoll*.c, loop.c): vtable and shared helpers. */
#ifndef SLUICE_EVENT_BACKEND_H
#define SLUICE_EVENT_BACKEND_H

#include "event/loop.h"

struct ev_backend {
    const char *name;
    int rank;            /* the highest one that works is chosen */
    /*
     * Does this kernel let us? OK, or UNSUPPORTED (refused with ENOSYS, EPERM, EINVAL: another back
     * end may be taken),
     * or ERROR (a failure that must not be papered over). `why` gets the reason in words.
     */
    enum status (*probe)(const struct ev_conf *conf, char *why, size_t size);
    /* As probe, and *loop->priv is ready. */
    enum status (*init)(struct loop *loop, const struct ev_conf *conf, char *why, size_t size);
    const char *(*name_of)(const struct loop *loop); /* NULL: name */
    void (*fini)(struct loop *loop);
    void (*submit)(struct loop *loop, struct op *op); /* op is filled in and has a slot */
    void (*cancel)(struct loop *loop, struct op *op); /* op is busy */
    void (*close_fd)(struct loop *loop, int fd);
    bool (*posted)(const struct loop *loop, const struct op *op); /* loop_posted(); NULL: true */
    /* Submits what is queued, waits for completions until deadline (ms, TIMER_NEVER), delivers. */
    void (*wait)(struct loop *loop, uint64_t deadline_ms);
    char *(*file_buf_get)(struct loop *loop);
    void (*file_buf_put)(struct loop *loop, char *buf);
};

extern const struct ev_backend uring_backend, epoll_backend;

/* The slot table (loop.c). A slot's user_data is kind:8 generation:24 slot:32. */
uint32_t loop_slot_take(struct loop *loop, struct op *op); /* OP_SLOT_NONE: no memory */
struct op *loop_slot_find(struct loop *loop, uint64_t user_data); /* NULL: late, counted */
uint64_t loop_user_data(const struct loop *loop, const struct op *op);

/*
 * The only way to a done(): delivers one completion, releasing the slot first if it is final.
 */
void loop_complete(struct loop *loop, struct op *op, int32_t res, unsigned flags);

/* Common start of a turn: refreshes the cached clocks. */
void loop_clock(struct loop *loop);

/*
 * sendfile.c holds op_send_file() and its state machine for both back ends, on top of op_poll and
 * op_read_file. A back end's submit() never sees OP_SEND_FILE.
 */
void send_file_cancel(struct loop *loop, struct op *op);
void send_file_wake(struct loop *loop); /* a file buffer came back */

/* Fills the op in and gives it a slot; the first half of every submit (op.c). */
void op_start(struct loop *loop, struct op *op, enum op_kind kind, int fd, unsigned flags);

/*
 * Pipes for splicing (pipes.c), PIPE_BYTES each, kept for reuse and bounded so that all workers of
 * a user together stay below fs.pipe-user-pages-soft. False: none may be had now.
 */
#define PIPE_BYTES (256u << 10)
struct pipe_pool {
    int (*free)[2];
    uint32_t free_count, open, max;
    uint32_t pause; /* gets to refuse before the kernel is asked again */
};
void pipe_pool_init(struct pipe_pool *p, uint32_t workers);
void pipe_pool_fini(struct pipe_pool *p);
bool pipe_pool_get(struct pipe_pool *p, int pipe[2]);
void pipe_pool_put(struct pipe_pool *p, int pipe[2], bool empty); /* sets both to -1 */

#endif
