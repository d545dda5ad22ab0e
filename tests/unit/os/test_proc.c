/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of processes, and recognising them (hostile.md h110, h119). */
#include "os/proc.h"
#include "os/fd.h"

#include "unit/os/unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const char *exit_text(int status)
{
    static char text[100];
    struct wbuf w = wbuf_make(text, sizeof(text));

    proc_exit_write(status, &w);
    wbuf_char(&w, '\0');
    return text;
}

static void texts(void **state)
{
    (void)state;
    assert_string_equal(exit_text(W_EXITCODE(0, 0)), "exited with code 0");
    assert_string_equal(exit_text(W_EXITCODE(3, 0)), "exited with code 3");
    assert_string_equal(exit_text(W_EXITCODE(0, SIGKILL)), "was killed by signal 9 (Killed)");
    assert_string_equal(exit_text(W_EXITCODE(0, SIGSEGV) | WCOREFLAG),
                        "was killed by signal 11 (Segmentation fault), core dumped");
}

static void reaping(void **state)
{
    struct proc_exit ex;
    siginfo_t info;
    pid_t pid;

    (void)state;
    assert_false(proc_reap(&ex)); /* no child at all */
    pid = fork();
    if (pid == 0)
        _exit(3);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    assert_true(proc_reap(&ex));
    assert_int_equal(ex.pid, pid);
    assert_string_equal(exit_text(ex.status), "exited with code 3");
    pid = fork();
    if (pid == 0)
        pause();
    assert_false(proc_reap(&ex)); /* it lives: no waiting */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A grandchild that dies with its parent; its end is seen by the end of the pipe it holds. */
static void orphans_die(void **state)
{
    char byte;
    int p[2];
    size_t got;
    pid_t parent;

    (void)state;
    assert_int_equal(fd_pipe(p, false), STATUS_OK);
    parent = fork();
    if (parent == 0) {
        pid_t self = getpid();

        if (fork() == 0) {
            if (proc_die_with(self, SIGKILL) != STATUS_OK)
                _exit(1);
            fd_write_all(p[1], "r", 1, NULL);
            for (;;)
                pause();
        }
        fd_close(&p[1]);
        fd_read_full(p[0], &byte, 1, &got);
        raise(SIGKILL);
    }
    fd_close(&p[1]);
    waitpid(parent, NULL, 0);
    alarm(5);
    assert_int_equal(fd_read_full(p[0], &byte, 1, &got), STATUS_OK);
    assert_int_equal(got, 0);
    alarm(0);
    fd_close(&p[0]);
    assert_int_equal(proc_die_with(1 << 30, 0), STATUS_CLOSED);
}

static void ours(void **state)
{
    pid_t pid;
    int p[2];
    char byte;

    (void)state;
    assert_true(proc_is_ours(getpid()));
    assert_false(proc_is_ours(0));
    assert_false(proc_is_ours(-1));
    assert_int_equal(pipe(p), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, "stranger", 0, 0, 0);
        assert_int_equal(write(p[1], "r", 1), 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(p[0], &byte, 1), 1);
    assert_false(proc_is_ours(pid));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_false(proc_is_ours(pid)); /* gone */
    close(p[0]);
    close(p[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(reaping),
        cmocka_unit_test(orphans_die),
        cmocka_unit_test(ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
