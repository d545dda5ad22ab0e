/* SPDX-License-Identifier: BSD-2-Clause */
/* listen: addresses and options to listeners, and every way to get them wrong. */
#include "unit.h"

#include "http/listen_options.h"
#include "os/resolve.h"

static struct listener *one(struct site *s, const char *listen)
{
    char yaml[512];
    snprintf(yaml, sizeof(yaml), "http:\n  server: {listen: %s}\n", listen);
    site_good(s, yaml);
    return s->cy.listener_count > 0 ? s->cy.listeners[0] : NULL;
}

static void addresses(void **state)
{
    static const struct {
        const char *listen;
        size_t count;
        const char *first, *last;
    } rows[] = {
        {"8080", 1, "0.0.0.0:8080", "0.0.0.0:8080"},
        {"\"*:8080\"", 1, "0.0.0.0:8080", "0.0.0.0:8080"},
        {"127.0.0.1:8080", 1, "127.0.0.1:8080", "127.0.0.1:8080"},
        {"127.0.0.1", 1, "127.0.0.1:80", "127.0.0.1:80"},
        {"\"[::]:8080\"", 1, "[::]:8080", "[::]:8080"},
        {"\"[::1]:8080\"", 1, "[::1]:8080", "[::1]:8080"},
        {"8000-8003", 4, "0.0.0.0:8000", "0.0.0.0:8003"},
        {"127.0.0.1:8000-8001", 2, "127.0.0.1:8000", "127.0.0.1:8001"},
        {"unix:/run/x.sock", 1, "unix:/run/x.sock", "unix:/run/x.sock"},
        {"[8001, 8002]", 2, "0.0.0.0:8001", "0.0.0.0:8002"},
        {"[[\"8001\", default_server]]", 1, "0.0.0.0:8001", "0.0.0.0:8001"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        one(&s, rows[i].listen);
        assert_int_equal(s.cy.listener_count, rows[i].count);
        assert_string_equal(s.cy.listeners[0]->text, rows[i].first);
        assert_string_equal(s.cy.listeners[rows[i].count - 1]->text, rows[i].last);
        site_end(&s);
    }
}

static void defaults(void **state)
{
    struct site s;
    (void)state;
    struct listener *l = one(&s, "8080");
    assert_true(l->options.reuseport);
    assert_true(l->options.nodelay);
    assert_int_equal(l->options.deferred, LISTEN_DEFER_S);
    assert_int_equal(l->options.backlog, 0);
    assert_int_equal(l->options.keepalive, SOCK_KEEPALIVE_DEFAULT);
    assert_false(l->ssl);
    assert_false(l->proxy_protocol);
    assert_null(l->fds);
    site_end(&s);
    l = one(&s, "\"[::]:8080\"");
    assert_true(l->options.ipv6only);
    site_end(&s);
    l = one(&s, "unix:/run/x");
    assert_false(l->options.reuseport);
    assert_false(l->options.nodelay);
    assert_int_equal(l->options.deferred, 0);
    site_end(&s);
    site_good(&s, "http: {tcp_nodelay: off, server: {listen: 8080}}\n");
    assert_false(s.cy.listeners[0]->options.nodelay);
    site_end(&s);
    site_good(&s, "http: {server: {root: /tmp}}\n");
    assert_string_equal(s.cy.listeners[0]->text, geteuid() == 0 ? "0.0.0.0:80" : "0.0.0.0:8000");
    site_end(&s);
}

static void options(void **state)
{
    struct site s;
    (void)state;
    struct listener *l = one(&s, "\"8080 backlog=7 deferred=off fastopen=3 so_keepalive=30m::10 "
                                 "rcvbuf=8k sndbuf=64k proxy_protocol\"");
    assert_int_equal(l->options.backlog, 7);
    assert_int_equal(l->options.deferred, 0);
    assert_int_equal(l->options.fastopen, 3);
    assert_int_equal(l->options.keepalive, SOCK_KEEPALIVE_ON);
    assert_int_equal(l->options.keepalive_idle, 1800);
    assert_int_equal(l->options.keepalive_interval, 0);
    assert_int_equal(l->options.keepalive_count, 10);
    assert_int_equal(l->options.rcvbuf, 8192);
    assert_int_equal(l->options.sndbuf, 65536);
    assert_true(l->proxy_protocol);
    site_end(&s);
    l = one(&s, "\"[::]:8080 ipv6only=off deferred so_keepalive=off\"");
    assert_false(l->options.ipv6only);
    assert_int_equal(l->options.deferred, LISTEN_DEFER_S);
    assert_int_equal(l->options.keepalive, SOCK_KEEPALIVE_OFF);
    site_end(&s);
    /* The options of an address are those that any of its servers gives. */
    site_good(&s, "http:\n  server:\n    - {listen: 8080 backlog=5}\n"
                  "    - {listen: 8080 rcvbuf=4k, server_name: b}\n"
                  "    - {listen: 8080 backlog=5, server_name: c}\n");
    assert_int_equal(s.cy.listener_count, 1);
    assert_int_equal(s.cy.listeners[0]->options.backlog, 5);
    assert_int_equal(s.cy.listeners[0]->options.rcvbuf, 4096);
    site_end(&s);
}

static void host_names(void **state)
{
    struct site s;
    struct addr_list found;
    struct arena *a = arena_new(4096, 0);
    enum status st = resolve_host(a, STR("localhost"), 0, AF_UNSPEC, &found, NULL);
    (void)state;
    arena_delete(a);
    if (st != STATUS_OK)
        skip();
    one(&s, "localhost:8080");
    assert_true(s.cy.listener_count >= 1);
    for (size_t i = 0; i < s.cy.listener_count; i++)
        assert_int_equal(addr_port(&s.cy.listeners[i]->addr), 8080);
    site_end(&s);
}

static void faults(void **state)
{
    static const struct {
        const char *servers;
        const char *want;
    } rows[] = {
        {"{listen: 8080 ssl}", ":2:25: http.server[0]: listen: ssl: TLS is not built in"},
        {"{listen: 8080 http2}", "HTTP/2 is not built in"},
        {"{listen: 8080 reuseport}", "it is not needed"},
        {"{listen: 8080 defered}", "did you mean \"deferred\"?"},
        {"{listen: 8080 qqqqqqqqqqq}", "expected default_server, ssl, "},
        {"{listen: 8080 backlog=0}", "\"backlog=0\" is not valid, expected a number from 1"},
        {"{listen: 8080 backlog}", "\"backlog\" is not an option"},
        {"{listen: 8080 backlog=1 backlog=1}", "expected each option once"},
        {"{listen: 8080 ipv6only=maybe}", "\"ipv6only=maybe\" is not valid"},
        {"{listen: 8080 so_keepalive=1:2}", "idle:interval:count"},
        {"{listen: 8080 \"so_keepalive=::\"}", "idle:interval:count"},
        {"{listen: 8080 rcvbuf=4g}", "a size from 1 to 1g"},
        {"{listen: unix:/x deferred}", "a Unix socket has no such option"},
        {"{listen: 0}", "is not valid, expected a port between 1 and 65535"},
        {"{listen: 65536}", "is not valid, expected a port between 1 and 65535"},
        {"{listen: 8001-8000}", "does not run backwards"},
        {"{listen: \"::1:80\"}", "an IPv6 address in brackets"},
        {"{listen: no-such-host.invalid:80}", "listen: cannot resolve \"no-such-host.invalid\""},
        {"{listen: [8080, 8080]}", "listen: 0.0.0.0:8080 stands in this server twice"},
        {"{listen: [8080, \"*:8080\"]}", "listen: 0.0.0.0:8080 stands in this server twice"},
        {"{listen: [8000-8002, 8001]}", "listen: 0.0.0.0:8001 stands in this server twice"},
        {"[{listen: 80 default_server}, {listen: 80 default_server}]",
         "listen: 0.0.0.0:80 has a default_server already, in line 2"},
        {"[{listen: 80 backlog=1}, {listen: 80 backlog=2}]",
         "listen: backlog of 0.0.0.0:80 is \"1\" in line 2 already"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char yaml[256];
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  server: %s\n", rows[i].servers);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, rows[i].want) == NULL)
            print_error("%swant: %s\n got: %s\n", yaml, rows[i].want, s.report.p);
        assert_false(s.good);
        assert_non_null(strstr(s.report.p, rows[i].want));
        site_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),  cmocka_unit_test(defaults), cmocka_unit_test(options),
        cmocka_unit_test(host_names), cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
