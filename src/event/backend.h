/* SPDX-License-Identifier: BSD-2-Clause */
/* For implementers of back ends only (uring*.c, epoll*.c, loop.c): the vtable and shared helpers. */
#ifndef SLUICE_EVENT_BACKEND_H
#define SLUICE_EVENT_BACKEND_H

#include "event/loop.h"

struct ev_backend {
    const char *name;
    int rank;            /* the highest one that works is chosen */
    /*
     * Does this kernel let us? OK, or UNSUPPORTED (refused with ENOSYS, EPERM, EINVAL: another back end may be taken),
     * or ERROR (a failure that must not be papered over). `why` gets the reason in words.
     */
    enum status (*probe)(const struct ev_conf *conf, char *why, size_t size);
    /* As probe, and *loop->priv is ready. */
    enum status (*init)(struct loop *loop, const struct ev_conf *conf, char *why, size_t size);
    void (*fini)(struct loop *loop);
    void (*submit)(struct loop *loop, struct op *op); /* op is filled in and has a slot */
    void (*cancel)(struct loop *loop, struct op *op); /* op is busy */
    void (*close_fd)(struct loop *loop, int fd);
    /* Submits what is queued, waits for completions until deadline (ms, TIMER_NEVER), delivers. */
    void (*wait)(struct loop *loop, uint64_t deadline_ms);
    char *(*file_buf_get)(struct loop *loop);
    void (*file_buf_put)(struct loop *loop, char *buf);
    /*
     * send_file: n bytes at sf->off that are not in the page cache. Starts sf->sub (op_init with
     * `done`) so that it completes with the count of bytes moved into sf->pipe[1] (when sf->pipe[0]
     * != -1) or into sf->buf without stopping the loop. False: not possible now.
     */
    bool (*file_fill)(struct loop *loop, struct send_file *sf, uint32_t n, op_done_f *done);
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
 * sendfile.c holds op_send_file() and its state machine for both back ends: it runs at the end of
 * a turn, splices what is resident, waits for writability with sf->sub, and asks file_fill() only
 * for what is not in the page cache. A back end's submit() never sees OP_SEND_FILE.
 */

/* pipe pool (pipes.c): 256 KiB pipes, bounded; -1s when none may be had. */
bool loop_pipe_get(struct loop *loop, int pipe[2]);
void loop_pipe_put(struct loop *loop, int pipe[2], bool empty);

#endif
