/* SPDX-License-Identifier: BSD-2-Clause */
/* Field lines (behaviours.md B, hostile.md 4-6) and what they mean together (C, K, L, M). */
#include "proto/h1_fields.h"

#include "rows.h"

#define ROOM 8

static const struct fields_row {
    const char *name;
    struct str lines;
    bool lenient, skip;
    enum h1_error err;
    const char *want; /* "name=value;..." */
} field_rows[] = {
#define OKAY(name, lines, want)                                                                    \
    {                                                                                              \
        name, STR_INIT(lines "\r\n"), false, false, H1_OK, want                                    \
    }
#define BAD(name, lines)                                                                           \
    {                                                                                              \
        name, STR_INIT(lines "\r\n"), false, false, H1_BAD, NULL                                   \
    }
#define SKIP(name, lines, err, want)                                                               \
    {                                                                                              \
        name, STR_INIT(lines "\r\n"), false, true, err, want                                       \
    }
#define LENIENT(name, lines, err, want)                                                            \
    {                                                                                              \
        name, STR_INIT(lines), true, false, err, want                                              \
    }
    OKAY("none", "", ""),
    OKAY("B1 plain", "Host: a\r\nFoo:bar\r\n", "Host=a;Foo=bar;"),
    OKAY("B1 OWS", "A: \t b c \t \r\n", "A=b c;"),
    OKAY("B1 empty", "A:\r\nB:  \t\r\n", "A=;B=;"),
    OKAY("B1 tab", "Content-Length:\t5\r\n", "Content-Length=5;"),
    BAD("B2 blank before colon", "Foo : bar\r\n"),
    BAD("B2 h5 tab before colon", "Foo\t: bar\r\n"),
    BAD("B3 no colon", "Foo\r\n"),
    BAD("B3 no colon with blank", "Foo bar\r\n"),
    BAD("B4 h6 empty name", ": x\r\n"),
    BAD("B4 2a blank and colon", " : x\r\n"),
    BAD("B4 colon", ":\r\n"),
    BAD("B5 paren", "A(b: x\r\n"),
    BAD("B5 h6 at", "A@b: x\r\n"),
    BAD("B5 h6 back-slash", "A\\b: x\r\n"),
    BAD("B5 quote", "\"A\": x\r\n"),
    BAD("B5 NUL", "A\0b: x\r\n"),
    BAD("B5 CTL", "A\x01: x\r\n"),
    BAD("B5 0x80", "A\x80: x\r\n"),
    OKAY("B6", "A_b.c: x\r\n", "A_b.c=x;"),
    BAD("B7 fold", "A: b\r\n c\r\n"),
    BAD("B7 fold with tab", "A: b\r\n\tc: d\r\n"),
    BAD("B8", " \r\nA: b\r\n"),
    BAD("B9 NUL", "A: b\0c\r\n"),
    BAD("B10 bare CR", "A: b\rc\r\n"),
    BAD("B10 CR CR LF", "A: b\r\r\n"),
    BAD("B11 0x01", "A: \x01\r\n"),
    BAD("B11 DEL", "A: b\x7f\r\n"),
    BAD("h4 ESC", "A: \x1b[0m\r\n"),
    OKAY("B12", "A: b\tc\xff\xc3\xa4\r\n", "A=b\tc\xff\xc3\xa4;"),
    BAD("B13 bare LF", "A: b\nB: c\r\n"),
    LENIENT("B13 lenient", "A: b\nB: c\r\n\n", H1_OK, "A=b;B=c;"),
    LENIENT("B13 lenient fold", "A: b\n c\n\n", H1_BAD, NULL),
    LENIENT("B10 lenient bare CR", "A: b\rc\n\n", H1_BAD, NULL),
    BAD("B14", "A: b\r\n\rX: y\r\n"),
    OKAY("B20", "Cookie: ===;;;\r\n", "Cookie====;;;;"),
    {"no end", STR_INIT("A: b\r\n"), false, false, H1_BAD, NULL},
    {"no line end", STR_INIT("A: b"), false, false, H1_BAD, NULL},
    {"half a line end", STR_INIT("A: b\r"), false, false, H1_BAD, NULL},
    {"name only", STR_INIT("A"), false, false, H1_BAD, NULL},
    {"colon at the end", STR_INIT("A:"), false, false, H1_BAD, NULL},
    {"more behind the end", STR_INIT("\r\nA: b\r\n"), false, false, H1_BAD, NULL},
    OKAY("B17 room", "A:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\n",
         "A=;A=;A=;A=;A=;A=;A=;A=;"),
    {"B17 over", STR_INIT("A:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\n\r\n"), false,
     false, H1_HEAD_TOO_LARGE, NULL},
    SKIP("B5 skip", "A(b: x\r\nB: y\r\n@: z\r\n", H1_OK, "B=y;"),
    SKIP("B5 skip 0x80", "\xc3\xa4: x\r\nB: y\r\n", H1_OK, "B=y;"),
    SKIP("B2 skip blank", "A b: x\r\n", H1_BAD, NULL),
    SKIP("B2 skip blank before colon", "A(b : x\r\n", H1_BAD, NULL),
    SKIP("B5 skip NUL", "A(\0: x\r\n", H1_BAD, NULL),
    SKIP("B3 skip no colon", "A(b\r\nC: d\r\n", H1_BAD, NULL),
    SKIP("B4 skip empty name", ": x\r\n", H1_BAD, NULL),
    SKIP("B9 skip but NUL in value", "A(b: \0\r\n", H1_BAD, NULL),
    SKIP("B7 skip fold", "A(b: x\r\n y\r\n", H1_BAD, NULL),
#undef OKAY
#undef BAD
#undef SKIP
#undef LENIENT
};

static void fields_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(field_rows); i++) {
        const struct fields_row *row = &field_rows[i];
        struct str lines = copy_exact(row->lines);
        struct field f[ROOM];
        size_t n, used = 0;
        char text[256] = "";
        enum h1_error err = h1_parse_fields(lines, row->lenient, row->skip, f, ROOM, &n);
        if (err != row->err) {
            fail_msg("row %s: error %d", row->name, err);
        }
        for (size_t k = 0; err == H1_OK && k < n; k++) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s=%.*s;",
                                     STR_ARG(f[k].name), STR_ARG(f[k].value));
            ROW(row->name, f[k].id == field_of(f[k].name));
        }
        if (err == H1_OK) {
            ROW_STR(row->name, str_z(text), str_z(row->want));
        }
        free_exact(lines);
    }
}

/* h4, 2a: every byte in a name and in a value. */
static void fields_every_byte(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char name[] = "aXb: c\r\n\r\n", value[] = "a: bXc\r\n\r\n";
        struct field f[ROOM];
        size_t n;
        name[1] = (char)c;
        value[4] = (char)c;
        bool ok = h1_parse_fields(str_z(name), false, false, f, ROOM, &n) == H1_OK;
        if (c != 0) {
            assert_int_equal(ok, token_is_tchar((unsigned char)c) || c == ':');
        }
        ok = h1_parse_fields(str_make(value, 10), false, false, f, ROOM, &n) == H1_OK;
        assert_int_equal(ok, token_is_value_byte((unsigned char)c));
    }
}

/* What a digest says, in letters: k keep-alive, c close, e 100-continue, o other expectation,
 * u upgrade, then L<n> or C for the body. */
static const struct digest_row {
    const char *name;
    int minor;
    const char *lines;
    enum h1_error err;
    const char *want;
} digest_rows[] = {
#define H "Host: a\r\n"
    {"C1 no host", 1, "", H1_BAD, ""},
    {"C1 no host on 1.0", 0, "", H1_OK, ""},
    {"C2 two hosts", 1, H H, H1_BAD, ""},
    {"C2 two hosts on 1.0", 0, H "host: b\r\n", H1_BAD, ""},
    {"C3 empty host is for host.h", 1, "Host:\r\n", H1_OK, "k"},
    {"K1 1.1", 1, H, H1_OK, "k"},
    {"K1 1.0", 0, H, H1_OK, ""},
    {"K1 close", 1, H "Connection: close\r\n", H1_OK, "c"},
    {"K2", 0, "Connection: keep-alive\r\n", H1_OK, "k"},
    {"K3 case", 1, H "Connection: Close, foo\r\n", H1_OK, "c"},
    {"K3 empty member", 1, H "Connection: ,close\r\n", H1_OK, "c"},
    {"K3 two lines", 1, H "Connection: foo\r\nconnection: close\r\n", H1_OK, "c"},
    {"K3 closed", 1, H "Connection: closed, disclose\r\n", H1_OK, "k"},
    {"h22 both", 0, "Connection: close, keep-alive\r\n", H1_OK, "c"},
    {"h22 names a field", 1, H "Connection: content-length\r\nContent-Length: 5\r\n", H1_OK, "kL5"},
    {"G8 upgrade", 1, H "Connection: Upgrade\r\nUpgrade: websocket\r\n", H1_OK, "ku"},
    {"G8 upgrade alone", 1, H "Upgrade: h2c\r\n", H1_OK, "k"},
    {"L1", 1, H "Expect: 100-continue\r\nContent-Length: 1\r\n", H1_OK, "keL1"},
    {"L2", 1, H "Expect: 100-Continue\r\n", H1_OK, "ke"},
    {"L3 on 1.0", 0, "Expect: 100-continue\r\n", H1_OK, ""},
    {"L4 h19 other", 1, H "Expect: 200-ok\r\n", H1_OK, "ko"},
    {"L4 both", 1, H "Expect: 100-continue, x\r\n", H1_OK, "keo"},
    {"M1", 1, H "Content-Length: 5\r\n", H1_OK, "kL5"},
    {"M1 zero", 1, H "Content-Length: 0\r\n", H1_OK, "k"},
    {"M2", 1, H "Transfer-Encoding: chunked\r\n", H1_OK, "kC"},
    {"M3 h15 CL TE", 1, H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", H1_BAD, ""},
    {"M3 TE CL", 1, H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", H1_BAD, ""},
    {"M3 CL and unknown TE", 1, H "Transfer-Encoding: x\r\nContent-Length: 5\r\n", H1_BAD, ""},
    {"M4 h14 different", 1, H "Content-Length: 5\r\nContent-Length: 6\r\n", H1_BAD, ""},
    {"M4 h14 same", 1, H "Content-Length: 5\r\nContent-Length: 5\r\n", H1_BAD, ""},
    {"M4 h13 list", 1, H "Content-Length: 5, 5\r\n", H1_BAD, ""},
    {"M4 h13 5,6", 1, H "Content-Length: 5,6\r\n", H1_BAD, ""},
    {"M5 plus", 1, H "Content-Length: +5\r\n", H1_BAD, ""},
    {"M5 minus", 1, H "Content-Length: -1\r\n", H1_BAD, ""},
    {"M5 minus zero", 1, H "Content-Length: -0\r\n", H1_BAD, ""},
    {"M5 hex", 1, H "Content-Length: 0x5\r\n", H1_BAD, ""},
    {"M5 octal", 1, H "Content-Length: 0o5\r\n", H1_BAD, ""},
    {"M5 underscore", 1, H "Content-Length: 1_0\r\n", H1_BAD, ""},
    {"M5 blank", 1, H "Content-Length: 1 0\r\n", H1_BAD, ""},
    {"M5 letter", 1, H "Content-Length: 5a\r\n", H1_BAD, ""},
    {"M5 2a empty", 1, H "Content-Length:\r\n", H1_BAD, ""},
    {"M5 2^63-1", 1, H "Content-Length: 9223372036854775807\r\n", H1_OK, "kL9223372036854775807"},
    {"M5 2^63", 1, H "Content-Length: 9223372036854775808\r\n", H1_BAD, ""},
    {"M5 2^64", 1, H "Content-Length: 18446744073709551616\r\n", H1_BAD, ""},
    {"M5 2^64+5", 1, H "Content-Length: 18446744073709551621\r\n", H1_BAD, ""},
    {"M5 30 digits", 1, H "Content-Length: 111111111111111111111111111111\r\n", H1_BAD, ""},
    {"M5 arabic digit", 1, H "Content-Length: \xd9\xa5\r\n", H1_BAD, ""},
    {"M5 005", 1, H "Content-Length: 005\r\n", H1_OK, "kL5"},
    {"M5 00", 1, H "Content-Length: 00\r\n", H1_OK, "k"},
    {"M6 gzip", 1, H "Transfer-Encoding: gzip\r\n", H1_BAD_CODING, ""},
    {"M6 h16 xchunked", 1, H "Transfer-Encoding: xchunked\r\n", H1_BAD_CODING, ""},
    {"M6 h16 identity", 1, H "Transfer-Encoding: identity\r\n", H1_BAD_CODING, ""},
    {"M6 foo", 1, H "Transfer-Encoding: foo\r\n", H1_BAD_CODING, ""},
    {"M6 foo with parameter", 1, H "Transfer-Encoding: foo;a=b\r\n", H1_BAD_CODING, ""},
    {"h16 gzip, chunked", 1, H "Transfer-Encoding: gzip, chunked\r\n", H1_BAD_CODING, ""},
    {"M7 not final", 1, H "Transfer-Encoding: chunked, gzip\r\n", H1_BAD, ""},
    {"M7 twice", 1, H "Transfer-Encoding: chunked, chunked\r\n", H1_BAD, ""},
    {"M8 leading comma", 1, H "Transfer-Encoding: ,chunked\r\n", H1_OK, "kC"},
    {"M8 trailing comma", 1, H "Transfer-Encoding: chunked,\r\n", H1_OK, "kC"},
    {"M8 case", 1, H "Transfer-Encoding: Chunked\r\n", H1_OK, "kC"},
    {"M8 tab", 1, H "Transfer-Encoding: \tchunked\r\n", H1_OK, "kC"},
    {"M8 with CL", 1, H "Transfer-Encoding: ,chunked\r\nContent-Length: 0\r\n", H1_BAD, ""},
    {"M8 empty", 1, H "Transfer-Encoding:\r\n", H1_BAD, ""},
    {"M8 comma", 1, H "Transfer-Encoding: ,\r\n", H1_BAD, ""},
    {"M9 VT", 1, H "Transfer-Encoding: \vchunked\r\n", H1_BAD, ""},
    {"M9 FF", 1, H "Transfer-Encoding: chunked\f\r\n", H1_BAD, ""},
    {"M9 0x85", 1, H "Transfer-Encoding: chunked\x85\r\n", H1_BAD, ""},
    {"M9 0xa0", 1,
     H "Transfer-Encoding: \xa0"
       "chunked\r\n",
     H1_BAD, ""},
    {"M9 parameter", 1, H "Transfer-Encoding: chunked;x\r\n", H1_BAD, ""},
    {"M9 parameter, blank", 1, H "Transfer-Encoding: chunked ;x\r\n", H1_BAD, ""},
    {"M9 quoted", 1, H "Transfer-Encoding: \"chunked\"\r\n", H1_BAD, ""},
    {"M10 two lines", 1, H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", H1_BAD,
     ""},
    {"M11 on 1.0", 0, "Transfer-Encoding: chunked\r\n", H1_BAD, ""},
    {"M19", 1, H "Transfer_Encoding: chunked\r\nContent_Length: 5\r\n", H1_OK, "k"},
    {"M20", 1, H, H1_OK, "k"},
    {"B18 expect", 1, H "Expect: 100-continue\r\nExpect: 100-continue\r\n", H1_BAD, ""},
    {"B18 if-range", 1, H "If-Range: \"a\"\r\nIf-Range: \"a\"\r\n", H1_BAD, ""},
    {"B18 if-modified-since", 1, H "If-Modified-Since: a\r\nIf-Modified-Since: a\r\n", H1_BAD, ""},
    {"B18 if-unmodified-since", 1, H "If-Unmodified-Since: a\r\nIF-Unmodified-Since: a\r\n", H1_BAD,
     ""},
    {"B18 authorization", 1, H "Authorization: a\r\nAuthorization: b\r\n", H1_BAD, ""},
    {"B18 2a range", 1, H "Range: bytes=0-\r\nRange: bytes=0-\r\n", H1_BAD, ""},
    {"B18 lists", 1,
     H "Accept-Encoding: a\r\nAccept-Encoding: b\r\nIf-None-Match: \"a\"\r\n"
       "If-None-Match: \"b\"\r\nCookie: a\r\nCookie: b\r\n",
     H1_OK, "k"},
#undef H
};

static void digest_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(digest_rows); i++) {
        const struct digest_row *row = &digest_rows[i];
        char text[512], got[64];
        struct h1_line line = {.method = METHOD_POST, .major = 1, .minor = (uint8_t)row->minor};
        struct field f[ROOM];
        struct h1_meta m = {0};
        size_t n;

        snprintf(text, sizeof(text), "%s\r\n", row->lines);
        enum h1_error err = h1_parse_fields(str_z(text), false, false, f, ROOM, &n);
        if (err == H1_OK) {
            err = h1_digest(&line, f, n, &m);
        }
        if (err != row->err) {
            fail_msg("row %s: error %d", row->name, err);
        }
        if (err != H1_OK) {
            continue;
        }
        char body[32] = "";
        if (m.body != H1_BODY_NONE) {
            snprintf(body, sizeof(body), "L%ju", (uintmax_t)m.content_length);
        }
        snprintf(got, sizeof(got), "%s%s%s%s%s%s", m.keepalive ? "k" : "",
                 m.connection_close ? "c" : "", m.expect_continue ? "e" : "",
                 m.expect_other ? "o" : "", m.upgrade ? "u" : "",
                 m.body == H1_BODY_CHUNKED ? "C" : body);
        ROW_STR(row->name, str_z(got), str_z(row->want));
        for (size_t k = 0; k < n; k++) {
            ROW(row->name, f[k].id == FIELD_OTHER || m.first[f[k].id] != 0);
        }
    }
}

static void digest_first(void **state)
{
    struct h1_line line = {.minor = 1};
    struct field f[ROOM];
    struct h1_meta m;
    size_t n;

    (void)state;
    assert_int_equal(h1_parse_fields(STR("X: y\r\nAccept: a\r\nHost: h:1\r\nAccept: b\r\n\r\n"),
                                     false, false, f, ROOM, &n),
                     H1_OK);
    assert_int_equal(h1_digest(&line, f, n, &m), H1_OK);
    assert_int_equal(m.first[FIELD_ACCEPT], 2);
    assert_int_equal(m.first[FIELD_HOST], 3);
    assert_int_equal(m.first[FIELD_RANGE], 0);
    assert_true(m.has_host);
    ROW_STR("host", m.host, STR("h:1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_table),
        cmocka_unit_test(fields_every_byte),
        cmocka_unit_test(digest_table),
        cmocka_unit_test(digest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
