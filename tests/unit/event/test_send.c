/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_send, op_sendv and op_connect on each back end: everything goes out whatever the socket's
 * buffer, a dead peer is an error and never a signal, a cancel tells how much went out.
 */
#include "lib/ev_harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define BIG (3u << 20)

struct reader {
    char *bytes;
    size_t n;
};

static void close_pair(struct ev_env *env, const int pair[2])
{
    loop_close_fd(&env->loop, pair[0]);
    close(pair[1]);
    ev_turn_for(env, 1);
}

/* Reads a little at a time and lets the loop run in between. */
static void read_slowly(struct ev_env *env, const int pair[2], struct reader *r, size_t total)
{
    uint64_t end = ev_now_ms() + 20000;

    while (r->n < total && ev_now_ms() < end) {
        ssize_t k = ev_peek_read(pair[1], r->bytes + r->n, total - r->n < 30000 ? total - r->n : 30000);
        assert_true(k == -EAGAIN || k > 0);
        if (k > 0)
            r->n += (size_t)k;
        loop_turn(&env->loop, k > 0 ? 0 : ev_now_ms() + 2);
    }
    assert_int_equal(r->n, total);
}

static void small(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    char got[16];

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    for (int i = 0; i < 10; i++) {
        o.finals = 0;
        EV_DO(env, op_send(&env->loop, &o.op, pair[0], "hello", 5, 0));
        ev_wait_final(env, &o);
        assert_int_equal(o.res, 5);
        EV_UNTIL(env, ev_peek_read(pair[1], got, sizeof(got)) == 5);
        assert_memory_equal(got, "hello", 5);
    }
    close_pair(env, pair);
}

static void nothing(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;

    ev_tcp_pair(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], "", 0, 0));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 0);
    close_pair(env, pair);
}

/* Many times the socket's buffer to a reader that takes its time: one completion, all of it. */
static void larger_than_the_socket(struct ev_env *env)
{
    char *p = malloc(BIG);
    struct reader r = {malloc(BIG), 0};
    int pair[2];
    struct ev_op o;

    ev_pattern_fill(p, 0, BIG);
    ev_tcp_pair_small(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], p, BIG, 0));
    read_slowly(env, pair, &r, BIG);
    ev_wait_final(env, &o);
    assert_int_equal(o.calls, 1);
    assert_int_equal(o.res, BIG);
    assert_true(ev_pattern_matches(r.bytes, 0, BIG));
    free(p);
    free(r.bytes);
    close_pair(env, pair);
}

static void vectors(struct ev_env *env)
{
    enum { PARTS = 37 };
    static const size_t lens[] = {0, 1, 0, 7, 4096, 100000, 3, 65536, 0};
    struct iovec iov[PARTS];
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = PARTS};
    size_t total = 0;
    int pair[2];
    struct ev_op o;

    for (int i = 0; i < PARTS; i++) {
        iov[i].iov_len = lens[(size_t)i % ARRAY_LEN(lens)];
        iov[i].iov_base = malloc(iov[i].iov_len + 1);
        ev_pattern_fill(iov[i].iov_base, total, iov[i].iov_len);
        total += iov[i].iov_len;
    }
    void *bases[PARTS];
    for (int i = 0; i < PARTS; i++)
        bases[i] = iov[i].iov_base;
    struct reader r = {malloc(total), 0};
    ev_tcp_pair_small(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_sendv(&env->loop, &o.op, pair[0], &msg, 0));
    read_slowly(env, pair, &r, total);
    ev_wait_final(env, &o);
    assert_int_equal(o.res, total);
    assert_true(ev_pattern_matches(r.bytes, 0, total));
    for (int i = 0; i < PARTS; i++)
        free(bases[i]);
    free(r.bytes);
    close_pair(env, pair);
}

/* With OP_SEND_MORE the head waits for the body: both arrive in one piece. */
static void more_follows(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    char got[64];
    int off = 0;

    ev_tcp_pair(pair);
    assert_int_equal(setsockopt(pair[0], IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off)), 0);
    ev_op_init(env, &o);
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], "head ", 5, OP_SEND_MORE));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 5);
    assert_int_equal(ev_peek_read(pair[1], got, sizeof(got)), -EAGAIN);
    o.finals = 0;
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], "body", 4, 0));
    ev_wait_final(env, &o);
    EV_UNTIL(env, recv(pair[1], got, sizeof(got), MSG_PEEK | MSG_DONTWAIT) > 0);
    assert_int_equal(ev_peek_read(pair[1], got, sizeof(got)), 9);
    assert_memory_equal(got, "head body", 9);
    close_pair(env, pair);
}

static void peer_gone(struct ev_env *env)
{
    int pair[2];
    struct ev_op o;
    struct linger l = {1, 0};

    ev_tcp_pair(pair);
    setsockopt(pair[1], SOL_SOCKET, SO_LINGER, &l, sizeof(l));
    close(pair[1]);
    ev_op_init(env, &o);
    for (int i = 0; i < 2; i++) {
        o.finals = 0;
        EV_DO(env, op_send(&env->loop, &o.op, pair[0], "x", 1, 0));
        ev_wait_final(env, &o);
        assert_true(o.res == -EPIPE || o.res == -ECONNRESET);
    }
    loop_close_fd(&env->loop, pair[0]);
    ev_turn_for(env, 1);
}

/* The peer goes while we wait for room: the send ends, with what had gone out or the error. */
static void peer_gone_while_blocked(struct ev_env *env)
{
    char *p = calloc(1, BIG);
    int pair[2];
    struct ev_op o;

    ev_tcp_pair_small(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], p, BIG, 0));
    ev_turn_for(env, 20);
    assert_int_equal(o.calls, 0);
    close(pair[1]); /* with unread bytes: a reset */
    ev_wait_final(env, &o);
    assert_true(o.res < (int32_t)BIG && o.res != 0);
    if (o.res > 0) {
        o.finals = 0;
        EV_DO(env, op_send(&env->loop, &o.op, pair[0], "x", 1, 0));
        ev_wait_final(env, &o);
    }
    assert_true(o.res == -EPIPE || o.res == -ECONNRESET);
    free(p);
    loop_close_fd(&env->loop, pair[0]);
    ev_turn_for(env, 1);
}

/* What the peer has read is what the op says it sent, plus what was in the buffers. */
static void cancelled_while_blocked(struct ev_env *env)
{
    char *p = malloc(BIG);
    struct reader r = {malloc(BIG), 0};
    int pair[2];
    struct ev_op o;

    ev_pattern_fill(p, 0, BIG);
    ev_tcp_pair_small(pair);
    ev_op_init(env, &o);
    EV_DO(env, op_send(&env->loop, &o.op, pair[0], p, BIG, 0));
    ev_turn_for(env, 20);
    assert_int_equal(o.calls, 0);
    ev_cancel_and_wait(env, &o);
    assert_true(o.res > 0 && o.res < (int32_t)BIG);
    read_slowly(env, pair, &r, (size_t)o.res);
    assert_true(ev_pattern_matches(r.bytes, 0, r.n));
    ev_turn_for(env, 5);
    assert_int_equal(ev_peek_read(pair[1], r.bytes, 1), -EAGAIN); /* and not a byte more */
    free(p);
    free(r.bytes);
    close_pair(env, pair);
}

/* Both directions at once on one socket do not disturb each other. */
static void full_duplex(struct ev_env *env)
{
    char *p = malloc(BIG);
    struct reader r = {malloc(BIG), 0};
    int pair[2];
    struct ev_op in, out;
    size_t fed = 0;

    ev_pattern_fill(p, 0, BIG);
    ev_tcp_pair_small(pair);
    ev_op_init(env, &in);
    ev_op_init(env, &out);
    EV_DO(env, op_recv(&env->loop, &in.op, pair[0]));
    EV_DO(env, op_send(&env->loop, &out.op, pair[0], p, BIG, 0));
    while (fed < BIG || r.n < BIG) {
        ssize_t k = send(pair[1], p + fed, BIG - fed, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k > 0)
            fed += (size_t)k;
        k = ev_peek_read(pair[1], r.bytes + r.n, BIG - r.n);
        if (k > 0)
            r.n += (size_t)k;
        loop_turn(&env->loop, ev_now_ms() + 1);
    }
    ev_wait_final(env, &out);
    assert_int_equal(out.res, BIG);
    EV_UNTIL(env, in.n >= BIG);
    assert_true(ev_pattern_matches(in.bytes, 0, BIG));
    assert_true(ev_pattern_matches(r.bytes, 0, BIG));
    ev_cancel_and_wait(env, &in);
    ev_op_fini(&in);
    free(p);
    free(r.bytes);
    close_pair(env, pair);
}

/* --- connect --- */

static void connects(struct ev_env *env)
{
    uint16_t port;
    int l = ev_listener(&port), fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct ev_op o;
    char got[4];

    ev_op_init(env, &o);
    EV_DO(env, op_connect(&env->loop, &o.op, fd, (struct sockaddr *)&a, sizeof(a)));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, 0);
    int c = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(c >= 0);
    o.finals = 0;
    EV_DO(env, op_send(&env->loop, &o.op, fd, "up", 2, 0));
    ev_wait_final(env, &o);
    EV_UNTIL(env, ev_peek_read(c, got, sizeof(got)) == 2);
    close(c);
    close(l);
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
}

static void connection_refused(struct ev_env *env)
{
    uint16_t port;
    int l = ev_listener(&port), fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct ev_op o;

    close(l);
    ev_op_init(env, &o);
    EV_DO(env, op_connect(&env->loop, &o.op, fd, (struct sockaddr *)&a, sizeof(a)));
    ev_wait_final(env, &o);
    assert_int_equal(o.res, -ECONNREFUSED);
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
}

/* A backlog that is full keeps the handshake from ending. */
static void connect_cancelled(struct ev_env *env)
{
    enum { FILL = 4 };
    int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fill[FILL], fd;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);
    struct ev_op o;

    assert_int_equal(bind(l, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(l, 0), 0);
    assert_int_equal(getsockname(l, (struct sockaddr *)&a, &len), 0);
    for (int i = 0; i < FILL; i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fill[i], (struct sockaddr *)&a, len);
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ev_op_init(env, &o);
    EV_DO(env, op_connect(&env->loop, &o.op, fd, (struct sockaddr *)&a, len));
    ev_turn_for(env, 30);
    assert_int_equal(o.calls, 0);
    ev_cancel_and_wait(env, &o);
    assert_int_equal(o.res, -ECANCELED);
    for (int i = 0; i < FILL; i++)
        close(fill[i]);
    close(l);
    loop_close_fd(&env->loop, fd);
    ev_turn_for(env, 1);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"small", small, 0, NULL},
        {"nothing", nothing, 0, NULL},
        {"larger than the socket buffer, slow reader", larger_than_the_socket, 0, NULL},
        {"vectors", vectors, 0, NULL},
        {"more follows", more_follows, 0, NULL},
        {"peer gone: error without a signal", peer_gone, 0, NULL},
        {"peer gone while blocked", peer_gone_while_blocked, 0, NULL},
        {"cancelled while blocked", cancelled_while_blocked, 0, NULL},
        {"full duplex", full_duplex, 0, NULL},
        {"connects", connects, 0, NULL},
        {"connection refused", connection_refused, 0, NULL},
        {"connect cancelled", connect_cancelled, 0, NULL},
    };
    return ev_run_cases("send", cases, ARRAY_LEN(cases));
}
