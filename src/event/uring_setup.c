/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making a ring: the ladder of flags from the best to the oldest that we support (Linux 5.19), and
 * a self-test of what the kernel really does, because the probe names operations but not their
 * flags (multishot receive, provided buffers).
 */
#include "event/uring_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CQ_PER_SQ 4u
#define IOWQ_WORKERS 4u
#define TEST_TAG 0x5e1fu
#define ENTRIES_LEAST 256u

#define BASE_FLAGS (IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP)

struct rung {
    unsigned flags;
    const char *text;
};

static const struct rung plain_ladder[] = {
    {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN |
         IORING_SETUP_TASKRUN_FLAG,
     "deferred task work"},
    {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
     "cooperative task work, single issuer"},
    {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "cooperative task work"},
};

static const struct rung sqpoll_ladder[] = {
    {IORING_SETUP_SQPOLL | IORING_SETUP_SINGLE_ISSUER, "SQPOLL"},
    {IORING_SETUP_SQPOLL, "SQPOLL"},
};

/*
 * ENOSYS, EPERM and EINVAL mean that io_uring is not to be had.  Anything else is a real failure,
 * and so is ENOMEM, which has a usual cause: since Linux 6.14 the rings of all of a user's
 * processes count against RLIMIT_MEMLOCK, unless it is root.
 */
static enum status refusal(int err, char *why, size_t size)
{
    if (err == ENOSYS)
        snprintf(why, size, "the kernel has no io_uring, or a filter hides it (ENOSYS)");
    else if (err == EPERM)
        snprintf(why, size, "not permitted (EPERM: sysctl kernel.io_uring_disabled or a filter)");
    else if (err == EINVAL)
        snprintf(why, size, "needs Linux 5.19 or newer (EINVAL)");
    else if (err == ENOMEM)
        snprintf(why, size, "no memory for a ring (ENOMEM): RLIMIT_MEMLOCK is too low, raise it or "
                            "say use: epoll");
    else
        snprintf(why, size, "cannot create a ring (%d: %s)", err, strerror(err));
    bool refused = err == ENOSYS || err == EPERM || err == EINVAL;
    return refused ? STATUS_UNSUPPORTED : STATUS_ERROR;
}

static int try_entries(struct uring *u, const struct ev_conf *conf, unsigned flags, int cpu,
                       uint32_t entries)
{
    struct io_uring_params p = {.flags = BASE_FLAGS | flags, .cq_entries = entries * CQ_PER_SQ};
    if (flags & IORING_SETUP_SQPOLL) {
        p.sq_thread_idle = conf->sqpoll_idle_ms;
        if (cpu >= 0) {
            p.flags |= IORING_SETUP_SQ_AFF;
            p.sq_thread_cpu = (unsigned)cpu;
        }
    }
    return io_uring_queue_init_params(entries, &u->ring, &p);
}

/*
 * Since Linux 6.14 the rings of all of a user's processes count against RLIMIT_MEMLOCK, unless it
 * is root: rather a smaller ring than none.
 */
static int try_rung(struct uring *u, const struct ev_conf *conf, unsigned flags, int cpu)
{
    uint32_t entries = conf->ring_entries;
    int r = try_entries(u, conf, flags, cpu, entries);
    while (r == -ENOMEM && entries / 2 >= ENTRIES_LEAST) {
        entries /= 2;
        r = try_entries(u, conf, flags, cpu, entries);
    }
    return r;
}

static int climb(struct uring *u, const struct ev_conf *conf, char *why, size_t size)
{
    const struct rung *ladder = conf->sqpoll ? sqpoll_ladder : plain_ladder;
    size_t count = conf->sqpoll ? ARRAY_LEN(sqpoll_ladder) : ARRAY_LEN(plain_ladder);
    int r = -EINVAL;
    for (size_t i = 0; i < count && r == -EINVAL; i++) {
        r = try_rung(u, conf, ladder[i].flags, conf->sqpoll_cpu);
        if (r == 0) {
            u->sqpoll = conf->sqpoll;
            int n = snprintf(why, size, "%s", ladder[i].text);
            if (conf->sqpoll && conf->sqpoll_cpu >= 0 && n > 0 && (size_t)n < size)
                snprintf(why + n, size - (size_t)n, " on CPU %d", conf->sqpoll_cpu);
        }
    }
    if (r == -EINVAL && conf->sqpoll && conf->sqpoll_cpu >= 0) {
        r = try_rung(u, conf, IORING_SETUP_SQPOLL, -1); /* offline, or outside the cpuset */
        if (r == 0) {
            u->sqpoll = true;
            snprintf(why, size, "SQPOLL, not pinned (CPU %d was refused)", conf->sqpoll_cpu);
        }
    }
    return r;
}

/* One completion, copied out. The patience is for machines that are very busy. */
static int test_wait(struct uring *u, struct io_uring_cqe *out)
{
    struct io_uring_cqe *cqe;
    struct __kernel_timespec ts = {.tv_sec = 10};
    int r = io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &ts, NULL);
    if (r < 0)
        return r;
    if (io_uring_peek_cqe(&u->ring, &cqe) != 0)
        return -ETIME;
    *out = *cqe;
    io_uring_cqe_seen(&u->ring, cqe);
    return 0;
}

static int test_recv(struct uring *u, const int pair[2], bool multishot)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    if (multishot)
        io_uring_prep_recv_multishot(sqe, pair[0], NULL, 0, 0);
    else
        io_uring_prep_recv(sqe, pair[0], NULL, u->bufs.size, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = URING_RECV_GROUP;
    io_uring_sqe_set_data64(sqe, TEST_TAG);
    if (send(pair[1], "x", 1, MSG_NOSIGNAL) != 1)
        return -errno;
    struct io_uring_cqe cqe;
    int r = test_wait(u, &cqe);
    if (r < 0)
        return r;
    if (cqe.res < 0)
        return cqe.res;
    if (cqe.res != 1 || !(cqe.flags & IORING_CQE_F_BUFFER))
        return -EINVAL;
    uint32_t bid = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
    bool right = uring_bufs_at(u, bid)[0] == 'x';
    uring_bufs_give(u, bid);
    if (!right || (multishot && !(cqe.flags & IORING_CQE_F_MORE)))
        return -EINVAL;
    if (multishot) { /* the end of it: EOF, without a buffer */
        shutdown(pair[1], SHUT_WR);
        r = test_wait(u, &cqe);
        if (r == 0 && (cqe.res != 0 || (cqe.flags & IORING_CQE_F_MORE)))
            r = -EINVAL;
    }
    return r;
}

static int self_test(struct uring *u)
{
    for (int multishot = 1; multishot >= 0; multishot--) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == -1)
            return -errno;
        int r = test_recv(u, pair, multishot);
        close(pair[0]);
        close(pair[1]);
        if (r == 0) {
            u->multishot_recv = multishot;
            return 0;
        }
        if (r != -EINVAL)
            return r;
    }
    return -EINVAL;
}

enum status uring_create(struct uring *u, const struct ev_conf *conf, char *why, size_t size)
{
    int r = climb(u, conf, why, size);
    if (r < 0)
        return refusal(-r, why, size);
    io_uring_register_ring_fd(&u->ring); /* saves a lookup per call; fine without */
    unsigned workers[2] = {IOWQ_WORKERS, IOWQ_WORKERS};
    io_uring_register_iowq_max_workers(&u->ring, workers);
    r = uring_bufs_init(u, conf);
    if (r == 0)
        r = self_test(u);
    if (r < 0) {
        io_uring_queue_exit(&u->ring);
        uring_bufs_fini(u);
        if (r == -EINVAL) {
            snprintf(why, size, "the kernel failed the receive self-test");
            return STATUS_UNSUPPORTED;
        }
        return refusal(-r, why, size);
    }
    return STATUS_OK;
}

enum status uring_probe(const struct ev_conf *conf, char *why, size_t size)
{
    struct uring u = {0};
    struct ev_conf small = *conf;
    small.ring_entries = 8;
    small.recv_buffers = 8;
    small.sqpoll = false; /* its thread would outlive the question */
    enum status st = uring_create(&u, &small, why, size);
    if (st == STATUS_OK) {
        io_uring_queue_exit(&u.ring);
        uring_bufs_fini(&u);
    }
    return st;
}
