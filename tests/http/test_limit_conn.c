/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_conn (T7, h74): connections with a request in processing are counted by key over both
 * workers, and are not counted any more however a request ends. A large file that nobody reads
 * keeps its request in processing for as long as a test needs it.
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
    "  limit_conn_zone:\n"
    "    - $arg_k zone=each:64k\n"
    "    - $server_name zone=all:64k\n"
    "  add_header: X-Status $limit_conn_status always\n"
    "  server:\n"
    "    listen: 127.0.0.1:@0@\n"
    "    server_name: localhost\n"
    "    root: html\n"
    "    location:\n"
    "      /one/: {limit_conn: each 1}\n"
    "      /three/: {limit_conn: each 3}\n"
    "      /both/: {limit_conn: [each 5, all 2]}\n"
    "      /dry/: {limit_conn: each 1, limit_conn_dry_run: on}\n"
    "      /status/: {limit_conn: each 1, limit_conn_status: 429, limit_conn_log_level: notice,"
    " error_page: '429 /page.html'}\n"
    "      /page.html: {}\n"
    "      /outer/:\n"
    "        limit_conn: each 1\n"
    "        location:\n"
    "          /outer/in/: {}\n"
    "          /outer/free/: {limit_conn: []}\n";

static const char *const PLACES[] = {"one", "three", "both", "dry", "status", "outer", "outer/in", "outer/free"};

#define LARGE (8u << 20)

/* A connection that holds one count: its answer is on the way and nobody takes it. */
static void hold(struct client *c, const char *target)
{
    struct reply r;
    char *text = text_of(GET("%s"), target);
    assert_true(client_open_rcvbuf(c, srv->at[0], 4096));
    client_sendz(c, text);
    if (!reply_read_head(c, &r, false, CLIENT_PATIENCE) || r.status != 200)
        fail_msg("%s: %d %s", target, r.status, r.err);
    assert_string_equal(reply_field(&r, "X-Status"), "PASSED");
    reply_free(&r);
    free(text);
}

static int status_of(const char *target, const char *decision)
{
    struct reply r;
    if (!fetch_path(srv->at[0], target, &r))
        fail_msg("%s: %s", target, r.err);
    const char *said = reply_field(&r, "X-Status");
    if (decision != NULL && strcmp(said != NULL ? said : "", decision) != 0)
        fail_msg("%s: %d %s", target, r.status, said != NULL ? said : "no status");
    int status = r.status;
    if (status == 503 || status == 429) /* D27 */
        assert_string_equal(reply_field(&r, "Retry-After"), "1");
    reply_free(&r);
    return status;
}

static void expect(const char *target, int status, const char *decision)
{
    int got = status_of(target, decision);
    if (got != status)
        fail_msg("%s: %d", target, got);
}

/* It takes a moment until the server has seen the end of a connection. */
static void becomes(const char *target, int status)
{
    for (int64_t end_of = now_ms() + 5000; status_of(target, NULL) != status; sleep_ms(20))
        if (now_ms() > end_of)
            fail_msg("%s does not become %d", target, status);
}

static void finish(struct client *c)
{
    bool wrong = false;
    assert_int_equal(client_drain(c, 0, LARGE, file_byte, CLIENT_PATIENCE, &wrong), LARGE);
    assert_false(wrong);
}

static void test_one(void **state)
{
    (void)state;
    struct client c, idle;
    struct reply r;
    assert_true(client_open(&idle, srv->at[0]));
    client_sendz(&idle, GET("/one/small?k=a"));
    assert_true(reply_read(&idle, &r, false, CLIENT_PATIENCE));
    reply_free(&r); /* it stays open, which is not counted */
    hold(&c, "/one/large?k=a");
    for (int i = 0; i < 10; i++)
        expect("/one/small?k=a", 503, "REJECTED");
    expect("/one/small?k=b", 200, "PASSED");
    expect("/one/small", 200, "");
    expect("/outer/free/small?k=a", 200, "");
    expect("/outer/in/small?k=a", 503, "REJECTED");
    if (!server_wait_text(srv, "logs/error.log", "limiting connections by zone \"each\", client: ", 3000))
        fail_msg("it is not said in the log");
    finish(&c); /* ends well */
    becomes("/one/small?k=a", 200);
    client_sendz(&c, GET("/one/large?k=a")); /* the same connection once more */
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    assert_int_equal(r.status, 200);
    reply_free(&r);
    expect("/one/small?k=a", 503, "REJECTED");
    client_abort(&c); /* ends badly */
    becomes("/one/small?k=a", 200);
    client_close(&idle);
}

/* T7, h74: both workers count in one zone. */
static void test_two_workers(void **state)
{
    (void)state;
    struct client c[3];
    for (int i = 0; i < 3; i++)
        hold(&c[i], "/three/large?k=w");
    for (int i = 0; i < 30; i++)
        expect("/three/small?k=w", 503, "REJECTED");
    client_abort(&c[1]);
    becomes("/three/small?k=w", 200);
    hold(&c[1], "/three/large?k=w");
    for (int i = 0; i < 30; i++)
        expect("/three/small?k=w", 503, "REJECTED");
    for (int i = 0; i < 3; i++)
        client_abort(&c[i]);
    becomes("/one/small?k=w", 200);
}

/* A pipeline is one connection, however many of its answers are on their way. */
static void test_pipeline(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < 20; i++)
        client_sendz(&c, GET("/one/small?k=p") GET("/one/small?k=p2") GET("/one/small"));
    for (int i = 0; i < 60; i++) {
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        if (r.status != 200)
            fail_msg("answer %d: %d", i, r.status);
        reply_free(&r);
    }
    client_close(&c);
    becomes("/one/small?k=p", 200);
    assert_true(client_open_rcvbuf(&c, srv->at[0], 4096)); /* one of them is large */
    client_sendz(&c, GET("/one/small?k=q") GET("/one/large?k=q") GET("/one/small?k=q"));
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    expect("/one/small?k=q", 503, "REJECTED");
    finish(&c);
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    assert_int_equal(r.status, 200);
    reply_free(&r);
    client_close(&c);
    becomes("/one/small?k=q", 200);
}

/* One limit refuses: what others have counted for the request is given back. */
static void test_several(void **state)
{
    (void)state;
    struct client c[2];
    hold(&c[0], "/both/large?k=x");
    hold(&c[1], "/both/large?k=x");
    for (int i = 0; i < 10; i++)
        expect("/both/small?k=y", 503, "REJECTED");
    expect("/one/small?k=y", 200, "PASSED");
    expect("/three/small?k=x", 200, "PASSED"); /* two are held, and the third is this one */
    client_abort(&c[0]);
    client_abort(&c[1]);
    becomes("/both/small?k=y", 200);
}

static void test_settings(void **state)
{
    (void)state;
    struct client c;
    hold(&c, "/one/large?k=s");
    expect("/status/small?k=s", 429, "REJECTED"); /* Retry-After on the page of the error, too */
    expect("/dry/small?k=s", 200, "REJECTED_DRY_RUN");
    if (!server_wait_text(srv, "logs/error.log", "limiting connections, dry run, by zone \"each\"", 3000))
        fail_msg("dry run: it is not said in the log");
    if (!server_wait_text(srv, "logs/error.log", "[notice] ", 3000))
        fail_msg("limit_conn_log_level");
    char *log = server_read(srv, "logs/error.log"), *line = strtok(log, "\n");
    bool found = false;
    for (; line != NULL; line = strtok(NULL, "\n"))
        found = found || (strstr(line, "[notice]") != NULL && strstr(line, "limiting connections by zone") != NULL);
    assert_true(found);
    free(log);
    client_abort(&c);
    becomes("/one/small?k=s", 200);
}

static int start(void **state)
{
    (void)state;
    char path[64];
    server_new();
    for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        snprintf(path, sizeof(path), "html/%s", PLACES[i]);
        server_mkdir(srv, path);
        snprintf(path, sizeof(path), "html/%s/small", PLACES[i]);
        server_text(srv, path, "here\n");
        snprintf(path, sizeof(path), "html/%s/large", PLACES[i]);
        server_fill(srv, path, LARGE);
    }
    server_text(srv, "html/page.html", "busy\n");
    server_up(srv, CONF);
    srv->rss_slack_kb = 1024;
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
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_two_workers),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_settings),
        LAST_TESTS,
    };
    return cmocka_run_group_tests_name("limit_conn", tests, start, end);
}
