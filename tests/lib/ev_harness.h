/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of the event layer: one test function is run once for each back end setting (io_uring,
 * io_uring with SQPOLL, epoll), with a fresh loop that has small tables so that their limits are
 * reached.  A setting that the kernel refuses is skipped with the kernel's reason; nothing else is.
 *
 *     static void echoes(struct ev_env *env) { ... }
 *     static const struct ev_case cases[] = {{"echoes", echoes}, ...};
 *     int main(void) { return ev_run_cases("recv", cases, ARRAY_LEN(cases)); }
 */
#ifndef SLUICE_TESTS_EV_HARNESS_H
#define SLUICE_TESTS_EV_HARNESS_H

#include "event/loop.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define EV_RING 1u   /* io_uring without SQPOLL */
#define EV_SQPOLL 2u /* io_uring with it */
#define EV_EP 4u     /* epoll */
#define EV_ANY_RING (EV_RING | EV_SQPOLL)

struct ev_env {
    struct loop loop;
    struct ev_conf conf;
    unsigned setting;     /* one of the above */
    unsigned submitting;  /* inside a submit or cancel: no done() may run */
};

struct ev_case {
    const char *name;
    void (*run)(struct ev_env *env);
    unsigned settings;    /* 0: all */
    void (*configure)(struct ev_conf *conf); /* NULL: the harness's defaults */
};

int ev_run_cases(const char *group, const struct ev_case *cases, size_t n);

/* The defaults of a setting, for tests that make their own loop. */
void ev_conf_for(struct ev_conf *conf, unsigned setting);
/* False when the kernel refuses io_uring as a whole; the reason in why. */
bool ev_ring_available(char *why, size_t size);

/* An op that records what happened to it. Memory is zeroed by ev_op_init. */
#define EV_LOG 64
struct ev_op {
    struct op op;
    struct ev_env *env;
    unsigned calls, finals;
    int32_t res;          /* of the last call */
    unsigned flags;
    int32_t log[EV_LOG];  /* results of the first calls */
    unsigned flag_log[EV_LOG];
    char *bytes;          /* received, all of it */
    size_t n, room;
    void (*hook)(struct ev_op *o); /* called at the end of each done() */
    void *arg;
};
void ev_op_init(struct ev_env *env, struct ev_op *o);
void ev_op_fini(struct ev_op *o); /* the op must be idle */

/* Submits or cancels, and checks that nothing is completed from inside. */
#define EV_DO(env, call)       \
    do {                       \
        (env)->submitting++;   \
        call;                  \
        (env)->submitting--;   \
    } while (0)

/* Turns the loop until the condition holds; the test fails after EV_PATIENCE_MS. */
#define EV_PATIENCE_MS 5000
#define EV_UNTIL(env, condition)                                                          \
    do {                                                                                  \
        uint64_t ev_end_ = ev_now_ms() + EV_PATIENCE_MS;                                  \
        while (!(condition)) {                                                            \
            if (ev_now_ms() > ev_end_)                                                    \
                fail_msg("waited in vain for: %s", #condition);                           \
            loop_turn(&(env)->loop, ev_now_ms() + 20);                                    \
        }                                                                                 \
    } while (0)
void ev_turn_for(struct ev_env *env, uint64_t ms); /* turns that long, whatever happens */
uint64_t ev_now_ms(void);

/* Waits until each has had its final completion, and it was one only. */
void ev_wait_final(struct ev_env *env, struct ev_op *o);
void ev_cancel_and_wait(struct ev_env *env, struct ev_op *o);

/* A connected TCP pair on loopback, nonblocking: [0] is ours, [1] the peer's. */
void ev_tcp_pair(int pair[2]);
/* As above with buffers so small that a few KB fill them. */
void ev_tcp_pair_small(int pair[2]);
/* A listener on a free loopback port; the address in *port. */
int ev_listener(uint16_t *port);
/* A connected, nonblocking client. */
int ev_client(uint16_t port);
/* Reads what is there, nonblocking. Count, 0 at the end, -errno. */
ssize_t ev_peek_read(int fd, void *p, size_t n);
/* Sends all of it from the test's side; small amounts only. */
void ev_put(int fd, const void *p, size_t n);
/* Byte i of a pattern that has no short period. */
unsigned char ev_pattern(uint64_t i);
void ev_pattern_fill(char *p, uint64_t from, size_t n);
bool ev_pattern_matches(const char *p, uint64_t from, size_t n);
/* A file without a name, of n pattern bytes. */
int ev_file(size_t n);
/* Entries of /proc/self/fd. */
unsigned ev_open_fds(void);
/* Threads of this process whose name begins with prefix; the id of one of them in *tid. */
unsigned ev_threads_named(const char *prefix, int *tid);

#endif
