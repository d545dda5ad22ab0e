/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop on each back end: timers and deadlines, work put off to the end of a turn, stopping,
 * the clocks, and polling what is no stream.
 */
#include "event/loop.h"

#include "lib/ev_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* --- timers --- */

struct alarm {
    struct timer t;
    struct loop *loop;
    uint64_t at, fired;
    struct ev_op *cancel; /* when it fires */
    bool stop;
};

static void alarm_fires(struct timer *t, uint64_t now_ms)
{
    struct alarm *a = container_of(t, struct alarm, t);

    assert_true(now_ms >= a->at);
    a->fired = ev_now_ms();
    if (a->cancel != NULL)
        op_cancel(a->loop, &a->cancel->op);
    if (a->stop)
        loop_stop(a->loop);
}

static void alarm_set(struct ev_env *env, struct alarm *a, uint64_t ms)
{
    *a = (struct alarm){.loop = &env->loop, .at = ev_now_ms() + ms};
    timer_init(&a->t, alarm_fires);
    timer_arm(&env->loop.timers, &a->t, a->at);
}

/* In order, never early, soon after they are due, without being waited for in vain. */
static void timers(struct ev_env *env)
{
    static const uint64_t ms[] = {60, 5, 30, 0, 31};
    struct alarm a[ARRAY_LEN(ms)];

    for (size_t i = 0; i < ARRAY_LEN(ms); i++)
        alarm_set(env, &a[i], ms[i]);
    uint64_t waits = env->loop.stats.waits;
    while (a[0].fired == 0)
        loop_turn(&env->loop, TIMER_NEVER);
    assert_true(env->loop.stats.waits - waits < 40);
    for (size_t i = 0; i < ARRAY_LEN(ms); i++) {
        assert_true(a[i].fired >= a[i].at);
        assert_true(a[i].fired <= a[i].at + TIMER_TICK_MS + 1000);
    }
}

/* A timer that is armed in a completion shortens the wait that follows. */
static void arm_hook(struct ev_op *o)
{
    struct alarm *a = o->arg;

    if (a->at == 0)
        alarm_set(o->env, a, 10);
}

static void timer_armed_in_a_completion(struct ev_env *env)
{
    struct alarm a = {0};
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    o.hook = arm_hook;
    o.arg = &a;
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], "x", 1, 0));
    uint64_t began = ev_now_ms();
    while (a.fired == 0 && ev_now_ms() < began + 2000)
        loop_turn(&env->loop, began + 2000);
    assert_true(a.fired != 0 && a.fired - began < 1000);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

struct patience {
    struct deadline d;
    struct loop *loop;
    struct op *op;
    uint64_t expired;
};

static void out_of_patience(struct deadline *d, uint64_t now_ms)
{
    struct patience *p = container_of(d, struct patience, d);

    p->expired = now_ms;
    op_cancel(p->loop, p->op);
}

/* A receive with a deadline that each byte moves on. */
static void deadline_cancels(struct ev_env *env)
{
    struct patience p = {.loop = &env->loop};
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    p.op = &o.op;
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    deadline_init(&p.d, &env->loop.timers, out_of_patience);
    for (int i = 0; i < 5; i++) {
        deadline_set(&p.d, ev_now_ms() + 700);
        ev_turn_for(env, 80);
        ev_put(pair[1], "x", 1);
        EV_UNTIL(env, o.n == (size_t)i + 1 || p.expired != 0);
        assert_int_equal(p.expired, 0);
    }
    uint64_t until = ev_now_ms() + 60;
    deadline_set(&p.d, until);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    assert_true(p.expired >= until && ev_now_ms() < until + 2000);
    deadline_fini(&p.d);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

static void stops(struct ev_env *env)
{
    struct alarm a;

    alarm_set(env, &a, 20);
    a.stop = true;
    loop_run(&env->loop);
    assert_true(a.fired != 0);
    uint64_t before = env->loop.now_ms;
    alarm_set(env, &a, 20);
    a.stop = true;
    loop_run(&env->loop); /* and runs again */
    assert_true(env->loop.now_ms >= before + 20);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    assert_true(wall.tv_sec - env->loop.wall.tv_sec <= 1);
}

/* --- the end of the turn --- */

static struct later {
    struct turn t;
    struct ev_env *env;
    unsigned runs, again;
} later;

static void later_runs(struct turn *t)
{
    assert_ptr_equal(t, &later.t);
    later.runs++;
    if (later.again > 0) {
        later.again--;
        loop_at_turn_end(&later.env->loop, t);
    }
}

static void end_of_turn(struct ev_env *env)
{
    later = (struct later){.env = env};
    turn_init(&later.t, later_runs);
    loop_at_turn_end(&env->loop, &later.t);
    loop_at_turn_end(&env->loop, &later.t); /* once all the same */
    uint64_t began = ev_now_ms();
    loop_turn(&env->loop, began + 2000); /* and without sleeping */
    assert_true(ev_now_ms() - began < 1500);
    assert_int_equal(later.runs, 1);
    later.again = 2; /* put off again from inside: the next turn, which does not sleep either */
    loop_at_turn_end(&env->loop, &later.t);
    for (unsigned i = 2; i <= 4; i++) {
        loop_turn(&env->loop, began + 2000);
        assert_int_equal(later.runs, i);
    }
    assert_true(ev_now_ms() - began < 1500);
}

static void later_hook(struct ev_op *o)
{
    loop_at_turn_end(&o->env->loop, &later.t);
}

/* Put off in a completion: it runs before the loop waits again. */
static void end_of_turn_from_a_completion(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    later = (struct later){.env = env};
    turn_init(&later.t, later_runs);
    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    o.hook = later_hook;
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], "x", 1, 0));
    uint64_t began = ev_now_ms();
    while (later.runs == 0 && ev_now_ms() < began + 3000)
        loop_turn(&env->loop, began + 3000);
    assert_int_equal(later.runs, 1);
    assert_true(ev_now_ms() - began < 1500);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* A turn in which something was completed does not sleep out its time, nor does the next one. */
static void completing_ends_the_turn(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    uint64_t began = ev_now_ms();
    for (int i = 0; i < 10; i++) {
        ev_op_init(env, &o);
        EV_DO(env, op_send(&env->loop, &o.op, pair[0], "x", 1, 0));
        while (o.finals == 0)
            loop_turn(&env->loop, began + 3000);
    }
    assert_true(ev_now_ms() - began < 1500);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* --- polling --- */

static void take_signals(struct ev_op *o)
{
    struct signalfd_siginfo si;
    unsigned *taken = o->arg;

    if (o->res > 0)
        while (read(o->op.fd, &si, sizeof(si)) == sizeof(si))
            ++*taken;
}

static void poll_a_signalfd(struct ev_env *env)
{
    sigset_t set, old;
    struct ev_op o;
    unsigned taken = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    ev_op_init(env, &o);
    o.hook = take_signals;
    o.arg = &taken;
    EV_DO(env, op_poll(&env->loop, &o.op, fd, POLLIN, OP_POLL_MULTI));
    for (unsigned i = 1; i <= 10; i++) {
        kill(getpid(), SIGUSR1); /* one sent to a thread would not be seen by an SQPOLL thread */
        EV_UNTIL(env, taken == i);
        assert_int_equal(o.flags, OP_MORE);
        assert_true(o.res & POLLIN);
    }
    ev_turn_for(env, 5);
    assert_int_equal(taken, 10);
    ev_cancel_and_wait(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void poll_inotify(struct ev_env *env)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char dir[] = "/tmp/sluice-ev-watch-XXXXXX", name[64], buf[4096];
    struct ev_op o;

    assert_non_null(mkdtemp(dir));
    assert_true(inotify_add_watch(fd, dir, IN_CREATE | IN_DELETE) >= 0);
    ev_op_init(env, &o);
    EV_DO(env, op_poll(&env->loop, &o.op, fd, POLLIN, OP_POLL_MULTI));
    snprintf(name, sizeof(name), "%s/x", dir);
    for (int i = 0; i < 5; i++) {
        unsigned calls = o.calls;
        close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        unlink(name);
        EV_UNTIL(env, o.calls > calls);
        while (read(fd, buf, sizeof(buf)) > 0)
            continue;
        ev_turn_for(env, 2);
    }
    ev_cancel_and_wait(env, &o);
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
    rmdir(dir);
}

/* One-shot, submitted when it is ready already, again and again, without reading. */
static void poll_what_is_ready(struct ev_env *env)
{
    int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    struct ev_op o;

    for (int i = 0; i < 5; i++) {
        ev_op_init(env, &o);
        EV_DO(env, op_poll(&env->loop, &o.op, fd, POLLIN, 0));
        ev_wait_final(env, &o);
        assert_true(o.res & POLLIN);
        ev_turn_for(env, 2);
    }
    uint64_t count;
    assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
    ev_op_init(env, &o);
    EV_DO(env, op_poll(&env->loop, &o.op, fd, POLLIN, 0));
    ev_turn_for(env, 10);
    assert_int_equal(o.calls, 0); /* what was said before does not count */
    ev_cancel_and_wait(env, &o);
    eventfd_write(fd, 1); /* nor what was said while nobody asked */
    ev_turn_for(env, 2);
    assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
    ev_op_init(env, &o);
    EV_DO(env, op_poll(&env->loop, &o.op, fd, POLLIN, 0));
    ev_turn_for(env, 10);
    assert_int_equal(o.calls, 0);
    ev_cancel_and_wait(env, &o);
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
}

/* Until it stays full: a delayed acknowledgement still makes room. */
static void fill(int fd)
{
    static const char block[16384];
    int idle = 0;

    while (idle < 80) {
        idle++;
        while (send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
            idle = 0;
        usleep(1000);
    }
}

/* As send_file does: others have filled the socket, POLLOUT comes when the peer has read. */
static void poll_for_room(struct ev_env *env)
{
    int pair[2];
    struct ev_op o, in;
    char block[16384];

    ev_tcp_pair_small(pair);
    ev_op_init(env, &in);
    EV_DO(env, op_recv(&env->loop, &in.op, pair[0])); /* the other direction is in use */
    for (int i = 0; i < 5; i++) {
        fill(pair[0]);
        ev_op_init(env, &o);
        EV_DO(env, op_poll(&env->loop, &o.op, pair[0], POLLOUT, 0));
        ev_turn_for(env, 10);
        assert_int_equal(o.calls, 0);
        while (ev_peek_read(pair[1], block, sizeof(block)) > 0 || o.calls == 0)
            loop_turn(&env->loop, ev_now_ms() + 1);
        assert_true(o.res & POLLOUT);
    }
    ev_cancel_and_wait(env, &in);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

static void poll_hangup(struct ev_env *env)
{
    int p[2];
    struct ev_op o;

    assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
    ev_op_init(env, &o);
    EV_DO(env, op_poll(&env->loop, &o.op, p[0], POLLIN, 0));
    loop_turn(&env->loop, 0);
    close(p[1]);
    ev_wait_final(env, &o);
    assert_true(o.res & POLLHUP);
    loop_close_fd(&env->loop, p[0]);
    ev_turn_for(env, 1);
}

static void poll_both_directions(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_poll(&env->loop, &o.op, pair[0], POLLIN | POLLOUT, 0));
    ev_wait_final(env, &o);
    assert_true(o.res & POLLOUT);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"timers", timers, 0, NULL},
        {"timer armed in a completion", timer_armed_in_a_completion, 0, NULL},
        {"deadline cancels", deadline_cancels, 0, NULL},
        {"stops and runs again", stops, 0, NULL},
        {"end of turn", end_of_turn, 0, NULL},
        {"end of turn from a completion", end_of_turn_from_a_completion, 0, NULL},
        {"completing ends the turn", completing_ends_the_turn, 0, NULL},
        {"poll a signalfd", poll_a_signalfd, 0, NULL},
        {"poll inotify", poll_inotify, 0, NULL},
        {"poll what is ready", poll_what_is_ready, 0, NULL},
        {"poll for room", poll_for_room, 0, NULL},
        {"poll: hangup", poll_hangup, 0, NULL},
        {"poll both directions", poll_both_directions, 0, NULL},
    };
    return ev_run_cases("loop", cases, ARRAY_LEN(cases));
}
