/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which back end is chosen and what is said about it (row 96): refusals by a seccomp filter, as
 * containers have them, lead to epoll with the reason or, where io_uring was asked for, to an
 * error; a shortage is never taken for a refusal.  Each case runs in a child, which keeps its filter.
 */
#include "lib/ev_harness.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* From now on the system call nr fails with err in this process. */
static bool refuse(long nr, int err)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {ARRAY_LEN(code), code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

enum shortage { NO_SHORTAGE, NO_DESCRIPTORS };

struct row {
    const char *name;
    long nr; /* -1: nothing is refused */
    int err;
    enum ev_use use;
    bool sqpoll;
    enum shortage shortage;
    enum status want;
    const char *backend; /* want OK: its name */
    const char *text;    /* must be in what is said */
    bool needs_ring;     /* the kernel must allow io_uring for this to be tried */
};

static const struct row rows[] = {
    {"auto", -1, 0, EV_AUTO, false, NO_SHORTAGE, STATUS_OK, "io_uring", "task work", true},
    {"auto with SQPOLL", -1, 0, EV_AUTO, true, NO_SHORTAGE, STATUS_OK, "io_uring+sqpoll",
     "SQPOLL", true},
    {"io_uring", -1, 0, EV_IO_URING, false, NO_SHORTAGE, STATUS_OK, "io_uring", "task work", true},
    {"epoll", -1, 0, EV_EPOLL, false, NO_SHORTAGE, STATUS_OK, "epoll", "every kernel", false},
    {"auto, ENOSYS", SYS_io_uring_setup, ENOSYS, EV_AUTO, false, NO_SHORTAGE, STATUS_OK, "epoll",
     "io_uring: the kernel has no io_uring, or a filter hides it (ENOSYS)", false},
    {"auto, EPERM", SYS_io_uring_setup, EPERM, EV_AUTO, false, NO_SHORTAGE, STATUS_OK, "epoll",
     "io_uring: not permitted (EPERM", false},
    {"auto, EINVAL", SYS_io_uring_setup, EINVAL, EV_AUTO, false, NO_SHORTAGE, STATUS_OK, "epoll",
     "needs Linux 5.19", false},
    {"auto with SQPOLL, EPERM", SYS_io_uring_setup, EPERM, EV_AUTO, true, NO_SHORTAGE, STATUS_OK,
     "epoll", "not permitted", false},
    {"auto, ENOMEM", SYS_io_uring_setup, ENOMEM, EV_AUTO, false, NO_SHORTAGE, STATUS_ERROR, NULL,
     "RLIMIT_MEMLOCK", false},
    {"auto, only registering is refused", SYS_io_uring_register, EPERM, EV_AUTO, false,
     NO_SHORTAGE, STATUS_OK, "epoll", "not permitted", true},
    {"auto, only entering is refused", SYS_io_uring_enter, EPERM, EV_AUTO, false, NO_SHORTAGE,
     STATUS_OK, "epoll", "not permitted", true},
    {"io_uring, ENOSYS", SYS_io_uring_setup, ENOSYS, EV_IO_URING, false, NO_SHORTAGE,
     STATUS_UNSUPPORTED, NULL, "(ENOSYS)", false},
    {"io_uring, ENOMEM", SYS_io_uring_setup, ENOMEM, EV_IO_URING, false, NO_SHORTAGE, STATUS_ERROR,
     NULL, "(ENOMEM)", false},
    {"io_uring, EPERM", SYS_io_uring_setup, EPERM, EV_IO_URING, false, NO_SHORTAGE,
     STATUS_UNSUPPORTED, NULL, "(EPERM", false},
    {"epoll, ENOSYS for io_uring", SYS_io_uring_setup, ENOSYS, EV_EPOLL, false, NO_SHORTAGE,
     STATUS_OK, "epoll", "every kernel", false},
    {"auto, EMFILE", SYS_io_uring_setup, EMFILE, EV_AUTO, false, NO_SHORTAGE, STATUS_ERROR, NULL,
     "Too many open files", false},
    {"auto, ENFILE", SYS_io_uring_setup, ENFILE, EV_AUTO, false, NO_SHORTAGE, STATUS_ERROR, NULL,
     "Too many open files in system", false},
    {"auto, no descriptors", -1, 0, EV_AUTO, false, NO_DESCRIPTORS, STATUS_ERROR, NULL,
     "Too many open files", true},
    {"epoll, no descriptors", -1, 0, EV_EPOLL, false, NO_DESCRIPTORS, STATUS_LIMIT, NULL,
     "Too many open files", false},
};

static void no_more_descriptors(void)
{
    int next = fcntl(0, F_DUPFD_CLOEXEC, 3);
    struct rlimit low;

    close(next);
    getrlimit(RLIMIT_NOFILE, &low);
    low.rlim_cur = (rlim_t)next;
    setrlimit(RLIMIT_NOFILE, &low);
}

struct note {
    struct op op;
    int32_t res;
};

static void note(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    (void)flags;
    container_of(op, struct note, op)->res = res;
    loop_stop(loop);
}

/* Whether the loop that was chosen works. */
static bool carries(struct loop *loop)
{
    struct note n = {.res = -1};
    char got[4];
    int pair[2];

    ev_tcp_pair(pair);
    op_init(&n.op, note);
    op_send(loop, &n.op, pair[0], "ok", 2, 0);
    loop_run(loop);
    return n.res == 2 && recv(pair[1], got, sizeof(got), 0) == 2;
}

static void child(const struct row *r)
{
    struct ev_conf conf;
    struct loop loop;
    char probed[160];

    ev_conf_for(&conf, r->sqpoll ? EV_SQPOLL : EV_RING);
    conf.use = r->use;
    if (r->nr != -1 && !refuse(r->nr, r->err))
        _exit(77);
    if (r->shortage == NO_DESCRIPTORS)
        no_more_descriptors();
    enum status probe = loop_probe(&conf, probed, sizeof(probed));
    enum status st = loop_init(&loop, &conf, &log_process);
    if (st != r->want || strstr(loop.chosen, r->text) == NULL) {
        fprintf(stderr, "%s: %s: \"%s\"\n", r->name, status_text(st), loop.chosen);
        _exit(1);
    }
    if (st == STATUS_OK && (strcmp(loop_backend_name(&loop), r->backend) != 0 || !carries(&loop))) {
        fprintf(stderr, "%s: %s was chosen\n", r->name, loop_backend_name(&loop));
        _exit(1);
    }
    /* The question alone has the same answer; epoll's own descriptor is not tried. */
    bool same = (probe == st && (st == STATUS_OK || strstr(probed, r->text) != NULL)) ||
                r->shortage == NO_DESCRIPTORS;
    if (!same || (st == STATUS_OK && strstr(probed, "epoll") != NULL &&
                  strcmp(loop_backend_name(&loop), "epoll") != 0)) {
        fprintf(stderr, "%s: asked beforehand: \"%s\"\n", r->name, probed);
        _exit(1);
    }
    if (st == STATUS_OK)
        loop_fini(&loop);
    _exit(0);
}

static void run_row(void **state)
{
    const struct row *r = *state;
    char why[160];
    int status;
    pid_t pid;

    if (r->needs_ring && !ev_ring_available(why, sizeof(why))) {
        print_message("skipped: %s\n", why);
        skip();
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(r);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Nothing is left behind by asking, by choosing and by failing. */
static void leaves_nothing(void **state)
{
    struct ev_conf conf;
    struct loop loop;
    char why[160];
    struct rlimit old;
    unsigned fds = ev_open_fds();

    (void)state;
    ev_conf_for(&conf, EV_RING);
    conf.use = EV_AUTO;
    for (int i = 0; i < 3; i++) {
        (void)loop_probe(&conf, why, sizeof(why));
        assert_int_equal(loop_init(&loop, &conf, &log_process), STATUS_OK);
        loop_fini(&loop);
        assert_int_equal(ev_open_fds(), fds);
    }
    getrlimit(RLIMIT_NOFILE, &old);
    no_more_descriptors();
    assert_int_not_equal(loop_init(&loop, &conf, &log_process), STATUS_OK);
    conf.use = EV_EPOLL;
    assert_int_not_equal(loop_init(&loop, &conf, &log_process), STATUS_OK);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(ev_open_fds(), fds);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 1];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){.name = rows[i].name,
                                       .test_func = run_row,
                                       .initial_state = (void *)(uintptr_t)&rows[i]};
    tests[ARRAY_LEN(rows)] =
        (struct CMUnitTest){.name = "leaves nothing", .test_func = leaves_nothing};
    return cmocka_run_group_tests_name("uring_setup", tests, NULL, NULL);
}
