/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every variable of config.md 6 that plain HTTP has, as a template in `return` sees it. Those that
 * are known only afterwards ($status, $bytes_sent, ...) are in test_log.c.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const struct {
    const char *name, *target, *fields,
        *want; /* want: @PORT@ and @DIR@; a final * matches the rest */
} vars[] = {
    {"args", "?a=1&b=%20", "", "a=1&b=%20"},
    {"args", "?", "", ""},
    {"query_string", "?x=y", "", "x=y"},
    {"is_args", "?x", "", "?"},
    {"is_args", "", "", ""},
    {"arg_a", "?b=2&a=1&c", "", "1"},
    {"arg_A", "?a=1", "", "1"},
    {"arg_a", "?aa=1&ba=2", "", ""},
    {"arg_a", "?a=", "", ""},
    {"arg_a", "?a=%20x&a=2", "", "%20x"},
    {"content_length", "", "Content-Length: 2\r\n", "2"},
    {"content_length", "", "", ""},
    {"content_type", "", "Content-Type: a/b; c=d\r\n", "a/b; c=d"},
    {"cookie_a", "", "Cookie: b=2; a=1; c=3\r\n", "1"},
    {"cookie_a", "", "Cookie: aa=2\r\nCookie: a=1\r\n", "1"},
    {"cookie_a", "", "Cookie: aa=2; ba=3\r\n", ""},
    {"document_root", "", "", "@DIR@/html"},
    {"realpath_root", "", "", "@DIR@/html"},
    {"document_uri", "?x", "", "/v/document_uri"},
    {"uri", "?x", "", "/v/uri"},
    {"request_uri", "?a=%20", "", "/v/request_uri?a=%20"},
    {"request", "?q", "", "GET /v/request?q HTTP/1.1"},
    {"request_method", "", "", "GET"},
    {"request_filename", "", "", "@DIR@/html/v/request_filename"},
    {"scheme", "", "", "http"},
    {"https", "", "", ""},
    {"host", "", "", "h.example"},
    {"http_host", "", "", "H.Example:123"},
    {"http_x_some_thing", "", "X-Some-Thing: yes\r\n", "yes"},
    {"http_x_some_thing", "", "X-Some-Thing: a\r\nX-Some-Thing: b\r\n", "a, b"},
    {"http_x_some_thing", "", "", ""},
    {"http_user_agent", "", "User-Agent: me\r\n", "me"},
    {"http_referer", "", "Referer: r\r\n", "r"},
    {"http_cookie", "", "Cookie: a=b\r\nCookie: c=d\r\n", "a=b; c=d"},
    {"server_name", "", "", "named.example"},
    {"server_addr", "", "", "127.0.0.1"},
    {"server_port", "", "", "@PORT@"},
    {"server_protocol", "", "", "HTTP/1.1"},
    {"remote_addr", "", "", "127.0.0.1"},
    {"remote_user", "", "", ""},
    {"pid", "", "", "@WORKER@"},
    {"connection_requests", "", "", "1"},
    {"request_completion", "", "", ""},
};

static char *make_conf(void)
{
    static const char *const more[] = {
        "remote_port",  "binary_remote_addr", "hostname", "connection",   "request_id",
        "request_time", "request_length",     "msec",     "time_iso8601", "time_local"};
    char *conf =
        strdup("http:\n"
               "  server:\n"
               "    - listen: 127.0.0.1:@0@\n"
               "      server_name: named.example\n"
               "      root: html\n"
               "      default_type: text/plain\n"
               "      location:\n"
               "        '~ ^/cap/(?<first>[a-z]+)/(.*)$': {return: '200 \"$first|$1|$2\"'}\n"
               "        = /brace: {return: [200, '${uri}x${arg_a}']}\n");
    const char *seen = "";
    for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]) + 10; i++) {
        size_t count = sizeof(vars) / sizeof(vars[0]);
        const char *name = i < count ? vars[i].name : more[i - count];
        char route[64];
        snprintf(route, sizeof(route), "/v/%s:", name);
        if (strcmp(name, seen) == 0 || strstr(conf, route) != NULL)
            continue;
        seen = name;
        char *next = text_of("%s        = /v/%s: {return: [200, '$%s']}\n", conf, name, name);
        free(conf);
        conf = next;
    }
    return conf;
}

static char *expand(const char *want)
{
    char *out = calloc(1, strlen(want) + 256);
    pid_t worker[SERVER_WORKERS];
    server_workers(srv, worker, SERVER_WORKERS);
    for (const char *p = want; *p != '\0'; p++) {
        if (strncmp(p, "@PORT@", 6) == 0) {
            sprintf(out + strlen(out), "%d", srv->port[0]);
            p += 5;
        } else if (strncmp(p, "@DIR@", 5) == 0) {
            strcat(out, srv->dir);
            p += 4;
        } else if (strncmp(p, "@WORKER@", 8) == 0) {
            sprintf(out + strlen(out), "%d", (int)worker[0]);
            p += 7;
        } else {
            strncat(out, p, 1);
        }
    }
    return out;
}

static void test_variables(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
        char *request = text_of("GET /v/%s%s HTTP/1.1\r\nHost: H.Example:123\r\n%s\r\n%s",
                                vars[i].name, vars[i].target, vars[i].fields,
                                strcmp(vars[i].fields, "Content-Length: 2\r\n") == 0 ? "ab" : "");
        char *want = expand(vars[i].want);
        struct reply r;
        bool ok = fetch(srv->at[0], request, &r) && r.status == 200;
        if (ok && strcmp(want, "*") != 0)
            ok = strcmp(r.body, want) == 0;
        if (!ok) {
            print_error("$%s (%s, %.30s): \"%s\" %d %s, wanted \"%s\"\n", vars[i].name,
                        vars[i].target, vars[i].fields, r.body != NULL ? r.body : "", r.status,
                        r.err, want);
            failed++;
        }
        reply_free(&r);
        free(request);
        free(want);
    }
    assert_int_equal(failed, 0);
}

/* Asks once more; the answer stays until 16 others were asked for. */
static const char *value(const char *name)
{
    static char kept[16][256];
    static size_t asked;
    char *request = text_of("GET /v/%s HTTP/1.1\r\nHost: a\r\n\r\n", name);
    char *body = ask_body(request, 200), *to = kept[asked++ % 16];
    snprintf(to, sizeof(kept[0]), "%s", body);
    free(body);
    free(request);
    return to;
}

/* Those whose value has a form rather than a known text. */
static void test_forms(void **state)
{
    (void)state;
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    assert_string_equal(value("hostname"), host);
    const char *port = value("remote_port");
    assert_in_range(atoi(port), 1024, 65535);
    const char *a = value("request_id"), *b = value("request_id");
    assert_int_equal(strlen(a), 32);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_string_not_equal(a, b);
    const char *c = value("connection"), *d = value("connection");
    assert_true(atoi(d) > atoi(c) && atoi(c) > 0);
    const char *msec = value("msec"), *took = value("request_time");
    assert_true(strlen(msec) == 14 && msec[10] == '.');
    assert_true(strlen(took) == 5 && took[1] == '.');
    assert_string_equal(value("request_length"), "43");
    const char *iso = value("time_iso8601"), *local = value("time_local");
    assert_true(strlen(iso) == 25 && iso[10] == 'T' && iso[22] == ':');
    assert_true(strlen(local) == 26 && local[2] == '/' && local[11] == ':');
    struct reply r;
    assert_true(fetch(srv->at[0], "GET /v/binary_remote_addr HTTP/1.1\r\nHost: a\r\n\r\n", &r));
    assert_int_equal(r.body_n, 4);
    assert_memory_equal(r.body, "\177\0\0\1", 4);
    reply_free(&r);
}

static const struct row captures[] = {
    {"braces", GET("/brace?a=1"), 200, KEEPS, .body = "/bracex1"},
    {"captures", GET("/cap/abc/d/e"), 200, KEEPS, .body = "abc|abc|d/e"},
    {"captures, decoded", GET("/cap/abc/%20x"), 200, KEEPS, .body = "abc|abc| x"},
    {"$uri in HTTP/1.0", "GET /v/uri HTTP/1.0\r\n\r\n", 200, CLOSES, .body = "/v/uri"},
    {"$host without Host is the server's name", "GET /v/host HTTP/1.0\r\n\r\n", 200, CLOSES,
     .body = "named.example"},
    {"$host of an absolute target", "GET http://T.example/v/host HTTP/1.1\r\nHost: a\r\n\r\n", 200,
     KEEPS, .body = "t.example"},
    {"$server_protocol 1.0", "GET /v/server_protocol HTTP/1.0\r\n\r\n", 200, CLOSES,
     .body = "HTTP/1.0"},
};

static void test_captures(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(captures));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_captures),
        LAST_TESTS,
    };
    server_new();
    char *conf = make_conf();
    server_up(srv, conf);
    free(conf);
    return cmocka_run_group_tests_name("variables", tests, NULL, NULL);
}
