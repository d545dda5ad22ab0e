/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only the epoll back end has: registering late or never, events of descriptors that live on
 * elsewhere, a share for everybody, and the helper threads.
 */
#include "event/epoll_priv.h"

#include "lib/ev_harness.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct epoll_be *be_of(const struct ev_env *env)
{
    return env->loop.priv;
}

/* Does the kernel watch fd for us? */
static bool registered(const struct ev_env *env, int fd)
{
    char path[64], line[256];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", be_of(env)->epfd);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL) {
        int tfd;
        if (sscanf(line, "tfd: %d", &tfd) == 1 && tfd == fd)
            found = true;
    }
    fclose(f);
    return found;
}

static void answer(struct ev_op *o)
{
    struct ev_op *reply = o->arg;

    if (o->res > 0)
        EV_DO(o->env, op_send(&o->env->loop, &reply->op, o->op.fd, "answer", 6, 0));
}

static void hang_up(struct ev_op *o)
{
    struct ev_op *in = o->arg;

    assert_int_equal(o->res, 6);
    EV_DO(o->env, op_cancel(&o->env->loop, &in->op));
}

/* A request that is there already, answered and closed: the kernel never hears of the descriptor. */
static void short_connection_is_not_registered(struct ev_env *env)
{
    int pair[2];
    struct ev_op in, out;

    ev_tcp_pair(pair);
    ev_put(pair[1], "request", 7);
    ev_op_init(env, &in);
    ev_op_init(env, &out);
    in.hook = answer;
    in.arg = &out;
    out.hook = hang_up;
    out.arg = &in;
    EV_DO(env, op_recv(&env->loop, &in.op, pair[0]));
    loop_turn(&env->loop, 0);
    assert_int_equal(in.finals, 1);
    assert_int_equal(out.finals, 1);
    assert_false(registered(env, pair[0]));
    ev_op_fini(&in);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
}

static void waiting_is_registered_once(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    assert_false(registered(env, pair[0]));
    loop_turn(&env->loop, 0);
    assert_true(registered(env, pair[0]));
    ev_cancel_and_wait(env, &o);
    assert_true(registered(env, pair[0])); /* and stays so until it is closed */
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    assert_false(registered(env, pair[0]));
    close(pair[1]);
}

/* Nobody is woken for a listener that no accept is armed for. */
static void listener_is_given_up(struct ev_env *env)
{
    uint16_t port;
    int l = ev_listener(&port);
    struct ev_op o;

    ev_op_init(env, &o);
    EV_DO(env, op_accept(&env->loop, &o.op, l));
    loop_turn(&env->loop, 0);
    assert_true(registered(env, l));
    ev_cancel_and_wait(env, &o);
    assert_false(registered(env, l));
    int c = ev_client(port);
    uint64_t waits = env->loop.stats.waits;
    ev_turn_for(env, 20);
    assert_true(env->loop.stats.waits - waits < 5);
    close(c);
    loop_close_fd(&env->loop, l);
}

/* Closed here but alive in another process: its events are not the next owner's. */
static void events_of_the_past(struct ev_env *env)
{
    int pair[2], next[2], elsewhere;
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    loop_turn(&env->loop, 0);
    elsewhere = dup(pair[0]);
    ev_cancel_and_wait(env, &o);
    loop_close_fd(&env->loop, pair[0]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, next), 0);
    assert_int_equal(next[0], pair[0]);
    ev_op_init(env, &o);
    EV_DO(env, op_recv(&env->loop, &o.op, next[0]));
    loop_turn(&env->loop, 0);
    ev_put(pair[1], "old", 3);
    ev_turn_for(env, 10);
    assert_int_equal(o.calls, 0);
    assert_true(env->loop.stats.late > 0);
    ev_put(next[1], "new", 3);
    EV_UNTIL(env, o.n == 3);
    assert_memory_equal(o.bytes, "new", 3);
    ev_cancel_and_wait(env, &o);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, next[0]);
    close(next[1]);
    close(pair[1]);
    close(elsewhere);
}

/* However much one peer sends, a turn reads so much and no more of it. */
static void a_share_for_everybody(struct ev_env *env)
{
    int loud[2], quiet[2];
    struct ev_op a, b;
    char block[65536] = {0};

    ev_tcp_pair(loud);
    ev_tcp_pair(quiet);
    while (send(loud[1], block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        continue;
    ev_op_init(env, &a);
    ev_op_init(env, &b);
    EV_DO(env, op_recv(&env->loop, &a.op, loud[0]));
    EV_DO(env, op_recv(&env->loop, &b.op, quiet[0]));
    ev_put(quiet[1], "me too", 6);
    loop_turn(&env->loop, 0);
    assert_int_equal(b.n, 6);
    assert_true(a.n <= 16 * env->conf.recv_buffer_size * 9); /* rounds of a turn */
    size_t before = a.n;
    loop_turn(&env->loop, ev_now_ms() + 1000); /* goes on without an event */
    assert_true(a.n > before);
    ev_cancel_and_wait(env, &a);
    ev_cancel_and_wait(env, &b);
    ev_op_fini(&a);
    ev_op_fini(&b);
    loop_close_fd(&env->loop, loud[0]);
    loop_close_fd(&env->loop, quiet[0]);
    close(loud[1]);
    close(quiet[1]);
}

/* --- helper threads --- */

static void read_cold(struct ev_env *env)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_CLOEXEC, .mode = 0600};
    char name[] = "/tmp/sluice-ev-new-XXXXXX";
    struct ev_op o;

    close(mkostemp(name, O_CLOEXEC));
    ev_op_init(env, &o);
    EV_DO(env, op_open(&env->loop, &o.op, AT_FDCWD, name, &how)); /* never answered from a cache */
    ev_wait_final(env, &o);
    assert_true(o.res >= 0);
    close(o.res);
    unlink(name);
}

static bool all_signals_blocked(int tid)
{
    char path[64], line[256];
    unsigned long long mask = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        (void)sscanf(line, "SigBlk: %llx", &mask);
    fclose(f);
    /* All but KILL and STOP and the two the C library keeps for itself. */
    return (mask | 1ull << 8 | 1ull << 18 | 3ull << 31) == ~0ull;
}

static void helpers_come_and_go(struct ev_env *env)
{
    struct ev_env mine = {.setting = env->setting};
    int tid = 0;

    ev_conf_for(&mine.conf, env->setting);
    assert_int_equal(loop_init(&mine.loop, &mine.conf, &log_process), STATUS_OK);
    assert_int_equal(ev_threads_named("sluice-file", NULL), 0); /* not before they are needed */
    read_cold(&mine);
    assert_int_equal(ev_threads_named("sluice-file", &tid), 2);
    assert_true(all_signals_blocked(tid));
    for (int i = 0; i < 10; i++)
        read_cold(&mine);
    assert_int_equal(ev_threads_named("sluice-file", NULL), 2);
    loop_fini(&mine.loop);
    assert_int_equal(ev_threads_named("sluice-file", NULL), 0);
}

/* No thread is to be had: the work is done all the same. */
static void no_helpers(struct ev_env *env)
{
    int status;
    pid_t pid;

    if (geteuid() != 0) {
        print_message("skipped: needs root to become another user\n");
        skip();
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct ev_env mine = {.setting = env->setting};
        struct rlimit none = {0, 0};
        ev_conf_for(&mine.conf, mine.setting);
        if (setrlimit(RLIMIT_NPROC, &none) == -1 || setgroups(0, NULL) == -1 ||
            setgid(64210) == -1 || setuid(64210) == -1)
            _exit(2);
        if (loop_init(&mine.loop, &mine.conf, &log_process) != STATUS_OK)
            _exit(3);
        read_cold(&mine);
        _exit(ev_threads_named("sluice-file", NULL) == 0 ? 0 : 4);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* More jobs than helpers; those nobody has begun can be cancelled, the others come to an end. */
static void queued_jobs_are_cancelled(struct ev_env *env)
{
    enum { COUNT = 100 };
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_CLOEXEC, .mode = 0600};
    char name[] = "/tmp/sluice-ev-new-XXXXXX";
    struct ev_op *o = calloc(COUNT, sizeof(*o));
    unsigned cancelled = 0, fds;

    close(mkostemp(name, O_CLOEXEC));
    read_cold(env);
    fds = ev_open_fds();
    for (int i = 0; i < COUNT; i++) {
        ev_op_init(env, &o[i]);
        EV_DO(env, op_open(&env->loop, &o[i].op, AT_FDCWD, name, &how));
    }
    loop_turn(&env->loop, 0);
    for (int i = 0; i < COUNT; i += 2)
        EV_DO(env, op_cancel(&env->loop, &o[i].op));
    for (int i = 0; i < COUNT; i++) {
        EV_UNTIL(env, o[i].finals == 1);
        assert_int_equal(o[i].calls, 1);
        if (o[i].res >= 0)
            close(o[i].res);
        else
            assert_int_equal(o[i].res, -ECANCELED);
        cancelled += o[i].res == -ECANCELED;
    }
    assert_true(cancelled <= COUNT / 2);
    assert_int_equal(ev_open_fds(), fds);
    unlink(name);
    free(o);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"short connection is not registered", short_connection_is_not_registered, EV_EP, NULL},
        {"what waits is registered once", waiting_is_registered_once, EV_EP, NULL},
        {"listener is given up", listener_is_given_up, EV_EP, NULL},
        {"events of the past", events_of_the_past, EV_EP, NULL},
        {"a share for everybody", a_share_for_everybody, EV_EP, NULL},
        {"helpers come and go", helpers_come_and_go, EV_EP, NULL},
        {"no helpers to be had", no_helpers, EV_EP, NULL},
        {"queued jobs are cancelled", queued_jobs_are_cancelled, EV_EP, NULL},
    };
    return ev_run_cases("epoll", cases, ARRAY_LEN(cases));
}
