/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_trailer: lines behind the body of what is sent in chunks, byte for byte. From memory, by
 * splice, in parts and in ranges; never to HTTP/1.0, for HEAD or where there is no body.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

#define LARGE 300000u

static const char CONF[] =
    "http:\n"
    "  access_log: off\n"
    "  add_trailer: [X-Last one, X-Status $status always]\n"
    "  server:\n"
    "    listen: 127.0.0.1:@0@\n"
    "    root: html\n"
    "    location:\n"
    "      /off: {chunked_transfer_encoding: off, alias: html/probe.txt}\n"
    "      /one: {add_trailer: [[X-Status, ''], x-last two], alias: html/probe.txt}\n"
    "      /none: {add_trailer: [[X-Status, ''], [X-Last, '']], alias: html/probe.txt}\n"
    "      /empty: {add_trailer: X-Last $arg_none, alias: html/probe.txt}\n"
    "      /bad: {add_trailer: X-Last $arg_x$uri, alias: html/probe.txt}\n"
    "      /slow: {limit_rate: 600k, alias: html/large.bin}\n";

/* The whole answer up to the end of the connection, NUL-terminated, to be freed. */
static char *whole(const char *method, const char *target, const char *version, const char *fields, size_t *n)
{
    struct client c;
    char *text = text_of("%s %s HTTP/%s\r\nHost: a\r\nConnection: close\r\n%s\r\n", method, target, version, fields);
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, text);
    while (client_fill(&c, CLIENT_PATIENCE) && !c.eof)
        ;
    assert_true(c.eof);
    char *all = malloc(c.n + 1);
    memcpy(all, c.in, c.n);
    all[c.n] = '\0';
    *n = c.n;
    client_close(&c);
    free(text);
    return all;
}

static const struct {
    const char *name, *method, *target, *version, *fields;
    const char *head; /* is in the head; NULL: nothing of Trailer is */
    const char *body; /* everything behind the head */
} rows[] = {
    {"a file", "GET", "/probe.txt", "1.1", "", "Transfer-Encoding: chunked\r\nTrailer: X-Last, X-Status\r\n",
     "6\r\nprobe\n\r\n0\r\nX-Last: one\r\nX-Status: 200\r\n\r\n"},
    {"a range", "GET", "/probe.txt", "1.1", "Range: bytes=1-3\r\n", "Trailer: X-Last, X-Status\r\n",
     "3\r\nrob\r\n0\r\nX-Last: one\r\nX-Status: 206\r\n\r\n"},
    {"an empty file", "GET", "/nothing.txt", "1.1", "", "Trailer: X-Last, X-Status\r\n",
     "0\r\nX-Last: one\r\nX-Status: 200\r\n\r\n"},
    {"merged", "GET", "/one", "1.1", "", "Trailer: x-last\r\n", "6\r\nprobe\n\r\n0\r\nx-last: two\r\n\r\n"},
    {"all taken away", "GET", "/none", "1.1", "", NULL, "probe\n"},
    {"an empty value", "GET", "/empty", "1.1", "", "Trailer: X-Status, X-Last\r\n",
     "6\r\nprobe\n\r\n0\r\nX-Status: 200\r\n\r\n"},
    {"HTTP/1.0", "GET", "/probe.txt", "1.0", "", NULL, "probe\n"},
    {"no chunks", "GET", "/off", "1.1", "", NULL, "probe\n"},
    {"HEAD", "HEAD", "/probe.txt", "1.1", "", NULL, ""},
    {"304", "GET", "/probe.txt", "1.1", "If-None-Match: *\r\n", NULL, ""},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n;
        char *all = whole(rows[i].method, rows[i].target, rows[i].version, rows[i].fields, &n);
        char *body = strstr(all, "\r\n\r\n");
        assert_non_null(body);
        body += 4;
        if (strcmp(body, rows[i].body) != 0)
            fail_msg("%s: %s", rows[i].name, all);
        body[-2] = '\0';
        if (rows[i].head != NULL ? strstr(all, rows[i].head) == NULL || strstr(all, "Content-Length") != NULL
                                 : strstr(all, "Trailer") != NULL || strstr(all, "chunked") != NULL)
            fail_msg("%s: %s", rows[i].name, all);
        free(all);
    }
}

/* An error page has those with `always` behind it. */
static void test_error(void **state)
{
    (void)state;
    size_t n;
    char *all = whole("GET", "/missing", "1.1", "", &n);
    assert_non_null(strstr(all, "HTTP/1.1 404 "));
    assert_non_null(strstr(all, "Trailer: X-Status\r\n"));
    assert_non_null(strstr(all, "\r\n0\r\nX-Status: 404\r\n\r\n"));
    free(all);
}

/* What a client put into a value does not end the line. */
static void test_bad_value(void **state)
{
    (void)state;
    size_t n;
    char *all = whole("GET", "/bad?x=%0d%0aY:%20z", "1.1", "", &n); /* arguments are not decoded */
    assert_non_null(strstr(all, "X-Last: %0d%0aY:%20z/bad\r\n\r\n"));
    free(all);
}

static void check_large(const char *target, int least)
{
    size_t n;
    char chunk[16], *all;
    int64_t start = now_ms();
    all = whole("GET", target, "1.1", "", &n);
    char *body = strstr(all, "\r\n\r\n") + 4;
    size_t digits = (size_t)snprintf(chunk, sizeof(chunk), "%x\r\n", LARGE);
    assert_memory_equal(body, chunk, digits);
    for (size_t i = 0; i < LARGE; i++)
        if ((unsigned char)body[digits + i] != file_byte(i))
            fail_msg("%s: byte %zu", target, i);
    assert_string_equal(body + digits + LARGE, "\r\n0\r\nX-Last: one\r\nX-Status: 200\r\n\r\n");
    assert_true(now_ms() - start >= least);
    free(all);
}

static void test_large(void **state)
{
    (void)state;
    check_large("/large.bin", 0);
    check_large("/large.bin", 0);
    check_large("/slow", 400);
}

/* Kept and pipelined: the strict reader finds the next answer where it has to be. */
static void test_pipeline(void **state)
{
    (void)state;
    static const size_t size[] = {6, 6, 0, LARGE, 6, 0};
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, GET("/probe.txt") GET("/none") HEAD("/probe.txt") GET("/large.bin") GET("/one")
                         REQ("GET", "/large.bin", "Range: bytes=0-9,200000-200009\r\n"));
    for (int i = 0; i < 6; i++) {
        bool good = reply_read(&c, &r, i == 2, CLIENT_PATIENCE);
        if (i == 5) /* in parts, which are one chunk too */
            good = good && r.status == 206 && r.body_n > 200 && strcmp(r.body + r.body_n - 4, "--\r\n") == 0;
        else
            good = good && r.status == 200 && r.body_n == size[i];
        if (!good)
            fail_msg("answer %d: %d, %zu bytes, %s", i, r.status, r.body_n, r.err);
        assert_int_equal(r.chunked, i != 1 && i != 2);
        reply_free(&r);
    }
    client_close(&c);
}

static int start(void **state)
{
    (void)state;
    server_new();
    server_fill(srv, "html/large.bin", LARGE);
    server_text(srv, "html/nothing.txt", "");
    srv->probe = "/none";
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
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_bad_value),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_pipeline),
        LAST_TESTS,
    };
    return cmocka_run_group_tests_name("trailers", tests, start, end);
}
