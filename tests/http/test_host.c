/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host and the forms of a target that carry an authority: behaviours.md C1 to C11, D1 to D8,
 * hostile.md 9 and 10.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@', server_name: localhost, root: html}\n"
    "    - {listen: '127.0.0.1:@0@', server_name: a.example, root: a}\n"
    "    - {listen: '127.0.0.1:@0@', server_name: '_under_.example', root: u}\n";

#define HOST(value) "GET /who HTTP/1.1\r\nHost: " value "\r\n\r\n"
#define D           .body = "default\n"
#define A           .body = "a\n"

static const struct row hosts[] = {
    {"C1 none", "GET /who HTTP/1.1\r\n\r\n", 400, CLOSES},
    {"C1 none, other fields", "GET /who HTTP/1.1\r\nA: b\r\n\r\n", 400, CLOSES},
    {"C2 twice the same", "GET /who HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, CLOSES},
    {"C2 two", "GET /who HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400, CLOSES},
    {"C2 two on HTTP/1.0", "GET /who HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, CLOSES},
    {"C3 empty", HOST(""), 400, CLOSES},
    {"C3 blanks", HOST(" \t "), 400, CLOSES},
    {"C4 user@", HOST("user@a.example"), 400, CLOSES},
    {"C4 user:pw@", HOST("u:p@a.example"), 400, CLOSES},
    {"C4 path", HOST("a.example/x"), 400, CLOSES},
    {"C4 space", HOST("a b"), 400, CLOSES},
    {"C4 list (h9)", HOST("a, b"), 400, CLOSES},
    {"C4 comma", HOST("a,b"), 400, CLOSES},
    {"C4 back-slash", HOST("a\\b"), 400, CLOSES},
    {"C4 scheme", HOST("http://a.example"), 400, CLOSES},
    {"C4 query", HOST("a.example?x"), 400, CLOSES},
    {"C4 fragment", HOST("a.example#x"), 400, CLOSES},
    {"C4 ../x", HOST("../x"), 400, CLOSES},
    {"C4 percent escape of a slash", HOST("a%2fb"), 400, 0, .or_status = 200},
    {"C4 bad percent (h9)", HOST("a%zz"), 400, CLOSES},
    {"C5 port 80", HOST("a.example:80"), 200, KEEPS, A},
    {"C5 port 65535", HOST("a.example:65535"), 200, KEEPS, A},
    {"C5 empty port", HOST("a.example:"), 200, KEEPS, A},
    {"C5 port 65536", HOST("a.example:65536"), 400, CLOSES},
    {"C5 port of letters", HOST("a.example:http"), 400, CLOSES},
    {"C5 two ports", HOST("a.example:80:80"), 400, CLOSES},
    {"C5 negative port", HOST("a.example:-1"), 400, CLOSES},
    {"C5 plus port", HOST("a.example:+80"), 400, CLOSES},
    {"C5 port with blank", HOST("a.example:80 80"), 400, CLOSES},
    {"C5 long port", HOST("a.example:99999999999999999999"), 400, CLOSES},
    {"C5 port without host", HOST(":80"), 400, CLOSES},
    {"C6 leading dot", HOST(".a.example"), 400, CLOSES},
    {"C6 dot", HOST("."), 400, CLOSES},
    {"C6 two dots", HOST(".."), 400, CLOSES},
    {"C6 dots inside", HOST("a..example"), 400, CLOSES},
    {"C6 trailing dot", HOST("a.example."), 200, KEEPS, A},
    {"C6 trailing dot and port", HOST("a.example.:8080"), 200, KEEPS, A},
    {"C7 [::1]", HOST("[::1]"), 200, KEEPS, D},
    {"C7 [::1]:80", HOST("[::1]:80"), 200, KEEPS, D},
    {"C7 IPvFuture", HOST("[v1.a:b]"), 200, KEEPS, D},
    {"C7 open bracket", HOST("[::1"), 400, CLOSES},
    {"C7 text before", HOST("a[::1]"), 400, CLOSES},
    {"C7 text behind", HOST("[::1]a"), 400, CLOSES},
    {"C7 only close", HOST("::1]"), 400, CLOSES},
    {"C7 empty brackets", HOST("[]"), 400, CLOSES},
    {"C7 no IPv6", HOST("[g::1]"), 400, CLOSES},
    {"C8 any case", HOST("A.eXample"), 200, KEEPS, A},
    {"C9 underscore", HOST("_under_.example"), 200, KEEPS, .body = "u\n"},
    {"C10 ESC", HOST("a\033b"), 400, CLOSES},
    {"C10 DEL", HOST("a\177b"), 400, CLOSES},
    {"C10 NUL", .status = 400, .flags = CLOSES, BYTES("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n")},
    {"C10 quote", HOST("a\"b"), 400, CLOSES},
    {"C10 angle", HOST("<script>"), 400, CLOSES, .body_lacks = "<script>"},
    {"C11 unknown", HOST("nobody.example"), 200, KEEPS, D},
    {"C11 address", HOST("127.0.0.1"), 200, KEEPS, D},
    {"A2 HTTP/1.0, Host chooses", "GET /who HTTP/1.0\r\nHost: a.example\r\n\r\n", 200, CLOSES, A},
};

static const struct row forms[] = {
    {"D1 absolute", "GET http://a.example/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 200, KEEPS, A},
    {"D1 with port", "GET http://a.example:81/who HTTP/1.1\r\nHost: a.example:81\r\n\r\n", 200,
     KEEPS, A},
    {"D2 no path", "GET http://a.example HTTP/1.1\r\nHost: a.example\r\n\r\n", 200, KEEPS,
     .body = "index of a\n"},
    {"D2 no path, query", "GET http://a.example?x=/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 200,
     KEEPS, .body = "index of a\n"},
    {"D3 target wins (h10)", "GET http://a.example/who HTTP/1.1\r\nHost: localhost\r\n\r\n", 200,
     KEEPS, A},
    {"D3 target wins, the other way",
     "GET http://localhost/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 200, KEEPS, D},
    {"D4 absolute without Host", "GET http://a.example/who HTTP/1.1\r\n\r\n", 400, CLOSES},
    {"D4 absolute without Host, 1.0", "GET http://a.example/who HTTP/1.0\r\n\r\n", 200, CLOSES, A},
    {"D3 absolute with a bad Host", "GET http://a.example/who HTTP/1.1\r\nHost: a b\r\n\r\n", 400,
     CLOSES},
    {"D5 scheme in capitals", "GET HTTP://A.EXAMPLE/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 200,
     KEEPS, A},
    {"D5 ftp", "GET ftp://a.example/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D5 no scheme", "GET ://a.example/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D5 one slash", "GET http:/a.example/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D6 userinfo", "GET http://u@a.example/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D6 bad port", "GET http://a.example:99999/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400,
     CLOSES},
    {"D6 port of letters", "GET http://a.example:x/who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400,
     CLOSES},
    {"D6 empty host", "GET http:///who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D6 dot host", "GET http://../who HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D7 GET * (h10)", REQ("GET", "*", ""), 400, CLOSES},
    {"D7 OPTIONS *", REQ("OPTIONS", "*", ""), 200, KEEPS | EMPTY, .or_status = 204,
     .has = "Allow: *"},
    {"D7 OPTIONS */x", REQ("OPTIONS", "*/x", ""), 400, CLOSES},
    {"D7 OPTIONS ** ", REQ("OPTIONS", "**", ""), 400, CLOSES},
    {"D8 CONNECT", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", 405, CLOSES,
     .or_status = 501},
    {"D8 CONNECT /", "CONNECT / HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
    {"D8 CONNECT without port", "CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n", 400,
     CLOSES},
    {"h10 GET authority", "GET a.example:80 HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, CLOSES},
};

static const struct row https[] = {
    {"D5 https on a plain port", "GET https://a.example/who HTTP/1.1\r\nHost: a.example\r\n\r\n",
     200, 0, .or_status = 400},
};

static void test_hosts(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(hosts));
    rows_run_bytewise(srv->at[0], ROWS(hosts));
}

static void test_forms(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(forms));
    rows_run_bytewise(srv->at[0], ROWS(forms));
    rows_run(srv->at[0], ROWS(https));
}

/* hostile.md 2b: a host of 64 KiB, and one that just fits. */
static void test_long(void **state)
{
    (void)state;
    char *big = repeat('h', 65536), *fits = repeat('h', 255);
    char *one = text_of("GET /who HTTP/1.1\r\nHost: %s\r\n\r\n", big);
    char *two = text_of("GET /who HTTP/1.1\r\nHost: %s\r\n\r\n", fits);
    struct row rows[] = {{"C11 64 KiB", one, 431, CLOSES | RESET_OK, .or_status = 400},
                         {"C11 255 letters", two, 200, KEEPS, D}};
    rows_run(srv->at[0], ROWS(rows));
    free(big);
    free(fits);
    free(one);
    free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_long),
        LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/who", "default\n");
    server_text(srv, "a/who", "a\n");
    server_text(srv, "a/index.html", "index of a\n");
    server_text(srv, "u/who", "u\n");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
