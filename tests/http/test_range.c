/* SPDX-License-Identifier: BSD-2-Clause */
/* Range requests: behaviours.md I1 to I23, hostile.md 57 to 60, 64 and 2a. Port 1: max_ranges 0. */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  add_header: [X-Other yes]\n"
    "  expires: 1d\n"
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
            "Cache-Control: max-age=86400\nAccept-Ranges: bytes", .body = "01234"},
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
    {"I4 letters behind", RANGE("bytes=5-x"), 416, KEEPS},
    {"I4 two dashes", RANGE("bytes=0--"), 416, KEEPS},
    {"I4 two minus signs", RANGE("bytes=-2-3"), 416, KEEPS},
    {"I4 no comma between", RANGE("bytes=2-3 4-5,6-"), 416, KEEPS},
    {"I4 only commas", RANGE("bytes=,"), 416, KEEPS},
    {"I4 blank in it", RANGE("bytes=0 -1"), 416, KEEPS},
    {"I4 blank behind the unit", RANGE("bytes =0-1"), 200, KEEPS, .or_status = 416},
    {"I4 a good one and a bad one", RANGE("bytes=0-1,x"), 416, KEEPS},
    {"I4 commas and blanks around", RANGE("bytes= ,0-1 ,, "), 206, KEEPS, .body = "01"},
    {"I5 backwards", RANGE("bytes=5-2"), 416, KEEPS},
    {"I5 backwards among others", RANGE("bytes=0-1,5-2"), 416, KEEPS},
    {"I6 unknown unit", RANGE("items=0-5"), 200, KEEPS, .body = "0123456789"},
    {"I6 no unit", RANGE("0-3"), 200, KEEPS, .body = "0123456789"},
    {"I7 several", RANGE("bytes=0-1,-2"), 206, KEEPS,
     .has = "Content-Type: multipart/byteranges; boundary=*", .lacks = "Content-Range",
     .body_has = "Content-Range: bytes 0-1/10\r\n\r\n01\r\n--"},
    {"I7 parts have a type", RANGE("bytes=0-1,-2"), 206, KEEPS,
     .body_has = "Content-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 8-9/10\r\n\r\n89"},
    {"I7 as they were asked for", RANGE("bytes=-2,0-1"), 206, KEEPS,
     .body_has = "bytes 8-9/10\r\n\r\n89\r\n--"},
    {"I9 two are left", RANGE("bytes=0-1,10-,-2,-0"), 206, KEEPS,
     .has = "Content-Type: multipart/byteranges; boundary=*", .body_lacks = "*/10",
     .body_has = "bytes 8-9/10\r\n\r\n89"},
    {"I9 none is left", RANGE("bytes=10-,11-12,-0"), 416, KEEPS,
     .has = "Content-Range: bytes */10"},
    {"I10 adjacent", RANGE("bytes=0-3,4-5"), 206, KEEPS, .has = "Content-Range: bytes 0-5/10"},
    {"I8 one is left", RANGE("bytes=0-1,99-"), 206, KEEPS, .has = "Content-Range: bytes 0-1/10",
     .body = "01"},
    {"I10 merged to one", RANGE("bytes=0-3,2-5"), 206, KEEPS,
     .has = "Content-Range: bytes 0-5/10", .body = "012345"},
    {"I11 more than the file", RANGE("bytes=0-9,0-9"), 200, KEEPS, .body = "0123456789"},
    {"I11 max_ranges", REQ("GET", "/three.txt", "Range: bytes=0-0,2-2,4-4,6-6\r\n"), 200, KEEPS},
    {"I12 beyond 2^63", RANGE("bytes=0-99999999999999999999"), 206, KEEPS, .body = "0123456789"},
    {"I12 from beyond 2^63", RANGE("bytes=99999999999999999999-"), 416, KEEPS},
    {"I13 POST", REQ("POST", "/ten.txt", "Range: bytes=0-1\r\nContent-Length: 0\r\n"), 405, KEEPS,
     .lacks = "Content-Range"},
    {"2a Request-Range is no Range", REQ("GET", "/ten.txt", "Request-Range: bytes=0-1\r\n"), 200,
     KEEPS, .body = "0123456789"},
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
    {"I18 412 comes before a bad range", RANGE_AND("bytes=x", "If-Match: \"x\""), 412, KEEPS},
    {"I20 empty file", REQ("GET", "/empty.txt", "Range: bytes=0-\r\n"), 416, KEEPS,
     .has = "Content-Range: bytes */0"},
    {"I20 empty file, suffix", REQ("GET", "/empty.txt", "Range: bytes=-5\r\n"), 200,
     KEEPS | EMPTY},
    {"I21 offered", GET("/ten.txt"), 200, KEEPS, .has = "Accept-Ranges: bytes"},
    {"I23 not of an error", REQ("GET", "/none", "Range: bytes=0-1\r\n"), 404, KEEPS},
    {"I23 not of a redirect", REQ("GET", "/d", "Range: bytes=0-1\r\n"), 301, KEEPS},
    {"I23 not of an error, multipart", REQ("GET", "/none", "Range: bytes=0-1,4-5\r\n"), 404, KEEPS,
     .lacks = "Content-Range"},
    {"h57 empty", RANGE("bytes="), 416, KEEPS},
    {"h57 dash", RANGE("bytes=-"), 416, KEEPS},
    {"h60 several, HEAD", REQ("HEAD", "/ten.txt", "Range: bytes=0-1,4-5\r\n"), 200, KEEPS | EMPTY,
     .has = "Content-Length: 10\nContent-Type: text/plain*"},
    {"h60 206 of a negotiable file", REQ("GET", "/long.html",
                                         "Range: bytes=0-4\r\nAccept-Encoding: gzip\r\n"),
     206, KEEPS, .or_status = 200, .has = "Vary: *"},
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

/* I19, I15, I17: a 206 has the fields that the 200 has, with If-Range too. */
static void test_fields(void **state)
{
    (void)state;
    static const char *const same[] = {"ETag", "Cache-Control", "Expires", "Vary",
                                       "Last-Modified", "Accept-Ranges", "X-Other"};
    static const char *const how[] = {"", "If-Range: " SAME "\r\n"};
    for (size_t k = 0; k < 2; k++) {
        struct reply full, part;
        char *request = text_of(REQ("GET", "/ten.txt", "Range: bytes=0-1\r\n%s"), how[k]);
        assert_true(fetch(srv->at[0], GET("/ten.txt"), &full));
        assert_true(fetch(srv->at[0], request, &part));
        assert_int_equal(part.status, 206);
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
            const char *a = reply_field(&full, same[i]), *b = reply_field(&part, same[i]);
            bool may_lack = k == 1 && strcmp(same[i], "Last-Modified") == 0;
            if ((a == NULL) != (b == NULL) ? !may_lack : a != NULL && strcmp(a, b) != 0)
                fail_msg("I19 %s: %s in the 200, %s in the 206", same[i], a != NULL ? a : "none",
                         b != NULL ? b : "none");
        }
        reply_free(&full);
        reply_free(&part);
        free(request);
    }
}

/* h59: If-Range with what was right before the file changed. */
static void test_stale(void **state)
{
    (void)state;
    server_text(srv, "html/stale.txt", "before");
    server_mtime(srv, "html/stale.txt", MTIME, 0);
    char *tag = ask_field(GET("/stale.txt"), 200, "ETag");
    char *by_tag = text_of(REQ("GET", "/stale.txt", "Range: bytes=0-1\r\nIf-Range: %s\r\n"), tag);
    struct row fresh[] = {
        {"h59 the tag", by_tag, 206, KEEPS, .body = "be"},
        {"h59 the date", REQ("GET", "/stale.txt", "Range: bytes=0-1\r\nIf-Range: " SAME "\r\n"),
         206, KEEPS, .body = "be"},
    };
    rows_run(srv->at[0], ROWS(fresh));
    server_text(srv, "html/stale.txt", "behind");
    server_mtime(srv, "html/stale.txt", MTIME + 1, 0);
    struct row stale[] = {
        {"h59 a stale tag", by_tag, 200, KEEPS, .body = "behind"},
        {"h59 a stale date",
         REQ("GET", "/stale.txt", "Range: bytes=0-1\r\nIf-Range: " SAME "\r\n"), 200, KEEPS,
         .body = "behind"},
        {"h59 earlier is not the same", RANGE_AND("bytes=0-1", "If-Range: "
                                                               "Sun, 09 Sep 2001 01:46:39 GMT"),
         200, KEEPS},
        {"h59 garbage", RANGE_AND("bytes=0-1", "If-Range: \"ab"), 200, KEEPS},
        {"h59 *", RANGE_AND("bytes=0-1", "If-Range: *"), 200, KEEPS},
        {"h59 without Range", REQ("GET", "/ten.txt", "If-Range: \"x\"\r\n"), 200, KEEPS},
    };
    char why[200];
    for (int i = 0; i < 40 && !row_run(srv, srv->at[0], &stale[0], why, sizeof(why)); i++)
        sleep_ms(25); /* until the change has been seen */
    rows_run(srv->at[0], ROWS(stale));
    free(tag);
    free(by_tag);
}

/* h60: a file that holds boundaries: of answers before, and all that look like one. */
static void test_boundary(void **state)
{
    (void)state;
    static const char request[] = REQ("GET", "/trap.txt", "Range: bytes=0-99,200-299\r\n");
    char file[400], seen[64] = "";
    for (int round = 0; round < 5; round++) {
        struct reply r;
        memset(file, '-', sizeof(file));
        snprintf(file + 10, 80, "\r\n--%s\r\nContent-Type: a/b\r\n\r\n", seen);
        snprintf(file + 210, 80, "\r\n--%s--\r\n", seen);
        server_data(srv, "html/trap.txt", file, sizeof(file));
        sleep_ms(20);
        assert_true(fetch(srv->at[0], request, &r));
        assert_int_equal(r.status, 206);
        const char *b = strstr(reply_field(&r, "Content-Type"), "boundary=");
        assert_non_null(b);
        b += strlen("boundary=");
        assert_int_not_equal(strcmp(b, seen), 0); /* nobody could have known it */
        size_t found = 0, n = strlen(b);
        for (size_t i = 0; i + n + 2 <= r.body_n; i++)
            found += memcmp(r.body + i, "--", 2) == 0 && memcmp(r.body + i + 2, b, n) == 0;
        assert_int_equal(found, 3);
        snprintf(seen, sizeof(seen), "%s", b);
        reply_free(&r);
    }
}

/* h64: the file changes behind the head of a part: the announced bytes of the old one, or an end. */
static void test_changes(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct client c;
        struct reply r;
        bool wrong = false;
        server_fill(srv, "html/moving.bin", 8u << 20);
        sleep_ms(30);
        assert_true(client_open_rcvbuf(&c, srv->at[0], 16384));
        client_sendz(&c, REQ("GET", "/moving.bin", "Range: bytes=4096-8388607\r\n"));
        assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.status, 206);
        assert_int_equal(r.length, (8u << 20) - 4096);
        if (how == 0) {
            server_text(srv, "html/moving.new", "other");
            assert_int_equal(rename(server_path(srv, "html/moving.new"),
                                    server_path(srv, "html/moving.bin")), 0);
        } else if (how == 1) {
            assert_int_equal(truncate(server_path(srv, "html/moving.bin"), 4 << 20), 0);
        } else {
            assert_int_equal(truncate(server_path(srv, "html/moving.bin"), 16 << 20), 0);
        }
        uint64_t got = client_drain(&c, 4096, r.length, file_byte, 5000, &wrong);
        if (wrong || (how == 1 ? got > (4 << 20) - 4096 || !c.eof : got != r.length))
            fail_msg("h64 change %d: %llu bytes%s", how, (unsigned long long)got,
                     wrong ? ", wrong ones" : "");
        reply_free(&r);
        client_close(&c);
    }
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
        cmocka_unit_test(test_many),  cmocka_unit_test(test_fields),
        cmocka_unit_test(test_stale), cmocka_unit_test(test_boundary),
        cmocka_unit_test(test_changes), LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/ten.txt", "0123456789");
    server_mtime(srv, "html/ten.txt", MTIME, 0);
    server_text(srv, "html/three.txt", "0123456789");
    server_text(srv, "html/empty.txt", "");
    server_fill(srv, "html/big.bin", 2u << 20);
    server_mkdir(srv, "html/d");
    char *html = repeat('h', 5000);
    server_text(srv, "html/long.html", html);
    free(html);
    server_up(srv, CONF);
    srv->rss_slack_kb = 1024; /* bodies and their compressed forms held in memory */
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
