/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The request line over the wire: behaviours.md A1 to A25, hostile.md 1, 2, 7, 8, 12. What is no
 * request gets 400 (or the status of its fault) and the connection ends.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] = "http:\n"
                           "  server:\n"
                           "    - listen: 127.0.0.1:@0@\n"
                           "      root: html\n";

#define H "\r\nHost: localhost\r\n\r\n"

static const struct row good[] = {
    {"A1 plain", GET("/a.txt"), 200, KEEPS, .body = "a\n",
     .has = "Content-Length: 2\nContent-Type: text/plain*\nLast-Modified: *\nETag: *\n"
            "Server: sluice"},
    {"A2 HTTP/1.0 without Host", "GET /a.txt HTTP/1.0\r\n\r\n", 200, CLOSES, .body = "a\n"},
    {"A4 HTTP/1.2", "GET /a.txt HTTP/1.2" H, 200, KEEPS},
    {"A4 HTTP/1.9", "GET /a.txt HTTP/1.9" H, 200, KEEPS},
    {"A4 HTTP/1.2 without Host", "GET /a.txt HTTP/1.2\r\n\r\n", 400, CLOSES},
    {"A19 one CRLF before", "\r\n" GET("/a.txt"), 200, KEEPS},
    {"A19 two CRLF before", "\r\n\r\n" GET("/a.txt"), 200, KEEPS},
    {"A21 half-close behind the request", GET("/a.txt"), 200, HALF_CLOSE | ENDS, .body = "a\n"},
    {"A1 query", GET("/a.txt?x=y&/../.."), 200, KEEPS, .body = "a\n"},
};

static const struct row versions[] = {
    {"A5 HTTP/1.11", "GET / HTTP/1.11" H, 400, CLOSES},
    {"A5 HTTP/1.10", "GET / HTTP/1.10" H, 400, CLOSES},
    {"A5 HTTP/10.0", "GET / HTTP/10.0" H, 400, CLOSES, .or_status = 505},
    {"A5 HTTP/01.01", "GET / HTTP/01.01" H, 400, CLOSES},
    {"A5 HTTP/.01", "GET / HTTP/.01" H, 400, CLOSES},
    {"A5 HTTP/1", "GET / HTTP/1" H, 400, CLOSES},
    {"A5 HTTP/1.", "GET / HTTP/1." H, 400, CLOSES},
    {"A5 HTTP/a.b", "GET / HTTP/a.b" H, 400, CLOSES},
    {"A5 HTTP/ 1.1", "GET / HTTP/ 1.1" H, 400, CLOSES},
    {"A5 HTTP/1.1.1", "GET / HTTP/1.1.1" H, 400, CLOSES},
    {"A5 HTTP/-1.1", "GET / HTTP/-1.1" H, 400, CLOSES},
    {"A5 HTTP/1,1", "GET / HTTP/1,1" H, 400, CLOSES},
    {"A5 HTTP1.1", "GET / HTTP1.1" H, 400, CLOSES},
    {"A5 HTTP/", "GET / HTTP/" H, 400, CLOSES},
    {"A6 HTTP/2.0", "GET / HTTP/2.0" H, 505, CLOSES, .or_status = 400},
    {"A6 HTTP/3.0", "GET / HTTP/3.0" H, 505, CLOSES, .or_status = 400},
    {"A6 HTTP/9.9", "GET / HTTP/9.9" H, 505, CLOSES, .or_status = 400},
    {"A6 HTTP/0.9 by name", "GET / HTTP/0.9" H, 400, CLOSES, .or_status = 505},
    {"A7 http/1.1", "GET / http/1.1" H, 400, CLOSES, .or_status = 505},
    {"A7 HTT/1.0", "GET / HTT/1.0" H, 400, CLOSES, .or_status = 505},
    {"A7 ICE/1.0", "GET / ICE/1.0" H, 400, CLOSES, .or_status = 505},
    {"A7 RTSP/1.0", "GET / RTSP/1.0" H, 400, CLOSES, .or_status = 505},
    {"A14 HTTP/1.0 x", "GET / HTTP/1.0 x" H, 400, CLOSES},
    {"A14 HTTP/1.1x", "GET / HTTP/1.1x" H, 400, CLOSES},
    {"A14 NUL behind the version", .status = 400, .flags = CLOSES, BYTES("GET / HTTP/1.0\0" H)},
};

static const struct row bad[] = {
    {"A3 HTTP/0.9", "GET /\r\n", 400, CLOSES | SILENT_OK},
    {"A3 HTTP/0.9 with an empty line", "GET /\r\n\r\n", 400, CLOSES},
    {"A8 lower case method", "get / HTTP/1.1" H, 501, CLOSES, .or_status = 400},
    {"A8 mixed case method", "Get / HTTP/1.1" H, 501, CLOSES, .or_status = 400},
    {"A9 FOOBAR", "FOOBAR / HTTP/1.1" H, 501, CLOSES},
    {"A9 LINK", "LINK / HTTP/1.1" H, 501, 0, .or_status = 405},
    {"A9 PROPFIND", "PROPFIND / HTTP/1.1" H, 501, 0, .or_status = 405},
    {"A9 token of marks", "!#$%&'*+-.^_`|~ / HTTP/1.1" H, 501, CLOSES},
    {"A10 G/T", "G/T / HTTP/1.1" H, 400, CLOSES},
    {"A10 quote in the method", "G\"T / HTTP/1.1" H, 400, CLOSES},
    {"A10 0x01 in the method", "G\001T / HTTP/1.1" H, 400, CLOSES},
    {"A10 0x80 in the method", "G\200T / HTTP/1.1" H, 400, CLOSES},
    {"A10 DEL in the method", "G\177T / HTTP/1.1" H, 400, CLOSES},
    {"A10 NUL in the method", .status = 400, .flags = CLOSES, BYTES("G\0T / HTTP/1.1" H)},
    {"A10 brackets", "[GET] / HTTP/1.1" H, 400, CLOSES},
    {"h7 G ET", "G ET / HTTP/1.1" H, 400, CLOSES},
    {"A11 no method", " / HTTP/1.1" H, 400, CLOSES},
    {"A11 no target", "GET HTTP/1.1" H, 400, CLOSES},
    {"A11 empty target", "GET  HTTP/1.1" H, 400, CLOSES},
    {"A11 only GET", "GET" H, 400, CLOSES},
    {"A11 GET/", "GET/ HTTP/1.0" H, 400, CLOSES, .or_status = 501},
    {"A11 target without slash", "GET a.txt HTTP/1.1" H, 400, CLOSES},
    {"A12 TAB behind the method", "GET\t/ HTTP/1.1" H, 400, CLOSES},
    {"A12 TAB before the version", "GET /\tHTTP/1.1" H, 400, CLOSES},
    {"A12 FF", "GET\f/ HTTP/1.1" H, 400, CLOSES},
    {"A12 VT", "GET\v/ HTTP/1.1" H, 400, CLOSES},
    {"A12 bare CR as separator", "GET\r/ HTTP/1.1" H, 400, CLOSES},
    {"A12 bare CR before the version", "GET /\rHTTP/1.1" H, 400, CLOSES},
    {"A13 two SP before the target", "GET  / HTTP/1.1" H, 400, CLOSES},
    {"A13 two SP before the version", "GET /  HTTP/1.1" H, 400, CLOSES},
    {"A13 SP behind the version", "GET / HTTP/1.1 " H, 400, CLOSES},
    {"A15 SP in the target", "GET /a b HTTP/1.1" H, 400, CLOSES},
    {"A16 ESC in the target", "GET /a\033b HTTP/1.1" H, 400, CLOSES},
    {"A16 0x1f in the target", "GET /a\037b HTTP/1.1" H, 400, CLOSES},
    {"A16 DEL in the target", "GET /a\177b HTTP/1.1" H, 400, CLOSES},
    {"A16 TAB in the query", "GET /a?\tb HTTP/1.1" H, 400, CLOSES},
    {"A16 NUL in the target", .status = 400, .flags = CLOSES, BYTES("GET /a.txt\0 HTTP/1.1" H)},
    {"A16 NUL in the query", .status = 400, .flags = CLOSES, BYTES("GET /a.txt?\0 HTTP/1.1" H)},
    {"A17 raw 0x80", "GET /\200 HTTP/1.1" H, 400, CLOSES},
    {"A17 raw UTF-8", "GET /\303\244 HTTP/1.1" H, 400, CLOSES},
    {"A17 raw 0xff in the query", "GET /?\377 HTTP/1.1" H, 400, CLOSES},
    {"A18 fragment (h11)", "GET /a.txt#x HTTP/1.1" H, 400, CLOSES},
    {"A18 fragment behind the query", "GET /a.txt?a#x HTTP/1.1" H, 400, CLOSES},
    {"A19 three CRLF before (h1)", "\r\n\r\n\r\n" GET("/a.txt"), 400, CLOSES},
    {"A19 SP CRLF before", " \r\n" GET("/a.txt"), 400, CLOSES},
};

static const struct row ends[] = {
    {"A22 EOF before any request", "", 0, HALF_CLOSE},
    {"A22 lone CRLF", "\r\n", 0, HALF_CLOSE},
    {"A22 two CRLF", "\r\n\r\n", 0, HALF_CLOSE},
    {"A22 half a line", "GET /", 400, HALF_CLOSE | CLOSES | SILENT_OK},
    {"A22 half a head", "GET / HTTP/1.1\r\nHost: a\r\n", 400, HALF_CLOSE | CLOSES | SILENT_OK},
    {"A23 binary", .status = 400, .flags = CLOSES | SILENT_OK,
     BYTES("\0\1\2\3\xff\xfe\x80\x81 \r\n\r\n\0\0\0")},
    {"A23 TLS hello", .status = 400, .flags = CLOSES | SILENT_OK,
     BYTES("\x16\x03\x01\x00\x10\x01\x00\x00\x0c\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
    {"A23 HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, CLOSES | SILENT_OK,
     .or_status = 400},
    {"A23 zeros", .status = 400, .flags = CLOSES | SILENT_OK, BYTES("\0\0\0\0\0\0\0\0\0\0")},
};

static void test_good(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(good));
    rows_run_bytewise(srv->at[0], ROWS(good));
}

static void test_versions(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(versions));
    rows_run_bytewise(srv->at[0], ROWS(versions));
}

static void test_bad(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(bad));
    rows_run_bytewise(srv->at[0], ROWS(bad));
}

static void test_ends(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(ends));
}

/* A20: CR, LF, CR, LF each in a packet of its own. */
static void test_line_ends_apart(void **state)
{
    (void)state;
    static const char *const part[] = {
        "GET /a.txt HTTP/1.1", "\r", "\n", "Host: a", "\r", "\n", "\r", "\n"};
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        client_sendz(&c, part[i]);
        sleep_ms(5);
    }
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    assert_int_equal(r.status, 200);
    assert_string_equal(r.body, "a\n");
    reply_free(&r);
    client_close(&c);
}

static void sized(const char *name, const char *before, char fill, size_t n, const char *behind,
                  int status, int or_status, unsigned flags)
{
    char *middle = repeat(fill, n), *all = text_of("%s%s%s", before, middle, behind);
    struct row row = {name, all, status, flags, .or_status = or_status};
    rows_run(srv->at[0], &row, 1);
    free(middle);
    free(all);
}

/* A24, A25, h12: what a request line may measure. */
static void test_length(void **state)
{
    (void)state;
    sized("A24 8000 octets", "GET /", 'a', 8000 - 15, " HTTP/1.1" H, 404, 0, KEEPS);
    sized("A24 7000 octets of query", "GET /a.txt?", 'q', 7000, " HTTP/1.1" H, 200, 0, KEEPS);
    sized("A25 8 KiB and more", "GET /", 'a', 8300, " HTTP/1.1" H, 414, 0, CLOSES);
    sized("A25 40 KB", "GET /", 'a', 40000, " HTTP/1.1" H, 414, 0, CLOSES);
    sized("A25 1 MiB (h12)", "GET /", 'a', 1 << 20, " HTTP/1.1" H, 414, 0, CLOSES | RESET_OK);
    sized("A25 100 KB method", "", 'M', 100000, " / HTTP/1.1" H, 414, 501, CLOSES | RESET_OK);
    sized("h7 64 KiB of blanks", "", ' ', 65536, "", 400, 414, CLOSES | RESET_OK);
    sized("A25 64 KiB without a line end", "GET /", '/', 65536, "", 414, 0, CLOSES | RESET_OK);
}

/* Every byte at each place of the line: only what the grammar allows is served. */
static void test_every_byte(void **state)
{
    (void)state;
    static const char *const where[] = {"G%cT /a.txt HTTP/1.1" H,
                                        "GET%c/a.txt HTTP/1.1" H,
                                        "GET /a.tx%c HTTP/1.1" H,
                                        "GET /a.txt?%c HTTP/1.1" H,
                                        "GET /a.txt%cHTTP/1.1" H,
                                        "GET /a.txt HTTP/1%c1" H,
                                        "GET /a.txt HTTP/1.1%c\nHost: localhost\r\n\r\n"};
    static const int right[] = {'E', ' ', 't', -1, ' ', '.', '\r'};
    size_t failed = 0;
    for (size_t k = 0; k < sizeof(where) / sizeof(where[0]); k++) {
        for (int b = 0; b < 256; b++) {
            char request[128];
            const char *hole = strstr(where[k], "%c");
            size_t at = (size_t)(hole - where[k]), n = strlen(where[k]) - 1;
            memcpy(request, where[k], at);
            request[at] = (char)b;
            memcpy(request + at + 1, hole + 2, n - at);
            struct client c;
            struct reply r;
            assert_true(client_open(&c, srv->at[0]));
            client_send(&c, request, n);
            client_half_close(&c);
            bool ok = reply_read(&c, &r, false, CLIENT_PATIENCE);
            bool may = b == right[k] || (right[k] == -1 && b > 0x20 && b < 0x7f && b != '#');
            if (k == 0 && r.status == 501)
                ok = true;
            else if (!ok || (r.status == 200) != may)
                ok = k == 2 && r.status == 404;
            if (!ok && failed < 20) {
                print_error("byte 0x%02x at place %zu: %d %s\n", (unsigned)b, k, r.status, r.err);
            }
            failed += !ok;
            reply_free(&r);
            client_close(&c);
        }
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_line_ends_apart),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_every_byte),
        LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/a.txt", "a\n");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("request line", tests, NULL, NULL);
}
