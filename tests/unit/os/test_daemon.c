/* SPDX-License-Identifier: BSD-2-Clause */
/* The launcher's verdict: ready, failed, died (hostile.md h95: exit code and message). */
#include "os/daemon.h"
#include "os/fd.h"

#include "unit/os/unit.h"

#include <signal.h>
#include <sys/wait.h>

enum fate { FATE_READY, FATE_FAILED, FATE_DIED };

/* What the daemon found out about itself, told through a pipe. */
struct tale {
    pid_t pid, sid;
    char cwd[32];
    char terminal;       /* 'n': no controlling terminal */
    char null_out;       /* after daemon_ready: standard output is /dev/null */
};

static void be_daemon(struct daemon *d, enum fate fate, int tell)
{
    struct stat st, null;
    struct tale t = {.pid = getpid(), .sid = getsid(0)};

    if (getcwd(t.cwd, sizeof(t.cwd)) == NULL)
        t.cwd[0] = '\0';
    t.terminal = open("/dev/tty", O_RDWR) < 0 ? 'n' : 'y';
    if (fate == FATE_READY)
        daemon_ready(d);
    else if (fate == FATE_FAILED)
        daemon_failed(d, 3);
    stat("/dev/null", &null);
    t.null_out = fstat(1, &st) == 0 && st.st_rdev == null.st_rdev && fstat(2, &st) == 0 &&
                 st.st_rdev == null.st_rdev ? 'y' : 'n';
    fd_write_all(tell, &t, sizeof(t), NULL);
    _exit(0);
}

/* Runs a launcher; returns its exit code, what the daemon told and what went to stderr. */
static int launch(enum fate fate, struct tale *t, char *errors, size_t room)
{
    int tell[2], err[2], status;
    size_t got;
    pid_t pid;

    assert_int_equal(fd_pipe(tell, false), STATUS_OK);
    assert_int_equal(fd_pipe(err, false), STATUS_OK);
    pid = fork();
    if (pid == 0) {
        struct daemon d;

        dup2(err[1], 2);
        fd_close(&err[1]);
        if (daemon_start(&d, NULL) != STATUS_OK)
            _exit(99);
        be_daemon(&d, fate, tell[1]);
    }
    fd_close(&tell[1]);
    fd_close(&err[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(fd_read_full(tell[0], t, sizeof(*t), &got), STATUS_OK);
    assert_int_equal(got, sizeof(*t));
    assert_int_equal(fd_read_full(err[0], errors, room - 1, &got), STATUS_OK);
    errors[got] = '\0';
    fd_close(&tell[0]);
    fd_close(&err[0]);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(t->pid, pid);
    return WEXITSTATUS(status);
}

static void verdicts(void **state)
{
    char errors[500];
    struct tale t;

    (void)state;
    alarm(20);
    assert_int_equal(launch(FATE_READY, &t, errors, sizeof(errors)), 0);
    assert_string_equal(errors, "");
    assert_int_not_equal(t.pid, t.sid); /* no session leader: can get no terminal */
    assert_int_not_equal(t.sid, getsid(0));
    assert_string_equal(t.cwd, "/");
    assert_int_equal(t.terminal, 'n');
    assert_int_equal(t.null_out, 'y');
    assert_int_equal(launch(FATE_FAILED, &t, errors, sizeof(errors)), 3);
    assert_int_equal(t.null_out, 'n'); /* its complaints must be seen */
    assert_int_equal(launch(FATE_DIED, &t, errors, sizeof(errors)), 1);
    assert_non_null(strstr(errors, "ended before it was ready"));
    alarm(0);
}

static void no_launcher(void **state)
{
    struct daemon d = {-1};
    int before = fcntl(1, F_GETFD);

    (void)state;
    daemon_ready(&d); /* "daemon: off": nothing happens */
    daemon_failed(&d, 1);
    assert_int_equal(fcntl(1, F_GETFD), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(no_launcher),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
