/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a head under its limits and however it is cut; and the request line. */
#include "proto/h1_line.h"

#include "rows.h"

static const struct h1_limits strict = {
    .line_max = 8192, .head_max = 32768, .field_max = 8192, .fields_max = 100};
static const struct h1_limits lenient = {
    .line_max = 8192, .head_max = 32768, .field_max = 8192, .fields_max = 100, .lenient = true};
/* "GET / HTTP/1.1" is 14 bytes, "Host: a" 7. */
static const struct h1_limits tight = {
    .line_max = 14, .head_max = 34, .field_max = 7, .fields_max = 2};

struct outcome {
    enum h1_scan_result result;
    enum h1_error err;
    size_t seen; /* bytes given when it was known */
    uint32_t start, pos;
};

/* Gives the bytes in steps until the scan knows, each time in a fresh exact copy. */
static struct outcome scan_in_steps(struct str in, const struct h1_limits *lim, size_t step)
{
    struct h1_scan s = {0};
    struct outcome o = {.result = H1_SCAN_MORE};

    while (o.result == H1_SCAN_MORE && o.seen < in.n) {
        o.seen = o.seen + step < in.n ? o.seen + step : in.n;
        struct str part = copy_exact(str_head(in, o.seen));
        o.result = h1_scan_head(part, &s, lim, &o.err);
        free_exact(part);
    }
    o.start = s.start;
    o.pos = s.pos;
    return o;
}

#define L "GET / HTTP/1.1\r\n"
#define H "Host: a\r\n"

static const struct scan_row {
    const char *name;
    const struct h1_limits *lim;
    struct str in;
    enum h1_scan_result result;
    enum h1_error err;
    uint32_t start, pos; /* when done */
    size_t known;        /* one byte at a time: bytes it takes, 0: do not look */
} scan_rows[] = {
    {"A1 plain", &strict, STR_INIT(L H "\r\n"), H1_SCAN_DONE, H1_OK, 0, 27, 27},
    {"A20 rest stays", &strict, STR_INIT(L H "\r\nGET"), H1_SCAN_DONE, H1_OK, 0, 27, 27},
    {"A2 no fields", &strict, STR_INIT("GET / HTTP/1.0\r\n\r\n"), H1_SCAN_DONE, H1_OK, 0, 18, 18},
    {"A20 unfinished", &strict, STR_INIT(L H "\r"), H1_SCAN_MORE, H1_OK, 0, 0, 0},
    {"A3 HTTP/0.9", &strict, STR_INIT("GET /\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 7},
    {"A6 HTTP/2.0", &strict, STR_INIT("GET / HTTP/2.0\r\n"), H1_SCAN_ERROR, H1_BAD_VERSION, 0, 0,
     16},
    {"A7 RTSP", &strict, STR_INIT("GET / RTSP/1.0\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 16},
    {"A19 one empty line", &strict, STR_INIT("\r\n" L "\r\n"), H1_SCAN_DONE, H1_OK, 2, 20, 20},
    {"A19 two", &strict, STR_INIT("\r\n\r\n" L "\r\n"), H1_SCAN_DONE, H1_OK, 4, 22, 22},
    {"A19 h1 three", &strict, STR_INIT("\r\n\r\n\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 5},
    {"A19 bare LF first", &strict, STR_INIT("\n" L "\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 1},
    {"A19 bare LF first, lenient", &lenient, STR_INIT("\n\r\n" L "\n"), H1_SCAN_DONE, H1_OK, 3, 20,
     20},
    {"A22 lone CRLF", &strict, STR_INIT("\r\n"), H1_SCAN_MORE, H1_OK, 0, 0, 0},
    {"A23 h2 TLS hello", &strict, STR_INIT("\x16\x03\x01\x02\x00\x01"), H1_SCAN_ERROR, H1_BAD, 0, 0,
     1},
    {"A23 h2 noise", &strict, STR_INIT("\x80\x2e\x01\x00"), H1_SCAN_ERROR, H1_BAD, 0, 0, 1},
    {"A23 h2 preface", &strict, STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), H1_SCAN_ERROR,
     H1_BAD_VERSION, 0, 0, 16},
    {"h2 ssh banner", &strict, STR_INIT("SSH-2.0-OpenSSH_9\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 19},
    {"A11 blank first", &strict, STR_INIT(" / HTTP/1.1"), H1_SCAN_ERROR, H1_BAD, 0, 0, 1},
    {"A12 tab", &strict, STR_INIT("GET\t/ HTTP/1.1\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 4},
    {"A12 bare CR", &strict, STR_INIT("GET /\rHTTP/1.1\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 7},
    {"A16 NUL in target", &strict, STR_INIT("GET /\0 HTTP/1.1"), H1_SCAN_ERROR, H1_BAD, 0, 0, 6},
    {"A17 high byte", &strict, STR_INIT("GET /\xc3\xa4 HTTP/1.1"), H1_SCAN_ERROR, H1_BAD, 0, 0, 6},
    {"A14 NUL behind version", &strict, STR_INIT("GET / HTTP/1.0\0"), H1_SCAN_ERROR, H1_BAD, 0, 0,
     15},
    {"B7 obs-fold", &strict, STR_INIT(L "A: b\r\n c\r\n\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 23},
    {"B8 blank before field", &strict, STR_INIT(L " \r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 17},
    {"B10 bare CR in value", &strict, STR_INIT(L "A: b\rc\r\n\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0,
     22},
    {"B13 bare LF, line", &strict, STR_INIT("GET / HTTP/1.1\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 15},
    {"B13 bare LF, field", &strict, STR_INIT(L "A: b\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 21},
    {"B13 bare LF, end", &strict, STR_INIT(L "A: b\r\n\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 23},
    {"B13 lenient", &lenient, STR_INIT("GET / HTTP/1.1\nA: b\n\n"), H1_SCAN_DONE, H1_OK, 0, 21, 21},
    {"B13 lenient mixed", &lenient, STR_INIT(L "A: b\n\r\n"), H1_SCAN_DONE, H1_OK, 0, 23, 23},
    {"B14 CR X", &strict, STR_INIT(L H "\rX"), H1_SCAN_ERROR, H1_BAD, 0, 0, 27},
    {"B14 CR X lenient", &lenient, STR_INIT(L H "\rX"), H1_SCAN_ERROR, H1_BAD, 0, 0, 27},
    {"B14 CR CR LF", &strict, STR_INIT(L "A: b\r\r\n\r\n"), H1_SCAN_ERROR, H1_BAD, 0, 0, 22},
    {"B15 CR only", &strict, STR_INIT("GET / HTTP/1.1\rHost: a\r\r"), H1_SCAN_ERROR, H1_BAD, 0, 0,
     16},
    {"h12 all at the limits", &tight, STR_INIT(L H "A: bcde\r\n"), H1_SCAN_ERROR, H1_HEAD_TOO_LARGE,
     0, 0, 34},
    {"h12 head at limit", &tight, STR_INIT(L H "A: bc\r\n\r\n"), H1_SCAN_DONE, H1_OK, 0, 34, 34},
    {"h12 head at limit, blank first", &tight, STR_INIT("\r\n" L H "A: bc\r\n\r\n"), H1_SCAN_DONE,
     H1_OK, 2, 36, 36},
    {"B16 head over", &tight, STR_INIT(L H "A: bcd\r\n\r\n"), H1_SCAN_ERROR, H1_HEAD_TOO_LARGE, 0,
     0, 34},
    {"B16 field over", &tight, STR_INIT(L "Host: ab\r\n"), H1_SCAN_ERROR, H1_HEAD_TOO_LARGE, 0, 0,
     24},
    {"A25 line over", &tight, STR_INIT("GET /a HTTP/1.1"), H1_SCAN_ERROR, H1_URI_TOO_LONG, 0, 0,
     15},
    {"B17 fields at limit", &tight, STR_INIT(L "A:\r\nB:\r\n\r\n"), H1_SCAN_DONE, H1_OK, 0, 26, 26},
    {"B17 fields over", &tight, STR_INIT(L "A:\r\nB:\r\nC:\r\n\r\n"), H1_SCAN_ERROR,
     H1_HEAD_TOO_LARGE, 0, 0, 25},
    {"A16 fault before the limit", &tight,
     STR_INIT("GET /\x01"
              "aaaaaaaaaaaaaaaa"),
     H1_SCAN_ERROR, H1_BAD, 0, 0, 6},
    {"A25 limit before the fault", &tight, STR_INIT("GET /aaaaaaaaaa\x01"), H1_SCAN_ERROR,
     H1_URI_TOO_LONG, 0, 0, 15},
};

static void scan_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scan_rows); i++) {
        const struct scan_row *row = &scan_rows[i];
        for (size_t step = 1; step <= row->in.n; step++) { /* h21 */
            struct outcome o = scan_in_steps(row->in, row->lim, step);
            if (o.result != row->result || o.err != row->err) {
                fail_msg("row %s, step %zu: result %d error %d", row->name, step, o.result, o.err);
            }
            if (row->result == H1_SCAN_DONE) {
                ROW(row->name, o.start == row->start && o.pos == row->pos);
            }
            if (step == 1 && row->known != 0 && o.seen != row->known) {
                fail_msg("row %s: known after %zu bytes", row->name, o.seen);
            }
        }
    }
}

/* A24, A25, h12, 2a: lengths around powers of two against the real limits. */
static void scan_long(void **state)
{
    static char big[200000];

    (void)state;
    for (int k = 7; k <= 17; k++) {
        for (int d = -1; d <= 1; d++) {
            size_t n = (size_t)((1 << k) + d);
            struct h1_scan s = {0};
            enum h1_error err;

            memset(big, 'a', sizeof(big));
            memcpy(big, "GET /", 5);
            memcpy(big + n - 9, " HTTP/1.1\r\n\r\n", 13);
            enum h1_scan_result r = h1_scan_head(str_make(big, n + 4), &s, &strict, &err);
            assert_int_equal(r, n <= strict.line_max ? H1_SCAN_DONE : H1_SCAN_ERROR);
            assert_int_equal(err, n <= strict.line_max ? H1_OK : H1_URI_TOO_LONG);

            memset(big, 'a', sizeof(big));
            memcpy(big, L "A:", 18);
            memcpy(big + 16 + n, "\r\n\r\n", 4);
            s = (struct h1_scan){0};
            r = h1_scan_head(str_make(big, 16 + n + 4), &s, &strict, &err);
            assert_int_equal(r, n <= strict.field_max ? H1_SCAN_DONE : H1_SCAN_ERROR);
            assert_int_equal(err, n <= strict.field_max ? H1_OK : H1_HEAD_TOO_LARGE);
        }
    }
}

static const struct line_row {
    const char *name;
    struct str line;
    enum h1_error err;
    enum method method;
    enum h1_form form;
    const char *path, *query, *authority;
} line_rows[] = {
#define BAD(name, text)                                                                            \
    {                                                                                              \
        name, STR_INIT(text), H1_BAD, 0, 0, NULL, NULL, NULL                                       \
    }
#define ERR(name, text, e)                                                                         \
    {                                                                                              \
        name, STR_INIT(text), e, 0, 0, NULL, NULL, NULL                                            \
    }
    {"A1", STR_INIT("GET / HTTP/1.1"), H1_OK, METHOD_GET, H1_FORM_ORIGIN, "/", NULL, NULL},
    {"A2", STR_INIT("GET / HTTP/1.0"), H1_OK, METHOD_GET, H1_FORM_ORIGIN, "/", NULL, NULL},
    BAD("A3 HTTP/0.9", "GET /"),
    {"A4 1.2", STR_INIT("GET / HTTP/1.2"), H1_OK, METHOD_GET, H1_FORM_ORIGIN, "/", NULL, NULL},
    {"A4 1.9", STR_INIT("HEAD /x HTTP/1.9"), H1_OK, METHOD_HEAD, H1_FORM_ORIGIN, "/x", NULL, NULL},
    BAD("A5 1.11", "GET / HTTP/1.11"),
    BAD("A5 h8 1.10", "GET / HTTP/1.10"),
    BAD("A5 10.0", "GET / HTTP/10.0"),
    BAD("A5 01.01", "GET / HTTP/01.01"),
    BAD("A5 .01", "GET / HTTP/.01"),
    BAD("A5 1", "GET / HTTP/1"),
    BAD("A5 1.", "GET / HTTP/1."),
    BAD("A5 a.b", "GET / HTTP/a.b"),
    BAD("A5 blank", "GET / HTTP/ 1.1"),
    BAD("A5 0.9", "GET / HTTP/0.9"),
    ERR("A6 2.0", "GET / HTTP/2.0", H1_BAD_VERSION),
    ERR("A6 3.0", "GET / HTTP/3.0", H1_BAD_VERSION),
    ERR("A6 9.9", "GET / HTTP/9.9", H1_BAD_VERSION),
    BAD("A7 http", "GET / http/1.1"),
    BAD("A7 HTT", "GET / HTT/1.0"),
    BAD("A7 ICE", "GET / ICE/1.0"),
    BAD("A7 RTSP", "GET / RTSP/1.0"),
    ERR("A8 get", "get / HTTP/1.1", H1_METHOD_UNKNOWN),
    ERR("A9 FOOBAR", "FOOBAR / HTTP/1.1", H1_METHOD_UNKNOWN),
    ERR("A9 LINK", "LINK / HTTP/1.1", H1_METHOD_UNKNOWN),
    ERR("A9 PROPFIND", "PROPFIND / HTTP/1.1", H1_METHOD_UNKNOWN),
    ERR("M18 XGET", "XGET / HTTP/1.1", H1_METHOD_UNKNOWN),
    BAD("A9 unknown and malformed", "FOO /a b HTTP/1.1"),
    ERR("A9 unknown and version", "FOO / HTTP/2.0", H1_BAD_VERSION),
    BAD("A10 slash", "G/T / HTTP/1.1"),
    BAD("A10 NUL", "G\0T / HTTP/1.1"),
    BAD("A10 0x01", "\x01GET / HTTP/1.1"),
    BAD("A10 quote", "\"GET\" / HTTP/1.1"),
    BAD("A10 0x80", "GET\x80 / HTTP/1.1"),
    BAD("A11 no method", " / HTTP/1.1"),
    BAD("A11 no target", "GET HTTP/1.1"),
    BAD("A11 empty target", "GET  HTTP/1.1"),
    BAD("A11 GET", "GET"),
    BAD("A11 GET blank", "GET "),
    BAD("A11 GET/", "GET/ HTTP/1.0"),
    BAD("A11 empty", ""),
    BAD("h7 G ET", "G ET / HTTP/1.1"),
    BAD("A12 tab", "GET\t/\tHTTP/1.1"),
    BAD("A12 FF", "GET / \fHTTP/1.1"),
    BAD("A12 VT", "GET\v/ HTTP/1.1"),
    BAD("A12 CR", "GET /\rHTTP/1.1"),
    BAD("A13 two blanks", "GET  / HTTP/1.1"),
    BAD("A13 two blanks later", "GET /  HTTP/1.1"),
    BAD("A13 trailing blank", "GET / HTTP/1.1 "),
    BAD("A14 x", "GET / HTTP/1.0 x"),
    BAD("A14 NUL", "GET / HTTP/1.0\0"),
    BAD("A15", "GET /a b HTTP/1.1"),
    BAD("A16 0x00", "GET /a\0b HTTP/1.1"),
    BAD("A16 0x1f", "GET /a\x1f HTTP/1.1"),
    BAD("A16 0x7f", "GET /a\x7f HTTP/1.1"),
    BAD("A17 0x80", "GET /\x80 HTTP/1.1"),
    BAD("A17 UTF-8", "GET /\xc3\xa4 HTTP/1.1"),
    BAD("A18 h11 fragment", "GET /a#b HTTP/1.1"),
    BAD("A18 fragment only", "GET # HTTP/1.1"),
    {"E10 query", STR_INIT("GET /a/b?x=/../?y HTTP/1.1"), H1_OK, METHOD_GET, H1_FORM_ORIGIN, "/a/b",
     "x=/../?y", NULL},
    {"E10 empty query", STR_INIT("GET /? HTTP/1.1"), H1_OK, METHOD_GET, H1_FORM_ORIGIN, "/", "",
     NULL},
    {"N3 odd but printable", STR_INIT("GET /\"<>\\^`{|} HTTP/1.1"), H1_OK, METHOD_GET,
     H1_FORM_ORIGIN, "/\"<>\\^`{|}", NULL, NULL},
    {"D1", STR_INIT("GET http://host/p HTTP/1.1"), H1_OK, METHOD_GET, H1_FORM_ABSOLUTE, "/p", NULL,
     "host"},
    {"D2 no path", STR_INIT("GET http://host HTTP/1.1"), H1_OK, METHOD_GET, H1_FORM_ABSOLUTE, "/",
     NULL, "host"},
    {"D2 query", STR_INIT("GET http://host?x HTTP/1.1"), H1_OK, METHOD_GET, H1_FORM_ABSOLUTE, "/",
     "x", "host"},
    {"D5 case", STR_INIT("GET HTTPS://h:1/?a/b HTTP/1.0"), H1_OK, METHOD_GET, H1_FORM_ABSOLUTE, "/",
     "a/b", "h:1"},
    BAD("D5 ftp", "GET ftp://host/ HTTP/1.1"),
    BAD("D5 httpx", "GET httpx://host/ HTTP/1.1"),
    BAD("D5 one slash", "GET http:/host/ HTTP/1.1"),
    BAD("D6 empty host", "GET http:///p HTTP/1.1"),
    BAD("D6 nothing", "GET http:// HTTP/1.1"),
    BAD("D6 query only", "GET http://?x HTTP/1.1"),
    BAD("D7 h10 GET *", "GET * HTTP/1.1"),
    {"D7 OPTIONS *", STR_INIT("OPTIONS * HTTP/1.1"), H1_OK, METHOD_OPTIONS, H1_FORM_ASTERISK, "*",
     NULL, NULL},
    BAD("D7 OPTIONS */x", "OPTIONS */x HTTP/1.1"),
    {"D8 CONNECT", STR_INIT("CONNECT host:443 HTTP/1.1"), H1_OK, METHOD_CONNECT, H1_FORM_AUTHORITY,
     "/", NULL, "host:443"},
    {"D8 CONNECT v6", STR_INIT("CONNECT [::1]:443 HTTP/1.1"), H1_OK, METHOD_CONNECT,
     H1_FORM_AUTHORITY, "/", NULL, "[::1]:443"},
    BAD("D8 CONNECT /", "CONNECT / HTTP/1.1"),
    BAD("D8 no port", "CONNECT host HTTP/1.1"),
    BAD("D8 empty port", "CONNECT host: HTTP/1.1"),
    BAD("D8 absolute", "CONNECT http://host:1/ HTTP/1.1"),
    BAD("h10 authority with GET", "GET host:80 HTTP/1.1"),
    BAD("relative path", "GET index.html HTTP/1.1"),
    {"G4 TRACE", STR_INIT("TRACE / HTTP/1.1"), H1_OK, METHOD_TRACE, H1_FORM_ORIGIN, "/", NULL,
     NULL},
};

static void line_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(line_rows); i++) {
        const struct line_row *row = &line_rows[i];
        struct str line = copy_exact(row->line);
        struct h1_line l;
        enum h1_error err = h1_parse_line(line, &l);
        if (err != row->err) {
            fail_msg("row %s: error %d", row->name, err);
        }
        if (err == H1_OK) {
            ROW(row->name, l.method == row->method && l.form == row->form && l.major == 1);
            ROW_STR(row->name, l.path, str_z(row->path));
            ROW(row->name, l.has_query == (row->query != NULL));
            ROW_STR(row->name, l.query, str_z(row->query));
            ROW_STR(row->name, l.authority, str_z(row->authority));
        }
        free_exact(line);
    }
}

static void line_parts(void **state)
{
    struct h1_line l;

    (void)state;
    assert_int_equal(h1_parse_line(STR("GET HTTP://h/x?y HTTP/1.0"), &l), H1_OK);
    ROW_STR("method", l.method_text, STR("GET"));
    ROW_STR("target", l.target, STR("HTTP://h/x?y"));
    ROW_STR("scheme", l.scheme, STR("HTTP"));
    assert_int_equal(l.minor, 0);
    assert_int_equal(h1_parse_line(STR("GET / HTTP/1.7"), &l), H1_OK);
    assert_int_equal(l.minor, 1); /* A4 */
}

/* 2a (nginx CVE-2013-4547), h4: every byte at every place; only what the grammar allows passes. */
static void line_every_byte(void **state)
{
    static const char good[] = "GET /a HTTP/1.1";

    (void)state;
    for (size_t at = 0; at < sizeof(good) - 1; at++) {
        for (int c = 0; c < 256; c++) {
            char line[sizeof(good)];
            struct h1_line l;
            memcpy(line, good, sizeof(good));
            line[at] = (char)c;
            enum h1_error err = h1_parse_line(str_make(line, sizeof(good) - 1), &l);
            bool ok = false;
            if (at < 3) {
                ok = token_is_tchar((unsigned char)c);
            } else if (at == 3 || at == 6) {
                ok = c == ' ';
            } else if (at == 4) {
                ok = c == '/';
            } else if (at == 5) {
                ok = c > 0x20 && c < 0x7f && c != '#';
            } else if (at == 12 || at == 14) {
                ok = (c >= '0' && c <= '9') && !(at == 12 && c == '0');
            } else {
                ok = c == good[at];
            }
            if ((err != H1_BAD) != ok) {
                fail_msg("byte 0x%02x at %zu: error %d", (unsigned)c, at, err);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_table),      cmocka_unit_test(scan_long),
        cmocka_unit_test(line_table),      cmocka_unit_test(line_parts),
        cmocka_unit_test(line_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
