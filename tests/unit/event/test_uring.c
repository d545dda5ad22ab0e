/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps of io_uring that callers of the loop never see (hostile.md 2d, rows 92 and 97): duplicate
 * and overflowing completions, kernel worker threads, the SQPOLL thread's CPU and credentials,
 * memory that may not be locked.  What concerns a whole process is tried in a child.
 */
#include "lib/ev_harness.h"

#include "event/uring_priv.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY_ID 65534
#define LOCKER_ID 64200

/* A child's way to fail: the line it failed in, as far as an exit status can tell. */
#define MUST(cond)                                                                    \
    do {                                                                              \
        if (!(cond)) {                                                                \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond, errno); \
            _exit(1);                                                                 \
        }                                                                             \
    } while (0)

static void in_child(struct ev_env *env, void (*run)(unsigned setting))
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        run(env->setting);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void as_root_only(void)
{
    if (geteuid() == 0)
        return;
    print_message("skipped: needs root to become another user\n");
    skip();
}

static void become(uid_t id)
{
    MUST(setgroups(0, NULL) == 0 && setgid(id) == 0 && setuid(id) == 0);
}

/* --- completions --- */

/* A completion with the name of an op that has ended, one whose slot has a new owner, and one of
 * a slot that never was. */
static void late_completions_from_the_ring(struct ev_env *env)
{
    struct uring *u = uring_of(&env->loop);
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    uint64_t old = loop_user_data(&env->loop, &o.op);
    ev_cancel_and_wait(env, &o);
    o.calls = o.finals = 0;
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    uint64_t late = env->loop.stats.late;
    uint64_t names[] = {old, old, old | 0xffffffu};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
        io_uring_prep_nop(sqe);
        io_uring_sqe_set_data64(sqe, names[i]);
    }
    EV_UNTIL(env, env->loop.stats.late == late + ARRAY_LEN(names));
    assert_int_equal(o.calls, 0);
    ev_put(pair[1], "mine", 4);
    EV_UNTIL(env, o.n == 4);
    ev_cancel_and_wait(env, &o);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

static void tiny_ring(struct ev_conf *conf)
{
    conf->ring_entries = 2;
    conf->recv_buffers = 4;
}

/* Many times as many completions as the queue holds, in one turn: single-shot and multishot. */
static void completion_queue_overflows(struct ev_env *env)
{
    enum { COUNT = 200 };
    struct ev_op *polls = calloc(COUNT, sizeof(*polls)), *recvs = calloc(COUNT, sizeof(*recvs));
    int events[COUNT], pairs[COUNT][2];

    for (int i = 0; i < COUNT; i++) {
        events[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pairs[i]),
                         0);
        ev_op_init(env, &polls[i]);
        ev_op_init(env, &recvs[i]);
        EV_DO(env, op_poll(&env->loop, &polls[i].op, events[i], POLLIN, 0));
        EV_DO(env, op_recv(&env->loop, &recvs[i].op, pairs[i][0]));
    }
    ev_turn_for(env, 10);
    for (int i = 0; i < COUNT; i++) {
        eventfd_write(events[i], 1);
        ev_put(pairs[i][1], "abc", 3);
        ev_put(pairs[i][1], "defg", 4);
    }
    for (int i = 0; i < COUNT; i++) {
        ev_wait_final(env, &polls[i]);
        assert_true(polls[i].res & POLLIN);
        EV_UNTIL(env, recvs[i].n >= 7);
        assert_int_equal(recvs[i].n, 7);
        assert_memory_equal(recvs[i].bytes, "abcdefg", 7);
        assert_int_equal(recvs[i].finals, 0);
    }
    if (env->setting == EV_RING) /* an SQPOLL thread works beside us: it depends */
        assert_true(env->loop.stats.overflows > 0);
    assert_int_equal(env->loop.stats.late, 0);
    for (int i = 0; i < COUNT; i++) {
        ev_cancel_and_wait(env, &recvs[i]);
        ev_op_fini(&recvs[i]);
        loop_close_fd(&env->loop, pairs[i][0]);
        loop_close_fd(&env->loop, events[i]);
        close(pairs[i][1]);
    }
    ev_turn_for(env, 2);
    free(polls);
    free(recvs);
}

/* --- kernel threads --- */

/*
 * Opening a FIFO for writing in a way that the kernel punts (O_CREAT) and that blocks until
 * somebody reads: each such open holds a kernel thread, of which there may be few only.
 */
static void child_with_stuck_opens(unsigned setting)
{
    enum { COUNT = 40 };
    static struct ev_op o[COUNT];
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_CLOEXEC, .mode = 0600};
    struct ev_env env = {.setting = setting};
    char dir[] = "/tmp/sluice-ev-fifo-XXXXXX";
    unsigned most = 0;
    int dirfd_;

    MUST(mkdtemp(dir) != NULL);
    dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    MUST(mkfifoat(dirfd_, "fifo", 0600) == 0);
    ev_conf_for(&env.conf, setting);
    MUST(loop_init(&env.loop, &env.conf, &log_process) == STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        ev_op_init(&env, &o[i]);
        op_open(&env.loop, &o[i].op, dirfd_, "fifo", &how);
    }
    for (int i = 0; i < 20; i++) {
        unsigned n = ev_threads_named("iou-wrk-", NULL);
        most = n > most ? n : most;
        loop_turn(&env.loop, ev_now_ms() + 5);
    }
    MUST(most > 0 && most <= 4);
    int reader = openat(dirfd_, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    MUST(reader >= 0);
    for (int i = 0; i < COUNT; i++) {
        for (uint64_t end = ev_now_ms() + 5000; o[i].finals == 0 && ev_now_ms() < end;)
            loop_turn(&env.loop, ev_now_ms() + 10);
        MUST(o[i].finals == 1 && o[i].res >= 0);
    }
    unlinkat(dirfd_, "fifo", 0);
    rmdir(dir);
}

static void kernel_workers_are_few(struct ev_env *env)
{
    in_child(env, child_with_stuck_opens);
}

/* The last CPU this process may use, and what the kernel says of the polling thread. */
static void child_with_pinned_thread(unsigned setting)
{
    struct ev_env env = {.setting = setting};
    char path[64], line[256], want[64];
    cpu_set_t set;
    int cpu = -1, tid = 0;
    bool found = false;

    MUST(sched_getaffinity(0, sizeof(set), &set) == 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpu = i;
    ev_conf_for(&env.conf, setting);
    env.conf.sqpoll_cpu = cpu;
    MUST(loop_init(&env.loop, &env.conf, &log_process) == STATUS_OK);
    snprintf(want, sizeof(want), "SQPOLL on CPU %d", cpu);
    MUST(strcmp(env.loop.chosen, want) == 0);
    MUST(ev_threads_named("iou-sqp-", &tid) == 1);
    snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
    FILE *f = fopen(path, "re");
    MUST(f != NULL);
    snprintf(want, sizeof(want), "Cpus_allowed_list:\t%d\n", cpu);
    while (fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, "Cpus_allowed_list:", 18) == 0)
            found = strcmp(line, want) == 0;
    fclose(f);
    MUST(found);
}

static void sqpoll_thread_is_pinned(struct ev_env *env)
{
    in_child(env, child_with_pinned_thread);
}

/* A CPU that is not there: polls anyway, unpinned, and says so. */
static void sqpoll_cpu_refused(struct ev_env *env)
{
    struct loop loop;
    struct ev_conf conf;

    ev_conf_for(&conf, env->setting);
    conf.sqpoll_cpu = 8000;
    assert_int_equal(loop_init(&loop, &conf, &log_process), STATUS_OK);
    assert_string_equal(loop.chosen, "SQPOLL, not pinned (CPU 8000 was refused)");
    assert_string_equal(loop_backend_name(&loop), "io_uring+sqpoll");
    loop_fini(&loop);
}

/* Idle, the thread sleeps and burns nothing; woken, it works again. */
static void sqpoll_sleeps_and_wakes(struct ev_env *env)
{
    int pair[2];
    struct ev_op o, s;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    for (int i = 0; i < 4; i++) {
        ev_turn_for(env, 40); /* much more than sqpoll_idle */
        ev_op_init(env, &s);
        EV_DO(env, op_send(&env->loop, &s.op, pair[0], "x", 1, 0));
        ev_wait_final(env, &s);
        ev_put(pair[1], "y", 1);
        EV_UNTIL(env, o.n == (size_t)i + 1);
    }
    ev_cancel_and_wait(env, &o);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* --- credentials and limits --- */

/* Created after the privileges were dropped, the ring can no more than its process. */
static void child_without_privileges(unsigned setting)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK};
    struct ev_env env = {.setting = setting};
    char name[] = "/tmp/sluice-ev-secret-XXXXXX";
    struct ev_op o;
    int fd = mkostemp(name, O_CLOEXEC);

    MUST(fd >= 0 && fchmod(fd, 0600) == 0);
    become(NOBODY_ID);
    ev_conf_for(&env.conf, setting);
    MUST(loop_init(&env.loop, &env.conf, &log_process) == STATUS_OK);
    for (int i = 0; i < 2; i++) {
        ev_op_init(&env, &o);
        how.flags |= i == 1 ? O_CREAT : 0; /* punted: a kernel worker's credentials */
        op_open(&env.loop, &o.op, AT_FDCWD, name, &how);
        for (uint64_t end = ev_now_ms() + 5000; o.finals == 0 && ev_now_ms() < end;)
            loop_turn(&env.loop, ev_now_ms() + 10);
        MUST(o.finals == 1 && o.res == -EACCES);
    }
    printf("%s\n", name); /* for the parent to remove */
    fflush(stdout);
}

static void credentials(struct ev_env *env)
{
    int out[2];
    char name[64] = "";

    as_root_only();
    assert_int_equal(pipe(out), 0);
    fflush(stdout);
    int old = dup(1);
    dup2(out[1], 1);
    pid_t pid = fork();
    if (pid == 0) {
        child_without_privileges(env->setting);
        _exit(0);
    }
    dup2(old, 1);
    close(old);
    close(out[1]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    ssize_t n = read(out[0], name, sizeof(name) - 1);
    close(out[0]);
    if (n > 1) {
        name[n - 1] = '\0';
        unlink(name);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/*
 * h97: little or nothing may be locked.  Buffers are not registered then, and files are read all
 * the same.  Since Linux 6.14 the rings count too: they are made smaller, and with a limit of 0
 * there is none, which is said; it is no reason to serve by epoll unasked.
 */
static void child_that_may_not_lock(unsigned setting)
{
    static const rlim_t limits[] = {64 << 10, 0};
    int file = ev_file(FILE_BUF_SIZE);

    become(LOCKER_ID + setting); /* the limit is the user's: nobody else may be that user */
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct ev_env env = {.setting = setting};
        struct rlimit none = {limits[i], limits[i]};
        struct ev_op o;
        MUST(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
        ev_conf_for(&env.conf, setting);
        env.conf.use = EV_AUTO;
        env.conf.ring_entries = 4096; /* 550 KiB of rings: too much for either limit */
        if (loop_init(&env.loop, &env.conf, &log_process) != STATUS_OK) {
            MUST(limits[i] == 0 && strstr(env.loop.chosen, "RLIMIT_MEMLOCK") != NULL);
            continue;
        }
        MUST(env.loop.backend == &uring_backend);
        MUST(!uring_of(&env.loop)->file.fixed_buffers);
        char *buf = loop_file_buf_get(&env.loop);
        MUST(buf != NULL);
        ev_op_init(&env, &o);
        op_read_file(&env.loop, &o.op, file, buf, FILE_BUF_SIZE, 0);
        for (uint64_t end = ev_now_ms() + 5000; o.finals == 0 && ev_now_ms() < end;)
            loop_turn(&env.loop, ev_now_ms() + 10);
        MUST(o.res == (int32_t)FILE_BUF_SIZE && ev_pattern_matches(buf, 0, FILE_BUF_SIZE));
        loop_file_buf_put(&env.loop, buf);
        loop_fini(&env.loop);
    }
}

static void memory_may_not_be_locked(struct ev_env *env)
{
    as_root_only();
    in_child(env, child_that_may_not_lock);
}

/* With room for it, the buffers and descriptors are registered, and both kinds of reads work. */
static void buffers_are_registered(struct ev_env *env)
{
    const struct uring *u = uring_of(&env->loop);
    int file = ev_file(3 * FILE_BUF_SIZE);
    char *buf = loop_file_buf_get(&env->loop), other[100];
    struct ev_op o;

    assert_true(u->file.fixed_buffers);
    assert_true(u->file.fixed_files);
    for (uint64_t i = 0; i < 3; i++) {
        ev_op_init(env, &o);
        EV_DO(env, op_read_file(&env->loop, &o.op, file, buf, FILE_BUF_SIZE, i * FILE_BUF_SIZE));
        ev_wait_final(env, &o);
        assert_int_equal(o.res, FILE_BUF_SIZE);
        assert_true(ev_pattern_matches(buf, i * FILE_BUF_SIZE, FILE_BUF_SIZE));
    }
    assert_int_equal(u->file.slots_held, 1);
    ev_op_init(env, &o);
    EV_DO(env, op_read_file(&env->loop, &o.op, file, other, sizeof(other), 50));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, sizeof(other));
    assert_true(ev_pattern_matches(other, 50, sizeof(other)));
    /* The number of a closed file means the new one, also in the table. */
    loop_close_fd(&env->loop, file);
    ev_turn_for(env, 2);
    assert_int_equal(u->file.slots_held, 0);
    int next = ev_file(10);
    ev_op_init(env, &o);
    EV_DO(env, op_read_file(&env->loop, &o.op, next, buf, FILE_BUF_SIZE, 0));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 10);
    loop_file_buf_put(&env->loop, buf);
    loop_close_fd(&env->loop, next);
    ev_turn_for(env, 1);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"late completions from the ring", late_completions_from_the_ring, EV_ANY_RING, NULL},
        {"completion queue overflows", completion_queue_overflows, EV_ANY_RING, tiny_ring},
        {"kernel workers are few", kernel_workers_are_few, EV_ANY_RING, NULL},
        {"SQPOLL thread is pinned", sqpoll_thread_is_pinned, EV_SQPOLL, NULL},
        {"SQPOLL CPU refused", sqpoll_cpu_refused, EV_SQPOLL, NULL},
        {"SQPOLL thread sleeps and wakes", sqpoll_sleeps_and_wakes, EV_SQPOLL, NULL},
        {"credentials of the worker", credentials, EV_ANY_RING, NULL},
        {"memory may not be locked (h97)", memory_may_not_be_locked, EV_ANY_RING, NULL},
        {"buffers are registered", buffers_are_registered, EV_ANY_RING, NULL},
    };
    return ev_run_cases("uring", cases, ARRAY_LEN(cases));
}
