/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two lists under one lock: jobs that wait, and jobs that are done and go back to the loop, which
 * an eventfd wakes.  A job that is being run is on neither.
 */
#include "event/helper.h"

#include "event/loop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define NICER 10 /* the loop's own work comes first where both want the same CPU */

struct helper {
    struct loop *loop;
    const char *name;
    uint32_t limit;
    int fd;
    struct op op;
    bool started;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    /* under the lock: */
    struct list waiting, finished;
    uint32_t waiting_count;
    bool stop;
};

/* ---- the thread ---- */

static void be_nice(void)
{
    errno = 0;
    int mine = getpriority(PRIO_PROCESS, 0); /* of this thread alone, on Linux */
    if (errno == 0)
        (void)setpriority(PRIO_PROCESS, 0, mine + NICER < 19 ? mine + NICER : 19);
}

static void wake_loop(struct helper *h)
{
    uint64_t one = 1;
    (void)!write(h->fd, &one, sizeof(one)); /* never full: the loop reads it whole */
}

/* With the lock held. */
static void give_back(struct helper *h, struct helper_job *job)
{
    bool first = list_empty(&h->finished);
    list_push_back(&h->finished, &job->link);
    if (first)
        wake_loop(h);
}

static void *thread_main(void *arg)
{
    struct helper *h = arg;
    be_nice();
    pthread_mutex_lock(&h->lock);
    while (!h->stop) {
        struct list *l = list_pop_front(&h->waiting);
        if (l == NULL) {
            pthread_cond_wait(&h->more, &h->lock);
            continue;
        }
        h->waiting_count--;
        pthread_mutex_unlock(&h->lock);
        struct helper_job *job = container_of(l, struct helper_job, link);
        job->run(job);
        job->ran = true;
        pthread_mutex_lock(&h->lock);
        give_back(h, job);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* Signals are the loop's: the thread lets none through. */
static bool start(struct helper *h)
{
    sigset_t all, old;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return false;
    h->started = pthread_create(&h->thread, NULL, thread_main, h) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (h->started)
        (void)pthread_setname_np(h->thread, h->name);
    return h->started;
}

/* ---- the loop's side ---- */

static void run_done(struct list *jobs)
{
    struct list *l;
    while ((l = list_pop_front(jobs)) != NULL) {
        struct helper_job *job = container_of(l, struct helper_job, link);
        job->done(job);
    }
}

static void reap(struct helper *h)
{
    struct list finished;
    uint64_t count;
    (void)!read(h->fd, &count, sizeof(count));
    list_init(&finished);
    pthread_mutex_lock(&h->lock);
    list_splice(&finished, &h->finished);
    pthread_mutex_unlock(&h->lock);
    run_done(&finished);
}

static void woken(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct helper *h = container_of(op, struct helper, op);
    if (res >= 0)
        reap(h);
    if (!(flags & OP_MORE) && res != -ECANCELED)
        op_poll(loop, op, h->fd, POLLIN, OP_POLL_MULTI);
}

struct helper *helper_new(struct loop *loop, uint32_t limit, const char *name)
{
    struct helper *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return NULL;
    h->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (h->fd == -1) {
        free(h);
        return NULL;
    }
    h->loop = loop;
    h->limit = limit;
    h->name = name;
    list_init(&h->waiting);
    list_init(&h->finished);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->more, NULL);
    op_init(&h->op, woken);
    op_poll(loop, &h->op, h->fd, POLLIN, OP_POLL_MULTI);
    return h;
}

void helper_delete(struct helper *h)
{
    if (h == NULL)
        return;
    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_signal(&h->more);
    pthread_mutex_unlock(&h->lock);
    if (h->started)
        pthread_join(h->thread, NULL);
    run_done(&h->finished);
    run_done(&h->waiting);
    op_cancel(h->loop, &h->op);
    while (op_busy(&h->op))
        loop_turn(h->loop, h->loop->now_ms + 100);
    loop_close_fd(h->loop, h->fd);
    pthread_cond_destroy(&h->more);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

enum status helper_submit(struct helper *h, struct helper_job *job)
{
    enum status st = STATUS_LIMIT;
    if (!h->started && !start(h))
        return STATUS_ERROR;
    job->ran = false;
    list_init(&job->link);
    pthread_mutex_lock(&h->lock);
    if (h->waiting_count < h->limit) {
        h->waiting_count++;
        list_push_back(&h->waiting, &job->link);
        pthread_cond_signal(&h->more);
        st = STATUS_OK;
    }
    pthread_mutex_unlock(&h->lock);
    return st;
}

void helper_cancel(struct helper *h, struct helper_job *job)
{
    pthread_mutex_lock(&h->lock);
    LIST_EACH (l, &h->waiting) {
        if (l != &job->link)
            continue;
        list_remove(l);
        h->waiting_count--;
        give_back(h, job);
        break;
    }
    pthread_mutex_unlock(&h->lock);
}
