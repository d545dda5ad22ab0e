/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_req (T7, D26, D27): burst, delay, nodelay, dry run, several limits, status and log, one zone
 * for two workers. Each test has keys of its own; slow zones leak a 60th of a request in a second,
 * so that no pause of this machine changes what is counted.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "worker_processes: 2\n"
    "http:\n"
    "  access_log: logs/access.log combined flush=100ms\n"
    "  limit_req_zone:\n"
    "    - $arg_k zone=slow:64k rate=1r/m\n"
    "    - $arg_j zone=other:64k rate=1r/m\n"
    "    - $arg_k zone=fast:64k rate=10r/s\n"
    "    - $arg_k zone=small:32k rate=1r/m\n"
    "  add_header: X-Status $limit_req_status always\n"
    "  server:\n"
    "    listen: 127.0.0.1:@0@\n"
    "    root: html\n"
    "    index: index.html\n"
    "    location:\n"
    "      /plain/: {limit_req: zone=slow}\n"
    "      /burst/: {limit_req: zone=slow burst=3 nodelay}\n"
    "      /nine/: {limit_req: zone=slow burst=9 nodelay}\n"
    "      /status/: {limit_req: zone=slow, limit_req_status: 429, limit_req_log_level: warn}\n"
    "      /dry/: {limit_req: zone=slow, limit_req_dry_run: on}\n"
    "      /delay/: {limit_req: zone=fast burst=20}\n"
    "      /delay2/: {limit_req: zone=fast burst=20 delay=2}\n"
    "      /long/: {limit_req: zone=slow burst=5}\n"
    "      /both/: {limit_req: [zone=slow burst=3 nodelay, zone=other]}\n"
    "      /small/: {limit_req: zone=small}\n"
    "      /page/: {limit_req: zone=slow, error_page: 503 /page.html}\n"
    "      /page.html: {}\n"
    "      /outer/:\n"
    "        limit_req: zone=slow\n"
    "        location:\n"
    "          /outer/in/: {}\n"
    "          /outer/free/: {limit_req: []}\n";

static const char *const PLACES[] = {"plain",  "burst", "nine", "status",   "dry",       "delay", "delay2",
                                     "long",   "both",  "small", "page", "outer", "outer/in", "outer/free"};

struct answer {
    int status;
    char decision[24]; /* X-Status */
    char retry[16];    /* Retry-After */
};

static struct answer ask(const char *target)
{
    struct answer a = {0};
    struct reply r;
    if (!fetch_path(srv->at[0], target, &r))
        fail_msg("%s: %s", target, r.err);
    a.status = r.status;
    const char *decision = reply_field(&r, "X-Status"), *retry = reply_field(&r, "Retry-After");
    snprintf(a.decision, sizeof(a.decision), "%s", decision != NULL ? decision : "");
    snprintf(a.retry, sizeof(a.retry), "%s", retry != NULL ? retry : "");
    reply_free(&r);
    return a;
}

static void expect(const char *target, int status, const char *decision)
{
    struct answer a = ask(target);
    if (a.status != status || strcmp(a.decision, decision) != 0)
        fail_msg("%s: %d %s", target, a.status, a.decision);
}

static void expect_log(const char *text)
{
    if (!server_wait_text(srv, "logs/error.log", text, 3000))
        fail_msg("the error log does not say \"%s\"", text);
}

static void test_refuses(void **state)
{
    (void)state;
    expect("/plain/?k=a", 200, "PASSED");
    struct answer a = ask("/plain/?k=a");
    assert_int_equal(a.status, 503);
    assert_string_equal(a.decision, "REJECTED");
    int retry = atoi(a.retry); /* D27 */
    if (retry < 30 || retry > 63) /* the rate is 16/1000 a second */
        fail_msg("D27 Retry-After: %s", a.retry);
    expect_log("limiting requests, excess: ");
    expect_log("by zone \"slow\", client: 127.0.0.1, request: \"GET /plain/?k=a HTTP/1.1\"");
    expect("/plain/?k=b", 200, "PASSED"); /* another key */
    for (int i = 0; i < 5; i++) {
        expect("/plain/", 200, "");       /* an empty key is not counted */
        expect("/plain/?k=", 200, "");
    }
    expect("/page/?k=c", 200, "PASSED");
    a = ask("/page/?k=c"); /* the page of the error comes from another location */
    assert_int_equal(a.status, 503);
    assert_string_not_equal(a.retry, "");
}

static void test_status(void **state)
{
    (void)state;
    expect("/status/?k=s", 200, "PASSED");
    struct answer a = ask("/status/?k=s");
    assert_int_equal(a.status, 429);
    assert_string_not_equal(a.retry, ""); /* D27 */
    expect_log("[warn]");
    char *log = server_read(srv, "logs/error.log");
    const char *at = strstr(log, "[warn]");
    assert_non_null(at);
    assert_non_null(strstr(at, "limiting requests"));
    free(log);
}

static void test_burst(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        expect("/burst/?k=u", 200, "PASSED");
    for (int i = 0; i < 5; i++) /* refused ones are not counted, so the next limit is not touched */
        expect("/burst/?k=u", 503, "REJECTED");
    expect("/nine/?k=u", 200, "PASSED");
    expect("/burst/?k=u", 503, "REJECTED");
}

static void test_dry_run(void **state)
{
    (void)state;
    expect("/dry/?k=d", 200, "PASSED");
    struct answer a = ask("/dry/?k=d");
    assert_int_equal(a.status, 200);
    assert_string_equal(a.decision, "REJECTED_DRY_RUN");
    assert_string_equal(a.retry, "");
    expect_log("limiting requests, dry run, excess: ");
}

/* The rate is kept by waiting: the i-th request passes no sooner than (i - 1) / 10 s. */
static void test_delay(void **state)
{
    (void)state;
    int64_t start = now_ms();
    expect("/delay/?k=y", 200, "PASSED");
    for (int i = 0; i < 4; i++)
        assert_int_equal(ask("/delay/?k=y").status, 200);
    if (now_ms() - start < 380)
        fail_msg("five requests at 10r/s took %d ms", (int)(now_ms() - start));
    expect_log("delaying request, excess: ");
    /* A burst of its own: the first three at once, the fourth has to wait. */
    struct client c;
    struct reply r;
    static const char *const want[] = {"PASSED", "PASSED", "PASSED", "DELAYED"};
    bool good = false;
    for (int tries = 0; tries < 5 && !good; tries++) { /* unless the machine was too slow */
        char *one = text_of("GET /delay2/?k=z%d HTTP/1.1\r\nHost: a\r\n\r\n", tries);
        char *all = text_of("%s%s%s%s", one, one, one, one);
        good = true;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, all);
        for (int i = 0; i < 4; i++) {
            assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
            assert_int_equal(r.status, 200);
            good = good && strcmp(reply_field(&r, "X-Status"), want[i]) == 0;
            reply_free(&r);
        }
        client_close(&c);
        free(one);
        free(all);
    }
    assert_true(good);
}

/* A client that goes away while its request waits; there must be nothing left of it. */
static void test_aborted(void **state)
{
    (void)state;
    struct client c[20];
    expect("/long/?k=l", 200, "PASSED");
    for (int i = 0; i < 20; i++) {
        char *text = text_of(GET("/long/?k=l%d") GET("/long/?k=l%d"), i, i);
        struct reply r;
        assert_true(client_open(&c[i], srv->at[0]));
        client_sendz(&c[i], text);
        assert_true(reply_read(&c[i], &r, false, CLIENT_PATIENCE));
        assert_string_equal(reply_field(&r, "X-Status"), "PASSED");
        reply_free(&r);
        free(text);
    }
    assert_true(client_quiet(&c[0], 200)); /* the second one waits a minute */
    for (int i = 0; i < 20; i++)
        client_abort(&c[i]);
    assert_true(server_wait_text(srv, "logs/access.log", "\" 499 ", 5000));
}

/* h72: one that has merely shut its side gets the answer it waits for. */
static void test_half_closed(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, GET("/delay/?k=h") GET("/delay/?k=h") GET("/delay/?k=h"));
    client_half_close(&c);
    for (int i = 0; i < 3; i++) {
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.status, 200);
        reply_free(&r);
    }
    assert_true(client_ends(&c, CLIENT_PATIENCE));
    client_close(&c);
}

/* Several limits: one that refuses leaves the others uncounted. */
static void test_several(void **state)
{
    (void)state;
    expect("/both/?k=m&j=m", 200, "PASSED");
    for (int i = 0; i < 6; i++)
        expect("/both/?k=m&j=m", 503, "REJECTED");
    expect_log("by zone \"other\"");
    for (int i = 0; i < 3; i++)
        expect("/burst/?k=m", 200, "PASSED");
    expect("/burst/?k=m", 503, "REJECTED");
    expect("/both/?k=m&j=n", 503, "REJECTED"); /* by the first now, which spares the second */
    expect("/both/?k=o&j=n", 200, "PASSED");
    expect("/both/?j=q", 200, "PASSED");       /* one of the keys is empty */
    expect("/both/?j=q", 503, "REJECTED");
    expect("/both/", 200, "");
}

/* Once for a request, however often it is sent to another place within the server. */
static void test_once(void **state)
{
    (void)state;
    expect("/outer/?k=p", 200, "PASSED"); /* the index file is looked for by an internal redirect */
    expect("/outer/in/?k=p", 503, "REJECTED");
    for (int i = 0; i < 3; i++)
        expect("/outer/free/?k=p", 200, "");
}

/* T8: both workers count in one zone. */
static void test_two_workers(void **state)
{
    (void)state;
    int passed = 0, refused = 0;
    for (int i = 0; i < 60; i++) {
        int status = ask("/nine/?k=w").status;
        passed += status == 200;
        refused += status == 503;
    }
    assert_int_equal(passed, 10);
    assert_int_equal(refused, 50);
}

/* A zone that is full forgets the key that was longest away. */
static void test_full(void **state)
{
    (void)state;
    enum { KEYS = 1200, PER_WRITE = 100 }; /* 32k hold some 600 */
    struct client c;
    struct reply r;
    expect("/small/?k=first", 200, "PASSED");
    expect("/small/?k=first", 503, "REJECTED");
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < KEYS; i++) {
        char *text = text_of(GET("/small/?k=%d"), i);
        client_sendz(&c, text);
        free(text);
        if (i % PER_WRITE != PER_WRITE - 1)
            continue;
        for (int k = 0; k < PER_WRITE; k++) {
            assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
            assert_int_equal(r.status, 200);
            reply_free(&r);
        }
    }
    client_close(&c);
    expect("/small/?k=1199", 503, "REJECTED");
    expect("/small/?k=1100", 503, "REJECTED");
    expect("/small/?k=first", 200, "PASSED");
}

/* h75: a storm of refusals is not one of log lines; what was left out is counted. */
static void test_storm(void **state)
{
    (void)state;
    enum { N = 2000, PER_WRITE = 100 };
    struct client c;
    struct reply r;
    char *log = server_read(srv, "logs/error.log");
    size_t before = count_text(log, "limiting requests");
    free(log);
    int64_t began = now_ms();
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < N; i++) {
        client_sendz(&c, GET("/plain/?k=storm"));
        for (int k = 0; i % PER_WRITE == PER_WRITE - 1 && k < PER_WRITE; k++) {
            assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
            assert_true(r.status == 503 || (r.status == 200 && i < PER_WRITE));
            reply_free(&r);
        }
    }
    size_t seconds = (size_t)(now_ms() - began) / 1000 + 2;
    sleep_ms(1100);
    client_sendz(&c, GET("/plain/?k=storm"));
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    client_close(&c);
    log = server_read(srv, "logs/error.log");
    size_t lines = count_text(log, "limiting requests") - before;
    if (lines > 100 * seconds + 1)
        fail_msg("h75: %zu lines in %zu s", lines, seconds);
    if (seconds <= 4) /* else the machine was too slow for a storm */
        assert_non_null(strstr(log, " lines were left out), client"));
    free(log);
}

static int start(void **state)
{
    (void)state;
    server_new();
    for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), "html/%s", PLACES[i]);
        server_mkdir(srv, path);
        snprintf(path, sizeof(path), "html/%s/index.html", PLACES[i]);
        server_text(srv, path, "here\n");
    }
    server_text(srv, "html/page.html", "busy\n");
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
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_aborted),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_two_workers),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_storm),
        LAST_TESTS,
    };
    return cmocka_run_group_tests_name("limit_req", tests, start, end);
}
