/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_accept on each back end: every connection once, goes on after resource errors without
 * spinning (hostile.md 2d.5, row 89), survives a full completion queue, ends with a cancel.
 */
#include "lib/ev_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MANY 600

struct listener {
    struct ev_op o;
    int fd;
    uint16_t port;
    int got[MANY];
    unsigned count, errors;
};

static void accepted(struct ev_op *o)
{
    struct listener *l = o->arg;

    if (o->res < 0) {
        l->errors++;
        return;
    }
    assert_true(o->flags & OP_MORE);
    assert_true(l->count < MANY);
    l->got[l->count++] = o->res;
}

static void arm(struct ev_env *env, struct listener *l)
{
    ev_op_init(env, &l->o);
    l->o.hook = accepted;
    l->o.arg = l;
    EV_DO(env, op_accept(&env->loop, &l->o.op, l->fd));
    loop_turn(&env->loop, 0);
}

static void start(struct ev_env *env, struct listener *l)
{
    *l = (struct listener){0};
    l->fd = ev_listener(&l->port);
    arm(env, l);
}

/* Nobody gets a descriptor until *old is set again. A ring looks at the limit when it is armed. */
static void lower_limit(struct rlimit *old)
{
    int free_fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    struct rlimit low;

    close(free_fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, old), 0);
    low = *old;
    low.rlim_cur = (rlim_t)free_fd;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
}

static void connect_to(const struct listener *l, int fd)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof(a);

    assert_int_equal(getsockname(l->fd, (struct sockaddr *)&a, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, len), 0);
}

static void stop(struct ev_env *env, struct listener *l)
{
    ev_cancel_and_wait(env, &l->o);
    for (unsigned i = 0; i < l->count; i++)
        loop_close_fd(&env->loop, l->got[i]);
    loop_close_fd(&env->loop, l->fd);
    ev_turn_for(env, 1);
}

static void one_at_a_time(struct ev_env *env)
{
    struct listener l;

    start(env, &l);
    for (unsigned i = 1; i <= 5; i++) {
        int c = ev_client(l.port);
        EV_UNTIL(env, l.count == i);
        int fd = l.got[i - 1];
        assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        close(c);
    }
    assert_int_equal(l.errors, 0);
    stop(env, &l);
    assert_int_equal(l.o.res, -ECANCELED);
}

static void each_connection_once(struct ev_env *env, unsigned count)
{
    struct listener l;
    int clients[MANY];
    char id[4];

    start(env, &l);
    for (unsigned i = 0; i < count; i++) {
        clients[i] = ev_client(l.port);
        snprintf(id, sizeof(id), "%03u", i);
        ev_put(clients[i], id, 3);
    }
    EV_UNTIL(env, l.count == count);
    ev_turn_for(env, 5);
    assert_int_equal(l.count, count);
    bool seen[MANY] = {false};
    for (unsigned i = 0; i < count; i++) {
        char text[8] = "";
        assert_int_equal(recv(l.got[i], text, 3, MSG_DONTWAIT), 3);
        assert_false(seen[atoi(text)]);
        seen[atoi(text)] = true;
    }
    for (unsigned i = 0; i < count; i++)
        close(clients[i]);
    stop(env, &l);
}

static void a_burst(struct ev_env *env)
{
    each_connection_once(env, 200);
}

static void tiny_ring(struct ev_conf *conf)
{
    conf->ring_entries = 2;
}

/* More connections than the completion queue holds, all of them waiting at once. */
static void overflow(struct ev_env *env)
{
    each_connection_once(env, MANY);
    assert_int_equal(env->loop.stats.late, 0);
}

/* No descriptor is left: reported once per pause, no spinning, and all are accepted afterwards. */
static void emfile(struct ev_env *env)
{
    enum { CLIENTS = 5 };
    struct listener l = {.fd = ev_listener(&l.port)};
    struct rlimit old;
    int clients[CLIENTS];
    uint64_t began, waits;

    for (int i = 0; i < CLIENTS; i++)
        clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    lower_limit(&old);
    arm(env, &l);
    for (int i = 0; i < CLIENTS; i++)
        connect_to(&l, clients[i]);
    began = ev_now_ms();
    EV_UNTIL(env, l.errors == 3);
    assert_true(ev_now_ms() - began >= 2 * ACCEPT_PAUSE_MS - 10);
    for (unsigned i = 0; i < l.errors; i++) {
        assert_int_equal(l.o.log[i], -EMFILE);
        assert_int_equal(l.o.flag_log[i], OP_MORE);
    }
    waits = env->loop.stats.waits;
    ev_turn_for(env, 3 * ACCEPT_PAUSE_MS);
    assert_true(env->loop.stats.waits - waits < 60); /* no spinning */
    assert_true(env->loop.stats.accept_pauses >= 3);
    assert_int_equal(l.count, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    began = ev_now_ms();
    EV_UNTIL(env, l.count == CLIENTS);
    assert_true(ev_now_ms() - began <= ACCEPT_PAUSE_MS + 500);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    stop(env, &l);
}

static void cancel_during_the_pause(struct ev_env *env)
{
    struct listener l = {.fd = ev_listener(&l.port)};
    struct rlimit old;
    int c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint64_t began;

    lower_limit(&old);
    arm(env, &l);
    connect_to(&l, c);
    EV_UNTIL(env, l.errors == 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    began = ev_now_ms();
    ev_cancel_and_wait(env, &l.o);
    assert_int_equal(l.o.res, -ECANCELED);
    assert_true(ev_now_ms() - began < ACCEPT_PAUSE_MS - 20); /* it does not wait for the pause's end */
    close(c);
    stop(env, &l);
    ev_turn_for(env, ACCEPT_PAUSE_MS + 20); /* the timer finds nothing to do */
}

/* Of several that rest, one is cancelled, and the others go on. */
static void cancel_one_of_them(struct ev_env *env)
{
    enum { N = 3 };
    struct listener l[N];
    struct rlimit old;
    int c[N];

    for (int i = 0; i < N; i++) {
        l[i] = (struct listener){.fd = ev_listener(&l[i].port)};
        c[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    lower_limit(&old);
    for (int i = 0; i < N; i++) {
        arm(env, &l[i]);
        connect_to(&l[i], c[i]);
    }
    EV_UNTIL(env, l[0].errors > 0 && l[1].errors > 0 && l[2].errors > 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    ev_cancel_and_wait(env, &l[1].o);
    EV_UNTIL(env, l[0].count == 1 && l[2].count == 1);
    assert_int_equal(l[1].count, 0);
    for (int i = 0; i < N; i++) {
        close(c[i]);
        stop(env, &l[i]);
    }
}

static void stop_hook(struct ev_op *o)
{
    accepted(o);
    if (op_busy(&o->op))
        EV_DO(o->env, op_cancel(&o->env->loop, &o->op));
}

/* Cancelled from inside done(): what was accepted meanwhile is delivered, none is lost. */
static void cancel_from_inside(struct ev_env *env)
{
    enum { CLIENTS = 20 };
    struct listener l;
    int clients[CLIENTS];
    unsigned rounds = 0;

    start(env, &l);
    ev_cancel_and_wait(env, &l.o);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = ev_client(l.port);
    for (; l.count < CLIENTS && rounds < 2 * CLIENTS; rounds++) {
        ev_op_init(env, &l.o);
        l.o.hook = stop_hook;
        l.o.arg = &l;
        EV_DO(env, op_accept(&env->loop, &l.o.op, l.fd));
        ev_wait_final(env, &l.o);
        assert_int_equal(l.o.res, -ECANCELED);
    }
    assert_int_equal(l.count, CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    stop(env, &l);
}

/* Not a listener: an error, once, and not a loop of them. */
static void no_listener(struct ev_env *env)
{
    struct ev_op o;
    int pair[2];

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_accept(&env->loop, &o.op, pair[0]));
    ev_put(pair[1], "x", 1);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -EINVAL);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* Two workers wait for one listener: each connection is taken by one of them, and none waits. */
static void shared_listener(struct ev_env *env)
{
    enum { CLIENTS = 50 };
    struct ev_env other = {.setting = env->setting};
    struct listener l, m = {0};
    int clients[CLIENTS];

    ev_conf_for(&other.conf, env->setting);
    assert_int_equal(loop_init(&other.loop, &other.conf, &log_process), STATUS_OK);
    start(env, &l);
    ev_op_init(&other, &m.o);
    m.o.hook = accepted;
    m.o.arg = &m;
    m.fd = dup(l.fd);
    EV_DO(&other, op_accept(&other.loop, &m.o.op, m.fd));
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = ev_client(l.port);
        loop_turn(&other.loop, 0);
        loop_turn(&env->loop, 0);
    }
    for (uint64_t end = ev_now_ms() + 1000; l.count + m.count < CLIENTS && ev_now_ms() < end;) {
        loop_turn(&other.loop, ev_now_ms() + 1);
        loop_turn(&env->loop, ev_now_ms() + 1);
    }
    assert_int_equal(l.count + m.count, CLIENTS);
    assert_int_equal(l.errors + m.errors, 0);
    stop(&other, &m); /* one of the two ends: the other goes on */
    int c = ev_client(l.port);
    unsigned before = l.count;
    EV_UNTIL(env, l.count == before + 1);
    close(c);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    stop(env, &l);
    loop_fini(&other.loop);
}

/* A listener inherited in blocking mode must not block the loop when the connection is gone. */
static void blocking_listener(struct ev_env *env)
{
    struct listener l;
    struct linger now = {1, 0};

    l = (struct listener){0};
    l.fd = ev_listener(&l.port);
    assert_int_equal(fcntl(l.fd, F_SETFL, 0), 0);
    ev_op_init(env, &l.o);
    l.o.hook = accepted;
    l.o.arg = &l;
    EV_DO(env, op_accept(&env->loop, &l.o.op, l.fd));
    loop_turn(&env->loop, 0);
    for (int i = 0; i < 10; i++) {
        int c = ev_client(l.port);
        setsockopt(c, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        close(c);
        loop_turn(&env->loop, 0);
    }
    uint64_t began = ev_now_ms();
    ev_turn_for(env, 20);
    assert_true(ev_now_ms() - began < 1500);
    assert_int_equal(l.errors, 0);
    stop(env, &l);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"one at a time", one_at_a_time, 0, NULL},
        {"a burst", a_burst, 0, NULL},
        {"overflow of the completion queue loses nothing", overflow, 0, tiny_ring},
        {"EMFILE: pause, then all of them (h89)", emfile, 0, NULL},
        {"cancel during the pause", cancel_during_the_pause, 0, NULL},
        {"cancel one of them", cancel_one_of_them, 0, NULL},
        {"cancel from inside", cancel_from_inside, 0, NULL},
        {"no listener", no_listener, 0, NULL},
        {"shared listener", shared_listener, 0, NULL},
        {"blocking listener", blocking_listener, 0, NULL},
    };
    return ev_run_cases("accept", cases, ARRAY_LEN(cases));
}
