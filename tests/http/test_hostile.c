/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of requests that clients should not send: hostile.md 20, 21, 24, 71, 72 and the leak rows
 * of 2a. Every request is cut at every byte; thousands of broken ones leave nothing behind.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] = "http:\n"
                           "  keepalive_requests: 1000000\n"
                           "  server: {listen: '127.0.0.1:@0@', root: html}\n";

#define P .body = "probe\n"

static const struct row cut[] = {
    {"h21 GET", PROBE, 200, KEEPS, P},
    {"h21 HEAD", HEAD("/probe.txt"), 200, KEEPS},
    {"h21 fields",
     REQ("GET", "/probe.txt", "A: b\r\nCookie: c=d; e=f\r\nConnection: keep-alive\r\n"), 200, KEEPS,
     P},
    {"h21 1.0", "GET /probe.txt HTTP/1.0\r\nA: b\r\n\r\n", 200, CLOSES, P},
    {"h21 body", REQ("GET", "/probe.txt", "Content-Length: 7\r\n") "GET / H", 200, KEEPS, P},
    {"h21 empty lines before", "\r\n\r\n" PROBE, 200, KEEPS, P},
    {"h21 two", GET("/none") PROBE, 404, KEEPS, .then = {200}},
    {"h21 absolute", "GET http://a/probe.txt HTTP/1.1\r\nHost: a\r\n\r\n", 200, KEEPS, P},
    {"h21 bad escape", GET("/%zz"), 400, CLOSES},
    {"h21 bad field", REQ("GET", "/probe.txt", "A : b\r\n"), 400, CLOSES},
    {"h21 bad version", "GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400, CLOSES},
    {"h21 301", GET("/d?x"), 301, KEEPS},
};

static bool answered(struct client *c, const struct row *row, const char **why)
{
    static char text[300];
    struct reply r;
    bool ok = reply_read(c, &r, strncmp(row->send, "HEAD", 4) == 0, CLIENT_PATIENCE);
    if (ok && r.status != row->status)
        ok = false;
    if (ok && row->body != NULL)
        ok = strcmp(r.body, row->body) == 0;
    snprintf(text, sizeof(text), "%d %s", r.status, r.err);
    *why = text;
    reply_free(&r);
    return ok;
}

/* h21: two segments, cut at each place. */
static void test_cut(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        size_t n = strlen(cut[i].send);
        for (size_t at = 1; at < n; at++) {
            struct client c;
            const char *why = "";
            assert_true(client_open(&c, srv->at[0]));
            client_send_split(&c, cut[i].send, n, at, 1);
            if (!answered(&c, &cut[i], &why) && failed++ < 10)
                print_error("%s cut at %zu: %s\n", cut[i].name, at, why);
            client_close(&c);
        }
    }
    assert_int_equal(failed, 0);
    rows_run(srv->at[0], ROWS(cut));
    rows_run_bytewise(srv->at[0], ROWS(cut));
}

/* h21, A21: the same with the client gone silent (half-closed) at each place. */
static void test_half_closed(void **state)
{
    (void)state;
    const char *request = REQ("GET", "/probe.txt", "A: b\r\n");
    size_t n = strlen(request);
    for (size_t at = 0; at <= n; at++) {
        struct client c;
        struct reply r;
        assert_true(client_open(&c, srv->at[0]));
        client_send(&c, request, at);
        client_half_close(&c);
        bool ok = reply_read(&c, &r, false, CLIENT_PATIENCE);
        if (at == n ? !ok || r.status != 200 : ok && r.status != 400)
            fail_msg("half-closed after %zu: %d %s", at, r.status, r.err);
        if (!c.eof && !client_ends(&c, 3000))
            fail_msg("half-closed after %zu: stays open", at);
        reply_free(&r);
        client_close(&c);
    }
}

/* h71: reset at each place, and nothing is left of it (the group's oracles). */
static void test_reset(void **state)
{
    (void)state;
    const char *request = PROBE GET("/large.bin") PROBE;
    size_t n = strlen(request);
    for (size_t at = 0; at <= n; at++) {
        struct client c;
        assert_true(client_open(&c, srv->at[0]));
        client_send(&c, request, at);
        if (at % 3 == 0)
            client_fill(&c, 2);
        client_abort(&c);
    }
}

/* h20: ten thousand requests in one write; in order, and others are served meanwhile. */
static void test_ten_thousand(void **state)
{
    (void)state;
    struct client c, other;
    struct reply r;
    size_t n = strlen(PROBE), total = 10000;
    char *all = malloc(n * total + 1);
    for (size_t i = 0; i < total; i++)
        memcpy(all + i * n, PROBE, n + 1);
    assert_true(client_open(&c, srv->at[0]));
    assert_true(client_open(&other, srv->at[0]));
    client_send(&c, all, n * total);
    int64_t from = now_ms();
    client_sendz(&other, PROBE);
    assert_true(reply_read(&other, &r, false, CLIENT_PATIENCE));
    assert_true(now_ms() - from < 1000);
    reply_free(&r);
    uint64_t bytes = 0, each = 0;
    for (size_t i = 0; i < total; i++) {
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE))
            fail_msg("answer %zu: %s", i, r.err);
        assert_string_equal(r.body, "probe\n");
        bytes += r.body_n;
        each = r.body_n;
        reply_free(&r);
    }
    assert_int_equal(bytes, each * total);
    client_close(&c);
    client_close(&other);
    free(all);
}

/* 2a (leaks on each error path): memory does not grow with the number of broken requests. */
static void test_no_growth(void **state)
{
    (void)state;
    static const char *const bad[] = {
        GET("/%zz"),
        "GET / HTTP/1.11\r\n\r\n",
        REQ("GET", "/", "A : b\r\n"),
        "BREW / HTTP/1.1\r\n\r\n",
        REQ("GET", "/probe.txt", "Host: b\r\n"),
        "\001\002\r\n\r\n",
        GET("/none"),
        GET("/d"),
        REQ("POST", "/probe.txt", "Content-Length: 5\r\n") "hello",
        "GET /half HTTP/1.1\r\nHo",
        REQ("GET", "/probe.txt", "If-None-Match: *\r\n"),
        "GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    struct server_use at_first = {0};
    size_t kinds = sizeof(bad) / sizeof(bad[0]);
    for (size_t i = 0; i < 12000; i++) {
        struct client c;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, bad[i % kinds]);
        if (i % 5 != 0 && strstr(bad[i % kinds], "/half") == NULL) /* that one gets no answer */
            client_fill(&c, 1000);
        if (i % 2 == 0)
            client_abort(&c);
        else
            client_close(&c);
        if (i == 2000) {
            struct server_use kept = srv->base;
            server_baseline(srv);
            at_first = srv->base;
            srv->base = kept;
        }
    }
    struct server_use kept = srv->base;
    server_baseline(srv);
    long grown = srv->base.rss_kb - at_first.rss_kb;
    srv->base = kept;
    if (!server_sanitized() && grown > 200)
        fail_msg("10,000 requests cost %ld KiB", grown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),       cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_reset),     cmocka_unit_test(test_ten_thousand),
        cmocka_unit_test(test_no_growth), LAST_TESTS,
    };
    server_new();
    server_fill(srv, "html/large.bin", 2u << 20);
    server_mkdir(srv, "html/d");
    server_up(srv, CONF);
    srv->rss_slack_kb = 1024;
    return cmocka_run_group_tests_name("hostile streams", tests, NULL, NULL);
}
