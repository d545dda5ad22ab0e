/* SPDX-License-Identifier: BSD-2-Clause */
/* Range requests: behaviours.md I1 to I23, hostile.md 57 to 60 and 2a. Port 1: max_ranges 0. */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  add_header: Cache-Control max-age=60\n"
    "  server:\n"
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      location:\n"
    "        /three: {root: html, max_ranges: 3}\n"
    "    - {listen: '127.0.0.1:@1@', root: html, max_ranges: 0}\n";

#define MTIME 1000000000
#define SAME  "Sun, 09 Sep 2001 01:46:40 GMT"
#define LATER "Sun, 09 Sep 2001 01:46:41 GMT"
#define RANGE(value)              REQ("GET", "/ten.txt", "Range: " value "\r\n")
#define RANGE_AND(value, further) REQ("GET", "/ten.txt", "Range: " value "\r\n" further "\r\n")

static const struct row rows[] = {
    {"I1 first bytes", RANGE("bytes=0-4"), 206, KEEPS,
     .has = "Content-Range: bytes 0-4/10\nContent-Length: 5\nETag: *\nLast-Modified: *\n"
            "Cache-Control: max-age=60\nAccept-Ranges: bytes", .body = "01234"},
    {"I2 suffix", RANGE("bytes=-3"), 206, KEEPS, .has = "Content-Range: bytes 7-9/10",
     .body = "789"},
    {"I2 open", RANGE("bytes=8-"), 206, KEEPS, .has = "Content-Range: bytes 8-9/10", .body = "89"},
    {"I2 clamped", RANGE("bytes=8-1990"), 206, KEEPS, .has = "Content-Range: bytes 8-9/10"},
    {"I2 one byte", RANGE("bytes=0-0"), 206, KEEPS, .body = "0"},
    {"I2 long suffix", RANGE("bytes=-99"), 206, KEEPS, .or_status = 200, .body = "0123456789"},
    {"I3 behind the end", RANGE("bytes=10-"), 416, KEEPS, .has = "Content-Range: bytes */10",
     .lacks = "Accept-Ranges\nETag"},
    {"I3 empty suffix", RANGE("bytes=-0"), 416, KEEPS, .has = "Content-Range: bytes */10"},
    {"I4 letters", RANGE("bytes=a-b"), 416, KEEPS},
    {"I4 no dash", RANGE("bytes=5"), 416, KEEPS},
    {"I5 backwards", RANGE("bytes=5-2"), 416, KEEPS, .or_status = 200},
    {"I6 unknown unit", RANGE("items=0-5"), 200, KEEPS, .body = "0123456789"},
    {"I6 no unit", RANGE("0-3"), 200, KEEPS, .body = "0123456789"},
    {"I7 several", RANGE("bytes=0-1,-2"), 206, KEEPS,
     .has = "Content-Type: multipart/byteranges; boundary=*", .lacks = "Content-Range",
     .body_has = "Content-Range: bytes 0-1/10\r\n\r\n01\r\n--"},
    {"I7 parts have a type", RANGE("bytes=0-1,-2"), 206, KEEPS,
     .body_has = "Content-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 8-9/10\r\n\r\n89"},
    {"I8 one is left", RANGE("bytes=0-1,99-"), 206, KEEPS, .has = "Content-Range: bytes 0-1/10",
     .body = "01"},
    {"I10 merged to one", RANGE("bytes=0-3,2-5"), 206, KEEPS,
     .has = "Content-Range: bytes 0-5/10", .body = "012345"},
    {"I11 more than the file", RANGE("bytes=0-9,0-9"), 200, KEEPS, .body = "0123456789"},
    {"I11 max_ranges", REQ("GET", "/three.txt", "Range: bytes=0-0,2-2,4-4,6-6\r\n"), 200, KEEPS},
    {"I12 beyond 2^63", RANGE("bytes=0-99999999999999999999"), 206, KEEPS, .or_status = 416},
    {"I13 HEAD", REQ("HEAD", "/ten.txt", "Range: bytes=0-4\r\n"), 200, KEEPS | EMPTY,
     .has = "Content-Length: 10", .lacks = "Content-Range"},
    {"I14 HTTP/1.0", "GET /ten.txt HTTP/1.0\r\nRange: bytes=1-2\r\n\r\n", 206, CLOSES,
     .body = "12"},
    {"I17 If-Range, date", RANGE_AND("bytes=0-1", "If-Range: " SAME), 206, KEEPS, .body = "01"},
    {"I17 If-Range, later", RANGE_AND("bytes=0-1", "If-Range: " LATER), 200, KEEPS},
    {"I17 If-Range, garbage", RANGE_AND("bytes=0-1", "If-Range: x"), 200, KEEPS},
    {"I15 If-Range, other tag", RANGE_AND("bytes=0-1", "If-Range: \"x\""), 200, KEEPS},
    {"I16 If-Range, weak tag", RANGE_AND("bytes=0-1", "If-Range: W/\"x\""), 200, KEEPS},
    {"I18 304 comes first", RANGE_AND("bytes=0-1", "If-None-Match: *"), 304, KEEPS | EMPTY},
    {"I18 412 comes first", RANGE_AND("bytes=99-", "If-Match: \"x\""), 412, KEEPS},
    {"I20 empty file", REQ("GET", "/empty.txt", "Range: bytes=0-\r\n"), 416, KEEPS,
     .or_status = 200},
    {"I21 offered", GET("/ten.txt"), 200, KEEPS, .has = "Accept-Ranges: bytes"},
    {"I23 not of an error", REQ("GET", "/none", "Range: bytes=0-1\r\n"), 404, KEEPS},
    {"I23 not of a redirect", REQ("GET", "/d", "Range: bytes=0-1\r\n"), 301, KEEPS},
    {"h57 empty", RANGE("bytes="), 416, KEEPS, .or_status = 200},
    {"h57 dash", RANGE("bytes=-"), 416, KEEPS, .or_status = 200},
};

static const struct row disabled[] = {
    {"I21 disabled", RANGE("bytes=0-1"), 200, KEEPS, .lacks = "Accept-Ranges",
     .body = "0123456789"},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
}

static void test_disabled(void **state)
{
    (void)state;
    rows_run(srv->at[1], ROWS(disabled));
}

/* I15: the tag the server itself gave. */
static void test_own_tag(void **state)
{
    (void)state;
    char *tag = ask_field(GET("/ten.txt"), 200, "ETag");
    assert_non_null(tag);
    char *request = text_of(REQ("GET", "/ten.txt", "Range: bytes=3-4\r\nIf-Range: %s\r\n"), tag);
    char *body = ask_body(request, 206);
    assert_string_equal(body, "34");
    free(tag);
    free(request);
    free(body);
}

/* I22: the edges of the ways a file is sent. */
static void test_edges(void **state)
{
    (void)state;
    static const uint64_t at[] = {4095, 4096, 65535, 65536, 65537, 262144, 1048575, 1048577};
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
        for (uint64_t n = 1; n <= 262145; n = n * 64 + 1) {
            struct reply r;
            char *request =
                text_of("GET /big.bin HTTP/1.1\r\nHost: localhost\r\nRange: bytes=%llu-%llu\r\n\r\n",
                        (unsigned long long)at[i], (unsigned long long)(at[i] + n - 1));
            if (!fetch(srv->at[0], request, &r) || r.status != 206 || r.body_n != n)
                fail_msg("I22 %llu+%llu: %d %s", (unsigned long long)at[i],
                         (unsigned long long)n, r.status, r.err);
            for (uint64_t k = 0; k < n; k++)
                if ((unsigned char)r.body[k] != file_byte(at[i] + k))
                    fail_msg("I22 %llu+%llu: wrong byte %llu", (unsigned long long)at[i],
                             (unsigned long long)n, (unsigned long long)k);
            reply_free(&r);
            free(request);
        }
}

/* h58: the worst that CVE-2011-3192 asked for costs no more than the file. */
static void test_many(void **state)
{
    (void)state;
    char *list = malloc(1300 * 8 + 64), *at = list;
    at += sprintf(at, "bytes=0-");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, ",5-%d", i);
    char *request = text_of(REQ("GET", "/big.bin", "Range: %s\r\n"), list);
    struct reply r;
    assert_true(fetch(srv->at[0], request, &r));
    assert_true(r.status == 200 || r.status == 416);
    assert_true(r.body_n <= (2u << 20) + 4096);
    reply_free(&r);
    free(request);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),  cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_own_tag), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_many),  LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/ten.txt", "0123456789");
    server_mtime(srv, "html/ten.txt", MTIME, 0);
    server_text(srv, "html/three.txt", "0123456789");
    server_text(srv, "html/empty.txt", "");
    server_fill(srv, "html/big.bin", 2u << 20);
    server_mkdir(srv, "html/d");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
