/* SPDX-License-Identifier: BSD-2-Clause */
/* Host and authority (behaviours.md C3-C10, D6; hostile.md 9). */
#include "proto/host.h"

#include "rows.h"

static const struct host_row {
    const char *name;
    struct str in;
    const char *want; /* NULL: refused */
    int port;
} rows[] = {
    {"C1", STR_INIT("example.com"), "example.com", -1},
    {"C3 empty", STR_INIT(""), NULL, 0},
    {"C4 userinfo", STR_INIT("user@host"), NULL, 0},
    {"C4 userinfo with colon", STR_INIT("u:p@host"), NULL, 0},
    {"C4 path", STR_INIT("host/path"), NULL, 0},
    {"C4 blank", STR_INIT("a b"), NULL, 0},
    {"C4 list", STR_INIT("a, b"), NULL, 0},
    {"C4 comma", STR_INIT("a,b"), NULL, 0},
    {"C4 back-slash", STR_INIT("a\\b"), NULL, 0},
    {"C4 scheme", STR_INIT("http://a"), NULL, 0},
    {"C4 query", STR_INIT("a?b"), NULL, 0},
    {"C4 fragment", STR_INIT("a#b"), NULL, 0},
    {"h9 per cent", STR_INIT("a%41"), NULL, 0},
    {"C5 port", STR_INIT("host:80"), "host", 80},
    {"C5 65535", STR_INIT("host:65535"), "host", 65535},
    {"C5 zeros", STR_INIT("host:0000000000000000000000080"), "host", 80},
    {"C5 empty port", STR_INIT("host:"), "host", -1},
    {"C5 65536", STR_INIT("host:65536"), NULL, 0},
    {"C5 huge", STR_INIT("host:18446744073709551696"), NULL, 0},
    {"C5 non-digit", STR_INIT("host:8a"), NULL, 0},
    {"C5 two ports", STR_INIT("host:80:80"), NULL, 0},
    {"C5 minus", STR_INIT("host:-1"), NULL, 0},
    {"C5 plus", STR_INIT("host:+1"), NULL, 0},
    {"C5 blank", STR_INIT("host: 80"), NULL, 0},
    {"C5 no host", STR_INIT(":80"), NULL, 0},
    {"C5 colon", STR_INIT(":"), NULL, 0},
    {"C6 leading dot", STR_INIT(".a"), NULL, 0},
    {"C6 two dots", STR_INIT("a..b"), NULL, 0},
    {"C6 dot", STR_INIT("."), NULL, 0},
    {"C6 dots", STR_INIT(".."), NULL, 0},
    {"C6 dot and port", STR_INIT(".:80"), NULL, 0},
    {"C6 trailing dot", STR_INIT("a.b."), "a.b", -1},
    {"C6 trailing dot and port", STR_INIT("a.b.:80"), "a.b", 80},
    {"C6 two trailing dots", STR_INIT("a.."), NULL, 0},
    {"C7 v6", STR_INIT("[::1]"), "[::1]", -1},
    {"C7 v6 port", STR_INIT("[::1]:80"), "[::1]", 80},
    {"C7 v6 full", STR_INIT("[2001:DB8:0:0:0:0:0:1]:"), "[2001:DB8:0:0:0:0:0:1]", -1},
    {"C7 v6 mapped", STR_INIT("[::ffff:192.0.2.1]"), "[::ffff:192.0.2.1]", -1},
    {"C7 future", STR_INIT("[v1.a:b]"), "[v1.a:b]", -1},
    {"C7 future no dot", STR_INIT("[v1]"), NULL, 0},
    {"C7 future empty", STR_INIT("[v1.]"), NULL, 0},
    {"C7 future no number", STR_INIT("[v.a]"), NULL, 0},
    {"C7 future slash", STR_INIT("[v1.a/b]"), NULL, 0},
    {"C7 unclosed", STR_INIT("[::1"), NULL, 0},
    {"C7 text before", STR_INIT("a[::1]"), NULL, 0},
    {"C7 text behind", STR_INIT("[::1]a"), NULL, 0},
    {"C7 dot behind", STR_INIT("[::1]."), NULL, 0},
    {"C7 empty", STR_INIT("[]"), NULL, 0},
    {"C7 name in brackets", STR_INIT("[host]"), NULL, 0},
    {"C7 v4 in brackets", STR_INIT("[127.0.0.1]"), NULL, 0},
    {"C7 zone", STR_INIT("[fe80::1%25eth0]"), NULL, 0},
    {"C7 nine groups", STR_INIT("[1:2:3:4:5:6:7:8:9]"), NULL, 0},
    {"C7 two gaps", STR_INIT("[1::2::3]"), NULL, 0},
    {"C7 NUL", STR_INIT("[::1\0]"), NULL, 0},
    {"C7 no brackets", STR_INIT("::1"), NULL, 0},
    {"C7 long", STR_INIT("[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]"), NULL, 0},
    {"C8 case", STR_INIT("EXAMPLE.com"), "EXAMPLE.com", -1},
    {"C9 underscore", STR_INIT("a_b"), "a_b", -1},
    {"C10 NUL", STR_INIT("a\0b"), NULL, 0},
    {"C10 CTL", STR_INIT("a\x01"), NULL, 0},
    {"C10 high", STR_INIT("\xc3\xa4"), NULL, 0},
    {"2b mini_httpd", STR_INIT("../x"), NULL, 0},
    {"v4", STR_INIT("127.0.0.1:8080"), "127.0.0.1", 8080},
};

static void host_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str in = copy_exact(rows[i].in);
        struct host h;
        bool ok = host_parse(in, &h);
        ROW(rows[i].name, ok == (rows[i].want != NULL));
        if (ok) {
            ROW_STR(rows[i].name, h.name, str_z(rows[i].want));
            ROW(rows[i].name, h.port == rows[i].port);
        }
        free_exact(in);
    }
}

static void host_long(void **state)
{
    static char big[65536];
    struct host h;

    (void)state;
    memset(big, 'a', sizeof(big));
    assert_true(host_parse(str_make(big, 255), &h));
    assert_false(host_parse(str_make(big, 256), &h));
    assert_false(host_parse(str_make(big, sizeof(big)), &h)); /* 2b */
    memcpy(big, "[v1.", 4);
    big[sizeof(big) - 1] = ']';
    assert_false(host_parse(str_make(big, sizeof(big)), &h));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_table),
        cmocka_unit_test(host_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
