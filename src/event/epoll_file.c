/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The epoll back end's file operations.  Readiness says nothing about files, so each operation is
 * first tried in a way that cannot wait for a disk (RESOLVE_CACHED, RWF_NOWAIT); what needs one
 * goes to a small pool of helper threads, started when the first such operation comes.  They only
 * make system calls: completing ops is the loop's, woken by an eventfd.
 */
#include "event/backend.h"
#include "event/epoll_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define THREADS (sizeof(((struct ep_files *)0)->threads) / sizeof(pthread_t))
#define RW_MAX (1u << 30) /* a count must fit a completion's result */

struct ep_job {
    struct list link;
    struct op *op; /* read by the helper, written by nobody until it is back */
    int32_t res;
};

/* --- the system calls --- */

static int32_t result(ssize_t n)
{
    return n >= 0 ? (int32_t)n : -errno;
}

static struct iovec op_iovec(const struct op *op)
{
    return (struct iovec){op->u.rw.p, op->u.rw.n < RW_MAX ? op->u.rw.n : RW_MAX};
}

static int32_t call_open(const struct op *op, uint64_t resolve)
{
    struct open_how how = *op->u.open.how;

    how.resolve |= resolve;
    return result(syscall(SYS_openat2, op->fd, op->u.open.path, &how, sizeof(how)));
}

static int32_t call_read(const struct op *op, int flags)
{
    struct iovec iov = op_iovec(op);

    return result(preadv2(op->fd, &iov, 1, (off_t)op->u.rw.off, flags));
}

/* An offset of UINT64_MAX is -1: the file's own position, the end with O_APPEND. */
static int32_t call_write(const struct op *op, int flags)
{
    struct iovec iov = op_iovec(op);

    return result(pwritev2(op->fd, &iov, 1, (off_t)op->u.rw.off, flags));
}

/* May block. */
static int32_t job_call(const struct op *op)
{
    int32_t res;

    do {
        if (op->kind == OP_OPEN)
            res = call_open(op, 0);
        else
            res = call_read(op, 0);
    } while (res == -EINTR);
    return res;
}

/*
 * A pipe, terminal or socket.  The descriptor may be shared with programs that want it blocking, so
 * O_NONBLOCK is not ours to set: where RWF_NOWAIT is not known, poll(2) promises room for PIPE_BUF.
 */
ssize_t ep_file_write_stream(const struct op *op)
{
    struct iovec iov = op_iovec(op);
    struct pollfd p = {.fd = op->fd, .events = POLLOUT};
    ssize_t n = pwritev2(op->fd, &iov, 1, -1, RWF_NOWAIT);

    if (n >= 0 || errno != EOPNOTSUPP)
        return n;
    if (poll(&p, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(op->fd, iov.iov_base, iov.iov_len < PIPE_BUF ? iov.iov_len : PIPE_BUF);
}

/* --- helper threads --- */

static void *helper_main(void *arg)
{
    struct ep_files *f = arg;
    uint64_t one = 1;

    pthread_mutex_lock(&f->lock);
    for (;;) {
        struct list *l = list_pop_front(&f->queue);

        if (l == NULL && f->stop)
            break;
        if (l == NULL) {
            pthread_cond_wait(&f->more, &f->lock);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        struct ep_job *job = container_of(l, struct ep_job, link);
        job->res = job_call(job->op);
        pthread_mutex_lock(&f->lock);
        bool first = list_empty(&f->finished);
        list_push_back(&f->finished, &job->link);
        if (first) /* an eventfd of this value never blocks */
            (void)!write(f->wake_fd, &one, sizeof(one));
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* Signals are the loop's: the helpers inherit a mask that lets none through. */
static void start_helpers(struct ep_files *f)
{
    sigset_t all, old;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return;
    while (f->thread_count < THREADS) {
        pthread_t *t = &f->threads[f->thread_count];

        if (pthread_create(t, NULL, helper_main, f) != 0)
            break;
        (void)pthread_setname_np(*t, "sluice-file");
        f->thread_count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void hand_over(struct epoll_be *be, struct op *op)
{
    struct ep_files *f = &be->f;
    struct ep_job *job = malloc(sizeof(*job));

    if (f->thread_count == 0)
        start_helpers(f);
    if (job == NULL || f->thread_count == 0) { /* late is better than never */
        free(job);
        loop_complete(be->loop, op, job_call(op), 0);
        return;
    }
    *job = (struct ep_job){.op = op};
    list_init(&job->link);
    op->state = EP_OP_JOB;
    pthread_mutex_lock(&f->lock);
    list_push_back(&f->queue, &job->link);
    pthread_cond_signal(&f->more);
    pthread_mutex_unlock(&f->lock);
}

void ep_file_cancel(struct epoll_be *be, struct op *op)
{
    struct ep_files *f = &be->f;
    struct ep_job *mine = NULL;

    pthread_mutex_lock(&f->lock);
    LIST_EACH(l, &f->queue) {
        struct ep_job *job = container_of(l, struct ep_job, link);

        if (job->op == op) {
            list_remove(l);
            mine = job;
            break;
        }
    }
    pthread_mutex_unlock(&f->lock);
    if (mine == NULL) /* begun or done: the real result comes */
        return;
    free(mine);
    ep_queue(be, op, EP_OP_QUEUED);
}

void ep_file_reap(struct epoll_be *be)
{
    struct ep_files *f = &be->f;
    struct list finished, *l;
    uint64_t count;

    (void)!read(f->wake_fd, &count, sizeof(count));
    list_init(&finished);
    pthread_mutex_lock(&f->lock);
    list_splice(&finished, &f->finished);
    pthread_mutex_unlock(&f->lock);
    while ((l = list_pop_front(&finished)) != NULL) {
        struct ep_job *job = container_of(l, struct ep_job, link);
        struct op *op = job->op;
        int32_t res = job->res;

        free(job);
        loop_complete(be->loop, op, res, 0);
    }
}

/* --- trying without a helper --- */

static void run_write(struct epoll_be *be, struct op *op)
{
    struct stat st;
    int32_t res;

    if (fstat(op->fd, &st) == -1) {
        loop_complete(be->loop, op, -errno, 0);
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        if (!ep_arm_write(be, op))
            loop_complete(be->loop, op, -EBUSY, 0);
        return;
    }
    do
        res = call_write(op, 0);
    while (res == -EINTR);
    loop_complete(be->loop, op, res, 0);
}

void ep_file_run(struct epoll_be *be, struct op *op)
{
    int32_t res;

    if (op->kind == OP_WRITE_FILE) {
        run_write(be, op);
        return;
    }
    if (op->kind == OP_OPEN)
        res = call_open(op, RESOLVE_CACHED);
    else
        res = call_read(op, RWF_NOWAIT);
    if (res == -EAGAIN || res == -EOPNOTSUPP || res == -EINTR)
        hand_over(be, op);
    else
        loop_complete(be->loop, op, res, 0);
}

/* --- file buffers: plain memory, made when first wanted --- */

char *ep_file_buf_get(struct loop *loop)
{
    struct ep_files *f = &((struct epoll_be *)loop->priv)->f;
    char *buf = f->spare;

    if (buf != NULL) {
        f->spare = *(char **)(void *)buf;
        return buf;
    }
    if (f->buf_count >= f->buf_limit)
        return NULL;
    buf = aligned_alloc(4096, FILE_BUF_SIZE);
    if (buf != NULL)
        f->buf_count++;
    return buf;
}

void ep_file_buf_put(struct loop *loop, char *buf)
{
    struct ep_files *f = &((struct epoll_be *)loop->priv)->f;

    *(char **)(void *)buf = f->spare;
    f->spare = buf;
}

/* --- starting and ending --- */

enum status ep_file_init(struct epoll_be *be, const struct ev_conf *conf)
{
    struct ep_files *f = &be->f;

    list_init(&f->queue);
    list_init(&f->finished);
    /* Without any a cold file could not be sent at all. */
    f->buf_limit = conf->file_buffers / FILE_BUF_SIZE;
    if (f->buf_limit == 0)
        f->buf_limit = 1;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->more, NULL);
    f->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return f->wake_fd == -1 ? status_from_errno(errno) : STATUS_OK;
}

void ep_file_fini(struct epoll_be *be)
{
    struct ep_files *f = &be->f;
    char *buf;

    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->more);
    pthread_mutex_unlock(&f->lock);
    for (unsigned i = 0; i < f->thread_count; i++)
        pthread_join(f->threads[i], NULL);
    pthread_cond_destroy(&f->more);
    pthread_mutex_destroy(&f->lock);
    if (f->wake_fd != -1)
        (void)close(f->wake_fd);
    while ((buf = f->spare) != NULL) {
        f->spare = *(char **)(void *)buf;
        free(buf);
    }
}
