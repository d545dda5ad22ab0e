/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Methods on static files: behaviours.md G1 to G8, M18, hostile.md 18 and 23. A body that comes
 * with a request is never read as the next request: it is drained, or the connection ends.
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
                           "  server:\n"
                           "    - listen: 127.0.0.1:@0@\n"
                           "      root: html\n"
                           "      location:\n"
                           "        /teapot: {return: '418 short'}\n";

#define ALLOWED .has = "Allow: GET, HEAD*"

static const struct row rows[] = {
    {"G2 POST", REQ("POST", "/a.txt", "Content-Length: 0\r\n"), 405, KEEPS, ALLOWED},
    {"G2 POST without length", REQ("POST", "/a.txt", ""), 405, 0, ALLOWED},
    {"G2 PUT", REQ("PUT", "/a.txt", "Content-Length: 0\r\n"), 405, KEEPS, ALLOWED},
    {"G2 DELETE", REQ("DELETE", "/a.txt", ""), 405, KEEPS, ALLOWED},
    {"G2 PATCH", REQ("PATCH", "/a.txt", "Content-Length: 0\r\n"), 405, KEEPS, ALLOWED},
    {"G2 POST on a directory", REQ("POST", "/", "Content-Length: 0\r\n"), 405, KEEPS, ALLOWED},
    {"G3 OPTIONS", REQ("OPTIONS", "/a.txt", ""), 200, KEEPS | EMPTY, .or_status = 204, ALLOWED},
    {"G4 TRACE", REQ("TRACE", "/a.txt", "Cookie: seen\r\nAuthorization: seen\r\n"), 405, 0,
     .or_status = 501, .body_lacks = "seen"},
    {"G7 GET of nothing", GET("/none"), 404, KEEPS},
    {"G7 HEAD of nothing", HEAD("/none"), 404, KEEPS},
    {"G7 preconditions on nothing", REQ("GET", "/none", "If-None-Match: *\r\nIf-Match: *\r\n"), 404,
     KEEPS},
    {"G8 websocket",
     REQ("GET", "/a.txt", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n"),
     200, KEEPS, .lacks = "Upgrade"},
    {"G8 h2c (h23)",
     REQ("GET", "/a.txt",
         "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
         "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
     200, KEEPS, .lacks = "Upgrade"},
    {"G8 nonsense", REQ("GET", "/a.txt", "Upgrade: ,,/\r\nConnection: Upgrade\r\n"), 200, KEEPS},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
    rows_run_bytewise(srv->at[0], ROWS(rows));
}

/* Fields that must be the same for GET and HEAD. */
static void same_head(const char *name, const char *target, const char *fields)
{
    struct reply g, h;
    char *get = text_of("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", target, fields);
    char *head = text_of("HEAD %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", target, fields);
    bool ok = fetch(srv->at[0], get, &g) && fetch(srv->at[0], head, &h);
    if (!ok)
        fail_msg("%s: %s", name, g.err[0] != '\0' ? g.err : h.err);
    if (g.status != h.status || g.fields != h.fields)
        fail_msg("%s: %d with %zu fields, HEAD %d with %zu", name, g.status, g.fields, h.status,
                 h.fields);
    for (size_t i = 0; i < g.fields; i++) {
        if (strcmp(g.field[i].name, h.field[i].name) != 0 ||
            (strcmp(g.field[i].name, "Date") != 0 &&
             strcmp(g.field[i].value, h.field[i].value) != 0))
            fail_msg("%s: %s: %s, HEAD %s: %s", name, g.field[i].name, g.field[i].value,
                     h.field[i].name, h.field[i].value);
    }
    reply_free(&g);
    reply_free(&h);
    free(get);
    free(head);
}

/* G1, Q4, N6, h24: HEAD says what GET says, for every kind of answer, and sends no body. */
static void test_head(void **state)
{
    (void)state;
    static const struct {
        const char *name, *target, *fields;
    } kinds[] = {
        {"G1 200", "/a.txt", ""},
        {"G1 200 empty file", "/empty.txt", ""},
        {"G1 200 index", "/", ""},
        {"G1 200 large", "/large.bin", ""},
        {"G1 304", "/a.txt", "If-None-Match: *\r\n"},
        {"N6 301", "/d", ""},
        {"O2 403", "/d/", ""},
        {"Q4 404", "/none", ""},
        {"return 418", "/teapot", ""},
        {"close", "/a.txt", "Connection: close\r\n"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        same_head(kinds[i].name, kinds[i].target, kinds[i].fields);
        char *request = text_of("HEAD %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", kinds[i].target,
                                kinds[i].fields);
        struct row row = {kinds[i].name, request, 200, EMPTY};
        struct reply r;
        assert_true(fetch(srv->at[0], request, &r));
        row.status = r.status;
        row.flags |= r.keeps ? KEEPS : CLOSES;
        rows_run(srv->at[0], &row, 1);
        reply_free(&r);
        free(request);
    }
}

#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"

/* Sends a request with a body that looks like a request, then the probe. */
static void with_body(const char *method, const char *target, int status, bool chunked, int how)
{
    struct client c;
    struct reply r;
    char *body =
        chunked ? text_of("%zx\r\n%s\r\n0\r\n\r\n", strlen(SMUGGLED), SMUGGLED) : strdup(SMUGGLED);
    char length[32];
    snprintf(length, sizeof(length), "%zu", strlen(SMUGGLED));
    char *all = text_of("%s %s HTTP/1.1\r\nHost: localhost\r\n%s: %s\r\n\r\n%s" PROBE, method,
                        target, chunked ? "Transfer-Encoding" : "Content-Length",
                        chunked ? "chunked" : length, body);
    size_t n = strlen(all), head = (size_t)(strstr(all, "\r\n\r\n") - all) + 4;
    assert_true(client_open(&c, srv->at[0]));
    if (how == 0)
        client_send(&c, all, n);
    else if (how == 1)
        client_send_split(&c, all, n, head, 20);
    else
        client_send_bytes(&c, all, n);
    if (!reply_read(&c, &r, strcmp(method, "HEAD") == 0, CLIENT_PATIENCE))
        fail_msg("%s %s with a body: %s", method, target, r.err);
    if (r.status != status && !(r.status == 204 && status == 200))
        fail_msg("%s %s with a body: %d", method, target, r.status);
    bool keeps = r.keeps;
    reply_free(&r);
    bool more = reply_read(&c, &r, false, CLIENT_PATIENCE);
    if (more && (!keeps || r.status != 200 || strcmp(r.body, "probe\n") != 0))
        fail_msg("%s %s: the body was taken as a request (%d)", method, target, r.status);
    if (!more && (keeps || r.head != NULL || c.n > 0))
        fail_msg("%s %s: behind the body: %s", method, target, r.err);
    assert_true(keeps || client_ends(&c, 3000));
    reply_free(&r);
    client_close(&c);
    free(body);
    free(all);
}

/* G2, G5, G6, h18. */
static void test_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target;
        int status;
    } kinds[] = {
        {"GET", "/a.txt", 200},   {"HEAD", "/a.txt", 200},    {"POST", "/a.txt", 405},
        {"GET", "/none", 404},    {"OPTIONS", "/a.txt", 200}, {"PUT", "/a.txt", 405},
        {"DELETE", "/none", 405}, {"GET", "/d", 301},         {"GET", "/large.bin", 200},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (int how = 0; how < 3; how++) {
            int status = kinds[i].status;
            with_body(kinds[i].method, kinds[i].target, status, false, how);
        }
    }
    with_body("GET", "/a.txt", 200, true, 0);
    with_body("GET", "/a.txt", 200, true, 2);
    with_body("POST", "/a.txt", 405, true, 0);
}

/* M18: a body of no bytes, and then something. */
static void test_empty_body(void **state)
{
    (void)state;
    static const struct row row[] = {
        {"M18 X behind an empty body", REQ("POST", "/a.txt", "Content-Length: 0\r\n") "X" GET("/"),
         405, 0, .then = {501}},
        {"M1 GET with an empty body", REQ("GET", "/a.txt", "Content-Length: 0\r\n") PROBE, 200,
         KEEPS, .then = {200}},
    };
    rows_run(srv->at[0], ROWS(row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_empty_body),
        LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/a.txt", "a\n");
    server_text(srv, "html/empty.txt", "");
    server_text(srv, "html/index.html", "index\n");
    server_fill(srv, "html/large.bin", 300000);
    server_mkdir(srv, "html/d");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("methods", tests, NULL, NULL);
}
