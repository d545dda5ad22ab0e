/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The completion contract, written once; both back ends and every caller keep it.
 *
 * An operation is a struct op embedded in its owner and found again with container_of.
 *
 * 1. done(op, res, flags) is called from the loop, never from inside a submit or a cancel.
 * 2. Each submitted op has exactly one final completion: the one without OP_MORE.  A multishot op
 *    (accept, recv, poll with OP_POLL_MULTI) has any number of completions with OP_MORE before it.
 * 3. A cancelled op still completes: with its real result if that came first, else -ECANCELED.
 * 4. From submit to the final completion the op, and all memory it names, belongs to the back end.
 *    op_busy() tells.  A busy op is not submitted again and not freed.
 * 5. Inside a final completion the op is idle: done() may submit it again or free its owner.
 * 6. res is a count or descriptor (>= 0) or a negative errno.  Short counts are normal.
 * 7. Closing is two-phase: mark closing, cancel, wait until every op is idle, then loop_close_fd()
 *    and recycle.  A descriptor is never closed under a busy op.
 * 8. A completion that arrives for an op that was finished or recycled (a late duplicate) is
 *    recognised by its generation and dropped; it never reaches a new owner.
 */
#ifndef SLUICE_EVENT_OP_H
#define SLUICE_EVENT_OP_H

#include "core/list.h"

#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct loop;
struct op;
struct send_file;

/* Something to be done at the end of the current turn, once. */
struct turn {
    struct list link;
    void (*run)(struct turn *t);
};

typedef void op_done_f(struct loop *loop, struct op *op, int32_t res, unsigned flags);

/* Flags of a completion. */
#define OP_MORE 1u /* not the final completion */

/* Flags of a submission. */
#define OP_SEND_MORE 1u  /* op_send, op_sendv: more follows at once (MSG_MORE) */
#define OP_POLL_MULTI 1u /* op_poll: report every time, until cancelled */

enum op_kind {
    OP_NONE,
    OP_ACCEPT,
    OP_RECV,
    OP_SEND,
    OP_SENDV,
    OP_SEND_FILE,
    OP_READ_FILE,
    OP_WRITE_FILE,
    OP_OPEN,
    OP_POLL,
    OP_CONNECT,
    OP_KINDS
};

#define OP_MAGIC 0x4f500a11u
#define OP_SLOT_NONE UINT32_MAX

struct op {
    op_done_f *done;
    uint32_t magic;
    uint32_t slot;        /* back end's; OP_SLOT_NONE: idle */
    uint8_t kind;         /* enum op_kind of the last submit */
    uint8_t flags;        /* OP_SEND_MORE, OP_POLL_MULTI */
    uint8_t cancelled;    /* a cancel was asked for */
    uint8_t state;        /* back end's */
    int fd;
    union {
        struct {
            const char *data; /* when done with res > 0: the bytes, valid inside done() only */
        } recv;
        struct {
            const void *p;
            size_t n;
        } send;
        struct {
            struct msghdr *msg; /* msg and its iovec: the caller's, the back end may change them */
        } sendv;
        struct {
            struct send_file *sf;
        } file;
        struct {
            void *p;
            size_t n;
            uint64_t off;
        } rw;
        struct {
            const char *path;
            const struct open_how *how;
        } open;
        struct {
            uint32_t events;  /* POLLIN, POLLOUT */
        } poll;
        struct {
            const struct sockaddr *addr;
            socklen_t len;
        } connect;
    } u;
};

static inline void op_init(struct op *op, op_done_f *done)
{
    *op = (struct op){.done = done, .magic = OP_MAGIC, .slot = OP_SLOT_NONE, .fd = -1};
}

static inline bool op_busy(const struct op *op)
{
    return op->slot != OP_SLOT_NONE;
}

/*
 * Accepts connections on a listener until cancelled: each completion with res >= 0 and OP_MORE
 * hands over one connected descriptor (SOCK_NONBLOCK | SOCK_CLOEXEC), which is then the owner's.
 * Resource errors (-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM) are reported with OP_MORE once and the back
 * end goes on after a pause of ACCEPT_PAUSE_MS; errors of a single connection are not reported.
 */
#define ACCEPT_PAUSE_MS 100
void op_accept(struct loop *loop, struct op *op, int fd);

/*
 * Receives until end of stream, error or cancel.  res > 0 (always with OP_MORE): u.recv.data holds
 * res bytes that are valid inside done() only.  res == 0: the peer has shut its side down.  The
 * back end re-arms by itself when the kernel ends a multishot or buffers run short.  done() may
 * cancel the op to stop the flow (back pressure): bytes that were already received are still
 * delivered first.
 */
void op_recv(struct loop *loop, struct op *op, int fd);

/* Sends all n bytes if the peer takes them: res == n unless an error came after part of them. */
void op_send(struct loop *loop, struct op *op, int fd, const void *p, size_t n, unsigned flags);
void op_sendv(struct loop *loop, struct op *op, int fd, struct msghdr *msg, unsigned flags);

/*
 * Moves bytes of a file to a socket.  What is in the page cache is spliced from the loop's thread
 * through a pooled pipe (sendfile(2) when no pipe is to be had); what is not is first read into a
 * file buffer by the back end, so that a slow disk never stops the loop.
 *
 * res > 0: that many bytes went out, sf->off and sf->left have moved; submit again for the rest
 * (one call moves at most sf->budget, so that others get their turn; below SEND_FILE_BUDGET it is
 * exact). res == 0: the file
 * ended before sf->left bytes. When done or given up, send_file_fini() gives the resources back.
 */
#define SEND_FILE_BUDGET (1u << 20)
struct send_file {
    int file;               /* regular file, stays open while in use */
    uint32_t budget;        /* the most that one call moves; SEND_FILE_BUDGET unless it is set */
    uint64_t off, left;
    bool use_splice;        /* false: sendfile(2), no pipe */
    /* sendfile.c's and the back end's: */
    bool blocked;           /* the socket was full: wait for it first */
    bool woken;             /* because a file buffer came back, which it has not taken yet */
    bool uncached;          /* reading does not bring the file into the page cache */
    int pipe[2];            /* -1 while it has none */
    uint32_t piped;         /* bytes waiting in the pipe */
    char *buf;              /* file buffer being read into or sent from, NULL: none */
    uint32_t buf_at, buf_n;
    uint64_t resident_to;   /* offset up to which the page cache was seen to hold the file */
    uint32_t sent;          /* in this round */
    struct op *op;          /* the op_send_file in flight */
    struct op sub;          /* the step in flight */
    struct turn turn;
    struct loop *loop;
};
void send_file_init(struct send_file *sf, int file, uint64_t off, uint64_t n, bool use_splice);
void send_file_fini(struct loop *loop, struct send_file *sf); /* not while its op is busy */
void op_send_file(struct loop *loop, struct op *op, int fd, struct send_file *sf);

/* pread(2) and pwrite(2)-like; off UINT64_MAX for write: append at the file's position. */
void op_read_file(struct loop *loop, struct op *op, int fd, void *p, size_t n, uint64_t off);
void op_write_file(struct loop *loop, struct op *op, int fd, const void *p, size_t n,
                   uint64_t off);

/*
 * openat2(2) below dirfd; path and how stay valid until completion. res: the descriptor.
 * Callers set O_NONBLOCK so that a FIFO never blocks, and RESOLVE_BENEATH as they need.
 */
void op_open(struct loop *loop, struct op *op, int dirfd, const char *path,
             const struct open_how *how);

/* Readiness of a descriptor that is no stream of ours (signalfd, inotify, channel). res: revents */
void op_poll(struct loop *loop, struct op *op, int fd, uint32_t events, unsigned flags);

/* connect(2) of a nonblocking socket; addr stays valid until completion. res: 0. */
void op_connect(struct loop *loop, struct op *op, int fd, const struct sockaddr *addr,
                socklen_t len);

/* Asks for an end of a busy op; an idle one is left alone. Asking twice is fine. */
void op_cancel(struct loop *loop, struct op *op);

const char *op_kind_name(enum op_kind kind);

#endif
