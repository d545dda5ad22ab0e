/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals as readable events, also those that were ignored at start (hostile.md h103). */
#include "os/signal.h"

#include "unit/os/unit.h"

#include <signal.h>
#include <sys/wait.h>

static const int wanted[] = {SIGHUP, SIGUSR1, SIGCHLD, SIGWINCH};

static void arrives_as_event(void **state)
{
    struct signal_event ev;
    int fd;

    (void)state;
    signal(SIGHUP, SIG_IGN); /* as nohup leaves it */
    assert_int_equal(signal_open(&fd, wanted, 4), STATUS_OK);
    assert_false(signal_read(fd, &ev));
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGWINCH);
    assert_true(signal_read(fd, &ev));
    assert_int_equal(ev.signal, SIGHUP);
    assert_int_equal(ev.pid, getpid());
    assert_int_equal(ev.uid, getuid());
    assert_true(signal_read(fd, &ev));
    assert_int_equal(ev.signal, SIGWINCH);
    assert_false(signal_read(fd, &ev));
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    assert_false(signal_read(-1, &ev));
    signal_reset();
}

static void ignored_children_are_seen(void **state)
{
    struct signal_event ev;
    int fd, status;
    pid_t pid;

    (void)state;
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(signal_open(&fd, wanted, 4), STATUS_OK);
    pid = fork();
    if (pid == 0)
        _exit(7);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(signal_read(fd, &ev));
    assert_int_equal(ev.signal, SIGCHLD);
    close(fd);
    signal_reset();
}

static void reset_restores(void **state)
{
    struct sigaction sa;
    sigset_t set;
    int fd;

    (void)state;
    signal_ignore_pipe();
    sigaction(SIGPIPE, NULL, &sa);
    assert_ptr_equal(sa.sa_handler, SIG_IGN);
    assert_int_equal(signal_open(&fd, wanted, 4), STATUS_OK);
    close(fd);
    signal_reset();
    sigaction(SIGPIPE, NULL, &sa);
    assert_ptr_equal(sa.sa_handler, SIG_DFL);
    sigprocmask(SIG_SETMASK, NULL, &set);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sigismember(&set, wanted[i]), 0);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(signal_name(SIGHUP), "SIGHUP");
    assert_string_equal(signal_name(SIGSEGV), "SIGSEGV");
    assert_string_equal(signal_name(63), "signal 63");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_as_event),
        cmocka_unit_test(ignored_children_are_seen),
        cmocka_unit_test(reset_restores),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
