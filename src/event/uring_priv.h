/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the io_uring back end share. */
#ifndef SLUICE_EVENT_URING_PRIV_H
#define SLUICE_EVENT_URING_PRIV_H

#include "event/backend.h"

#include <liburing.h>

#define URING_RECV_GROUP 0
#define URING_FILE_SLOTS 64u

/* Where a busy op is; kept in op->state. */
enum uring_state {
    URING_IN_KERNEL,
    URING_BACKLOG,  /* waits for a submission queue entry, or to be armed again */
    URING_PAUSED,   /* accept after a resource error */
    URING_WRITABLE, /* a send that waits for POLLOUT before it is tried again */
};

/* Receive buffers that the kernel picks from (uring_bufs.c). */
struct uring_bufs {
    struct io_uring_buf_ring *ring;
    char *mem;
    uint32_t count, size;
    uint32_t published; /* the kernel has these; more follow when they run short */
};

/* Buffers and descriptors for file reads (uring_file.c). */
struct uring_file {
    char *mem;
    uint32_t count, free_count;
    char **free;
    bool fixed_buffers;             /* the memory is registered */
    bool fixed_files;               /* a sparse table of URING_FILE_SLOTS descriptors is */
    int slot_fd[URING_FILE_SLOTS];  /* what each slot holds, -1: nothing */
    uint8_t slot_busy[URING_FILE_SLOTS];
    uint32_t slot_next, slots_held;
};

struct uring {
    struct io_uring ring;
    bool sqpoll, multishot_recv;
    bool cancel_again; /* a cancel found no submission queue entry */
    struct uring_bufs bufs;
    struct uring_file file;
    uint32_t backlog_head, backlog_tail; /* slots, linked by next_free; OP_SLOT_NONE: empty */
    uint32_t paused;                     /* accept ops that wait for accept_timer */
    struct timer accept_timer;
    struct loop *loop;
    unsigned first;                      /* head of the completion queue when the turn began */
    char name[32];
};

static inline struct uring *uring_of(const struct loop *loop)
{
    return loop->priv;
}

/* uring_setup.c */
enum status uring_probe(const struct ev_conf *conf, char *why, size_t size);
enum status uring_create(struct uring *u, const struct ev_conf *conf, char *why, size_t size);

/* uring_bufs.c: -errno on failure */
int uring_bufs_init(struct uring *u, const struct ev_conf *conf);
void uring_bufs_fini(struct uring *u);
char *uring_bufs_at(const struct uring *u, uint32_t bid);
void uring_bufs_give(struct uring *u, uint32_t bid);
void uring_bufs_more(struct uring *u); /* after -ENOBUFS: lets the kernel have more of them */

/* uring_file.c */
void uring_file_init(struct uring *u, const struct ev_conf *conf);
void uring_file_fini(struct uring *u);
char *uring_file_buf_get(struct loop *loop);
void uring_file_buf_put(struct loop *loop, char *buf);
void uring_file_prep(struct uring *u, struct io_uring_sqe *sqe, const struct op *op);
void uring_file_done(struct uring *u, const struct op *op);
void uring_file_forget(struct uring *u, int fd); /* the descriptor is about to be closed */

#endif
