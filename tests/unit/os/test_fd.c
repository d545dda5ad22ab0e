/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors: flags, whole reads and writes, stdio, the limit (hostile.md h89, h103). */
#include "os/fd.h"

#include "unit/os/unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void closing_keeps_errno(void **state)
{
    int fd = dup(1);

    (void)state;
    errno = ENOTTY;
    fd_close(&fd);
    assert_int_equal(fd, -1);
    fd_close(&fd);
    assert_int_equal(errno, ENOTTY);
}

static void flags(void **state)
{
    int p[2];

    (void)state;
    assert_int_equal(fd_pipe(p, false), STATUS_OK);
    assert_int_equal(fcntl(p[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(p[1], F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(fd_set_cloexec(p[0], false), STATUS_OK);
    assert_int_equal(fcntl(p[0], F_GETFD), 0);
    assert_int_equal(fd_set_nonblock(p[1], true), STATUS_OK);
    assert_int_equal(fcntl(p[1], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(fd_set_nonblock(p[1], false), STATUS_OK);
    assert_int_equal(fcntl(p[1], F_GETFL) & O_NONBLOCK, 0);
    fd_close(&p[0]);
    fd_close(&p[1]);
    assert_int_not_equal(fd_set_cloexec(-1, true), STATUS_OK);
}

static void full_pipe_says_again(void **state)
{
    static char text[1 << 20];
    size_t done, got;
    int p[2];

    (void)state;
    assert_int_equal(fd_pipe(p, true), STATUS_OK);
    assert_int_equal(fd_write_all(p[1], text, sizeof(text), &done), STATUS_AGAIN);
    assert_true(done > 0 && done < sizeof(text));
    assert_int_equal(fd_read_full(p[0], text, sizeof(text), &got), STATUS_AGAIN);
    assert_int_equal(got, done);
    fd_close(&p[0]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(fd_write_all(p[1], "x", 1, NULL), STATUS_CLOSED);
    fd_close(&p[1]);
}

static void reads_over_short_counts(void **state)
{
    char to[10];
    size_t got;
    int p[2];
    pid_t pid;

    (void)state;
    assert_int_equal(fd_pipe(p, false), STATUS_OK);
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 7; i++) {
            fd_write_all(p[1], &"abcdefg"[i], 1, NULL);
            usleep(1000);
        }
        _exit(0);
    }
    fd_close(&p[1]);
    assert_int_equal(fd_read_full(p[0], to, 3, &got), STATUS_OK);
    assert_int_equal(got, 3);
    assert_memory_equal(to, "abc", 3);
    assert_int_equal(fd_read_full(p[0], to, sizeof(to), &got), STATUS_OK);
    assert_int_equal(got, 4);
    assert_memory_equal(to, "defg", 4);
    fd_close(&p[0]);
    waitpid(pid, NULL, 0);
}

/* In a child, because the test's own stdio must live. The child's verdict is its exit code. */
static int in_child(int (*check)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(check());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int stdio_reserved(void)
{
    struct stat st, null;

    close(0);
    close(2);
    if (fd_reserve_stdio() != STATUS_OK || stat("/dev/null", &null) < 0)
        return 1;
    if (fstat(0, &st) < 0 || st.st_rdev != null.st_rdev)
        return 2;
    if (fstat(2, &st) < 0 || st.st_rdev != null.st_rdev)
        return 3;
    if (dup(1) != 3) /* nothing else was opened: 3 is the next free number */
        return 4;
    return 0;
}

static int stdio_nulled(void)
{
    struct stat st, null;

    stat("/dev/null", &null);
    if (fd_null_stdio(true) != STATUS_OK)
        return 1;
    for (int fd = 0; fd < 3; fd++) {
        if (fstat(fd, &st) < 0 || st.st_rdev != null.st_rdev)
            return 2 + fd;
    }
    return fcntl(3, F_GETFD) < 0 ? 0 : 6;
}

static void close_inherited(void)
{
    for (int fd = 3; fd < 64; fd++)
        close(fd);
}

static int limits(void)
{
    struct rlimit r = {64, 128};
    struct fd_limit l;
    uint64_t got;

    if (setrlimit(RLIMIT_NOFILE, &r) < 0 || fd_limit_get(&l) != STATUS_OK)
        return 1;
    if (l.soft != 64 || l.hard != 128)
        return 2;
    if (fd_limit_set(100, &got) != STATUS_OK || got != 100)
        return 3;
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
        return 4;
    if (fd_limit_set(4096, &got) != STATUS_LIMIT || got != 128)
        return 5;
    if (fd_limit_get(&l) != STATUS_OK || l.soft != 128)
        return 6;
    if (fd_limit_set(16, &got) != STATUS_OK || got != 16)
        return 7;
    return 0;
}

static int stdio_both(void)
{
    close_inherited();
    return stdio_nulled();
}

static int reserve_both(void)
{
    close_inherited();
    return stdio_reserved();
}

static void stdio_and_limits(void **state)
{
    (void)state;
    assert_int_equal(in_child(reserve_both), 0);
    assert_int_equal(in_child(stdio_both), 0);
    assert_int_equal(in_child(limits), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_keeps_errno),     cmocka_unit_test(flags),
        cmocka_unit_test(full_pipe_says_again),    cmocka_unit_test(reads_over_short_counts),
        cmocka_unit_test(stdio_and_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
