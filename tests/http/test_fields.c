/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Header fields over the wire: behaviours.md B1 to B20, hostile.md 3 to 6 and 12. Port 0 is strict
 * as shipped, port 1 has lenient_line_ends, port 2 has ignore_invalid_headers.
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
                           "    - {listen: '127.0.0.1:@0@', root: html}\n"
                           "    - {listen: '127.0.0.1:@1@', root: html, lenient_line_ends: on}\n"
                           "    - {listen: '127.0.0.1:@2@', root: html, ignore_invalid_headers: on,"
                           " max_headers: 10}\n";

#define WITH(fields) REQ("GET", "/probe.txt", fields)
#define P            .body = "probe\n"

static const struct row good[] = {
    {"B1 name in any case", "GET /probe.txt HTTP/1.1\r\nhOsT:localhost\r\n\r\n", 200, KEEPS, P},
    {"B1 no space, many spaces, tabs", WITH("A:b\r\nC:   d   \r\nE:\t f\t\r\n"), 200, KEEPS, P},
    {"B1 empty values", WITH("A:\r\nB: \r\nC:\t\r\n"), 200, KEEPS, P},
    {"B1 tab before Content-Length", WITH("Content-Length:\t5\r\n") "hello", 200, KEEPS, P},
    {"B1 tabs around Content-Length", WITH("cOnTent-lenGth:\t 5 \t\r\n") "hello", 200, KEEPS, P},
    {"B1 one letter, digits", WITH("x: 1\r\n1: 1\r\n"), 200, KEEPS, P},
    {"B1 colons in the value", WITH("A: b:c::d\r\nB::\r\n"), 200, KEEPS, P},
    {"B6 underscore and dot", WITH("a_b: 1\r\na.b: 2\r\n_: 3\r\n.: 4\r\n"), 200, KEEPS, P},
    {"B6 all token marks", WITH("!#$%&'*+-.^_`|~: 1\r\n"), 200, KEEPS, P},
    {"B12 tab and obs-text in a value", WITH("A: b\tc\200\377\303\244\r\n"), 200, KEEPS, P},
    {"B18 lists on several lines",
     WITH("Accept-Encoding: br\r\nAccept-Encoding: x\r\nCookie: a=b\r\nCookie: c=d\r\n"
          "Connection: x\r\nConnection: keep-alive\r\nAccept: a/b\r\nAccept: c/d\r\n"),
     200, KEEPS, P},
    {"B18 If-None-Match on two lines", WITH("If-None-Match: \"a\"\r\nIf-None-Match: \"b\"\r\n"),
     200, KEEPS, P},
    {"B20 strange cookies", WITH("Cookie: ===;;;=;a;\"\r\n"), 200, KEEPS, P},
    {"B6 M19 Content_Length frames nothing", WITH("Content_Length: 50\r\n"), 200, KEEPS, P},
    {"B6 M19 Transfer_Encoding frames nothing", WITH("Transfer_Encoding: chunked\r\n"), 200, KEEPS,
     P},
    {"h22 Connection names other fields", WITH("Connection: content-length, host\r\n"), 200, KEEPS,
     P},
};

static const struct row bad[] = {
    {"B2 space before the colon", WITH("A : b\r\n"), 400, CLOSES},
    {"B2 tab before the colon", WITH("A\t: b\r\n"), 400, CLOSES},
    {"B2 Host with space", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, CLOSES},
    {"B2 Content-Length with space", WITH("Content-Length : 5\r\n") "hello", 400, CLOSES},
    {"B3 no colon", WITH("Abc\r\n"), 400, CLOSES},
    {"B3 no colon, with space", WITH("Abc def\r\n"), 400, CLOSES},
    {"B4 empty name", WITH(": x\r\n"), 400, CLOSES},
    {"B4 only a colon", WITH(":\r\n"), 400, CLOSES},
    {"B4 colon first line", "GET / HTTP/1.1\r\n:\r\nHost: a\r\n\r\n", 400, CLOSES},
    {"B5 NUL in a name", .status = 400, .flags = CLOSES,
     BYTES("GET / HTTP/1.1\r\nHost: a\r\nA\0B: c\r\n\r\n")},
    {"B7 obs-fold, space (h5)", WITH("A: b\r\n c\r\n"), 400, CLOSES},
    {"B7 obs-fold, tab", WITH("A: b\r\n\tc\r\n"), 400, CLOSES},
    {"B7 obs-fold of an empty line", WITH("A: b\r\n \r\n"), 400, CLOSES},
    {"B7 folded Host", "GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n", 400, CLOSES},
    {"B8 space line first", "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n", 400, CLOSES},
    {"B8 first field indented", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400, CLOSES},
    {"B9 NUL in a value", .status = 400, .flags = CLOSES,
     BYTES("GET / HTTP/1.1\r\nHost: a\r\nA: b\0c\r\n\r\n")},
    {"B9 NUL ends a value", .status = 400, .flags = CLOSES,
     BYTES("GET / HTTP/1.1\r\nHost: a\r\nA: b\0\r\n\r\n")},
    {"B10 bare CR in a value", WITH("A: b\rc\r\n"), 400, CLOSES},
    {"B10 CR CR LF", WITH("A: b\r\r\n"), 400, CLOSES},
    {"B10 bare CR in a name", WITH("A\rB: c\r\n"), 400, CLOSES},
    {"B11 0x01 in a value", WITH("A: b\001\r\n"), 400, CLOSES},
    {"B11 DEL in a value", WITH("A: \177\r\n"), 400, CLOSES},
    {"B11 ESC in a value", WITH("A: \033[31m\r\n"), 400, CLOSES},
    {"B14 CR LF CR X", "GET / HTTP/1.1\r\nHost: a\r\n\rX: y\r\n\r\n", 400, CLOSES},
    {"B14 CR X", "GET / HTTP/1.1\r\nHost: a\rX: y\r\n\r\n", 400, CLOSES},
    {"B15 CR-only line ends", "GET / HTTP/1.1\rHost: a\r\r", 400, CLOSES},
    {"B18 two Host", WITH("Host: localhost\r\n"), 400, CLOSES},
    {"B18 two Content-Length", WITH("Content-Length: 1\r\nContent-Length: 2\r\n") "ab", 400,
     CLOSES},
    {"B18 two Transfer-Encoding",
     WITH("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") "0\r\n\r\n", 400, CLOSES},
    {"B18 two If-Modified-Since", WITH("If-Modified-Since: a\r\nIf-Modified-Since: a\r\n"), 400,
     CLOSES},
    {"B18 two If-Unmodified-Since", WITH("If-Unmodified-Since: a\r\nIf-Unmodified-Since: a\r\n"),
     400, CLOSES},
    {"B18 two If-Range", WITH("If-Range: \"a\"\r\nIf-Range: \"a\"\r\n"), 400, CLOSES},
    {"B18 two Authorization", WITH("Authorization: a\r\nAuthorization: b\r\n"), 400, CLOSES},
    {"B18 two Expect", WITH("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 400, CLOSES},
};

static const struct row bare_lf[] = {
    {"B13 only LF", "GET /probe.txt HTTP/1.1\nHost: localhost\n\n", 400, CLOSES},
    {"B13 LF behind the request line", "GET /probe.txt HTTP/1.1\nHost: localhost\r\n\r\n", 400,
     CLOSES},
    {"B13 LF behind a field", "GET /probe.txt HTTP/1.1\r\nHost: localhost\nA: b\r\n\r\n", 400,
     CLOSES},
    {"B13 LF as the last line end", "GET /probe.txt HTTP/1.1\r\nHost: localhost\r\n\n", 400,
     CLOSES},
    {"B13 LF before the request", "\nGET /probe.txt HTTP/1.1\r\nHost: localhost\r\n\r\n", 400,
     CLOSES},
};

static const struct row lenient[] = {
    {"B13 lenient: only LF", "GET /probe.txt HTTP/1.1\nHost: localhost\n\n", 200, KEEPS, P},
    {"B13 lenient: mixed", "GET /probe.txt HTTP/1.1\r\nHost: localhost\nA: b\r\n\n", 200, KEEPS, P},
    {"B13 lenient: CRLF", WITH("A: b\r\n"), 200, KEEPS, P},
    {"B10 lenient: bare CR is still bad", WITH("A: b\rc\r\n"), 400, CLOSES},
};

static const struct row skipped[] = {
    {"B5 ignored: bad names", WITH("A(b): c\r\nD@: e\r\n[f]: g\r\n"), 200, KEEPS, P},
    {"B9 ignored: NUL is still bad", .status = 400, .flags = CLOSES,
     BYTES("GET / HTTP/1.1\r\nHost: a\r\nA\0B: c\r\n\r\n")},
    {"B2 ignored: space before the colon is still bad", WITH("Content-Length : 5\r\n") "hello", 400,
     CLOSES},
    {"B17 max_headers 10", WITH("a:1\r\na:2\r\na:3\r\na:4\r\na:5\r\na:6\r\na:7\r\na:8\r\na:9\r\n"),
     200, KEEPS, P},
    {"B17 max_headers 10, eleven",
     WITH("a:1\r\na:2\r\na:3\r\na:4\r\na:5\r\na:6\r\na:7\r\na:8\r\na:9\r\na:10\r\n"), 431, CLOSES},
};

static void test_good(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(good));
    rows_run_bytewise(srv->at[0], ROWS(good));
}

static void test_bad(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(bad));
    rows_run_bytewise(srv->at[0], ROWS(bad));
}

static void test_line_ends(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(bare_lf));
    rows_run_bytewise(srv->at[0], ROWS(bare_lf));
    rows_run(srv->at[1], ROWS(lenient));
    rows_run_bytewise(srv->at[1], ROWS(lenient));
}

static void test_ignore_invalid(void **state)
{
    (void)state;
    rows_run(srv->at[2], ROWS(skipped));
}

/* B5, h4, h6: every byte in a field name; only token bytes pass. */
static void test_name_bytes(void **state)
{
    (void)state;
    size_t failed = 0;
    for (int b = 0; b < 256; b++) {
        char request[] = "GET /probe.txt HTTP/1.1\r\nHost: localhost\r\nA?B: c\r\n\r\n";
        char name[32], why[256];
        *strchr(request, '?') = (char)b;
        bool token = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') ||
                     (b > 0 && strchr("!#$%&'*+-.^_`|~", b) != NULL);
        bool good_byte = token || b == ':'; /* a colon makes it a field "A" */
        snprintf(name, sizeof(name), "B5 0x%02x in a name", (unsigned)b);
        struct row row = {name, request, good_byte ? 200 : 400, good_byte ? KEEPS : CLOSES,
                          .n = sizeof(request) - 1};
        if (!row_run(srv, srv->at[0], &row, why, sizeof(why))) {
            print_error("%s: %s\n", name, why);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

/* B9 to B12, h4: every byte in a value. */
static void test_value_bytes(void **state)
{
    (void)state;
    size_t failed = 0;
    for (int b = 0; b < 256; b++) {
        char request[] = "GET /probe.txt HTTP/1.1\r\nHost: localhost\r\nA: b?c\r\n\r\n";
        char name[32], why[256];
        *strchr(request, '?') = (char)b;
        bool good_byte = (b >= 0x20 && b != 0x7f) || b == '\t';
        snprintf(name, sizeof(name), "B11 0x%02x in a value", (unsigned)b);
        struct row row = {name, request, good_byte ? 200 : 400, good_byte ? KEEPS : CLOSES,
                          .n = sizeof(request) - 1};
        if (!row_run(srv, srv->at[0], &row, why, sizeof(why))) {
            print_error("%s: %s\n", name, why);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

static void send_fields(const char *name, const char *fields, int status, int or_status,
                        unsigned flags)
{
    char *all = text_of("GET /probe.txt HTTP/1.1\r\nHost: localhost\r\n%s\r\n", fields);
    struct row row = {name, all, status, flags, .or_status = or_status};
    rows_run(srv->at[0], &row, 1);
    free(all);
}

/* B16, B20, h12: how large a head may be. */
static void test_size(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        int status;
        unsigned flags;
    } line[] = {
        {"B16 field of 4000", 4000, 200, KEEPS},
        {"B16 field of 8000", 8000, 200, KEEPS},
        {"B16 field of 8200", 8200, 431, CLOSES},
        {"B16 field of 32 KiB", 32768, 431, CLOSES},
        {"B20 cookie of 64 KiB", 65536, 431, CLOSES | RESET_OK},
        {"B16 field of 100 KB", 100000, 431, CLOSES | RESET_OK},
        {"h12 field of 8 MiB", 8 << 20, 431, CLOSES | RESET_OK},
    };
    for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
        char *value = repeat('v', line[i].n), *field = text_of("Cookie: %s\r\n", value);
        send_fields(line[i].name, field, line[i].status, 0, line[i].flags);
        free(value);
        free(field);
    }
    char *v = repeat('v', 7000);
    char *four = text_of("A: %s\r\nB: %s\r\nC: %s\r\nD: %s\r\n", v, v, v, v);
    char *five = text_of("%sE: %s\r\n", four, v);
    send_fields("B16 head of 28 KB", four, 200, 0, KEEPS);
    send_fields("B16 head of 35 KB", five, 431, 0, CLOSES);
    free(v);
    free(four);
    free(five);
}

/* B17, h12: how many fields. */
static void test_count(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int n, status;
        unsigned flags;
    } count[] = {
        {"B17 one field and Host", 1, 200, KEEPS},
        {"B17 100 fields", 99, 200, KEEPS},
        {"B17 101 fields", 100, 431, CLOSES},
        {"B17 10,000 fields", 10000, 431, CLOSES | RESET_OK},
        {"h12 100,000 fields", 100000, 431, CLOSES | RESET_OK},
    };
    for (size_t i = 0; i < sizeof(count) / sizeof(count[0]); i++) {
        char *fields = malloc((size_t)count[i].n * 6 + 1);
        for (int k = 0; k < count[i].n; k++)
            memcpy(fields + (size_t)k * 6, "a: b\r\n", 7);
        send_fields(count[i].name, fields, count[i].status, 0, count[i].flags);
        free(fields);
    }
}

/* B19: long and short heads by turns on one connection; values never mix. */
static void test_reused_buffers(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    char *big = repeat('z', 7000);
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < 20; i++) {
        char *request = i % 2 == 0
                            ? text_of("GET /none%d?%s HTTP/1.1\r\nHost: localhost\r\n\r\n", i, big)
                            : text_of(WITH("A: %s\r\nB: %s\r\n"), big, big);
        client_send_split(&c, request, strlen(request), (size_t)i * 300, 2);
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.status, i % 2 == 0 ? 404 : 200);
        if (i % 2 != 0)
            assert_string_equal(r.body, "probe\n");
        reply_free(&r);
        free(request);
    }
    free(big);
    client_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),           cmocka_unit_test(test_bad),
        cmocka_unit_test(test_line_ends),      cmocka_unit_test(test_ignore_invalid),
        cmocka_unit_test(test_name_bytes),     cmocka_unit_test(test_value_bytes),
        cmocka_unit_test(test_size),           cmocka_unit_test(test_count),
        cmocka_unit_test(test_reused_buffers), LAST_TESTS,
    };
    server_new();
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("header fields", tests, NULL, NULL);
}
