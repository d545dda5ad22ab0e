/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_send_file on each back end: sizes around every buffer on its way, cold and warm, with pipes,
 * without, with none to be had (row 98), files that shrink, peers that go, slow readers.
 */
#include "lib/ev_harness.h"

#include "event/backend.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct transfer {
    int pair[2];
    struct ev_op o;
    struct send_file sf;
    char *bytes;
    size_t n, room;
    uint64_t total, sent;
};

static void begin(struct ev_env *env, struct transfer *t, int file, uint64_t off, uint64_t n,
                  bool splice, bool small)
{
    *t = (struct transfer){.room = (size_t)n + 1, .total = n};
    t->bytes = malloc(t->room);
    assert_non_null(t->bytes);
    if (small)
        ev_tcp_pair_small(t->pair);
    else
        ev_tcp_pair(t->pair);
    ev_op_init(env, &t->o);
    send_file_init(&t->sf, file, off, n, splice);
    EV_DO(env, op_send_file(&env->loop, &t->o.op, t->pair[0], &t->sf));
}

static void end(struct ev_env *env, struct transfer *t)
{
    send_file_fini(&env->loop, &t->sf);
    assert_int_equal(t->sf.pipe[0], -1);
    assert_null(t->sf.buf);
    loop_close_fd(&env->loop, t->pair[0]);
    close(t->pair[1]);
    ev_turn_for(env, 1);
    free(t->bytes);
}

static void read_some(struct transfer *t)
{
    ssize_t k = ev_peek_read(t->pair[1], t->bytes + t->n, t->room - t->n);

    assert_true(k == -EAGAIN || k >= 0);
    if (k > 0)
        t->n += (size_t)k;
}

/* Submits again until all is out or a result is not positive, while the peer reads. */
static void run(struct ev_env *env, struct transfer *t, uint64_t pause_ms)
{
    uint64_t limit = ev_now_ms() + 20000;

    for (;;) {
        while (t->o.finals == 0) {
            assert_true(ev_now_ms() < limit);
            loop_turn(&env->loop, ev_now_ms() + pause_ms);
            read_some(t);
        }
        assert_int_equal(t->o.finals, 1);
        if (t->o.res <= 0)
            return;
        assert_true(t->o.res <= (int32_t)(SEND_FILE_BUDGET + PIPE_BYTES));
        t->sent += (uint64_t)t->o.res;
        assert_int_equal(t->total - t->sf.left, t->sent);
        if (t->sf.left == 0)
            return;
        t->o.finals = 0;
        EV_DO(env, op_send_file(&env->loop, &t->o.op, t->pair[0], &t->sf));
    }
}

/* A smaller budget is exact, and nothing that others may need is kept until the next call. */
static void budget_of(struct ev_env *env, uint32_t budget, bool splice, bool cold)
{
    enum { SIZE = 200000 };
    int file = ev_file(SIZE);
    struct transfer t;

    if (cold)
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    t = (struct transfer){.room = SIZE + 1, .total = SIZE};
    t.bytes = malloc(t.room);
    assert_non_null(t.bytes);
    ev_tcp_pair(t.pair);
    ev_op_init(env, &t.o);
    send_file_init(&t.sf, file, 0, SIZE, splice);
    while (t.sf.left > 0) {
        uint64_t want = t.sf.left < budget ? t.sf.left : budget, got = 0;
        while (got < want) { /* a full socket may come in between */
            t.sf.budget = (uint32_t)(want - got);
            t.o.finals = 0;
            EV_DO(env, op_send_file(&env->loop, &t.o.op, t.pair[0], &t.sf));
            EV_UNTIL(env, (read_some(&t), t.o.finals == 1));
            assert_true(t.o.res > 0 && (uint64_t)t.o.res <= want - got);
            got += (uint64_t)t.o.res;
        }
        assert_int_equal(t.sf.pipe[0], -1);
        assert_null(t.sf.buf);
    }
    EV_UNTIL(env, (read_some(&t), t.n == SIZE));
    assert_true(ev_pattern_matches(t.bytes, 0, t.n));
    end(env, &t);
    close(file);
}

static void budgets(struct ev_env *env)
{
    static const uint32_t sizes[] = {1999, 4096, 65536, 65537, 150000};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        budget_of(env, sizes[i], true, false);
        budget_of(env, sizes[i], false, false);
        budget_of(env, sizes[i], true, true);
    }
}

static void drain(struct transfer *t, size_t n)
{
    uint64_t limit = ev_now_ms() + 5000;

    while (t->n < n && ev_now_ms() < limit)
        read_some(t);
    assert_int_equal(t->n, n);
}

static void one(struct ev_env *env, int file, uint64_t off, uint64_t n, bool splice, bool small)
{
    struct transfer t;

    begin(env, &t, file, off, n, splice, small);
    run(env, &t, 1);
    assert_int_equal(t.sf.left, 0);
    assert_int_equal(t.sf.off, off + n);
    drain(&t, (size_t)n);
    assert_true(ev_pattern_matches(t.bytes, off, t.n));
    end(env, &t);
}

static bool drops_pages(void)
{
    int file = ev_file(4096);
    char byte;
    struct iovec iov = {&byte, 1};

    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ssize_t n = preadv2(file, &iov, 1, 0, RWF_NOWAIT);
    close(file);
    return n == -1;
}

static const uint64_t sizes[] = {1,     4095,  4096,  4097,          65535,   65536,
                                 65537, 262143, 262144, 262145, (1u << 20) - 1, 1u << 20,
                                 (1u << 20) + 1};

static void all_sizes(struct ev_env *env, bool splice, bool cold)
{
    int file = ev_file((1u << 20) + 100);

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        if (cold) {
            fdatasync(file);
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        }
        one(env, file, 0, sizes[i], splice, false);
        one(env, file, 99, sizes[i], splice, true);
    }
    close(file);
}

static void by_splice(struct ev_env *env)
{
    all_sizes(env, true, false);
    assert_true(env->loop.pipes->free_count > 0);
    assert_true(env->loop.pipes->open <= 2); /* reused, not made anew */
}

static void by_sendfile(struct ev_env *env)
{
    all_sizes(env, false, false);
    assert_int_equal(env->loop.pipes->open, 0);
}

/* Where the file system lets pages go (tmpfs does not), they come back through file buffers. */
static void cold(struct ev_env *env)
{
    all_sizes(env, true, true);
    if (drops_pages())
        assert_true(env->loop.stats.file_cold > 0);
}

/* Even with `registered_buffers 0`. */
static void no_buffers(struct ev_conf *conf)
{
    conf->file_buffers = 0;
}

static void zero_bytes(struct ev_env *env)
{
    int file = ev_file(10);
    struct transfer t;

    begin(env, &t, file, 0, 0, true, false);
    ev_wait_final(env, &t.o);
    assert_int_equal(t.o.res, 0);
    end(env, &t);
    close(file);
}

/* Offsets above 4 GiB: the last MiB of a sparse file of 5 GiB with a mark in it. */
static void tail_of_5_gib(struct ev_env *env)
{
    char name[] = "/tmp/sluice-ev-XXXXXX";
    int file = mkostemp(name, O_CLOEXEC);
    uint64_t size = 5ull << 30, n = 1u << 20;
    struct transfer t;

    unlink(name);
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    assert_int_equal(pwrite(file, "mark", 4, (off_t)(size - 4)), 4);
    assert_int_equal(pwrite(file, "begin", 5, (off_t)(size - n)), 5);
    begin(env, &t, file, size - n, n, true, false);
    run(env, &t, 1);
    assert_int_equal(t.sf.off, size);
    drain(&t, n);
    assert_memory_equal(t.bytes, "begin", 5);
    assert_memory_equal(t.bytes + n - 4, "mark", 4);
    end(env, &t);
    close(file);
}

/* What was promised is not there any more: said by a 0, after what could be had. */
static void truncated(struct ev_env *env)
{
    for (int splice = 0; splice < 2; splice++) {
        int file = ev_file(100000);
        struct transfer t;
        assert_int_equal(ftruncate(file, 40000), 0);
        begin(env, &t, file, 0, 100000, splice, false);
        run(env, &t, 1);
        assert_int_equal(t.o.res, 0);
        assert_int_equal(t.sent, 40000);
        assert_int_equal(t.sf.left, 60000);
        drain(&t, 40000);
        assert_true(ev_pattern_matches(t.bytes, 0, 40000));
        end(env, &t);
        close(file);
    }
}

/* The file shrinks while a slow reader holds the transfer up. */
static void truncated_while_sending(struct ev_env *env)
{
    enum { SIZE = 4 << 20 };
    int file = ev_file(SIZE);
    struct transfer t;

    begin(env, &t, file, 0, SIZE, true, true);
    EV_UNTIL(env, t.o.finals == 1);
    assert_true(t.o.res > 0 && t.sf.left > 0);
    t.sent = (uint64_t)t.o.res;
    assert_int_equal(ftruncate(file, 8192), 0);
    while (t.o.res > 0) {
        t.o.finals = 0;
        EV_DO(env, op_send_file(&env->loop, &t.o.op, t.pair[0], &t.sf));
        while (t.o.finals == 0) {
            loop_turn(&env->loop, ev_now_ms() + 1);
            read_some(&t);
        }
        if (t.o.res > 0)
            t.sent += (uint64_t)t.o.res;
    }
    assert_int_equal(t.o.res, 0);
    assert_true(t.sent < SIZE);
    drain(&t, (size_t)t.sent);
    end(env, &t);
    close(file);
}

static void slow_reader(struct ev_env *env)
{
    enum { SIZE = 3 << 20 };
    int file = ev_file(SIZE);
    struct transfer t;

    begin(env, &t, file, 0, SIZE, true, true);
    ev_turn_for(env, 20); /* nobody reads */
    assert_true(t.sf.left > 0);
    /* A full socket costs waiting, not turning. */
    if (t.o.finals == 1) {
        t.sent += (uint64_t)t.o.res;
        t.o.finals = 0;
        EV_DO(env, op_send_file(&env->loop, &t.o.op, t.pair[0], &t.sf));
    }
    uint64_t waits = env->loop.stats.waits;
    ev_turn_for(env, 60);
    assert_true(env->loop.stats.waits - waits < 20);
    t.sent = SIZE - t.sf.left;
    while (t.sf.left > 0) {
        if (t.o.finals == 1) {
            assert_true(t.o.res > 0);
            t.o.finals = 0;
            EV_DO(env, op_send_file(&env->loop, &t.o.op, t.pair[0], &t.sf));
        }
        loop_turn(&env->loop, ev_now_ms() + 1);
        read_some(&t);
    }
    ev_wait_final(env, &t.o);
    drain(&t, SIZE);
    assert_true(ev_pattern_matches(t.bytes, 0, SIZE));
    end(env, &t);
    close(file);
}

static void peer_gone(struct ev_env *env)
{
    for (int splice = 0; splice < 2; splice++) {
        int file = ev_file(1 << 20);
        struct transfer t;
        begin(env, &t, file, 0, 1 << 20, splice, true);
        ev_turn_for(env, 10);
        close(t.pair[1]);
        t.pair[1] = -1;
        for (int i = 0; i < 100; i++) {
            EV_UNTIL(env, t.o.finals == 1);
            if (t.o.res <= 0)
                break;
            t.o.finals = 0;
            EV_DO(env, op_send_file(&env->loop, &t.o.op, t.pair[0], &t.sf));
        }
        assert_true(t.o.res == -EPIPE || t.o.res == -ECONNRESET);
        end(env, &t);
        close(file);
    }
}

static void cancelled_while_blocked(struct ev_env *env)
{
    enum { SIZE = 2 << 20 };
    int file = ev_file(SIZE);
    struct transfer t;

    begin(env, &t, file, 0, SIZE, true, true);
    EV_UNTIL(env, t.o.finals == 1);
    t.sent = (uint64_t)t.o.res;
    t.o.finals = 0;
    EV_DO(env, op_send_file(&env->loop, &t.o.op, t.pair[0], &t.sf));
    ev_turn_for(env, 10);
    assert_int_equal(t.o.finals, 0);
    ev_cancel_and_wait(env, &t.o);
    assert_int_equal(t.o.res, -ECANCELED);
    assert_int_equal(SIZE - t.sf.left, t.sent);
    /* Given up in the middle: the pipe with bytes in it must not be used for anybody else. */
    end(env, &t);
    one(env, file, 0, 5000, true, false);
    close(file);
}

static void cancelled_at_once(struct ev_env *env)
{
    int file = ev_file(5000);
    struct transfer t;

    begin(env, &t, file, 0, 5000, true, false);
    ev_cancel_and_wait(env, &t.o);
    assert_int_equal(t.o.res, -ECANCELED);
    end(env, &t);
    close(file);
}

/* While a cold range is being read. */
static void cancelled_while_reading(struct ev_env *env)
{
    enum { SIZE = 1 << 20 };
    int file = ev_file(SIZE);

    for (int i = 0; i < 20; i++) {
        struct transfer t;
        fdatasync(file);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        begin(env, &t, file, 0, SIZE, true, false);
        for (int k = 0; k < i % 4 && t.o.finals == 0; k++)
            loop_turn(&env->loop, 0);
        ev_cancel_and_wait(env, &t.o);
        end(env, &t);
    }
    close(file);
}

/* More transfers than file buffers, all cold: they take turns. */
static void more_cold_than_buffers(struct ev_env *env)
{
    enum { COUNT = 12, SIZE = 300000 };
    int files[COUNT];
    struct transfer *t = calloc(COUNT, sizeof(*t));

    for (int i = 0; i < COUNT; i++) {
        files[i] = ev_file(SIZE);
        fdatasync(files[i]);
        posix_fadvise(files[i], 0, 0, POSIX_FADV_DONTNEED);
        begin(env, &t[i], files[i], 0, SIZE, true, false);
    }
    for (int i = 0; i < COUNT; i++) {
        run(env, &t[i], 1);
        drain(&t[i], SIZE);
        assert_true(ev_pattern_matches(t[i].bytes, 0, SIZE));
    }
    for (int i = 0; i < COUNT; i++) {
        end(env, &t[i]);
        close(files[i]);
    }
    free(t);
}

static void one_buffer(struct ev_conf *conf)
{
    conf->file_buffers = FILE_BUF_SIZE;
}

/* Who is woken for a buffer and does not need it any more leaves it to the next one. */
static void woken_in_vain(struct ev_env *env)
{
    enum { COUNT = 2, SIZE = 30000 };
    struct transfer t[COUNT];
    int files[COUNT];
    char *buf = loop_file_buf_get(&env->loop);

    assert_non_null(buf);
    for (int i = 0; i < COUNT; i++) {
        files[i] = ev_file(SIZE);
        begin(env, &t[i], files[i], 0, SIZE, true, false);
        t[i].sf.uncached = true; /* always by a buffer */
    }
    for (int i = 0; i < 3; i++)
        loop_turn(&env->loop, ev_now_ms() + 1);
    assert_int_equal(t[0].o.finals + t[1].o.finals, 0);
    loop_file_buf_put(&env->loop, buf);
    EV_DO(env, op_cancel(&env->loop, &t[0].o.op));
    run(env, &t[1], 1);
    drain(&t[1], SIZE);
    assert_int_equal(t[0].o.res, -ECANCELED);
    for (int i = 0; i < COUNT; i++) {
        end(env, &t[i]);
        close(files[i]);
    }
}

static void no_pipe_to_be_had(struct ev_env *env)
{
    int file = ev_file(1 << 20);

    env->loop.pipes->max = 0;
    one(env, file, 0, 1 << 20, true, true);
    assert_int_equal(env->loop.pipes->open, 0);
    close(file);
}

/* h98: the user's pipe pages are used up, as an unprivileged worker meets it. */
static void child_without_pipe_pages(unsigned setting)
{
    struct ev_env env = {.setting = setting};
    struct transfer t;
    int file = ev_file(1 << 20), pipes = 0, p[2];

    /* The limit is the user's: nobody else may be that user. */
    if (setgroups(0, NULL) == -1 || setgid(64220) == -1 || setuid(64220 + setting) == -1)
        _exit(2);
    while (pipe2(p, O_CLOEXEC) == 0 && fcntl(p[0], F_SETPIPE_SZ, 1 << 20) == 1 << 20)
        pipes++;
    if (pipes == 0)
        _exit(3);
    ev_conf_for(&env.conf, setting);
    if (loop_init(&env.loop, &env.conf, &log_process) != STATUS_OK)
        _exit(4);
    begin(&env, &t, file, 0, 1 << 20, true, false);
    run(&env, &t, 1);
    if (t.sf.left != 0 || env.loop.pipes->open != 0)
        _exit(5);
    drain(&t, 1 << 20);
    _exit(ev_pattern_matches(t.bytes, 0, t.n) ? 0 : 6);
}

static void pipe_pages_used_up(struct ev_env *env)
{
    int status;
    pid_t pid;

    if (geteuid() != 0) {
        print_message("skipped: needs root to become another user\n");
        skip();
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child_without_pipe_pages(env->setting);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define CACHESTAT 451 /* on every architecture */

static bool filter_cachestat(unsigned action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CACHESTAT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {ARRAY_LEN(code), code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

/* One refusal is enough: whoever asked again would not live to tell. */
static void child_refused_cachestat(unsigned setting, int err)
{
    struct ev_env env = {.setting = setting};
    int file = ev_file(1 << 20);

    ev_conf_for(&env.conf, setting);
    if (!filter_cachestat(SECCOMP_RET_ERRNO | (unsigned)err))
        _exit(77);
    if (loop_init(&env.loop, &env.conf, &log_process) != STATUS_OK)
        _exit(2);
    one(&env, file, 0, 1 << 20, true, false);
    if (!env.loop.no_cachestat || !filter_cachestat(SECCOMP_RET_KILL_PROCESS))
        _exit(3);
    for (int i = 0; i < 3; i++)
        one(&env, file, (uint64_t)i * 1000, 300000, i % 2 == 0, false);
    loop_fini(&env.loop);
    close(file);
    _exit(0);
}

static void cachestat_refused(struct ev_env *env)
{
    static const int errors[] = {ENOSYS, EPERM};

    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        int status;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            child_refused_cachestat(env->setting, errors[i]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"all sizes by splice", by_splice, 0, NULL},
        {"all sizes by sendfile", by_sendfile, 0, NULL},
        {"all sizes, cold", cold, 0, NULL},
        {"all sizes, cold, without file buffers", cold, 0, no_buffers},
        {"budgets", budgets, 0, NULL},
        {"no bytes", zero_bytes, 0, NULL},
        {"tail of a sparse file of 5 GiB", tail_of_5_gib, 0, NULL},
        {"truncated before", truncated, 0, NULL},
        {"truncated while sending", truncated_while_sending, 0, NULL},
        {"slow reader", slow_reader, 0, NULL},
        {"peer gone: error without a signal", peer_gone, 0, NULL},
        {"cancelled while blocked", cancelled_while_blocked, 0, NULL},
        {"cancelled at once", cancelled_at_once, 0, NULL},
        {"cancelled while reading", cancelled_while_reading, 0, NULL},
        {"more cold files than buffers", more_cold_than_buffers, 0, NULL},
        {"woken for a buffer in vain", woken_in_vain, 0, one_buffer},
        {"no pipe to be had", no_pipe_to_be_had, 0, NULL},
        {"pipe pages used up (h98)", pipe_pages_used_up, 0, NULL},
        {"cachestat refused, once for all", cachestat_refused, 0, NULL},
    };
    return ev_run_cases("send_file", cases, ARRAY_LEN(cases));
}
