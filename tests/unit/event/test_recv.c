/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_recv on each back end: byte-exact, re-armed behind the caller's back, ended once, and stopped
 * and resumed for back pressure without losing a byte (hostile.md 2d.1, row 92).
 */
#include "lib/ev_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void start(struct ev_env *env, struct ev_op *o, int fd)
{
    ev_op_init(env, o);
    EV_DO(env, op_recv(&env->loop, &o->op, fd));
    assert_true(op_busy(&o->op));
}

static void stop(struct ev_env *env, struct ev_op *o, const int pair[2])
{
    ev_cancel_and_wait(env, o);
    ev_op_fini(o);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

static void delivers_while_armed(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    ev_turn_for(env, 5);
    assert_int_equal(o.calls, 0);
    for (int i = 0; i < 100; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "message %d\n", i);
        size_t want = o.n + (size_t)n;
        ev_put(pair[1], text, (size_t)n);
        EV_UNTIL(env, o.n >= want);
        assert_int_equal(o.n, want);
        assert_memory_equal(o.bytes + o.n - n, text, n);
    }
    assert_int_equal(o.finals, 0);
    stop(env, &o, pair);
}

/* Data that arrived before the op did. */
static void delivers_what_was_there(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_put(pair[1], "early", 5);
    start(env, &o, pair[0]);
    EV_UNTIL(env, o.n == 5);
    assert_memory_equal(o.bytes, "early", 5);
    stop(env, &o, pair);
}

static void pipelined_small_messages(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    char want[64 * 100];
    size_t n = 0;

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    for (int i = 0; i < 100; i++) {
        int k = snprintf(want + n, sizeof(want) - n, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
        ev_put(pair[1], want + n, (size_t)k);
        n += (size_t)k;
        if (i % 7 == 0)
            loop_turn(&env->loop, 0);
    }
    EV_UNTIL(env, o.n >= n);
    assert_int_equal(o.n, n);
    assert_memory_equal(o.bytes, want, n);
    stop(env, &o, pair);
}

/* Exactly as much as the buffers hold, less and more: the end of the data is found each time. */
static void sizes_around_the_buffer(struct ev_env *env)
{
    static const size_t sizes[] = {1, 1023, 1024, 1025, 2048, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1};
    char *p = malloc(32 * 1024);
    int pair[2];
    struct ev_op o;
    uint64_t at = 0;

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        ev_pattern_fill(p, at, sizes[i]);
        ev_put(pair[1], p, sizes[i]);
        at += sizes[i];
        EV_UNTIL(env, o.n >= at);
        ev_turn_for(env, 2);
        assert_int_equal(o.n, at);
    }
    assert_true(ev_pattern_matches(o.bytes, 0, o.n));
    free(p);
    stop(env, &o, pair);
}

/* The ring of buffers runs dry again and again: nothing is lost, nothing spins. */
static void buffers_exhausted(struct ev_env *env)
{
    enum { TOTAL = 4 << 20 };
    char *p = malloc(TOTAL);
    int pair[2];
    struct ev_op o;
    size_t out = 0;

    ev_pattern_fill(p, 0, TOTAL);
    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    while (out < TOTAL) {
        ssize_t k = send(pair[1], p + out, TOTAL - out, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k > 0)
            out += (size_t)k;
        loop_turn(&env->loop, k > 0 ? 0 : ev_now_ms() + 1);
    }
    EV_UNTIL(env, o.n >= TOTAL);
    assert_int_equal(o.n, TOTAL);
    assert_true(ev_pattern_matches(o.bytes, 0, TOTAL));
    assert_int_equal(o.finals, 0);
    if (env->setting != EV_EP)
        assert_true(env->loop.stats.starved > 0);
    uint64_t waits = env->loop.stats.waits;
    ev_turn_for(env, 50);
    assert_true(env->loop.stats.waits - waits < 10);
    free(p);
    stop(env, &o, pair);
}

static void tiny_buffers(struct ev_conf *conf)
{
    conf->recv_buffers = 2;
    conf->recv_buffer_size = 512;
}

static void end_of_stream(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    ev_put(pair[1], "last", 4);
    close(pair[1]);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 0);
    assert_int_equal(o.n, 4);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    ev_turn_for(env, 1);
}

/* An end of stream takes no buffer: with two of them, many ends must not run them dry. */
static void eof_takes_no_buffer(struct ev_env *env)
{
    for (int i = 0; i < 20; i++) {
        int pair[2];
        struct ev_op o;
        ev_tcp_pair(pair);
        start(env, &o, pair[0]);
        loop_turn(&env->loop, 0);
        close(pair[1]);
        ev_wait_final(env, &o);
        assert_int_equal(o.res, 0);
        assert_int_equal(o.n, 0);
        ev_op_fini(&o);
        loop_close_fd(&env->loop, pair[0]);
    }
    assert_int_equal(env->loop.stats.starved, 0);
    delivers_while_armed(env);
}

static void half_close(struct ev_env *env)
{
    int pair[2];
    struct ev_op o, s;
    char got[8];

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    ev_put(pair[1], "ask", 3);
    shutdown(pair[1], SHUT_WR);
    ev_wait_final(env, &o);
    assert_int_equal(o.n, 3);
    assert_int_equal(o.res, 0);
    ev_op_init(env, &s);
    EV_DO(env, op_send(&env->loop, &s.op, pair[0], "answer", 6, 0));
    ev_wait_final(env, &s);
    assert_int_equal(s.res, 6);
    EV_UNTIL(env, ev_peek_read(pair[1], got, sizeof(got)) == 6);
    assert_memory_equal(got, "answer", 6);
    /* Armed again at the end of the stream, it says so again. */
    ev_op_fini(&o);
    start(env, &o, pair[0]);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 0);
    stop(env, &o, pair);
}

static void reset_is_an_error(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    struct linger l = {1, 0};

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    loop_turn(&env->loop, 0);
    setsockopt(pair[1], SOL_SOCKET, SO_LINGER, &l, sizeof(l));
    close(pair[1]);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -ECONNRESET);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    ev_turn_for(env, 1);
}

/* Stop at once when anything has come. */
static void cancel_hook(struct ev_op *o)
{
    if (o->flags & OP_MORE)
        EV_DO(o->env, op_cancel(&o->env->loop, &o->op));
}

/* Back pressure: cancelled from inside done() after every delivery, armed again later. */
static void back_pressure(struct ev_env *env)
{
    enum { TOTAL = 300000 };
    char *p = malloc(TOTAL), *got = malloc(TOTAL + 65536);
    int pair[2];
    size_t out = 0, in = 0;
    unsigned rounds = 0;

    ev_pattern_fill(p, 0, TOTAL);
    ev_tcp_pair(pair);
    while (in < TOTAL) {
        struct ev_op o;
        if (out < TOTAL) {
            ssize_t k = send(pair[1], p + out, TOTAL - out < 5000 ? TOTAL - out : 5000,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
            if (k > 0)
                out += (size_t)k;
        }
        if (rounds++ % 3 == 0)
            ev_turn_for(env, 1); /* the data arrives while nothing is armed */
        ev_op_init(env, &o);
        o.hook = cancel_hook;
        EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
        ev_wait_final(env, &o);
        assert_int_equal(o.res, -ECANCELED);
        assert_true(o.n > 0 && in + o.n <= TOTAL);
        memcpy(got + in, o.bytes, o.n);
        in += o.n;
        ev_op_fini(&o);
    }
    assert_int_equal(in, TOTAL);
    assert_true(ev_pattern_matches(got, 0, TOTAL));
    free(p);
    free(got);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* While it is stopped no more is read than was in flight: the peer is held back. */
static void back_pressure_holds_the_peer(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    char block[4096] = {0};
    int queued = 0;

    ev_tcp_pair_small(pair);
    ev_op_init(env, &o);
    o.hook = cancel_hook;
    EV_DO(env, op_recv(&env->loop, &o.op, pair[0]));
    ev_put(pair[1], block, 100);
    ev_wait_final(env, &o);
    while (send(pair[1], block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        loop_turn(&env->loop, ev_now_ms() + 1);
    ev_turn_for(env, 20);
    assert_int_equal(o.n, 100);
    assert_int_equal(ioctl(pair[0], FIONREAD, &queued), 0);
    assert_true(queued > 0);
    ev_op_fini(&o);
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* One talker does not keep the others waiting. */
static void many_connections(struct ev_env *env)
{
    enum { COUNT = 40, EACH = 20000 };
    int pairs[COUNT][2];
    struct ev_op *ops = calloc(COUNT, sizeof(*ops));
    size_t out[COUNT] = {0};
    char *p = malloc(EACH);
    unsigned done = 0;

    ev_pattern_fill(p, 0, EACH);
    for (int i = 0; i < COUNT; i++) {
        ev_tcp_pair(pairs[i]);
        start(env, &ops[i], pairs[i][0]);
    }
    while (done < COUNT) {
        done = 0;
        for (int i = 0; i < COUNT; i++) {
            ssize_t k = send(pairs[i][1], p + out[i], EACH - out[i], MSG_DONTWAIT | MSG_NOSIGNAL);
            if (k > 0)
                out[i] += (size_t)k;
            done += out[i] == EACH;
        }
        loop_turn(&env->loop, 0);
    }
    for (int i = 0; i < COUNT; i++) {
        EV_UNTIL(env, ops[i].n >= EACH);
        assert_int_equal(ops[i].n, EACH);
        assert_true(ev_pattern_matches(ops[i].bytes, 0, EACH));
        stop(env, &ops[i], pairs[i]);
    }
    free(ops);
    free(p);
}

/*
 * Urgent data cuts reads short in the middle of the stream; what is behind it must not be
 * forgotten.  Not promised by a ring: there the kernel takes a socket whose next byte is urgent for
 * an empty one and may leave the rest until more comes.  It is the sender's own loss.
 */
static void urgent_data(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    loop_turn(&env->loop, 0);
    ev_put(pair[1], "before", 6);
    assert_int_equal(send(pair[1], "!", 1, MSG_OOB), 1);
    ev_put(pair[1], "after", 5);
    EV_UNTIL(env, o.n >= 11);
    assert_int_equal(o.n, 11);
    assert_memory_equal(o.bytes, "beforeafter", 11);
    stop(env, &o, pair);
}

static void cancelled_while_idle(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    start(env, &o, pair[0]);
    ev_turn_for(env, 5);
    EV_DO(env, op_cancel(&env->loop, &o.op));
    EV_DO(env, op_cancel(&env->loop, &o.op)); /* asking twice is fine */
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    assert_int_equal(o.calls, 1);
    stop(env, &o, pair);
}

/* Cancelled before the back end had a turn, with data there: whole or not at all, and once. */
static void cancelled_before_it_ran(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    char rest[8];

    ev_tcp_pair(pair);
    ev_put(pair[1], "data", 4);
    start(env, &o, pair[0]);
    EV_DO(env, op_cancel(&env->loop, &o.op));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    if (o.n == 0)
        assert_int_equal(ev_peek_read(pair[0], rest, sizeof(rest)), 4);
    else
        assert_int_equal(o.n, 4);
    stop(env, &o, pair);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"delivers while armed", delivers_while_armed, 0, NULL},
        {"delivers what was there", delivers_what_was_there, 0, NULL},
        {"pipelined small messages are byte-exact", pipelined_small_messages, 0, NULL},
        {"sizes around the buffer", sizes_around_the_buffer, 0, NULL},
        {"buffers exhausted: re-armed, nothing lost", buffers_exhausted, 0, tiny_buffers},
        {"end of stream", end_of_stream, 0, NULL},
        {"end of stream takes no buffer", eof_takes_no_buffer, 0, tiny_buffers},
        {"half close", half_close, 0, NULL},
        {"reset is an error", reset_is_an_error, 0, NULL},
        {"back pressure loses no bytes", back_pressure, 0, NULL},
        {"back pressure holds the peer", back_pressure_holds_the_peer, 0, NULL},
        {"many connections share the buffers", many_connections, 0, tiny_buffers},
        {"urgent data", urgent_data, EV_EP, NULL},
        {"cancelled while idle", cancelled_while_idle, 0, NULL},
        {"cancelled before it ran", cancelled_before_it_ran, 0, NULL},
    };
    return ev_run_cases("recv", cases, ARRAY_LEN(cases));
}
