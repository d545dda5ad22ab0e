/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_open, op_read_file and op_write_file on each back end: openat2's promises, FIFOs that never
 * block (hostile.md 2d.7), symbolic links that lead out (2d.11), cold data, streams as logs.
 */
#include "lib/ev_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static int dirfd_;

/* t/a  t/sub/b  t/fifo  t/out -> /etc  t/in -> sub */
static void make_tree(void)
{
    strcpy(dir, "/tmp/sluice-ev-dir-XXXXXX");
    assert_non_null(mkdtemp(dir));
    dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dirfd_ >= 0);
    assert_int_equal(mkdirat(dirfd_, "sub", 0755), 0);
    assert_int_equal(mkfifoat(dirfd_, "fifo", 0644), 0);
    assert_int_equal(symlinkat("/etc", dirfd_, "out"), 0);
    assert_int_equal(symlinkat("sub", dirfd_, "in"), 0);
    static const char *const names[] = {"a", "sub/b"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int fd = openat(dirfd_, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_int_equal(write(fd, names[i], strlen(names[i])), strlen(names[i]));
        close(fd);
    }
}

static void remove_tree(void)
{
    static const char *const names[] = {"a", "sub/b", "fifo", "out", "in", "new"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlinkat(dirfd_, names[i], 0);
    unlinkat(dirfd_, "sub", AT_REMOVEDIR);
    close(dirfd_);
    rmdir(dir);
}

static int32_t do_open(struct ev_env *env, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC | O_NONBLOCK, .resolve = resolve};
    struct ev_op o;

    if (flags & O_CREAT)
        how.mode = 0600;
    ev_op_init(env, &o);
    EV_DO(env, op_open(&env->loop, &o.op, dirfd_, path, &how));
    ev_wait_final(env, &o);
    assert_int_equal(o.calls, 1);
    return o.res;
}

static void opens(struct ev_env *env)
{
    static const struct {
        const char *path;
        uint64_t flags, resolve;
        int32_t want; /* 0: a descriptor */
    } rows[] = {
        {"a", O_RDONLY, RESOLVE_BENEATH, 0},
        {"sub/b", O_RDONLY, RESOLVE_BENEATH, 0},
        {"in/b", O_RDONLY, RESOLVE_BENEATH, 0},
        {"sub/../a", O_RDONLY, RESOLVE_BENEATH, 0},
        {"in/b", O_RDONLY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, -ELOOP},
        {"../etc/passwd", O_RDONLY, RESOLVE_BENEATH, -EXDEV},
        {"sub/../../etc/passwd", O_RDONLY, RESOLVE_BENEATH, -EXDEV},
        {"out/passwd", O_RDONLY, RESOLVE_BENEATH, -EXDEV},
        {"/etc/passwd", O_RDONLY, RESOLVE_BENEATH, -EXDEV},
        {"out/passwd", O_RDONLY, 0, 0},
        {"nothing", O_RDONLY, RESOLVE_BENEATH, -ENOENT},
        {"a/b", O_RDONLY, RESOLVE_BENEATH, -ENOTDIR},
        {"sub", O_WRONLY, RESOLVE_BENEATH, -EISDIR},
        {"sub", O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH, 0},
        {"a", O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH, -ENOTDIR},
        {"new", O_WRONLY | O_CREAT | O_EXCL, RESOLVE_BENEATH, 0},
        {"new", O_WRONLY | O_CREAT | O_EXCL, RESOLVE_BENEATH, -EEXIST},
    };

    make_tree();
    unsigned fds = ev_open_fds();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int32_t r = do_open(env, rows[i].path, rows[i].flags, rows[i].resolve);
        if (rows[i].want == 0 ? r < 0 : r != rows[i].want)
            fail_msg("%s: %d", rows[i].path, r);
        if (r >= 0)
            close(r);
    }
    assert_int_equal(ev_open_fds(), fds);
    remove_tree();
}

/* Nobody writes to it, and it opens all the same. */
static void fifo_does_not_block(struct ev_env *env)
{
    make_tree();
    uint64_t began = ev_now_ms();
    int32_t r = do_open(env, "fifo", O_RDONLY, RESOLVE_BENEATH);
    assert_true(r >= 0);
    close(r);
    assert_int_equal(do_open(env, "fifo", O_WRONLY, RESOLVE_BENEATH), -ENXIO);
    assert_true(ev_now_ms() - began < 1000);
    remove_tree();
}

/* Names that no cache of the kernel knows yet. */
static void opens_cold_names(struct ev_env *env)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = RESOLVE_BENEATH};
    enum { COUNT = 20 };
    struct ev_op o[COUNT];
    char names[COUNT][16];

    make_tree();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            ev_op_init(env, &o[i]);
            snprintf(names[i], sizeof(names[i]), i % 2 ? "n%d-%d" : "a", round, i);
            EV_DO(env, op_open(&env->loop, &o[i].op, dirfd_, names[i], &how));
        }
        for (int i = 0; i < COUNT; i++) {
            ev_wait_final(env, &o[i]);
            if (i % 2) {
                assert_int_equal(o[i].res, -ENOENT);
                continue;
            }
            assert_true(o[i].res >= 0);
            close(o[i].res);
        }
    }
    remove_tree();
}

static void open_cancelled(struct ev_env *env)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK};
    unsigned fds;

    make_tree();
    fds = ev_open_fds();
    for (int i = 0; i < 200; i++) {
        struct ev_op o;
        char name[16];
        ev_op_init(env, &o);
        snprintf(name, sizeof(name), i % 2 ? "gone%d" : "a", i);
        EV_DO(env, op_open(&env->loop, &o.op, dirfd_, name, &how));
        if (i % 3 == 0)
            loop_turn(&env->loop, 0);
        if (op_busy(&o.op))
            ev_cancel_and_wait(env, &o);
        assert_int_equal(o.calls, 1);
        assert_true(o.res >= 0 || o.res == -ECANCELED || o.res == -ENOENT);
        if (o.res >= 0) /* it came first: the owner has it */
            close(o.res);
    }
    assert_int_equal(ev_open_fds(), fds);
    remove_tree();
}

/*
 * Calls that block in a kernel thread for files: what interrupts them is never seen, a cancel ends
 * them as it ends all others.  (The threads of epoll cannot be interrupted at all.)
 */
static void blocked_and_cancelled(struct ev_env *env)
{
    struct open_how how = {.flags = O_RDONLY | O_CREAT | O_CLOEXEC, .mode = 0600};

    make_tree();
    unsigned fds = ev_open_fds();
    for (int i = 0; i < 3; i++) {
        struct ev_op o;
        ev_op_init(env, &o);
        EV_DO(env, op_open(&env->loop, &o.op, dirfd_, "fifo", &how));
        ev_turn_for(env, 10 * (uint64_t)i); /* 0: it may not have begun */
        assert_int_equal(o.calls, 0);
        ev_cancel_and_wait(env, &o);
        assert_int_equal(o.calls, 1);
        assert_int_equal(o.res, -ECANCELED);
    }
    assert_int_equal(ev_open_fds(), fds);
    remove_tree();
}

static int32_t do_read(struct ev_env *env, int fd, void *p, size_t n, uint64_t off)
{
    struct ev_op o;

    ev_op_init(env, &o);
    EV_DO(env, op_read_file(&env->loop, &o.op, fd, p, n, off));
    ev_wait_final(env, &o);
    return o.res;
}

static void reads_all(struct ev_env *env, int fd, size_t size)
{
    char *p = calloc(1, size + 1);
    size_t at = 0;

    for (;;) {
        int32_t r = do_read(env, fd, p + at, size + 1 - at, at);
        assert_true(r >= 0);
        if (r == 0)
            break;
        at += (size_t)r;
    }
    assert_int_equal(at, size);
    assert_true(ev_pattern_matches(p, 0, size));
    free(p);
}

static void reads(struct ev_env *env)
{
    enum { SIZE = 200000 };
    int fd = ev_file(SIZE);
    char c[4];

    reads_all(env, fd, SIZE);
    assert_int_equal(do_read(env, fd, c, 4, SIZE - 2), 2);
    assert_int_equal(do_read(env, fd, c, 4, SIZE), 0);
    assert_int_equal(do_read(env, fd, c, 4, SIZE + 1000), 0);
    assert_int_equal(do_read(env, fd, c, 0, 0), 0);
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    reads_all(env, fd, SIZE);
    close(fd);
    fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(do_read(env, fd, c, 4, 0), -EISDIR);
    close(fd);
}

/* Into the loop's own buffers, which may be registered; all of them, and then there is none. */
static void reads_into_file_buffers(struct ev_env *env)
{
    int fd = ev_file(5 * FILE_BUF_SIZE);
    char *bufs[8];
    struct ev_op o[8];
    int count = 0;

    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    while (count < 8 && (bufs[count] = loop_file_buf_get(&env->loop)) != NULL)
        count++;
    assert_int_equal(count, 4);
    assert_null(loop_file_buf_get(&env->loop));
    for (int i = 0; i < count; i++) {
        ev_op_init(env, &o[i]);
        EV_DO(env, op_read_file(&env->loop, &o[i].op, fd, bufs[i], FILE_BUF_SIZE,
                                (uint64_t)i * FILE_BUF_SIZE));
    }
    for (int i = 0; i < count; i++) {
        ev_wait_final(env, &o[i]);
        assert_true(o[i].res > 0);
        assert_true(ev_pattern_matches(bufs[i], (uint64_t)i * FILE_BUF_SIZE, (size_t)o[i].res));
        loop_file_buf_put(&env->loop, bufs[i]);
    }
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
    char *again = loop_file_buf_get(&env->loop);
    assert_non_null(again);
    loop_file_buf_put(&env->loop, again);
}

static int32_t do_write(struct ev_env *env, int fd, const void *p, size_t n, uint64_t off)
{
    struct ev_op o;

    ev_op_init(env, &o);
    EV_DO(env, op_write_file(&env->loop, &o.op, fd, p, n, off));
    ev_wait_final(env, &o);
    return o.res;
}

static void writes(struct ev_env *env)
{
    int fd = ev_file(0);
    char got[32] = "";

    assert_int_equal(do_write(env, fd, "0123456789", 10, 0), 10);
    assert_int_equal(do_write(env, fd, "ab", 2, 4), 2);
    assert_int_equal(pread(fd, got, sizeof(got), 0), 10);
    assert_memory_equal(got, "0123ab6789", 10);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0); /* positional writes do not move it */
    assert_int_equal(do_write(env, fd, "XY", 2, UINT64_MAX), 2);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 2);
    fcntl(fd, F_SETFL, O_APPEND);
    assert_int_equal(do_write(env, fd, "end", 3, UINT64_MAX), 3);
    assert_int_equal(pread(fd, got, sizeof(got), 0), 13);
    assert_memory_equal(got, "XY23ab6789end", 13);
    close(fd);
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(do_write(env, fd, "gone", 4, UINT64_MAX), 4);
    close(fd);
    fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(do_write(env, fd, "full", 4, UINT64_MAX), -ENOSPC);
    close(fd);
}

/* A log into a pipe whose reader sleeps: the loop goes on, a cancel ends it (h93). */
static void write_to_a_full_pipe(struct ev_env *env)
{
    int p[2];
    struct ev_op o;
    char block[4096] = {0};

    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(do_write(env, p[1], "line\n", 5, UINT64_MAX), 5);
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    while (write(p[1], block, sizeof(block)) > 0)
        continue;
    fcntl(p[1], F_SETFL, 0); /* as a shell would hand it over */
    ev_op_init(env, &o);
    EV_DO(env, op_write_file(&env->loop, &o.op, p[1], "more\n", 5, UINT64_MAX));
    uint64_t began = ev_now_ms();
    ev_turn_for(env, 30);
    assert_true(ev_now_ms() - began < 1000);
    assert_int_equal(o.calls, 0);
    ev_cancel_and_wait(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    /* And when somebody reads, the next one goes. */
    for (int i = 0; i < 4; i++)
        assert_true(read(p[0], block, sizeof(block)) > 0);
    assert_int_equal(do_write(env, p[1], "more\n", 5, UINT64_MAX), 5);
    loop_close_fd(&env->loop, p[1]);
    close(p[0]);
    ev_turn_for(env, 1);
}

static void bad_descriptors(struct ev_env *env)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char c[4];

    assert_int_equal(do_read(env, fd, c, 4, 0), -EBADF); /* not open for reading */
    close(fd);
    assert_int_equal(do_read(env, fd, c, 4, 0), -EBADF);
    assert_int_equal(do_write(env, fd, c, 4, 0), -EBADF);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"opens", opens, 0, NULL},
        {"a FIFO does not block", fifo_does_not_block, 0, NULL},
        {"opens cold names", opens_cold_names, 0, NULL},
        {"open cancelled", open_cancelled, 0, NULL},
        {"blocked and cancelled", blocked_and_cancelled, EV_ANY_RING, NULL},
        {"reads", reads, 0, NULL},
        {"reads into file buffers", reads_into_file_buffers, 0, NULL},
        {"writes", writes, 0, NULL},
        {"write to a full pipe (h93)", write_to_a_full_pipe, 0, NULL},
        {"bad descriptors", bad_descriptors, 0, NULL},
    };
    return ev_run_cases("file", cases, ARRAY_LEN(cases));
}
