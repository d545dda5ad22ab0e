/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which connections are not kept, by their age and by their client: keepalive_time (K7) and
 * keepalive_disable. The rest of K7 to K9 is in test_connection.c and test_limits.c.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  access_log: off\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@', root: html}\n"
    "    - {listen: '127.0.0.1:@1@', root: html, keepalive_disable: safari,"
    " location: {/all: {keepalive_disable: none, alias: html/probe.txt}}}\n"
    "    - {listen: '127.0.0.1:@2@', root: html, keepalive_disable: safari msie6}\n"
    "    - {listen: '127.0.0.1:@3@', root: html, keepalive_time: 1s}\n";

#define MSIE6   "User-Agent: Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)\r\n"
#define MSIE6SP "User-Agent: Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)\r\n"
#define SAFARI  "User-Agent: Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15" \
               " (KHTML, like Gecko) Version/16.1 Safari/605.1.15\r\n"
#define POST(fields) REQ("POST", "/probe.txt", "Content-Length: 0\r\n" fields)
#define TAKE(fields) REQ("GET", "/probe.txt", fields)

static const struct row by_default[] = {
    {"msie6 posts", POST(MSIE6), 405, CLOSES},
    {"msie6 gets", TAKE(MSIE6), 200, KEEPS},
    {"msie6 with a service pack posts", POST(MSIE6SP), 405, KEEPS},
    {"safari posts", POST(SAFARI), 405, KEEPS},
    {"safari gets", TAKE(SAFARI), 200, KEEPS},
    {"nobody posts", POST(""), 405, KEEPS},
};

static const struct row safari[] = {
    {"safari: msie6 posts", POST(MSIE6), 405, KEEPS},
    {"safari: safari gets", TAKE(SAFARI), 200, CLOSES},
    {"safari: safari gets nothing", REQ("GET", "/none", SAFARI), 404, CLOSES},
    {"safari: 1.0", "GET /probe.txt HTTP/1.0\r\nConnection: keep-alive\r\n" SAFARI "\r\n", 200, CLOSES},
    {"none in a location", REQ("GET", "/all", SAFARI), 200, KEEPS},
    {"safari: nobody", TAKE(""), 200, KEEPS},
};

static const struct row both[] = {
    {"both: msie6 posts", POST(MSIE6), 405, CLOSES},
    {"both: safari posts", POST(SAFARI), 405, CLOSES},
    {"both: nobody posts", POST("User-Agent: curl/7.88.1\r\n"), 405, KEEPS},
};

static void test_disable(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(by_default));
    rows_run(srv->at[1], ROWS(safari));
    rows_run(srv->at[2], ROWS(both));
}

/* K7: a connection that is older than keepalive_time ends with its next answer. */
static void test_time(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[3]));
    int64_t from = now_ms();
    int answers = 0;
    for (bool keeps = true; keeps && now_ms() - from < 8000; answers++) {
        client_sendz(&c, TAKE(""));
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        keeps = r.keeps;
        reply_free(&r);
        if (keeps)
            sleep_ms(150);
    }
    if (now_ms() - from < 950 || now_ms() - from > 7000)
        fail_msg("ended after %d answers and %d ms", answers, (int)(now_ms() - from));
    assert_true(answers >= 2);
    assert_true(client_ends(&c, 3000));
    client_close(&c);
}

static int start(void **state)
{
    (void)state;
    server_new();
    server_up(srv, CONF);
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
        cmocka_unit_test(test_disable),
        cmocka_unit_test(test_time),
        LAST_TESTS,
    };
    return cmocka_run_group_tests_name("keep-alive", tests, start, end);
}
