/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies that come with requests: behaviours.md L1 to L5, M1 to M21 and T1, hostile.md 13 to 19.
 * No file takes one; it is read to its end or the connection ends, and nothing in it is ever taken
 * for a request. Every row ends with a request that must be answered (KEEPS, the probe) or must not
 * (TRAP). Port 0 as shipped; port 1 reads at most 100 bytes, and other amounts in its locations.
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
                           "  access_log: logs/access.log combined flush=50ms\n"
                           "  server:\n"
                           "    - listen: '127.0.0.1:@0@'\n"
                           "      root: html\n"
                           "      location:\n"
                           "        /ok: {return: '200 ok'}\n"
                           "    - listen: '127.0.0.1:@1@'\n"
                           "      root: html\n"
                           "      client_max_body_size: 100\n"
                           "      location:\n"
                           "        /more.txt: {client_max_body_size: 1k}\n"
                           "        /any.txt: {client_max_body_size: 0}\n"
                           "        /less.txt: {client_max_body_size: 10}\n"
                           "        /ok: {return: '200 ok'}\n";

/* Must not be answered: it is part of what went wrong before it. */
#define TRAP           GET("/trap")
#define P              .body = "probe\n"
#define WITH(fields)   REQ("GET", "/probe.txt", fields)
#define POST(fields)   REQ("POST", "/ok", fields)
#define CHUNKED(body)  WITH("Transfer-Encoding: chunked\r\n") body
#define REFUSED(value) WITH("Content-Length: " value "\r\n") TRAP, 400, CLOSES

/* ---- what says how long it is ---- */

static const struct row lengths[] = {
    {"M1 GET", WITH("Content-Length: 5\r\n") "hello", 200, KEEPS, P},
    {"M1 POST", POST("Content-Length: 5\r\n") "hello", 200, KEEPS, .body = "ok"},
    {"M1 POST on a file", REQ("POST", "/probe.txt", "Content-Length: 5\r\n") "hello", 405, KEEPS},
    {"M1 none", WITH("Content-Length: 0\r\n"), 200, KEEPS, P},
    {"M4 two that differ (h14)", WITH("Content-Length: 5\r\nContent-Length: 6\r\n") TRAP, 400,
     CLOSES},
    {"M4 two alike (h14)", WITH("Content-Length: 5\r\nContent-Length: 5\r\n") TRAP, 400, CLOSES},
    {"M4 list", REFUSED("5, 5")},
    {"M4 list that differs", REFUSED("5,6")},
    {"M5 +5 (h13)", REFUSED("+5")},
    {"M5 -1", REFUSED("-1")},
    {"M5 -0", REFUSED("-0")},
    {"M5 0x5", REFUSED("0x5")},
    {"M5 0o5", REFUSED("0o5")},
    {"M5 1_0", REFUSED("1_0")},
    {"M5 1 0", REFUSED("1 0")},
    {"M5 5a", REFUSED("5a")},
    {"M5 5.0", REFUSED("5.0")},
    {"M5 1e1", REFUSED("1e1")},
    {"M5 quoted", REFUSED("\"5\"")},
    {"M5 Arabic digit (h13)", REFUSED("\xd9\xa5")},
    {"M5 empty", REFUSED("")},
    {"M5 blanks only", REFUSED("   ")},
    {"M5 2^63", REFUSED("9223372036854775808"), .or_status = 413},
    {"M5 2^64", REFUSED("18446744073709551616"), .or_status = 413},
    {"M5 2^64+5", REFUSED("18446744073709551621"), .or_status = 413},
    {"M5 forty digits", REFUSED("1111111111222222222233333333334444444444"), .or_status = 413},
    {"M5 005 is 5", WITH("Content-Length: 005\r\n") "hello", 200, KEEPS, P},
    {"M5 00 is 0", WITH("Content-Length: 00\r\n"), 200, KEEPS, P},
    {"M5 blanks around", WITH("Content-Length: \t 5 \t\r\n") "hello", 200, KEEPS, P},
    {"M5 POST +5", POST("Content-Length: +5\r\n") TRAP, 400, CLOSES},
    {"M18 X behind nothing", WITH("Content-Length: 0\r\n") "X" TRAP, 200, ENDS, P, .then = {501}},
    {"M19 Content_Length", WITH("Content_Length: 5\r\n"), 200, KEEPS, P},
    {"M19 Content-Length-X", WITH("Content-Length-X: 5\r\n"), 200, KEEPS, P},
    {"M20 POST without a length", POST(""), 200, KEEPS, .or_status = 411, .body = "ok"},
    {"M17 less than said, then the end", WITH("Content-Length: 50\r\n") TRAP, 200, HALF_CLOSE | ENDS,
     P},
};

#define TE(value)    WITH("Transfer-Encoding: " value "\r\n") "0\r\n\r\n" TRAP
#define BOTH(fields) WITH(fields) "0\r\n\r\n" TRAP, 400, CLOSES

static const struct row codings[] = {
    {"M3 length and chunked (h15)", BOTH("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")},
    {"M3 chunked and length", BOTH("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")},
    {"M3 Chunked and length", BOTH("Transfer-Encoding: Chunked\r\nContent-Length: 0\r\n")},
    {"M3 ,chunked and length", BOTH("Transfer-Encoding: ,chunked\r\nContent-Length: 5\r\n")},
    {"M3 identity and length", BOTH("Transfer-Encoding: identity\r\nContent-Length: 5\r\n"),
     .or_status = 501},
    {"M6 gzip (h16)", TE("gzip"), 501, CLOSES, .or_status = 400},
    {"M6 xchunked", TE("xchunked"), 501, CLOSES, .or_status = 400},
    {"M6 identity", TE("identity"), 501, CLOSES, .or_status = 400},
    {"M6 empty", TE(""), 400, CLOSES, .or_status = 501},
    {"M7 not the last", TE("chunked, gzip"), 400, CLOSES, .or_status = 501},
    {"M7 twice", TE("chunked, chunked"), 400, CLOSES, .or_status = 501},
    {"M7 gzip, chunked", TE("gzip, chunked"), 501, CLOSES},
    {"M9 VT", TE("\vchunked"), 400, CLOSES, .or_status = 501},
    {"M9 FF", TE("chunked\f"), 400, CLOSES, .or_status = 501},
    {"M9 0x85", TE("\x85"
                   "chunked"),
     501, CLOSES, .or_status = 400},
    {"M9 0xa0", TE("chunked\xa0"), 501, CLOSES, .or_status = 400},
    {"M9 parameter", TE("chunked;x"), 501, CLOSES, .or_status = 400},
    {"M9 quoted", TE("\"chunked\""), 501, CLOSES, .or_status = 400},
    {"M9 NUL", BYTES(WITH("Transfer-Encoding: chunked\0\r\n") "0\r\n\r\n" TRAP), .status = 400,
     .flags = CLOSES},
    {"M10 two lines", WITH("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") TRAP,
     400, CLOSES},
    {"M10 two lines that differ",
     WITH("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") TRAP, 400, CLOSES,
     .or_status = 501},
    {"M11 HTTP/1.0",
     "GET /probe.txt HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n"
     "0\r\n\r\n" TRAP, 400, CLOSES},
    {"M19 Transfer_Encoding", WITH("Transfer_Encoding: chunked\r\n"), 200, KEEPS, P},
    {"M8 tab before", WITH("Transfer-Encoding:\tchunked\r\n") "0\r\n\r\n", 200, KEEPS, P},
    {"M8 upper case", WITH("Transfer-Encoding: CHUNKED\r\n") "0\r\n\r\n", 200, KEEPS, P},
};

/* ---- chunks ---- */

static const struct row chunks[] = {
    {"M2 one", CHUNKED("5\r\nhello\r\n0\r\n\r\n"), 200, KEEPS, P},
    {"M2 several", CHUNKED("1\r\nh\r\n2\r\nel\r\n2\r\nlo\r\n0\r\n\r\n"), 200, KEEPS, P},
    {"M2 none", CHUNKED("0\r\n\r\n"), 200, KEEPS, P},
    {"M2 hexadecimal", CHUNKED("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"), 200, KEEPS, P},
    {"M2 leading zeros", CHUNKED("0005\r\nhello\r\n000\r\n\r\n"), 200, KEEPS, P},
    {"M2 a request as data", CHUNKED("24\r\nGET /trap HTTP/1.1\r\nHost: hhhhhh\r\n\r\n\r\n0\r\n\r\n"),
     200, KEEPS, P},
    {"M2 POST", POST("Transfer-Encoding: chunked\r\n") "5\r\nhello\r\n0\r\n\r\n", 200, KEEPS,
     .body = "ok"},
    {"M2 POST on a file",
     REQ("POST", "/probe.txt", "Transfer-Encoding: chunked\r\n") "5\r\nhello\r\n0\r\n\r\n", 405,
     KEEPS},
    {"M15 extension", CHUNKED("5;a=b\r\nhello\r\n0;last\r\n\r\n"), 200, KEEPS, P},
    {"M15 quoted", CHUNKED("5;a=\"b;\\\"c\"\r\nhello\r\n0\r\n\r\n"), 200, KEEPS, P},
    {"M16 trailers", CHUNKED("5\r\nhello\r\n0\r\nX: y\r\nHost: other\r\n\r\n"), 200, 0, P,
     .or_status = 400},
    {"M16 trailers that frame",
     CHUNKED("0\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n"), 200, KEEPS, P},
    {"M16 trailers that ask", CHUNKED("0\r\nRange: bytes=0-0\r\nIf-None-Match: *\r\n"
                                      "Authorization: x\r\nContent-Type: a/b\r\n\r\n"),
     200, KEEPS, P},
};

/* The bad ones: the answer was right and is out; nothing behind is read any more. */
static const char *const bad_chunks[] = {
    "0x5\r\nhello\r\n0\r\n\r\n", /* M12, h17 */
    "+5\r\nhello\r\n0\r\n\r\n",
    "-1\r\nhello\r\n0\r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    "5\t\r\nhello\r\n0\r\n\r\n",
    "1_0\r\nhello\r\n0\r\n\r\n",
    "\r\nhello\r\n0\r\n\r\n",
    "G\r\nhello\r\n0\r\n\r\n",
    "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "8000000000000000\r\nhello\r\n0\r\n\r\n",
    "10000000000000005\r\nhello\r\n0\r\n\r\n",
    "100000000000000000005\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello!\r\n0\r\n\r\n", /* M13 */
    "5\r\nhell\r\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n",
    "5hello\r\n0\r\n\r\n",
    "5\nhello\r\n0\r\n\r\n", /* M14 */
    "5\r\nhello\n0\r\n\r\n",
    "5\rhello\r\n0\r\n\r\n",
    "5\r\nhello\r0\r\n\r\n",
    "5\r\nhello\r\n0\n\r\n",
    "5\r\nhello\r\n0\r\n\n",
    "5\r\nhello\r\n0\n\n",
    "5;\r\nhello\r\n0\r\n\r\n", /* M15 */
    "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "5;a\nb\r\nhello\r\n0\r\n\r\n",
    "5;a\001\r\nhello\r\n0\r\n\r\n",
    "5;a=\"b\r\nhello\r\n0\r\n\r\n",
    "0\r\nX\r\n\r\n", /* M16: a trailer that is no field */
    "0\r\n X: y\r\n\r\n",
    "0\r\nX : y\r\n\r\n",
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(lengths));
    rows_run(srv->at[0], ROWS(codings));
    rows_run(srv->at[0], ROWS(chunks));
}

static void test_bytewise(void **state)
{
    (void)state;
    rows_run_bytewise(srv->at[0], ROWS(lengths));
    rows_run_bytewise(srv->at[0], ROWS(codings));
    rows_run_bytewise(srv->at[0], ROWS(chunks));
}

/* One answer (to what came before the fault), and then the end, whatever is behind. */
static void answered_once(const char *name, const char *request, size_t n, bool bytewise)
{
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    if (bytewise)
        client_send_bytes(&c, request, n);
    else
        client_send(&c, request, n);
    if (!reply_read(&c, &r, false, CLIENT_PATIENCE))
        fail_msg("%s: %s", name, r.err);
    if (r.status != 400 && r.status != 200)
        fail_msg("%s: %d", name, r.status);
    reply_free(&r);
    if (!client_ends(&c, 3000))
        fail_msg("%s: %s \"%.40s\"", name, c.n > 0 ? "more is answered:" : "stays open", c.in);
    client_close(&c);
}

/* M12 to M16, h17: with a request behind each, in one piece and byte by byte. */
static void test_bad_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_chunks) / sizeof(bad_chunks[0]); i++) {
        char *all = text_of("%s%s%s", WITH("Transfer-Encoding: chunked\r\n"), bad_chunks[i], TRAP);
        answered_once(bad_chunks[i], all, strlen(all), false);
        answered_once(bad_chunks[i], all, strlen(all), true);
        free(all);
    }
    static const char nul[] = CHUNKED("5;a\0\r\nhello\r\n0\r\n\r\n") TRAP;
    answered_once("M15 NUL", nul, sizeof(nul) - 1, false);
}

/* M15, M16, h17: what has no end costs no memory. */
static void test_long_chunks(void **state)
{
    (void)state;
    char *zeros = repeat('0', 65536), *letters = repeat('a', 65536);
    char *extension = text_of("%s5;%s\r\nhello\r\n0\r\n\r\n%s",
                              WITH("Transfer-Encoding: chunked\r\n"), letters, TRAP);
    char *zero = text_of("%s%s5\r\nhello\r\n0\r\n\r\n%s", WITH("Transfer-Encoding: chunked\r\n"),
                         zeros, TRAP);
    char *trailer = text_of("%s0\r\nX: %s\r\n\r\n%s", WITH("Transfer-Encoding: chunked\r\n"),
                            letters, TRAP);
    answered_once("M15 64 KiB of extension", extension, strlen(extension), false);
    answered_once("64 KiB of zeros", zero, strlen(zero), false);
    answered_once("M16 64 KiB of trailer", trailer, strlen(trailer), false);
    free(zeros);
    free(letters);
    free(extension);
    free(zero);
    free(trailer);
}

/* M2, h18: thousands of chunks of one byte, in whatever pieces, and the next request is in step. */
static void test_many_chunks(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    char *all = malloc(COUNT * 6 + 2000), *at = all;
    struct client c;
    struct reply r;
    at += sprintf(at, "%s", WITH("Transfer-Encoding: chunked\r\n"));
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "1\r\nG\r\n");
    at += sprintf(at, "0\r\n\r\n%s", PROBE);
    assert_true(client_open(&c, srv->at[0]));
    for (char *p = all; p < at;) {
        size_t n = (size_t)(at - p) < 7001 ? (size_t)(at - p) : 7001;
        assert_true(client_send(&c, p, n));
        p += n;
    }
    for (int i = 0; i < 2; i++) {
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_string_equal(r.body, "probe\n");
        reply_free(&r);
    }
    client_close(&c);
    free(all);
}

/* 2a (errata 013, 2022-41556): the client goes at each byte of a chunked POST, in three ways. */
static void test_gone(void **state)
{
    (void)state;
    static const char request[] =
        POST("Transfer-Encoding: chunked\r\n") "5;a=b\r\nhello\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n" PROBE;
    for (int how = 0; how < 3; how++)
        for (size_t at = 1; at < sizeof(request); at++) {
            struct client c;
            assert_true(client_open(&c, srv->at[0]));
            client_send(&c, request, at);
            if (at % 4 == 0)
                client_fill(&c, 1);
            if (how == 0) {
                client_abort(&c);
                continue;
            }
            if (how == 1) {
                struct reply r;
                client_half_close(&c);
                while (reply_read(&c, &r, false, 3000)) {
                    assert_true(r.status == 200 || r.status == 400);
                    reply_free(&r);
                }
                if (!c.eof)
                    fail_msg("half-closed after %zu bytes: %s", at, r.err);
                reply_free(&r);
            }
            client_close(&c);
        }
}

/* ---- Expect ---- */

static const struct row expect[] = {
    {"L1 GET, no body", WITH("Expect: 100-continue\r\n"), 200, KEEPS, P},
    {"L1 POST on a file, not sent",
     REQ("POST", "/probe.txt", "Expect: 100-continue\r\nContent-Length: 5\r\n"), 405, 0},
    {"L2 upper case", POST("Expect: 100-CONTINUE\r\nContent-Length: 0\r\n"), 200, KEEPS},
    {"L3 HTTP/1.0",
     "POST /ok HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello", 200, ENDS,
     .body = "ok"},
    {"L4 other (h19)", WITH("Expect: 200-maybe\r\n") , 417, CLOSES},
    {"L4 a list", WITH("Expect: 100-continue, other\r\n"), 417, CLOSES},
    {"L4 empty", WITH("Expect:\r\n"), 417, 0, .or_status = 200},
    {"L5 the body is there", POST("Expect: 100-continue\r\nContent-Length: 5\r\n") "hello", 200, 0,
     .body = "ok"},
};

/* L1, L5, h19: 100 and then the answer, or the answer at once; the body is never a request. */
static void test_expect(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(expect));
    static const char head[] = "POST /ok HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                               "Content-Length: 35\r\n\r\n";
    static const char body[] = "GET /trap HTTP/1.1\r\nHost: hhhhhhh\r\n"; /* 35 bytes */
    assert_int_equal(sizeof(body) - 1, 35);
    for (int wait = 0; wait < 2; wait++) {
        struct client c;
        struct reply r;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, head);
        bool ok = true;
        if (wait == 1)
            ok = reply_read(&c, &r, false, CLIENT_PATIENCE);
        client_sendz(&c, body);
        client_sendz(&c, PROBE);
        if (wait == 0)
            ok = reply_read(&c, &r, false, CLIENT_PATIENCE);
        if (!ok || r.status != 200 || strcmp(r.body, "ok") != 0)
            fail_msg("L5: %d %s", r.status, r.err);
        bool keeps = r.keeps;
        reply_free(&r);
        if (reply_read(&c, &r, false, 3000) && (!keeps || strcmp(r.body, "probe\n") != 0))
            fail_msg("L5: the body was taken for a request: %d", r.status);
        else if (r.head == NULL && keeps)
            fail_msg("L5: kept, and yet closed");
        reply_free(&r);
        client_close(&c);
    }
    char *log = server_read(srv, "logs/access.log");
    assert_int_equal(count_text(log, "\"GET /trap"), 0); /* of all the rows up to here */
    free(log);
}

/* ---- how large ---- */

#define LONG(target, n) REQ("GET", target, "Content-Length: " n "\r\n")
#define HUNDRED                                                                                    \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"  \
    "123456789"

static const struct row sizes[] = {
    {"T1 as large as may be", LONG("/probe.txt", "100") HUNDRED, 200, KEEPS, P},
    {"T1 one more", LONG("/probe.txt", "101") HUNDRED "x", 413, CLOSES},
    {"T1 before it is sent", LONG("/probe.txt", "101"), 413, CLOSES},
    {"T1 HEAD", REQ("HEAD", "/probe.txt", "Content-Length: 101\r\n"), 413, CLOSES},
    {"T1 1 GiB (M21)", LONG("/probe.txt", "1073741824"), 413, CLOSES},
    {"T1 POST on a file is 405 first", REQ("POST", "/probe.txt", "Content-Length: 101\r\n"), 405,
     CLOSES, .has = "Allow: GET, HEAD*"},
    {"T1 nothing of it is read", REQ("POST", "/ok", "Content-Length: 1000000\r\n"), 200, CLOSES},
    {"T1 a location that takes more", LONG("/more.txt", "101") HUNDRED "x", 200, KEEPS},
    {"T1 but not all", LONG("/more.txt", "1025"), 413, CLOSES},
    {"T1 a location that takes less", LONG("/less.txt", "11") "hello world", 413, CLOSES},
    {"T1 a missing file", LONG("/none", "101"), 413, CLOSES},
    {"T1 chunked, as large as may be",
     REQ("GET", "/less.txt", "Transfer-Encoding: chunked\r\n") "a\r\n0123456789\r\n0\r\n\r\n", 200,
     KEEPS},
    {"T1 0 is no limit, chunked",
     REQ("GET", "/any.txt", "Transfer-Encoding: chunked\r\n") "64\r\n" HUNDRED "\r\n64\r\n" HUNDRED
     "\r\n0\r\n\r\n", 200, KEEPS},
};

static void test_sizes(void **state)
{
    (void)state;
    rows_run(srv->at[1], ROWS(sizes));
    rows_run_bytewise(srv->at[1], ROWS(sizes));
    /* T1: chunked and too large, as soon as that is seen; M17 besides. */
    static const struct row crossed[] = {
        {"T1 chunked, one more",
         REQ("GET", "/less.txt", "Transfer-Encoding: chunked\r\n") "b\r\n0123456789x\r\n0\r\n\r\n"
         TRAP, 200, ENDS, .or_status = 413},
        {"T1 chunked, in all",
         REQ("GET", "/less.txt", "Transfer-Encoding: chunked\r\n") "6\r\n012345\r\n6\r\n012345\r\n"
         "0\r\n\r\n" TRAP, 200, ENDS, .or_status = 413},
    };
    rows_run(srv->at[1], ROWS(crossed));
    rows_run_bytewise(srv->at[1], ROWS(crossed));
}

/* T1: 0 is no limit: 3 MiB, which is more than is read by default. */
static void test_unlimited(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    char *mib = repeat('x', 1 << 20);
    assert_true(client_open(&c, srv->at[1]));
    client_sendz(&c, LONG("/any.txt", "3145728"));
    for (int i = 0; i < 3; i++)
        assert_true(client_send(&c, mib, 1 << 20));
    client_sendz(&c, PROBE);
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    assert_int_equal(r.status, 200);
    reply_free(&r);
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    assert_string_equal(r.body, "probe\n");
    reply_free(&r);
    client_close(&c);
    free(mib);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_bytewise),
        cmocka_unit_test(test_bad_chunks),  cmocka_unit_test(test_long_chunks),
        cmocka_unit_test(test_many_chunks), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_expect),      cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_unlimited),   LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/more.txt", "more\n");
    server_text(srv, "html/less.txt", "less\n");
    server_text(srv, "html/any.txt", "any\n");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}
