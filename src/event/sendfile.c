/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_send_file: file to socket, for both back ends.  The steps run at the end of a turn:
 *
 *   pipe has bytes      -> splice(2) them to the socket, nonblocking
 *   buffer has bytes    -> send(2) them, nonblocking
 *   range is resident   -> splice(2) file to pipe (or sendfile(2) file to socket)
 *   range is not        -> read it into a file buffer through the back end, then send that
 *   socket is full      -> wait for POLLOUT; a file buffer is given back first and its bytes,
 *                          by then in the page cache, are taken again later
 *
 * The ring's own SPLICE is not used: it is always punted to a kernel worker thread, one of which a
 * slow reader would hold.  Residency is asked for with cachestat(2) (Linux 6.5), else by a one-byte
 * preadv2(2) RWF_NOWAIT at the end of the range: since Linux 6.14 cachestat is for those who own or
 * may write the file, which a worker should not be.
 */
#include "event/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* How far ahead residency is looked up with one call. */
#define RESIDENT_WINDOW (2u << 20)
#define PAGE_SHIFT_MIN 12

struct cachestat_range_ {
    uint64_t off, len;
};
struct cachestat_ {
    uint64_t nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted;
};

static void send_file_step(struct turn *t);

void send_file_init(struct send_file *sf, int file, uint64_t off, uint64_t n, bool use_splice)
{
    *sf = (struct send_file){
        .file = file, .budget = SEND_FILE_BUDGET, .off = off, .left = n,
        .use_splice = use_splice, .pipe = {-1, -1}};
    turn_init(&sf->turn, send_file_step);
    op_init(&sf->sub, NULL);
}

static void drop_buf(struct loop *loop, struct send_file *sf)
{
    if (sf->buf != NULL)
        loop_file_buf_put(loop, sf->buf);
    sf->buf = NULL;
    sf->buf_at = sf->buf_n = 0;
}

void send_file_fini(struct loop *loop, struct send_file *sf)
{
    CHECK(sf->op == NULL && !op_busy(&sf->sub));
    list_remove(&sf->turn.link);
    drop_buf(loop, sf);
    pipe_pool_put(loop->pipes, sf->pipe, sf->piped == 0);
    sf->piped = 0;
}

void op_send_file(struct loop *loop, struct op *op, int fd, struct send_file *sf)
{
    CHECK(sf->op == NULL);
    op->u.file.sf = sf;
    op_start(loop, op, OP_SEND_FILE, fd, 0);
    sf->op = op;
    sf->loop = loop;
    sf->sent = 0;
    loop_at_turn_end(loop, &sf->turn);
}

void send_file_cancel(struct loop *loop, struct op *op)
{
    struct send_file *sf = op->u.file.sf;
    if (op_busy(&sf->sub)) {
        op_cancel(loop, &sf->sub); /* its completion runs the next step, which sees the cancel */
        return;
    }
    list_remove(&sf->turn.link); /* from the queue for a file buffer, if it was there */
    loop_at_turn_end(loop, &sf->turn);
}

/* A buffer came back: the first one who waits for one gets its turn. */
void send_file_wake(struct loop *loop)
{
    struct list *l = list_pop_front(&loop->file_waiters);
    if (l == NULL)
        return;
    struct send_file *sf = container_of(l, struct send_file, turn.link);
    sf->woken = true;
    loop_at_turn_end(loop, &sf->turn);
}

/* Woken and not in need of the buffer any more: else the next one would wait for ever. */
static void pass_on(struct send_file *sf)
{
    if (!sf->woken)
        return;
    sf->woken = false;
    send_file_wake(sf->loop);
}

static void finish(struct send_file *sf, int32_t res)
{
    struct op *op = sf->op;
    sf->op = NULL;
    pass_on(sf);
    bool paused = sf->budget < SEND_FILE_BUDGET && sf->sent >= sf->budget;
    if (sf->left == 0 || res <= 0 || paused) { /* others may need them */
        drop_buf(sf->loop, sf);
        pipe_pool_put(sf->loop->pipes, sf->pipe, sf->piped == 0);
        sf->piped = 0;
    }
    loop_complete(sf->loop, op, res, 0);
}

static void step_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    (void)flags;
    struct send_file *sf = container_of(op, struct send_file, sub);
    if (op->kind == OP_READ_FILE && !sf->op->cancelled) {
        if (res <= 0 && res != -ECANCELED) {
            drop_buf(loop, sf); /* also when what was sent before is reported first */
            finish(sf, sf->sent > 0 ? (int32_t)sf->sent : res);
            return;
        }
        sf->buf_n = res > 0 ? (uint32_t)res : 0;
    }
    send_file_step(&sf->turn);
}

/* The socket is full. What went out is reported first, so that progress is seen. */
static void wait_writable(struct send_file *sf)
{
    drop_buf(sf->loop, sf);
    pass_on(sf);
    if (sf->sent > 0) {
        sf->blocked = true;
        finish(sf, (int32_t)sf->sent);
        return;
    }
    sf->blocked = false;
    op_init(&sf->sub, step_done);
    op_poll(sf->loop, &sf->sub, sf->op->fd, POLLOUT, 0);
}

/* By cachestat(2). False: it is not to be had, and *yes is not set. */
static bool ask_cachestat(struct send_file *sf, uint64_t off, uint32_t n, bool *yes)
{
    uint64_t window = sf->left < RESIDENT_WINDOW ? sf->left : RESIDENT_WINDOW;
    if (window < n)
        window = n;
    struct cachestat_range_ range = {off, window};
    struct cachestat_ cs;
    uint64_t first = off >> PAGE_SHIFT_MIN;
    uint64_t pages = ((off + window - 1) >> PAGE_SHIFT_MIN) - first + 1;
    if (sf->loop->no_cachestat)
        return false;
    if (syscall(SYS_cachestat, sf->file, &range, &cs, 0) != 0) {
        sf->loop->no_cachestat = errno == ENOSYS || errno == EPERM;
        return false;
    }
    *yes = cs.nr_cache >= pages;
    if (*yes) {
        sf->resident_to = off + window;
    } else if (window != n) {
        range.len = n;
        pages = ((off + n - 1) >> PAGE_SHIFT_MIN) - first + 1;
        *yes = syscall(SYS_cachestat, sf->file, &range, &cs, 0) != 0 || cs.nr_cache >= pages;
    }
    return true;
}

/* Is [off, off + n) in the page cache? Unknown counts as yes. */
static bool resident(struct send_file *sf, uint64_t off, uint32_t n)
{
    bool yes;
    if (off + n <= sf->resident_to)
        return true;
    if (ask_cachestat(sf, off, n, &yes))
        return yes;
    char byte;
    struct iovec iov = {&byte, 1};
    ssize_t r = preadv2(sf->file, &iov, 1, (off_t)(off + n - 1), RWF_NOWAIT);
    return r >= 0 || errno != EAGAIN;
}

/* Does something follow n bytes at once? Else the kernel need not wait for it. */
static bool follows(const struct send_file *sf, uint32_t n)
{
    return sf->left > n && (sf->budget == SEND_FILE_BUDGET || sf->sent + n < sf->budget);
}

static void went_out(struct send_file *sf, uint32_t n)
{
    sf->sent += n;
    sf->off += n;
    sf->left -= n;
}

/* Outcome of one step: go on, or the step has finished or parked the operation. */
enum step { STEP_ON, STEP_STOP };

static enum step failed(struct send_file *sf)
{
    if (errno == EAGAIN)
        wait_writable(sf);
    else
        finish(sf, -errno);
    return STEP_STOP;
}

static enum step drain_pipe(struct send_file *sf)
{
    unsigned more = follows(sf, sf->piped) ? SPLICE_F_MORE : 0;
    ssize_t r = splice(sf->pipe[0], NULL, sf->op->fd, NULL, sf->piped,
                       SPLICE_F_NONBLOCK | SPLICE_F_MOVE | more);
    if (r < 0)
        return errno == EINTR ? STEP_ON : failed(sf);
    sf->piped -= (uint32_t)r;
    went_out(sf, (uint32_t)r);
    return STEP_ON;
}

static enum step drain_buf(struct send_file *sf)
{
    uint32_t n = sf->buf_n - sf->buf_at;
    int more = follows(sf, n) ? MSG_MORE : 0;
    ssize_t r = send(sf->op->fd, sf->buf + sf->buf_at, n, MSG_DONTWAIT | MSG_NOSIGNAL | more);
    if (r < 0)
        return errno == EINTR ? STEP_ON : failed(sf);
    sf->buf_at += (uint32_t)r;
    went_out(sf, (uint32_t)r);
    if (sf->buf_at == sf->buf_n)
        drop_buf(sf->loop, sf);
    return STEP_ON;
}

static enum step ended_early(struct send_file *sf)
{
    finish(sf, sf->sent > 0 ? (int32_t)sf->sent : 0);
    return STEP_STOP;
}

static enum step fill_pipe(struct send_file *sf, uint32_t n)
{
    loff_t off = (loff_t)sf->off;
    ssize_t r = splice(sf->file, &off, sf->pipe[1], NULL, n, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (r < 0 && errno == EINVAL) { /* a file system without splice */
        sf->use_splice = false;
        pipe_pool_put(sf->loop->pipes, sf->pipe, true);
        return STEP_ON;
    }
    if (r < 0)
        return errno == EINTR ? STEP_ON : failed(sf);
    if (r == 0)
        return ended_early(sf);
    sf->piped = (uint32_t)r;
    return STEP_ON;
}

static enum step send_direct(struct send_file *sf, uint32_t n)
{
    off_t off = (off_t)sf->off;
    ssize_t r = sendfile(sf->op->fd, sf->file, &off, n);
    if (r < 0 && errno == EINVAL) { /* neither sendfile: read and send from now on */
        sf->uncached = true;
        return STEP_ON;
    }
    if (r < 0)
        return errno == EINTR ? STEP_ON : failed(sf);
    if (r == 0)
        return ended_early(sf);
    went_out(sf, (uint32_t)r);
    return STEP_ON;
}

/* Reads the range through the back end; the completion goes on with the steps. */
static enum step fill_buf(struct send_file *sf, uint32_t n)
{
    sf->woken = false;
    sf->buf = loop_file_buf_get(sf->loop);
    if (sf->buf == NULL) {
        list_push_back(&sf->loop->file_waiters, &sf->turn.link);
        return STEP_STOP;
    }
    sf->buf_at = sf->buf_n = 0;
    sf->loop->stats.file_cold++;
    op_init(&sf->sub, step_done);
    op_read_file(sf->loop, &sf->sub, sf->file, sf->buf, n < FILE_BUF_SIZE ? n : FILE_BUF_SIZE,
                 sf->off);
    return STEP_STOP;
}

static enum step fill(struct send_file *sf)
{
    uint32_t n = sf->left < PIPE_BYTES ? (uint32_t)sf->left : PIPE_BYTES;
    if (sf->budget < SEND_FILE_BUDGET && n > sf->budget - sf->sent)
        n = sf->budget - sf->sent;
    if (sf->uncached || !resident(sf, sf->off, n))
        return fill_buf(sf, n);
    if (sf->use_splice && sf->pipe[0] == -1)
        pipe_pool_get(sf->loop->pipes, sf->pipe);
    if (sf->use_splice && sf->pipe[0] != -1)
        return fill_pipe(sf, n);
    return send_direct(sf, n);
}

static void send_file_step(struct turn *t)
{
    struct send_file *sf = container_of(t, struct send_file, turn);
    if (sf->op->cancelled) {
        finish(sf, -ECANCELED);
        return;
    }
    if (sf->blocked) {
        wait_writable(sf);
        return;
    }
    enum step next = STEP_ON;
    while (next == STEP_ON) {
        if (sf->piped > 0)
            next = drain_pipe(sf);
        else if (sf->buf != NULL && sf->buf_n > sf->buf_at)
            next = drain_buf(sf);
        else if (sf->left == 0 || sf->sent >= sf->budget)
            break;
        else
            next = fill(sf);
    }
    if (next == STEP_ON)
        finish(sf, (int32_t)sf->sent);
}
