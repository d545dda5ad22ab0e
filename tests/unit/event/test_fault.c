/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Injected faults (row 92): the texts that are understood, and on each back end that a fault keeps
 * the completion contract: errors are final, nothing leaks, late duplicates reach nobody.
 */
#include "event/fault.h"

#include "lib/ev_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static void parse(void **state)
{
    static const struct {
        const char *spec;
        const char *why; /* NULL: good */
    } rows[] = {
        {"recv:3:ECONNRESET", NULL},
        {"recv:3:ECONNRESET,send:2:short:10,accept:1:EMFILE", NULL},
        {"open:5:ENOENT,read:1:EIO,send_file:2:EPIPE,recv:4:dup", NULL},
        {"write:1+:ENOSPC,sendv:2+:short:1,poll:1:EIO,connect:1:ETIMEDOUT", NULL},
        {"", "fault \"\": no rule in it"},
        {"recv", "fault \"recv\": unknown kind of operation"},
        {"frob:1:EIO", "fault \"frob:1:EIO\": unknown kind of operation"},
        {"recv:0:EIO", "fault \"recv:0:EIO\": expected the number of an occurrence"},
        {"recv:x:EIO", "fault \"recv:x:EIO\": expected the number of an occurrence"},
        {"recv:1", "fault \"recv:1\": expected the number of an occurrence"},
        {"recv:1:", "fault \"recv:1:\": expected an errno name, dup or short:N"},
        {"recv:1:EFOO", "fault \"recv:1:EFOO\": expected an errno name, dup or short:N"},
        {"recv:1:short:5", "fault \"recv:1:short:5\": short is for send, sendv, read and write"},
        {"send:1:short:0", "fault \"send:1:short:0\": short wants a number of bytes from 1"},
        {"send:1:short:x", "fault \"send:1:short:x\": short wants a number of bytes from 1"},
        {"send:1:EPIPE,recv:1:E", "fault \"recv:1:E\": expected an errno name, dup or short:N"},
    };
    char why[128];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        strcpy(why, "");
        struct ev_fault *f = ev_fault_parse(rows[i].spec, why, sizeof(why));
        if (rows[i].why == NULL && f == NULL)
            fail_msg("%s: %s", rows[i].spec, why);
        if (rows[i].why != NULL)
            assert_null(f);
        assert_string_equal(why, rows[i].why == NULL ? "" : rows[i].why);
        ev_fault_free(f);
    }
    /* 33 rules are one too many. */
    char many[33 * 12 + 1] = "";
    for (int i = 0; i < 33; i++)
        strcat(many, "recv:1:EIO,");
    assert_null(ev_fault_parse(many, why, sizeof(why)));
    assert_non_null(strstr(why, "too many rules"));
}

static void inject(struct ev_env *env, const char *spec)
{
    char why[128];

    env->loop.fault = ev_fault_parse(spec, why, sizeof(why));
    assert_non_null(env->loop.fault);
}

static void heal(struct ev_env *env)
{
    ev_fault_free(env->loop.fault);
    env->loop.fault = NULL;
}

static void close_pair(struct ev_env *env, const int pair[2])
{
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* The second piece turns into an error: final, once, and the op can be used again. */
static void recv_fails(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    inject(env, "recv:2:ECONNRESET");
    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    ev_put(pair[1], "one", 3);
    EV_UNTIL(env, o.n == 3);
    ev_put(pair[1], "two", 3);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -ECONNRESET);
    assert_int_equal(o.flags, 0);
    assert_int_equal(o.n, 3);
    o.finals = 0;
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    ev_put(pair[1], "three", 5);
    EV_UNTIL(env, o.n == 8);
    ev_cancel_and_wait(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    ev_op_fini(&o);
    close_pair(env, pair);
    heal(env);
}

/* All of many fail at once. */
static void every_recv_fails(struct ev_env *env)
{
    enum { COUNT = 20 };
    int pairs[COUNT][2];
    struct ev_op o[COUNT];

    inject(env, "recv:1+:EIO");
    for (int i = 0; i < COUNT; i++) {
        ev_tcp_pair(pairs[i]);
        ev_op_init(env, &o[i]);
        EV_DO(env, op_recv(&env->loop, &o[i].op, pairs[i][0]));
        ev_put(pairs[i][1], "data", 4);
        if (i % 2)
            close(pairs[i][1]);
    }
    for (int i = 0; i < COUNT; i++) {
        ev_wait_final(env, &o[i]);
        assert_int_equal(o[i].calls, 1);
        assert_int_equal(o[i].res, -EIO);
        loop_close_fd(&env->loop, pairs[i][0]);
        if (i % 2 == 0)
            close(pairs[i][1]);
    }
    ev_turn_for(env, 2);
    heal(env);
}

static void sends_are_short(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    char got[32];

    inject(env, "send:2:short:4,sendv:1:short:6,send:3:EPIPE");
    ev_tcp_pair(pair);
    for (int i = 0; i < 3; i++) {
        static const int32_t want[] = {10, 4, -EPIPE};
        ev_op_init(env, &o);
        EV_DO(env, op_send(&env->loop, &o.op, pair[0], "0123456789", 10, 0));
        ev_wait_final(env, &o);
        assert_int_equal(o.res, want[i]);
    }
    EV_UNTIL(env, recv(pair[1], got, sizeof(got), MSG_PEEK | MSG_DONTWAIT) == 24);
    assert_int_equal(ev_peek_read(pair[1], got, sizeof(got)), 24);
    struct iovec iov[3] = {{(char[]){"abcd"}, 4}, {(char[]){"efgh"}, 4}, {(char[]){"ij"}, 2}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 3};
    ev_op_init(env, &o);
    EV_DO(env, op_sendv(&env->loop, &o.op, pair[0], &msg, 0));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 6);
    EV_UNTIL(env, ev_peek_read(pair[1], got, sizeof(got)) == 6);
    assert_memory_equal(got, "abcdef", 6);
    close_pair(env, pair);
    heal(env);
}

struct taken {
    int fds[8];
    unsigned count;
};

static void take(struct ev_op *o)
{
    struct taken *t = o->arg;
    if (o->res >= 0)
        t->fds[t->count++] = o->res;
}

/* The descriptor that was won is closed, the peer sees the end, the accept goes on or ends. */
static void accept_fails(struct ev_env *env)
{
    static const struct {
        const char *spec;
        int32_t err;
        unsigned flags;
    } rows[] = {{"accept:1:EMFILE", -EMFILE, OP_MORE}, {"accept:1:EINVAL", -EINVAL, 0}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint16_t port;
        int l = ev_listener(&port), c;
        struct taken t = {.count = 0};
        struct ev_op o;
        char byte;
        inject(env, rows[i].spec);
        ev_op_init(env, &o);
        o.hook = take;
        o.arg = &t;
        EV_DO(env, op_accept(&env->loop, &o.op, l));
        c = ev_client(port);
        EV_UNTIL(env, o.calls == 1);
        assert_int_equal(o.res, rows[i].err);
        assert_int_equal(o.flags, rows[i].flags);
        EV_UNTIL(env, recv(c, &byte, 1, MSG_DONTWAIT) == 0);
        close(c);
        if (rows[i].flags == OP_MORE) {
            c = ev_client(port);
            EV_UNTIL(env, t.count == 1);
            loop_close_fd(&env->loop, t.fds[0]);
            close(c);
        }
        ev_cancel_and_wait(env, &o);
        loop_close_fd(&env->loop, l);
        ev_turn_for(env, 1);
        heal(env);
    }
}

static void files_fail(struct ev_env *env)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK};
    int file = ev_file(100);
    unsigned fds = ev_open_fds();
    char buf[100];
    struct ev_op o;

    inject(env, "open:1:ENOENT,read:1:EIO,read:2:short:7,write:1:ENOSPC,write:2:short:3");
    for (int i = 0; i < 2; i++) {
        ev_op_init(env, &o);
        EV_DO(env, op_open(&env->loop, &o.op, AT_FDCWD, "/tmp", &how));
        ev_wait_final(env, &o);
        if (i == 0) {
            assert_int_equal(o.res, -ENOENT);
            assert_int_equal(ev_open_fds(), fds); /* what was opened is closed */
        } else {
            assert_true(o.res >= 0);
            close(o.res);
        }
    }
    for (int i = 0; i < 2; i++) {
        ev_op_init(env, &o);
        EV_DO(env, op_read_file(&env->loop, &o.op, file, buf, 50, 0));
        ev_wait_final(env, &o);
        assert_int_equal(o.res, i == 0 ? -EIO : 7);
        ev_op_init(env, &o);
        EV_DO(env, op_write_file(&env->loop, &o.op, file, buf, 10, 0));
        ev_wait_final(env, &o);
        assert_int_equal(o.res, i == 0 ? -ENOSPC : 3);
    }
    loop_close_fd(&env->loop, file);
    ev_turn_for(env, 1);
    heal(env);
}

static void send_file_fails(struct ev_env *env)
{
    int file = ev_file(5000), pair[2];
    struct send_file sf;
    struct ev_op o;

    inject(env, "send_file:1:EPIPE");
    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    send_file_init(&sf, file, 0, 5000, true);
    EV_DO(env, op_send_file(&env->loop, &o.op, pair[0], &sf));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -EPIPE);
    send_file_fini(&env->loop, &sf);
    close(file);
    close_pair(env, pair);
    heal(env);
}

static void duplicates_reach_nobody(struct ev_env *env)
{
    int pair[2];
    struct ev_op o, s;

    inject(env, "recv:2:dup,send:1+:dup");
    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    ev_op_init(env, &s);
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    for (unsigned i = 1; i <= 3; i++) {
        ev_put(pair[1], "x", 1);
        EV_UNTIL(env, o.calls == i);
    }
    assert_int_equal(env->loop.stats.late, 1);
    EV_DO(env, op_send(&env->loop, &s.op, pair[0], "y", 1, 0));
    ev_wait_final(env, &s);
    assert_int_equal(s.calls, 1);
    assert_int_equal(env->loop.stats.late, 2);
    assert_int_equal(o.n, 3);
    ev_cancel_and_wait(env, &o);
    ev_op_fini(&o);
    close_pair(env, pair);
    heal(env);
}

int main(void)
{
    static const struct CMUnitTest pure[] = {cmocka_unit_test(parse)};
    static const struct ev_case cases[] = {
        {"recv fails", recv_fails, 0, NULL},
        {"every recv fails", every_recv_fails, 0, NULL},
        {"sends are short", sends_are_short, 0, NULL},
        {"accept fails", accept_fails, 0, NULL},
        {"files fail", files_fail, 0, NULL},
        {"send_file fails", send_file_fails, 0, NULL},
        {"duplicates reach nobody", duplicates_reach_nobody, 0, NULL},
    };
    int failed = cmocka_run_group_tests_name("fault parsing", pure, NULL, NULL);

    return failed + ev_run_cases("fault", cases, ARRAY_LEN(cases));
}
