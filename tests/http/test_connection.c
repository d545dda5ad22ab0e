/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeping and closing connections: behaviours.md K1 to K9 and K12 to K14, hostile.md 20, 22, 71 to
 * 73. Port 0 as shipped, port 1 with keepalive_requests 3, port 2 without keep-alive, port 3
 * with short time-outs.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  access_log: logs/access.log combined flush=100ms\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@', root: html}\n"
    "    - {listen: '127.0.0.1:@1@', root: html, keepalive_requests: 3}\n"
    "    - {listen: '127.0.0.1:@2@', root: html, keepalive_timeout: 0}\n"
    "    - {listen: '127.0.0.1:@3@', root: html, keepalive_timeout: 1s 17s}\n";

#define LARGE       (8u << 20)
#define P           .body = "probe\n"
#define OLD(fields) "GET /probe.txt HTTP/1.0\r\n" fields "\r\n"
#define NEW(fields) REQ("GET", "/probe.txt", fields)

static const struct row rows[] = {
    {"K1 1.1 keeps", NEW(""), 200, KEEPS, P, .lacks = "Keep-Alive"},
    {"K1 1.0 closes", OLD(""), 200, CLOSES, P},
    {"K1 close", NEW("Connection: close\r\n"), 200, CLOSES, P, .has = "Connection: close"},
    {"K2 1.0 keep-alive", OLD("Connection: keep-alive\r\n"), 200, 0, P,
     .has = "Connection: keep-alive\nContent-Length: 6"},
    {"K2 1.0 Keep-Alive, close", OLD("Connection: keep-alive, close\r\n"), 200, CLOSES, P},
    {"K3 ,close", NEW("Connection: ,close\r\n"), 200, CLOSES, P},
    {"K3 close,,TE", NEW("Connection: close,,TE\r\n"), 200, CLOSES, P},
    {"K3 Close, foo", NEW("Connection: Close, foo\r\n"), 200, CLOSES, P},
    {"K3 foo ,\\tCLOSE", NEW("Connection: foo ,\tCLOSE\r\n"), 200, CLOSES, P},
    {"K3 two lines", NEW("Connection: foo\r\nConnection: close\r\n"), 200, CLOSES, P},
    {"K3 closed", NEW("Connection: closed\r\n"), 200, KEEPS, P},
    {"K3 disclose", NEW("Connection: disclose\r\n"), 200, KEEPS, P},
    {"K3 close-notify", NEW("Connection: close-notify\r\n"), 200, KEEPS, P},
    {"K3 keep-alive on 1.1", NEW("Connection: keep-alive\r\n"), 200, KEEPS, P},
    {"K3 empty", NEW("Connection:\r\n"), 200, KEEPS, P},
    {"h22 close, keep-alive", NEW("Connection: close, keep-alive\r\n"), 200, CLOSES, P},
    {"h22 TE,,Keep-Alive", NEW("Connection: TE,,Keep-Alive\r\n"), 200, KEEPS, P},
    {"K5 404 keeps", GET("/none"), 404, KEEPS},
    {"K5 403 keeps", GET("/"), 403, KEEPS},
    {"K5 304 keeps", NEW("If-None-Match: *\r\n"), 304, KEEPS},
    {"K5 301 keeps", GET("/d"), 301, KEEPS},
    {"K5 nothing is read behind a 400", GET("/%zz") GET("/probe.txt"), 400, CLOSES},
    {"K5 nothing is read behind a 431", NEW("A b\r\n") GET("/probe.txt"), 400, CLOSES},
    {"K5 nothing is read behind a 501", REQ("BREW", "/", "") GET("/probe.txt"), 501, CLOSES},
    {"K5 nothing is read behind a 505", "GET / HTTP/3.0\r\n\r\n" GET("/probe.txt"), 505, CLOSES},
    {"K1 nothing is read behind close", NEW("Connection: close\r\n") GET("/probe.txt"), 200,
     CLOSES | RESET_OK, P},
    {"K6 garbage behind a request", NEW("") "\001\002\r\n\r\n", 200, CLOSES, P, .then = {400}},
    {"K6 half a request behind a request", NEW("") "GET /x", 200, HALF_CLOSE | ENDS, P},
    {"h20 nothing behind the bad one is answered", NEW("") GET("/%") NEW(""), 200, CLOSES, P,
     .then = {400}},
    {"K4 two at once", NEW("") GET("/none"), 200, KEEPS, P, .then = {404}},
    {"K4 CRLF between", NEW("") "\r\n" NEW(""), 200, KEEPS, P, .then = {200}},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
    rows_run_bytewise(srv->at[0], ROWS(rows));
}

/* K2: an HTTP/1.0 connection that keeps, used three times. */
static void test_old_keep_alive(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < 3; i++) {
        client_sendz(&c, i < 2 ? OLD("Connection: Keep-Alive\r\n") : OLD(""));
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_string_equal(r.body, "probe\n");
        reply_free(&r);
    }
    assert_true(client_ends(&c, 3000));
    client_close(&c);
}

/* K4, h20: a long mixed pipeline in one write, all answers in order. */
static void pipeline(size_t n)
{
    static const struct {
        const char *request;
        int status;
    } kind[] = {
        {NEW(""), 200},       {HEAD("/probe.txt"), 200},          {GET("/none"), 404},
        {GET("/d"), 301},     {NEW("If-None-Match: *\r\n"), 304}, {HEAD("/none"), 404},
        {GET("/b.bin"), 200},
    };
    struct client c;
    size_t room = n * 80, len = 0;
    char *all = malloc(room);
    for (size_t i = 0; i < n; i++) {
        const char *text = kind[i % 7].request;
        memcpy(all + len, text, strlen(text));
        len += strlen(text);
        assert_true(len < room - 200);
    }
    assert_true(client_open(&c, srv->at[0]));
    client_send(&c, all, len);
    for (size_t i = 0; i < n; i++) {
        struct reply r;
        bool head = strncmp(kind[i % 7].request, "HEAD", 4) == 0;
        if (!reply_read(&c, &r, head, CLIENT_PATIENCE))
            fail_msg("answer %zu of %zu: %s", i, n, r.err);
        if (r.status != kind[i % 7].status)
            fail_msg("answer %zu of %zu: %d", i, n, r.status);
        if (i % 7 == 0)
            assert_string_equal(r.body, "probe\n");
        if (i % 7 == 6) {
            assert_int_equal(r.body_n, 3000);
            for (size_t k = 0; k < r.body_n; k++)
                assert_int_equal((unsigned char)r.body[k], file_byte(k));
        }
        reply_free(&r);
    }
    assert_true(client_quiet(&c, 20));
    client_close(&c);
    free(all);
}

static void test_pipeline(void **state)
{
    (void)state;
    pipeline(7);
    pipeline(100);
    pipeline(1000);
}

/* K4: large files in a pipeline, whole and in order, whatever the sizes. */
static void test_large_pipeline(void **state)
{
    (void)state;
    static const size_t size[] = {3000, LARGE, 6, LARGE, 3000};
    struct client c;
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c,
                 GET("/b.bin") GET("/large.bin") GET("/probe.txt") GET("/large.bin") GET("/b.bin"));
    for (size_t i = 0; i < 5; i++) {
        struct reply r;
        bool wrong = false;
        if (!reply_read_head(&c, &r, false, CLIENT_PATIENCE))
            fail_msg("answer %zu: %s", i, r.err);
        assert_int_equal(r.length, size[i]);
        assert_int_equal(client_drain(&c, 0, size[i], i == 2 ? NULL : file_byte, 5000, &wrong),
                         size[i]);
        assert_false(wrong);
        reply_free(&r);
    }
    assert_true(client_quiet(&c, 20));
    client_close(&c);
}

/* K7: the last of keepalive_requests says close. */
static void test_requests(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[1]));
    client_sendz(&c, NEW("") NEW("") NEW("") NEW(""));
    for (int i = 0; i < 3; i++) {
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.keeps, i < 2);
        reply_free(&r);
    }
    assert_true(client_ends(&c, 3000));
    client_close(&c);
}

/* K8: no keep-alive at all, and one that ends silently when idle; K9. */
static void test_idle(void **state)
{
    (void)state;
    static const struct row off[] = {{"K8 keepalive_timeout 0", NEW(""), 200, CLOSES, P}};
    rows_run(srv->at[2], ROWS(off));
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[3]));
    for (int i = 0; i < 3; i++) {
        client_sendz(&c, NEW(""));
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_string_equal(reply_field(&r, "Keep-Alive"), "timeout=17");
        reply_free(&r);
        sleep_ms(500);
    }
    int64_t from = now_ms();
    assert_true(client_ends(&c, 4000)); /* silently: no 408 */
    assert_in_range(now_ms() - from, 200, 2500);
    client_close(&c);
}

/* K12, h73: with input pending the whole error answer still arrives, and the end is a FIN. */
static void test_lingering(void **state)
{
    (void)state;
    static const char *const head[] = {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
                                       "POST /probe.txt HTTP/1.1\r\nHost: a\r\n"
                                       "Content-Length: 100000000\r\n\r\n",
                                       "BREW / HTTP/1.1\r\nHost: a\r\n\r\n"};
    static const int status[] = {400, 405, 501};
    char *junk = repeat('j', 1 << 20);
    for (size_t i = 0; i < 3; i++) {
        struct client c;
        struct reply r;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, head[i]);
        for (int k = 0; k < 3; k++)
            client_send(&c, junk, 1 << 20);
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE))
            fail_msg("with 3 MiB pending: %s", r.err);
        if (r.status != status[i])
            fail_msg("with 3 MiB pending: %d", r.status);
        assert_true(r.body_n == r.length);
        reply_free(&r);
        client_close(&c);
    }
    free(junk);
}

/* K13, h71: a client that resets in the middle of an answer; the log says what was sent. */
static void test_reset(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct client c;
        assert_true(client_open_rcvbuf(&c, srv->at[0], i % 2 == 0 ? 4096 : 0));
        client_sendz(&c, GET("/large.bin?reset"));
        if (i % 3 != 0)
            client_fill(&c, 1000);
        if (i % 4 == 3)
            client_close(&c);
        else
            client_abort(&c);
    }
    assert_true(server_wait_text(srv, "logs/access.log", "/large.bin?reset", 3000));
    char *log = NULL;
    for (int i = 0; i < 100; i++, sleep_ms(50)) {
        free(log);
        log = server_read(srv, "logs/access.log");
        if (count_text(log, "/large.bin?reset") == 40)
            break;
    }
    assert_int_equal(count_text(log, "/large.bin?reset"), 40);
    for (char *p = log; (p = strstr(p, "/large.bin?reset HTTP/1.1\" ")) != NULL; p++) {
        unsigned long sent = strtoul(p + strlen("/large.bin?reset HTTP/1.1\" 200 "), NULL, 10);
        assert_true(sent < LARGE);
    }
    free(log);
}

/* K14: many readers that do not read, and one that does. */
static void test_slow_readers(void **state)
{
    (void)state;
    struct client slow[60], quick;
    struct reply r;
    for (int i = 0; i < 60; i++) {
        assert_true(client_open_rcvbuf(&slow[i], srv->at[0], 4096));
        client_sendz(&slow[i], GET("/large.bin"));
    }
    sleep_ms(100);
    assert_true(client_open(&quick, srv->at[0]));
    for (int i = 0; i < 50; i++) {
        int64_t from = now_ms();
        client_sendz(&quick, NEW(""));
        assert_true(reply_read(&quick, &r, false, CLIENT_PATIENCE));
        assert_string_equal(r.body, "probe\n");
        reply_free(&r);
        assert_true(now_ms() - from < 1000);
    }
    client_close(&quick);
    bool wrong = false; /* a slow one gets the right bytes all the same */
    assert_true(reply_read_head(&slow[7], &r, false, CLIENT_PATIENCE));
    assert_int_equal(client_drain(&slow[7], 0, LARGE, file_byte, 5000, &wrong), LARGE);
    assert_false(wrong);
    reply_free(&r);
    for (int i = 0; i < 60; i++)
        client_close(&slow[i]);
}

/* h22: thousands of tokens cost nothing. */
static void test_many_tokens(void **state)
{
    (void)state;
    char *commas = repeat(',', 8000);
    char *request = text_of(NEW("Connection: %s\r\nAccept-Encoding: %s\r\n"), commas, commas);
    struct row row = {"h22 8,000 commas", request, 200, KEEPS, P};
    int64_t from = now_ms();
    rows_run(srv->at[0], &row, 1);
    assert_true(now_ms() - from < 500);
    free(commas);
    free(request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_old_keep_alive),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_large_pipeline),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_lingering),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_slow_readers),
        cmocka_unit_test(test_many_tokens),
        LAST_TESTS,
    };
    server_new();
    server_fill(srv, "html/b.bin", 3000);
    server_fill(srv, "html/large.bin", LARGE);
    server_mkdir(srv, "html/d");
    server_up(srv, CONF);
    srv->rss_slack_kb = 2048; /* a thousand answers of a pipeline, sixty slow readers */
    return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
