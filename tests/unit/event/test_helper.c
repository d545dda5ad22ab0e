/* SPDX-License-Identifier: BSD-2-Clause */
/* The helper thread on each back end: order, limits, cancelling, and an end at any time. */
#include "event/helper.h"

#include "lib/ev_harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOBS 8

struct task {
    struct helper_job job;
    struct ev_env *env;
    atomic_bool *gate;       /* run() waits for it; NULL: not at all */
    atomic_bool begun;
    pthread_t thread;
    bool signals;            /* one would reach the thread */
    unsigned done, order;
};

static unsigned counter;

static void run(struct helper_job *job)
{
    struct task *t = container_of(job, struct task, job);
    struct timespec pause = {.tv_nsec = 1000000};
    sigset_t mask;
    t->thread = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    t->signals = !sigismember(&mask, SIGTERM) || !sigismember(&mask, SIGHUP);
    atomic_store(&t->begun, true);
    while (t->gate != NULL && !atomic_load(t->gate))
        nanosleep(&pause, NULL);
}

static void done(struct helper_job *job)
{
    struct task *t = container_of(job, struct task, job);
    assert_int_equal(t->env->submitting, 0);
    assert_int_equal(t->done, 0);
    t->done++;
    t->order = counter++;
}

static void tasks_init(struct ev_env *env, struct task *t, size_t n, atomic_bool *gate)
{
    counter = 0;
    for (size_t i = 0; i < n; i++)
        t[i] = (struct task){.job = {.run = run, .done = done}, .env = env, .gate = gate};
}

static enum status submit(struct ev_env *env, struct helper *h, struct task *t)
{
    enum status st;
    EV_DO(env, st = helper_submit(h, &t->job));
    return st;
}

static void in_order(struct ev_env *env)
{
    struct task t[JOBS];
    struct helper *h = helper_new(&env->loop, JOBS, "test-helper");
    assert_non_null(h);
    tasks_init(env, t, JOBS, NULL);
    assert_int_equal(ev_threads_named("test-helper", &(int){0}), 0); /* not before it is needed */
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(submit(env, h, &t[i]), STATUS_OK);
    EV_UNTIL(env, counter == JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        assert_true(t[i].job.ran);
        assert_int_equal(t[i].order, i);
        assert_false(pthread_equal(t[i].thread, pthread_self()));
        assert_false(t[i].signals);
    }
    assert_int_equal(ev_threads_named("test-helper", &(int){0}), 1);
    /* Again, now that it sleeps. */
    tasks_init(env, t, 1, NULL);
    assert_int_equal(submit(env, h, &t[0]), STATUS_OK);
    EV_UNTIL(env, counter == 1);
    helper_delete(h);
    assert_int_equal(ev_threads_named("test-helper", &(int){0}), 0);
}

/* The loop turns while a job runs. */
static void apart_from_the_loop(struct ev_env *env)
{
    struct task t[2];
    atomic_bool gate = false;
    struct helper *h = helper_new(&env->loop, JOBS, "test-helper");
    tasks_init(env, t, 2, &gate);
    assert_int_equal(submit(env, h, &t[0]), STATUS_OK);
    EV_UNTIL(env, atomic_load(&t[0].begun));
    ev_turn_for(env, 30);
    assert_int_equal(t[0].done, 0);
    atomic_store(&gate, true);
    EV_UNTIL(env, t[0].done == 1);
    helper_delete(h);
}

static void bounded(struct ev_env *env)
{
    struct task t[JOBS];
    atomic_bool gate = false;
    struct helper *h = helper_new(&env->loop, 3, "test-helper");
    tasks_init(env, t, JOBS, &gate);
    assert_int_equal(submit(env, h, &t[0]), STATUS_OK);
    EV_UNTIL(env, atomic_load(&t[0].begun)); /* it does not wait any more */
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(submit(env, h, &t[i]), STATUS_OK);
    assert_int_equal(submit(env, h, &t[4]), STATUS_LIMIT);
    atomic_store(&gate, true);
    EV_UNTIL(env, counter == 4);
    assert_int_equal(submit(env, h, &t[5]), STATUS_OK);
    EV_UNTIL(env, counter == 5);
    assert_int_equal(t[4].done, 0);
    helper_delete(h);
}

static void cancelled(struct ev_env *env)
{
    struct task t[4];
    atomic_bool gate = false;
    struct helper *h = helper_new(&env->loop, 3, "test-helper");
    tasks_init(env, t, 4, &gate);
    assert_int_equal(submit(env, h, &t[0]), STATUS_OK);
    EV_UNTIL(env, atomic_load(&t[0].begun));
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(submit(env, h, &t[i]), STATUS_OK);
    EV_DO(env, helper_cancel(h, &t[2].job));
    EV_DO(env, helper_cancel(h, &t[2].job)); /* twice is fine */
    EV_UNTIL(env, t[2].done == 1);
    assert_false(t[2].job.ran);
    EV_DO(env, helper_cancel(h, &t[0].job)); /* too late: it runs on */
    ev_turn_for(env, 10);
    assert_int_equal(t[0].done, 0);
    tasks_init(env, &t[2], 1, &gate); /* there is room again */
    assert_int_equal(submit(env, h, &t[2]), STATUS_OK);
    atomic_store(&gate, true);
    EV_UNTIL(env, counter == 4);
    assert_true(t[0].job.ran && t[1].job.ran && t[2].job.ran && t[3].job.ran);
    helper_delete(h);
}

static void *open_gate(void *arg)
{
    struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    atomic_store((atomic_bool *)arg, true);
    return NULL;
}

/* What runs is waited for, what waits does not run; both are done. */
static void ends_at_any_time(struct ev_env *env)
{
    struct task t[4];
    atomic_bool gate = false;
    pthread_t opener;
    unsigned fds = ev_open_fds();
    struct helper *h = helper_new(&env->loop, JOBS, "test-helper");
    tasks_init(env, t, 4, &gate);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(submit(env, h, &t[i]), STATUS_OK);
    EV_UNTIL(env, atomic_load(&t[0].begun));
    assert_int_equal(pthread_create(&opener, NULL, open_gate, &gate), 0);
    helper_delete(h);
    pthread_join(opener, NULL);
    assert_int_equal(counter, 4);
    assert_true(t[0].job.ran);
    assert_false(t[1].job.ran || t[2].job.ran || t[3].job.ran);
    helper_delete(helper_new(&env->loop, JOBS, "test-helper")); /* one that never had a job */
    helper_delete(NULL);
    ev_turn_for(env, 5); /* the descriptor is closed by the ring */
    assert_int_equal(ev_open_fds(), fds);
}

static const struct ev_case cases[] = {
    {.name = "in order", .run = in_order},
    {.name = "apart from the loop", .run = apart_from_the_loop},
    {.name = "bounded", .run = bounded},
    {.name = "cancelled", .run = cancelled},
    {.name = "ends at any time", .run = ends_at_any_time},
};

int main(void)
{
    return ev_run_cases("helper", cases, ARRAY_LEN(cases));
}
