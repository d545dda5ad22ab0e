/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Acceptors: a listener that is broken is tried again now and then and not all the time, whoever
 * stands in for whom; a stop ends it at once. Connections that their transport never opens end by
 * themselves, and a worker that retires does not mistake them for busy ones.
 */
#include "lib/ev_harness.h"

#include "../http/unit.h"

#include "net/listen.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define YAML "http:\n  client_header_timeout: 300ms\n  server: {listen: 127.0.0.1:8080}\n"

static void never_opens(struct conn *c)
{
    conn_start_recv(c);
}

static void swallow(struct conn *c, struct str data)
{
    (void)c;
    (void)data;
}

static const struct transport handshake = {
    .name = "handshake", .start = never_opens, .received = swallow};

struct bench {
    struct site s;
    struct net net;
    struct listener listener;
    struct acceptor a;
    uint16_t port;
};

static void begin(struct ev_env *env, struct bench *b)
{
    memset(b, 0, sizeof(*b));
    site_good(&b->s, YAML);
    b->listener = (struct listener){.text = "here", .sites = site_sites(&b->s, 0)};
    net_init(&b->net, &env->loop, log_process.log, &http_conn_ops, 16, 0);
    acceptor_init(&b->a, &b->net, &b->listener, 0, ev_listener(&b->port), &handshake);
}

static void end(struct ev_env *env, struct bench *b)
{
    acceptor_stop(&b->a);
    net_close_all(&b->net, CLOSE_DRAIN);
    EV_UNTIL(env, !op_busy(&b->a.op) && b->net.count == 0);
    loop_close_fd(&env->loop, b->a.fd);
    ev_turn_for(env, 1);
    net_fini(&b->net);
    site_end(&b->s);
}

static void broken(struct ev_env *env, bool stands_in)
{
    struct bench b;
    begin(env, &b);
    struct log quiet = {.level = LEVEL_EMERG};
    struct log_ctx ctx = {.log = &quiet}, *loud = env->loop.log;
    env->loop.log = &ctx;
    acceptor_start(&b.a, stands_in);
    ev_turn_for(env, 20);
    assert_int_equal(shutdown(b.a.fd, SHUT_RDWR), 0); /* from now on accept(2) says EINVAL */
    ev_turn_for(env, 20);
    uint64_t waits = env->loop.stats.waits, submitted = env->loop.stats.submitted;
    ev_turn_for(env, 400);
    if (env->loop.stats.waits - waits > 40 || env->loop.stats.submitted - submitted > 10)
        fail_msg("it spins: %llu turns, %llu tries", (unsigned long long)(env->loop.stats.waits - waits),
                 (unsigned long long)(env->loop.stats.submitted - submitted));
    assert_int_equal(listen(b.a.fd, 16), 0); /* and is well again */
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    assert_int_equal(getsockname(b.a.fd, (struct sockaddr *)&at, &len), 0);
    int c = ev_client(ntohs(at.sin_port)); /* the port is another one by now */
    EV_UNTIL(env, b.net.stats.handled == 1);
    assert_int_equal(shutdown(b.a.fd, SHUT_RDWR), 0);
    ev_turn_for(env, 20);
    acceptor_stop(&b.a); /* while it rests */
    ev_turn_for(env, 20);
    assert_false(op_busy(&b.a.op));
    acceptor_start(&b.a, stands_in);
    env->loop.log = loud;
    close(c);
    end(env, &b);
}

static void broken_own(struct ev_env *env)
{
    broken(env, false);
}

static void broken_other(struct ev_env *env)
{
    broken(env, true);
}

/* T5 in small: nothing comes of the handshake. */
static void unopened_times_out(struct ev_env *env)
{
    struct bench b;
    begin(env, &b);
    acceptor_start(&b.a, false);
    int c = ev_client(b.port);
    EV_UNTIL(env, b.net.count == 1);
    uint64_t began = ev_now_ms();
    EV_UNTIL(env, b.net.count == 0);
    assert_true(ev_now_ms() - began >= 280);
    assert_int_equal(b.net.stats.closed[CLOSE_HANDSHAKE_TIMEOUT], 1);
    close(c);
    end(env, &b);
}

static void unopened_while_draining(struct ev_env *env)
{
    struct bench b;
    begin(env, &b);
    acceptor_start(&b.a, false);
    int c = ev_client(b.port), d = ev_client(b.port);
    EV_UNTIL(env, b.net.count == 2);
    net_drain(&b.net);
    assert_int_equal(b.net.count, 2);
    close(d); /* one gives up, the other's time runs out */
    EV_UNTIL(env, b.net.count == 0);
    close(c);
    end(env, &b);
}

int main(void)
{
    const struct ev_case cases[] = {
        {"a broken listener", broken_own, 0, NULL},
        {"a sibling's broken listener", broken_other, 0, NULL},
        {"T5 a connection that does not open", unopened_times_out, 0, NULL},
        {"one that does not open while the worker ends", unopened_while_draining, 0, NULL},
    };
    return ev_run_cases("accept", cases, ARRAY_LEN(cases));
}
