/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a request may take: heads up to what is configured and not a byte more (B16, h12), and a 500
 * in place of an answer that needs more memory than a request may have, never a part of one.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

#define EIGHT "$http_a$http_a$http_a$http_a$http_a$http_a$http_a$http_a"

static const char CONF[] =
    "http:\n"
    "  access_log: logs/access.log combined flush=100ms\n"
    "  large_client_header_buffers: 4 256k\n"
    "  max_headers: 2000\n"
    "  server:\n"
    "    listen: 127.0.0.1:@0@\n"
    "    root: html\n"
    "    location:\n"
    "      /header: {add_header: X " EIGHT ", alias: html/probe.txt}\n"
    "      /always: {add_header: X " EIGHT " always, alias: html/none}\n"
    "      /twice: {add_header: X $http_a$http_a$http_a$http_a, alias: html/probe.txt}\n"
    "      /body: {return: 200 " EIGHT "}\n"
    "      /location: {return: 302 /" EIGHT "}\n"
    "      /root: {root: /srv/" EIGHT "}\n"
    "      /page: {error_page: 404 /" EIGHT ", alias: html/none}\n";

/* "GET target", with a field A of n bytes and another of m. */
static char *request(const char *target, size_t n, size_t m)
{
    char *a = repeat('a', n), *b = repeat('b', m);
    char *text = text_of(REQ("GET", "%s", "A: %s\r\nB: %s\r\n"), target, a, b);
    free(a);
    free(b);
    return text;
}

static void test_heads(void **state)
{
    (void)state;
    enum { K = 1024 };
    char *fits = request("/probe.txt", 250 * K, 250 * K);
    char *field = request("/probe.txt", 257 * K, 0);
    char *line = text_of("GET /probe.txt?%s HTTP/1.1\r\nHost: a\r\n\r\n", field + 100);
    char *large = repeat('c', 200 * K);
    char *whole = text_of(REQ("GET", "/probe.txt", "A: %s\r\nB: %s\r\nC: %s\r\nD: %s\r\n"), large, large, large, large);
    char *head = text_of(REQ("GET", "/probe.txt", "A: %s\r\nB: %s\r\nC: %s\r\nD: %s\r\nE: %s\r\nF: %s\r\n"), large,
                         large, large, large, large, large);
    char *huge = request("/probe.txt", 8192 * K, 0);
    struct row rows[] = {
        {"B16 500k that fit", fits, 200, KEEPS},
        {"B16 800k that fit", whole, 200, KEEPS},
        {"B16 a field above 256k", field, 431, CLOSES | RESET_OK},
        {"A25 a line above 256k", line, 414, CLOSES | RESET_OK},
        {"B16 a head above 1m", head, 431, CLOSES | RESET_OK},
        {"h12 a field of 8m", huge, 431, CLOSES | RESET_OK},
    };
    rows_run(srv->at[0], ROWS(rows));
    free(fits);
    free(field);
    free(line);
    free(large);
    free(whole);
    free(head);
    free(huge);
}

/* What is made of a request's own text grows with it: a 500, complete, and the connection ends. */
static void test_answers(void **state)
{
    (void)state;
    static const char *const targets[] = {"/header", "/twice", "/body", "/location", "/root/x"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        char *large = request(targets[i], 250 << 10, 0), *small = request(targets[i], 10, 0);
        struct client c;
        struct reply r;
        if (i != 1) {
            assert_true(client_open(&c, srv->at[0]));
            client_sendz(&c, large);
            if (!reply_read(&c, &r, false, CLIENT_PATIENCE) || r.status != 500 || r.keeps)
                fail_msg("%s: %d %s", targets[i], r.status, r.err);
            if (strstr(r.body, "500 Internal Server Error") == NULL)
                fail_msg("%s: %.100s", targets[i], r.body);
            reply_free(&r);
            assert_true(client_ends(&c, 3000));
            client_close(&c);
        }
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, small);
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE) || r.status == 500)
            fail_msg("%s, small: %d %s", targets[i], r.status, r.err);
        reply_free(&r);
        client_close(&c);
        free(large);
        free(small);
    }
    if (!server_wait_text(srv, "logs/error.log", "needs more memory than it may have", 3000))
        fail_msg("it is not said in the log");
}

/* A head that fits into the request's memory once, but not a second time when it is put together. */
static void test_head_of_answer(void **state)
{
    (void)state;
    static const int statuses[] = {200, 500};
    for (int i = 0; i < 2; i++) {
        char *text = request("/twice", (size_t)(i == 0 ? 50 : 250) << 10, 0);
        struct client c;
        struct reply r;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, text);
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE) || r.status != statuses[i])
            fail_msg("%d: %d %s", statuses[i], r.status, r.err);
        reply_free(&r);
        client_close(&c);
        free(text);
    }
}

/* Errors stay what they are, without what there was no memory for. */
static void test_errors(void **state)
{
    (void)state;
    static const char *const targets[] = {"/always", "/page"};
    for (int i = 0; i < 2; i++) {
        char *text = request(targets[i], 250 << 10, 0);
        struct reply r;
        struct client c;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, text);
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE) || (r.status != 404 && r.status != 500))
            fail_msg("%s: %d %s", targets[i], r.status, r.err);
        reply_free(&r);
        client_close(&c);
        free(text);
    }
}

static int start(void **state)
{
    (void)state;
    server_new();
    server_up(srv, CONF);
    srv->rss_slack_kb = 16384; /* what malloc keeps of heads of a megabyte */
    return 0;
}

static int end(void **state)
{
    (void)state;
    server_free(srv);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_head_of_answer),
        cmocka_unit_test(test_errors),
        LAST_TESTS,
    };
    return cmocka_run_group_tests_name("memory", tests, start, end);
}
