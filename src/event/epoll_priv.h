/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The epoll back end's own structures, shared by epoll.c (readiness of descriptors, the wait),
 * epoll_sock.c (the system calls of socket operations) and epoll_file.c (operations that may touch
 * a disk, and the threads that do so).
 */
#ifndef SLUICE_EVENT_EPOLL_PRIV_H
#define SLUICE_EVENT_EPOLL_PRIV_H

#include "event/backend.h"

#include <pthread.h>
#include <sys/epoll.h>

#define EP_NONE UINT32_MAX  /* end of a chain */
#define EP_EVENTS 512       /* taken from the kernel at once */
#define EP_CHUNK 512u       /* entries of the descriptor table allocated at once */
#define EP_WAKE UINT64_MAX  /* the helper threads' eventfd among the events */

/* op->state of a busy op. */
enum ep_op_state {
    EP_OP_QUEUED, /* in the chain of file operations to try */
    EP_OP_ARMED,  /* in the descriptor table */
    EP_OP_JOB,    /* a helper thread's */
    EP_OP_NOMEM   /* in the chain, to be failed */
};

enum ep_fd_flags {
    EP_REGISTERED = 1u << 0, /* the kernel reports changes */
    EP_REARM = 1u << 1,      /* ask the kernel anew although registered */
    EP_CAN_READ = 1u << 2,   /* not known to be empty */
    EP_CAN_WRITE = 1u << 3,  /* not known to be full */
    EP_DRAIN = 1u << 4,      /* a short read does not mean empty: read until EAGAIN or the end */
    EP_LISTENER = 1u << 5,
    EP_CONNECTING = 1u << 6, /* connect(2) has been called */
    EP_IN_READY = 1u << 7,   /* the three chains it may be in */
    EP_IN_REG = 1u << 8,
    EP_IN_PAUSE = 1u << 9
};
#define EP_CHAINED (EP_IN_READY | EP_IN_REG | EP_IN_PAUSE)

struct ep_fd {
    struct op *rd, *wr;    /* a poll for both directions is in both */
    size_t sent;           /* bytes of wr that are out */
    uint32_t generation;   /* of the descriptor number, so that old events are recognised */
    uint32_t events;       /* reported and not yet handed to a poll */
    uint32_t next_ready, next_reg, next_pause;
    uint16_t flags;
    uint8_t burst;         /* log2 of connections accepted per wake-up */
};

struct ep_chain {
    uint32_t first, last;
};

/* Work that may block on a disk. */
struct ep_files {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct list queue;     /* jobs nobody has begun */
    struct list finished;  /* jobs whose op has to be completed */
    bool stop;             /* these three under lock */
    unsigned thread_count;
    pthread_t threads[2];
    int wake_fd;           /* eventfd: `finished` is no longer empty */
    char *spare;           /* file buffers nobody uses, each begins with a pointer to the next */
    size_t buf_count, buf_limit;
};

struct epoll_be {
    struct loop *loop;
    int epfd;
    char *scratch;         /* what recv(2) fills; one for all, valid inside done() only */
    size_t scratch_size;
    struct ep_fd **chunks;
    size_t chunk_count;
    struct ep_chain ready; /* descriptors with something to try */
    struct ep_chain reg;   /* descriptors that wait and may have to be registered */
    struct ep_chain pause; /* listeners that rest after a resource error */
    struct ep_chain files; /* slots of file operations to try, linked by next_free */
    struct timer accept_timer;
    bool returned_early;   /* the last turn did not ask the kernel */
    struct ep_files f;
    struct epoll_event events[EP_EVENTS];
};

/* epoll_fd.c: the descriptor table and the chains through it. */
struct ep_fd *ep_fd_find(const struct epoll_be *be, int fd); /* NULL: not in the table */
struct ep_fd *ep_fd_entry(struct epoll_be *be, int fd);      /* makes it; NULL: no memory */
void ep_fd_reset(struct ep_fd *e);           /* a new descriptor: everything is worth a try */
void ep_forget(struct epoll_be *be, int fd); /* the number means something new */
void ep_table_free(struct epoll_be *be);
void ep_ready(struct epoll_be *be, int fd, struct ep_fd *e);
void ep_ready_first(struct epoll_be *be, int fd, struct ep_fd *e);
void ep_await(struct epoll_be *be, int fd, struct ep_fd *e); /* to be registered before the wait */
void ep_pause(struct epoll_be *be, int fd, struct ep_fd *e); /* an accept, for a while */
void ep_unpause(struct timer *t, uint64_t now_ms);           /* the timer of that */
/* Takes the first descriptor off a chain; NULL: it is empty. */
struct ep_fd *ep_ready_pop(struct epoll_be *be, int *fd);
struct ep_fd *ep_reg_pop(struct epoll_be *be, int *fd);

/* epoll.c */
bool ep_arm_write(struct epoll_be *be, struct op *op); /* a file op on a stream; false: busy */
void ep_queue(struct epoll_be *be, struct op *op, enum ep_op_state state);

/* epoll_sock.c: try what is armed on a descriptor; may call done(). */
void ep_run_read(struct epoll_be *be, int fd, struct ep_fd *e);
void ep_run_write(struct epoll_be *be, int fd, struct ep_fd *e);
void ep_listener_stop(struct epoll_be *be, int fd, struct ep_fd *e);
/* Ends what is armed, in each direction, with res. */
void ep_fail(struct epoll_be *be, struct ep_fd *e, int32_t res);

/* epoll_file.c */
enum status ep_file_init(struct epoll_be *be, const struct ev_conf *conf);
void ep_file_fini(struct epoll_be *be);
void ep_file_run(struct epoll_be *be, struct op *op);    /* tries it, else hands it to a helper */
void ep_file_cancel(struct epoll_be *be, struct op *op); /* its state is EP_OP_JOB */
void ep_file_reap(struct epoll_be *be);                  /* the eventfd was readable */
char *ep_file_buf_get(struct loop *loop);
void ep_file_buf_put(struct loop *loop, char *buf);
/* write(2) without stopping the loop to what is no regular file. */
ssize_t ep_file_write_stream(const struct op *op);

#endif
